"""`cpcvae fit` on images of one's own against `labels-only` and scikit-learn, with few labels.

10,000 faces of CelebA from CPCVAE_DATA (women and men, smiling or not: four classes, in colour) and
the first 4,000 crops of house numbers in colour, 32 x 32 pixels. A draw keeps the labels of some
images of each class and blanks the others; 2,000 faces, or 1,500 other house numbers, are the test.
Every method gets the same labels and is measured on the same test images; pixels are standardised
for the peers, which have their usual settings.

    bench/tables --script images [--draws 1] [--steps 600] [--only faces]

Finished draws are lines of results/images.jsonl and are not repeated. results/images.md is the table.
"""

import argparse
import io
import json
import os
import subprocess
import tempfile
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.io import loadmat
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
CPCVAE = os.environ.get("CPCVAE", str(TARGET / "release/cpcvae"))
RESULTS = ROOT / "results/images.jsonl"
SIDE = 32
# (images, labels a class)
CELLS = (("faces", 125), ("faces", 250), ("house numbers", 25), ("house numbers", 100))


def faces():
    """Images [rows, side, side, 3] and classes of training and test."""
    folder = Path(os.environ["CPCVAE_DATA"]) / "celeba"
    lines = (folder / "list_attr_celeba.txt").read_text().splitlines()
    names = lines[1].split()
    rows = [line.split() for line in lines[2:]]
    flag = lambda row, name: row[1 + names.index(name)] == "1"
    classes = np.array([2 * flag(row, "Male") + flag(row, "Smiling") for row in rows])
    with zipfile.ZipFile(folder / "img_align_celeba.zip") as archive:
        of_name = {Path(name).name: name for name in archive.namelist()}
        images = np.stack([square(archive.read(of_name[row[0]])) for row in rows])
    test = np.random.RandomState(99).permutation(len(rows)) < 2000
    return images[~test], classes[~test], images[test], classes[test]


def square(data):
    image = Image.open(io.BytesIO(data)).convert("RGB")
    side = min(image.size)
    left, top = ((length - side) // 2 for length in image.size)
    image = image.crop((left, top, left + side, top + side))
    return np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BILINEAR))


def house_numbers():
    folder = Path(os.environ["CPCVAE_DATA"]) / "svhn"
    parts = [loadmat(folder / f"subset_{part}_32x32.mat") for part in ("train", "test")]
    of_part = lambda part: (part["X"].transpose(3, 0, 1, 2), part["y"].ravel() % 10)
    return (*of_part(parts[0]), *of_part(parts[1]))


LOADED = {"faces": faces, "house numbers": house_numbers}


def fit_cpcvae(method, steps, images, given, test, expected):
    """Test accuracy and seconds."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        np.savez(place / "train.npz", X=images, y=given)
        np.savez(place / "test.npz", X=test, y=expected)
        start = time.time()
        fit = ["fit", "train.npz", "--label", "y", "--no-crossfit", "--max-steps", str(steps)]
        fit += ["--method", method, "--out", "run", "--quiet"]
        subprocess.run([CPCVAE, *fit], cwd=place, check=True, capture_output=True)
        seconds = time.time() - start
        answer = [CPCVAE, "evaluate", "run", "test.npz", "--json"]
        done = subprocess.run(answer, cwd=place, check=True, capture_output=True, text=True)
        return json.loads(done.stdout)["accuracy"], seconds


def peers(images, classes, test, expected):
    flat = lambda part: part.reshape(len(part), -1).astype(float)
    scaler = StandardScaler().fit(flat(images))
    known, unknown = scaler.transform(flat(images)), scaler.transform(flat(test))
    usual = {
        "logistic regression": LogisticRegression(max_iter=300),
        "SVM": SVC(),
        "random forest": RandomForestClassifier(random_state=0),
        "extremely randomised trees": ExtraTreesClassifier(random_state=0),
    }
    return {
        name: float(peer.fit(known, classes).score(unknown, expected))
        for name, peer in usual.items()
    }


def run(name, count, draw, steps):
    images, classes, test, expected = LOADED[name]()
    random = np.random.RandomState(draw)
    given = np.full(len(classes), -1)
    for k in np.unique(classes):
        kept = random.permutation(np.where(classes == k)[0])[:count]
        given[kept] = k
    known = given >= 0
    line = {"images": name, "labels": count, "draw": draw, "steps": steps}
    line["accuracy"] = {}
    for label, method in (("cpcvae fit", "cpc"), ("cpcvae, labels-only", "labels-only")):
        accuracy, seconds = fit_cpcvae(method, steps, images, given, test, expected)
        line["accuracy"][label] = accuracy
        line.setdefault("seconds", seconds)
    line["accuracy"].update(peers(images[known], classes[known], test, expected))
    return line


def table(lines):
    names = list(lines[0]["accuracy"])
    text = ["Test accuracy, %, means over draws (`bench/tables --script images`).", ""]
    text.append("| images | labels a class | draws | " + " | ".join(names) + " |")
    text.append("|---" * (3 + len(names)) + "|")
    for name, count in CELLS:
        cell = [line for line in lines if (line["images"], line["labels"]) == (name, count)]
        if cell:
            means = [np.mean([line["accuracy"][peer] for line in cell]) for peer in names]
            shown = " | ".join(f"{100 * mean:.1f}" for mean in means)
            text.append(f"| {name} | {count} | {len(cell)} | {shown} |")
    return "\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--only", choices=LOADED)
    args = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    lines = [json.loads(line) for line in RESULTS.read_text().splitlines()] if RESULTS.exists() else []
    done = {(line["images"], line["labels"], line["draw"], line["steps"]) for line in lines}
    for draw in range(args.draws):
        for name, count in CELLS:
            if (name, count, draw, args.steps) in done or args.only not in (None, name):
                continue
            lines.append(run(name, count, draw, args.steps))
            with RESULTS.open("a") as file:
                file.write(json.dumps(lines[-1]) + "\n")
            print(json.dumps(lines[-1]), flush=True)
    RESULTS.with_suffix(".md").write_text(table(lines))


if __name__ == "__main__":
    main()
