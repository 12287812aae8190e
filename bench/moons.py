"""scikit-learn on the half-moon draws of `cpcvae experiment fig1-half-moon`, setting "honest".

Draw d is what `cpcvae data export half-moon --labels N --seed d` writes: 1,000 rows of which N have
a label, drawn at random, and fresh test rows. The classifiers have their usual settings.

    bench/moons [--draws 10]

Writes results/half-moon-peers.json and prints the table.
"""

import argparse
import csv
import json
import statistics
import subprocess
from pathlib import Path

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelPropagation, LabelSpreading
from sklearn.svm import SVC
from tables import CPCVAE, ROOT

LABELS = (6, 100)
METHODS = {
    "LabelSpreading rbf": lambda: LabelSpreading(kernel="rbf"),
    "LabelSpreading knn": lambda: LabelSpreading(kernel="knn"),
    "LabelPropagation rbf": lambda: LabelPropagation(kernel="rbf"),
    "SVM": SVC,
    "nearest neighbour": lambda: KNeighborsClassifier(1),
}


def exported(seed, *which):
    """Features and classes (-1 where the label is blank) of one table."""
    command = [CPCVAE, "data", "export", "half-moon", "--seed", str(seed), *which]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = list(csv.DictReader(text.splitlines()))
    features = np.array([[float(row["x1"]), float(row["x2"])] for row in rows])
    return features, np.array([int(row["class"]) if row["class"] else -1 for row in rows])


def accuracy(make, train, test):
    (x, y), (test_x, test_y) = train, test
    model = make()
    if not model.__class__.__name__.startswith("Label"):
        x, y = x[y >= 0], y[y >= 0]
    return float((model.fit(x, y).predict(test_x) == test_y).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=10)
    draws = parser.parse_args().draws
    results = {}
    for labels in LABELS:
        for name, make in METHODS.items():
            results.setdefault(name, {})[labels] = [
                accuracy(make, exported(seed, "--labels", str(labels)), exported(seed, "--test"))
                for seed in range(draws)
            ]
    path = Path(ROOT) / "results/half-moon-peers.json"
    path.write_text(json.dumps({"command": f"bench/moons --draws {draws}", "accuracy": results}, indent=1) + "\n")
    print(f"| {draws} draws | " + " | ".join(f"{n} labels | lowest" for n in LABELS) + " |")
    print("|---|" + "---|" * 2 * len(LABELS))
    for name, of_labels in results.items():
        cells = []
        for values in of_labels.values():
            values = [100 * v for v in values]
            cells.append(f"{statistics.mean(values):.1f} ± {statistics.stdev(values):.1f} | {min(values):.1f}")
        print(f"| {name} | " + " | ".join(cells) + " |")


main()
