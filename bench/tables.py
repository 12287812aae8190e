"""`cpcvae fit` with no options against scikit-learn on tables with ten labels a class.

optdigits, letter and pbmc from CPCVAE_DATA. A draw keeps 20 % of each class for the test, ten
labels a class of the rest (fewer where there are not so many), and blanks the others. Every
method gets the same labels and the same unlabelled rows, and is measured on the same test rows.
scikit-learn's classifiers have their usual settings; columns are standardised for them.

    bench/tables [--draws 10] [--only optdigits]

Finished draws are lines of results/tables.jsonl and are not repeated; after a change to cpcvae
`--again` repeats its own part of them and keeps the peers'. results/tables.md is the table.
"""

import argparse
import csv
import gzip
import json
import os
import subprocess
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
CPCVAE = str(TARGET / "release/cpcvae")
CACHE = ROOT / "bench/.cache/tables"
NAMES = ("optdigits", "letter", "pbmc")
LABELS_A_CLASS = 10
TEST_SHARE = 0.2
# A kernel between all pairs of more rows takes gigabytes and many minutes a draw.
MOST_ROWS_OF_RBF = 6000


def load(name):
    """Features [rows, columns] and the number of each row's class."""
    folder = Path(os.environ["CPCVAE_DATA"])
    if name == "pbmc":
        arrays = np.load(folder / "pbmc/pbmc68k_reduced.npz", allow_pickle=True)
        return arrays["X"].astype(float), np.unique(arrays["y"], return_inverse=True)[1]
    with gzip.open(folder / f"tabular/{name}.csv.gz", "rt") as file:
        header, *rows = csv.reader(file)
    label = header.index("class")
    features = [[float(v) for i, v in enumerate(row) if i != label] for row in rows]
    return np.array(features), np.unique([row[label] for row in rows], return_inverse=True)[1]


def draw(classes, seed):
    """Rows with labels, rows without, rows of the test."""
    random = np.random.RandomState(seed)
    labelled, unlabelled, test = [], [], []
    for k in np.unique(classes):
        rows = random.permutation(np.where(classes == k)[0])
        tested = int(round(TEST_SHARE * len(rows)))
        known = min(LABELS_A_CLASS, len(rows) - tested - 1)
        test.extend(rows[:tested])
        labelled.extend(rows[tested : tested + known])
        unlabelled.extend(rows[tested + known :])
    return tuple(np.sort(np.array(rows)) for rows in (labelled, unlabelled, test))


def peers(features, classes, labelled, unlabelled, test):
    """Accuracy of scikit-learn's classifiers on the test rows."""
    training = np.concatenate([labelled, unlabelled])
    scaled = StandardScaler().fit(features[training]).transform(features)
    known = np.concatenate([classes[labelled], np.full(len(unlabelled), -1)])
    supervised = {
        "SVM": SVC(probability=True, random_state=0),
        "random forest": RandomForestClassifier(n_estimators=300, random_state=0),
        "logistic regression": LogisticRegression(max_iter=2000),
    }
    semi = {f"self-training {name}": SelfTrainingClassifier(m) for name, m in supervised.items()}
    kernels = {"knn": {"n_neighbors": 7}}
    if len(training) <= MOST_ROWS_OF_RBF:
        kernels["rbf"] = {"gamma": 1 / features.shape[1]}
    for kernel, options in kernels.items():
        semi[f"LabelSpreading {kernel}"] = LabelSpreading(kernel=kernel, **options)
        semi[f"LabelPropagation {kernel}"] = LabelPropagation(kernel=kernel, **options)
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=ConvergenceWarning)
        warnings.simplefilter("ignore", category=RuntimeWarning)
        warnings.simplefilter("ignore", category=FutureWarning)
        for name, model in supervised.items():
            model.fit(scaled[labelled], classes[labelled])
            found[name] = float(np.mean(model.predict(scaled[test]) == classes[test]))
        for name, model in semi.items():
            model.fit(scaled[training], known)
            found[name] = float(np.mean(model.predict(scaled[test]) == classes[test]))
    return found


def write(path, features, classes, rows, known):
    """A table of the rows; the class of rows that are not known is blank."""
    with open(path, "w") as file:
        columns = [f"x{i}" for i in range(features.shape[1])]
        print(*columns, "class", sep=",", file=file)
        for row in rows:
            label = f"c{classes[row]}" if row in known else ""
            print(*(f"{value:.9g}" for value in features[row]), label, sep=",", file=file)


def ours(name, seed, features, classes, labelled, unlabelled, test):
    """Accuracy, ELBO and time of `cpcvae fit` with no options but the label column."""
    CACHE.mkdir(parents=True, exist_ok=True)
    files = {part: CACHE / f"{name}-{seed}-{part}.csv" for part in ("train", "test")}
    training = np.sort(np.concatenate([labelled, unlabelled]))
    write(files["train"], features, classes, training, set(labelled.tolist()))
    write(files["test"], features, classes, test, set(test.tolist()))
    folder = CACHE / f"{name}-{seed}"
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    # Holding labels out measures the model and does not change it.
    fit = [CPCVAE, "fit", files["train"], "--label", "class", "--out", folder, "--no-crossfit"]
    start = time.time()
    subprocess.run([str(part) for part in fit + ["--quiet"]], check=True)
    seconds = time.time() - start
    evaluate = [CPCVAE, "evaluate", str(folder), str(files["test"]), "--json"]
    answer = subprocess.run(evaluate, check=True, capture_output=True, text=True).stdout
    figures = json.loads(answer)
    return {"accuracy": figures["accuracy"], "elbo": figures["elbo"], "seconds": seconds}


def commit():
    """Of the code that is measured."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout.strip()


def table(lines):
    """Markdown: a column a data set, a row a method, mean and standard deviation over draws."""
    of = lambda name: [line for line in lines if line["data"] == name]
    names = [name for name in NAMES if of(name)]
    methods = list(dict.fromkeys(method for line in lines for method in line["peers"]))
    rows = ["| | " + " | ".join(f"{n} ({len(of(n))} draws)" for n in names) + " |"]
    rows.append("|---" * (len(names) + 1) + "|")
    for method in ["cpcvae fit"] + methods:
        cells = []
        for name in names:
            if method == "cpcvae fit":
                values = [line["ours"]["accuracy"] for line in of(name)]
            else:
                values = [line["peers"].get(method) for line in of(name)]
            known = None not in values
            cells.append(f"{100 * np.mean(values):.1f} ± {100 * np.std(values):.1f}" if known else "")
        rows.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--only", choices=NAMES, action="append")
    parser.add_argument("--again", action="store_true", help="measure cpcvae on old draws again")
    arguments = parser.parse_args()
    if "CPCVAE_DATA" not in os.environ:
        parser.error("CPCVAE_DATA must name the folder with tabular/ and pbmc/")
    results = ROOT / "results/tables.jsonl"
    lines = [json.loads(line) for line in results.open()] if results.exists() else []
    found = {(line["data"], line["draw"]): line for line in lines}
    for seed in range(arguments.draws):
        for name in arguments.only or NAMES:
            old = found.get((name, seed))
            if old and (not arguments.again or old["commit"] == commit()):
                continue
            features, classes = load(name)
            rows = draw(classes, seed)
            line = {"data": name, "draw": seed, "labels": len(rows[0]), "commit": commit()}
            line["ours"] = ours(name, seed, features, classes, *rows)
            line["peers"] = old["peers"] if old else peers(features, classes, *rows)
            found[name, seed] = line
            print(json.dumps(line), flush=True)
            text = "".join(json.dumps(line) + "\n" for line in found.values())
            results.with_suffix(".new").write_text(text)
            results.with_suffix(".new").replace(results)
    lines = list(found.values())
    text = "Test accuracy, %, with ten labels a class (`bench/tables`).\n\n" + table(lines)
    (ROOT / "results/tables.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
