"""Whether the answers of `cpcvae` hold on real data: calibration, coverage, log p(x), imputation.

Tables (optdigits, letter, satimage, pbmc) and MNIST from CPCVAE_DATA. A draw is that of bench/tables:
20 % of each class are test rows, three or ten labels a class are known. MNIST keeps its own test images; 5,000
training images, 100 of them with a label, and 2,000 test images make a draw. `cpcvae fit` with no
other options but `--no-compare` holds labels out, and the test rows then say

- the expected calibration error (ten bins) of probabilities as stated (to the power T, which undoes
  the temperature of model/answers.json) and calibrated, and what exact probabilities would show on
  as many rows, where chance alone leaves gaps in every bin; for each draw, and for the rows of all
  draws together,
- how often conformal sets hold the true class, asked for 80, 90 and 95 %, and how large they are,
- the AUROC of the percentile and of log p(x) for telling test rows from rows of another kind: test rows with each column
  shuffled (every column as it should be, their company wrong), and rows of another data set, whose
  first columns are standardised and put on the scale of the model's columns; for MNIST SVHN digits,
- the root mean squared error, in standard deviations of a column, of a fifth of the cells of the
  test rows, blanked and filled in by `impute`, by column means, and by scikit-learn's KNNImputer.

    bench/answers [--draws 3] [--counts 10,3] [--only optdigits]

Finished draws are lines of results/answers.jsonl and are not repeated; after a change to `score` or
`impute`, `--again` repeats what needs no held-out labels. results/answers.md has a table for each
number of labels a class.
"""

import argparse
import csv
import gzip
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
from sklearn.impute import KNNImputer
from sklearn.metrics import roc_auc_score
from tables import CPCVAE, ROOT, commit, draw, load, write

NAMES = ("optdigits", "letter", "satimage", "pbmc")
COUNTS = (10, 3)

CACHE = ROOT / "bench/.cache/answers"
COVERAGES = (0.8, 0.9, 0.95)
BLANKED = 0.2
# Where rows of another kind come from.
STRANGERS = {
    "optdigits": "pbmc",
    "letter": "optdigits",
    "satimage": "optdigits",
    "pbmc": "optdigits",
}
MNIST_TRAIN, MNIST_LABELS, MNIST_TEST = 5000, 100, 2000


def cpcvae(*arguments):
    """Runs a command and returns what it prints."""
    command = [CPCVAE, *(str(argument) for argument in arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def answered(run, data, *options):
    """The lines of `cpcvae predict` as dictionaries."""
    return list(csv.DictReader(cpcvae("predict", run, data, *options).splitlines()))


def binned(probabilities, right):
    """Sums over the rows of each of ten bins by the largest probability p: rows, p, right, and
    p (1 - p), the variance of being right where p is exact."""
    sure = probabilities.max(axis=1)
    bins = np.minimum((sure * 10).astype(int), 9)
    sums = lambda values: np.bincount(bins, weights=values, minlength=10)
    return np.stack([sums(np.ones(len(sure))), sums(sure), sums(right), sums(sure * (1 - sure))])


def error_of(sums):
    """Expected calibration error from the sums of `binned`."""
    rows, sure, right, _ = sums
    return float(np.sum(np.abs(sure - right)) / np.sum(rows))


def exact_error_of(sums):
    """What it would be for exact probabilities: a normal number is off by sqrt(2 / pi)
    standard deviations on average."""
    return float(np.sum(np.sqrt(2 / np.pi * sums[3])) / np.sum(sums[0]))


def calibration_error(probabilities, right):
    """Expected calibration error of the largest probabilities over ten bins."""
    return error_of(binned(probabilities, right))


def honest_error(probabilities):
    """What the calibration error of exact probabilities would be on so many rows: the mean over
    100 draws of the classes from them. No calibration gets below it."""
    random = np.random.RandomState(0)
    sure = probabilities.max(axis=1)
    rights = (random.rand(100, len(sure)) < sure).astype(float)
    return float(np.mean([calibration_error(probabilities, right) for right in rights]))


def trust(run, test_file, classes):
    """Calibration before and after, and coverage, on rows of known class."""
    lines = answered(run, test_file, "--no-density")
    names = [name[2:] for name in lines[0] if name.startswith("p_")]
    calibrated = np.array([[float(line[f"p_{name}"]) for name in names] for line in lines])
    right = np.array([line["label"] == c for line, c in zip(lines, classes)], dtype=float)
    temperature = json.load(open(run / "model/answers.json"))["temperature"]
    stated = np.maximum(calibrated, 1e-12) ** temperature
    stated /= stated.sum(axis=1, keepdims=True)
    found = {
        "accuracy": float(right.mean()),
        "temperature": temperature,
        "stated_error": calibration_error(stated, right),
        "calibrated_error": calibration_error(calibrated, right),
        "honest_error": honest_error(calibrated),
        "stated_bins": binned(stated, right).tolist(),
        "calibrated_bins": binned(calibrated, right).tolist(),
    }
    for coverage in COVERAGES:
        lines = answered(run, test_file, "--no-density", "--coverage", coverage)
        sets = [line["set"].split("|") for line in lines]
        found[f"covered_{coverage}"] = float(np.mean([c in s for c, s in zip(classes, sets)]))
        found[f"set_size_{coverage}"] = float(np.mean([len(s) for s in sets if s != [""]]))
        found[f"empty_{coverage}"] = float(np.mean([s == [""] for s in sets]))
    return found


def usualness(run, data):
    """log p(x) and the percentile of each row; the higher, the more usual."""
    lines = answered(run, data)
    return {key: np.array([float(line[key]) for line in lines]) for key in ("log_p", "percentile")}


def areas(usual, strange, name):
    """AUROC of both against strange rows."""
    of = lambda key: area(usual[key], strange[key])
    return {name: of("log_p"), f"percentile_{name}": of("percentile")}


def area(usual, strange):
    """How often a usual row has the higher figure."""
    truth = np.concatenate([np.ones(len(usual)), np.zeros(len(strange))])
    return float(roc_auc_score(truth, np.concatenate([usual, strange])))


def strangers(name, features, rows, count):
    """Rows of another data set on the scale of these columns; the last are repeated if too few."""
    others, _ = load(STRANGERS[name])
    others = others[np.random.RandomState(0).permutation(len(others))[:count]]
    others = np.take(others, np.arange(features.shape[1]) % others.shape[1], axis=1)
    others = (others - others.mean(axis=0)) / np.maximum(others.std(axis=0), 1e-6)
    made = others * features[rows].std(axis=0) + features[rows].mean(axis=0)
    # Columns of whole numbers stay such, so that it is not the digits that give them away.
    whole = np.all(features == np.round(features), axis=0)
    low, high = features.min(axis=0), features.max(axis=0)
    return np.clip(np.where(whole, np.round(made), made), low, high)


def imputed(run, folder, features, training, test, seed):
    """Errors of filling in a fifth of the test rows' cells, in standard deviations."""
    random = np.random.RandomState(100 + seed)
    blank = random.rand(len(test), features.shape[1]) < BLANKED
    blank[blank.all(axis=1), 0] = False
    holes = np.where(blank, np.nan, features[test])
    with open(folder / "gaps.csv", "w") as file:
        print(*(f"x{i}" for i in range(features.shape[1])), sep=",", file=file)
        for row in holes:
            print(*("" if np.isnan(v) else f"{v:.9g}" for v in row), sep=",", file=file)
    lines = csv.reader(cpcvae("impute", run, folder / "gaps.csv").splitlines())
    ours = np.array([[float(cell) for cell in line] for line in list(lines)[1:]])
    mean, scale = features[training].mean(axis=0), features[training].std(axis=0)
    varies = scale > 0
    scaled = lambda rows: (rows - mean) / np.where(varies, scale, 1)
    neighbours = KNNImputer().fit(scaled(features[training])).transform(scaled(holes))
    counted = blank & varies
    error = lambda filled: float(np.sqrt(np.mean((filled - scaled(features[test]))[counted] ** 2)))
    return {
        "impute": error(scaled(ours)),
        "impute_mean": error(np.zeros_like(holes)),
        "impute_knn": error(neighbours),
    }


def table_draw(name, count, seed, folder, before=None):
    """All figures of a draw, or those of log p(x) and imputation anew beside the others of before."""
    features, classes = load(name)
    labelled, unlabelled, test = draw(classes, seed, count)
    training = np.sort(np.concatenate([labelled, unlabelled]))
    random = np.random.RandomState(seed)
    write(folder / "train.csv", features, classes, training, set(labelled.tolist()))
    write(folder / "test.csv", features, classes, test, set())
    shuffled = np.stack([random.permutation(column) for column in features[test].T], axis=1)
    write(folder / "shuffled.csv", shuffled, classes, range(len(shuffled)), set())
    strange = strangers(name, features, training, len(test))
    write(folder / "strange.csv", strange, classes, range(len(strange)), set())
    run = folder / "run"
    fit = ("fit", folder / "train.csv", "--label", "class", "--out", run, "--quiet")
    if before is None:
        # A stop loses nothing: the folds that are finished are not trained again.
        resumed = ["--resume"] if run.exists() else []
        cpcvae(*fit, "--no-compare", *resumed)
        found = trust(run, folder / "test.csv", [f"c{classes[row]}" for row in test])
    else:
        # Holding labels out does not change the model.
        cpcvae(*fit, "--no-crossfit")
        found = dict(before)
    usual = usualness(run, folder / "test.csv")
    for kind in ("shuffled", "strange"):
        found |= areas(usual, usualness(run, folder / f"{kind}.csv"), kind)
    return found | imputed(run, folder, features, training, test, seed)


def idx(path):
    """An IDX file of bytes, gzip, as an array."""
    data = gzip.open(path).read()
    sizes = [int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(data[3])]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(sizes)


def mnist_draw(_name, _count, seed, folder):
    source = Path(os.environ["CPCVAE_DATA"])
    part = lambda start, kind: idx(source / f"mnist/{start}-{kind}-ubyte.gz")
    images, digits = part("train", "images-idx3"), part("train", "labels-idx1")
    random = np.random.RandomState(seed)
    chosen = random.permutation(len(images))[:MNIST_TRAIN]
    known = np.full(MNIST_TRAIN, -1)
    for digit in range(10):
        places = np.where(digits[chosen] == digit)[0][: MNIST_LABELS // 10]
        known[places] = digit
    np.savez(folder / "train.npz", X=images[chosen], y=known)
    tested = random.permutation(10000)[:MNIST_TEST]
    test_images, test_digits = part("t10k", "images-idx3"), part("t10k", "labels-idx1")
    np.savez(folder / "test.npz", X=test_images[tested])
    street = next((source / "svhn").glob("gray-test*images*"))
    np.savez(folder / "strange.npz", X=idx(street)[:MNIST_TEST, 2:30, 2:30])
    run = folder / "run"
    fit = ("fit", folder / "train.npz", "--label", "y", "--out", run)
    cpcvae(*fit, "--no-compare", "--quiet", "--max-steps", 500)
    found = trust(run, folder / "test.npz", [str(digit) for digit in test_digits[tested]])
    usual = usualness(run, folder / "test.npz")
    return found | areas(usual, usualness(run, folder / "strange.npz"), "strange")


ROWS = [
    ("test accuracy, %", "accuracy", 100),
    ("calibration error as stated, points", "stated_error", 100),
    ("calibration error calibrated, points", "calibrated_error", 100),
    ("calibration error of exact probabilities, points", "honest_error", 100),
    *((f"covered, asked for {c:.0%}", f"covered_{c}", 100) for c in COVERAGES),
    *((f"classes in a set that has any, {c:.0%}", f"set_size_{c}", 1) for c in COVERAGES),
    *((f"rows with an empty set, {c:.0%}", f"empty_{c}", 100) for c in COVERAGES),
    ("AUROC of the percentile against shuffled columns", "percentile_shuffled", 1),
    ("AUROC of the percentile against another data set", "percentile_strange", 1),
    ("AUROC of log p(x) against shuffled columns", "shuffled", 1),
    ("AUROC of log p(x) against another data set", "strange", 1),
    ("imputation error, `impute`", "impute", 1),
    ("imputation error, column means", "impute_mean", 1),
    ("imputation error, KNNImputer", "impute_knn", 1),
]


# Over the rows of all draws together, where chance leaves less of a gap in each bin. A model that
# is too sure in one draw and not sure enough in another looks better here than it is.
POOLED = [
    ("all draws together: calibration error as stated", "stated_bins", error_of),
    ("all draws together: calibration error calibrated", "calibrated_bins", error_of),
    ("all draws together: of exact probabilities", "calibrated_bins", exact_error_of),
]


def table(lines):
    """Markdown: a column a data set, a row a figure, mean and standard deviation over draws."""
    of = lambda name: [line["found"] for line in lines if line["data"] == name]
    names = [name for name in (*NAMES, "mnist") if of(name)]
    rows = ["| | " + " | ".join(f"{n} ({len(of(n))} draws)" for n in names) + " |"]
    rows.append("|---" * (len(names) + 1) + "|")
    for title, key, times in ROWS:
        cells = []
        for name in names:
            values = [times * found[key] for found in of(name) if key in found]
            digits = 1 if times == 100 else 2
            spread = f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f}" if values else ""
            cells.append(spread)
        rows.append(f"| {title} | " + " | ".join(cells) + " |")
    for title, key, figure in POOLED:
        # Lines of before have no bins.
        sums = [[np.array(found[key]) for found in of(name) if key in found] for name in names]
        cells = [f"{100 * figure(np.sum(bins, axis=0)):.1f}" if bins else "" for bins in sums]
        rows.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--counts", default=",".join(map(str, COUNTS)), help="labels a class")
    parser.add_argument("--only", choices=(*NAMES, "mnist"), action="append")
    parser.add_argument("--again", action="store_true", help="log p(x) and imputation of finished draws")
    arguments = parser.parse_args()
    if "CPCVAE_DATA" not in os.environ:
        parser.error("CPCVAE_DATA must name the folder with tabular/, pbmc/, mnist/ and svhn/")
    results = ROOT / "results/answers.jsonl"
    lines = [json.loads(line) for line in results.open()] if results.exists() else []
    key = lambda line: (line["data"], line["count"], line["draw"])
    done = {key(line): line for line in lines}
    counts = [int(count) for count in arguments.counts.split(",")]
    names = arguments.only or (*NAMES, "mnist")
    cells = [(n, c, s) for s in range(arguments.draws) for c in counts for n in names]
    for name, count, seed in cells:
        # MNIST has ten labels a class.
        if name == "mnist" and count != MNIST_LABELS // 10:
            continue
        before = done.get((name, count, seed))
        if before and not (arguments.again and name in NAMES):
            continue
        folder = CACHE / f"{name}-{count}-{seed}"
        folder.mkdir(parents=True, exist_ok=True)
        if before:
            shutil.rmtree(folder / "run", ignore_errors=True)
            before["found"] = table_draw(name, count, seed, folder, before["found"])
            before["commit_again"] = commit()
            line = before
        else:
            measure = mnist_draw if name == "mnist" else table_draw
            line = {"data": name, "count": count, "draw": seed, "commit": commit()}
            line["found"] = measure(name, count, seed, folder)
            lines.append(line)
        print(json.dumps(line), flush=True)
        results.write_text("".join(json.dumps(line) + "\n" for line in lines))
        shutil.rmtree(folder)
    text = "Answers on test rows (`bench/answers`; mean and standard deviation over draws).\n"
    for count in sorted({line["count"] for line in lines}, reverse=True):
        text += f"\nWith {count} labels a class:\n\n"
        text += table([line for line in lines if line["count"] == count])
    (ROOT / "results/answers.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
