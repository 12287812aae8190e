"""How far exported models are from the library, on all rows of a file: the tables of docs/export.md.

    PYTHONPATH=python python bench/exports.py RUN DATA [--cpcvae PROGRAM]

DATA is what `cpcvae predict RUN DATA` takes, as far as it can be read here: a table of numbers
(.csv, .csv.gz), an .npz with `X`, or the folder of MNIST with --mnist. Needs onnxruntime, and
torch for the part of `cpcvae.torch`.
"""

import argparse
import csv
import gzip
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("data")
    parser.add_argument("--cpcvae", default="cpcvae", help="the program")
    parser.add_argument("--mnist", type=Path, help="folder of MNIST's files, where DATA is mnist")
    options = parser.parse_args()
    command = lambda *words: subprocess.run(
        [options.cpcvae, *map(str, words)], check=True, capture_output=True, text=True
    ).stdout
    with tempfile.TemporaryDirectory() as folder:
        onnx = Path(folder) / "model.onnx"
        about = json.loads(command("export", options.run, onnx, "--json"))
        rows = read(options, json.loads((options.run / "model" / "card.json").read_text()))
        place = ["--data-dir", options.mnist] if options.mnist else []
        table = Path(folder) / "answers.csv"
        answers = {}
        for what, prefix in (("encode", "mean_"), ("predict", "p_")):
            command(what, options.run, options.data, "--precision", "f32", "--out", table, *place)
            answers[prefix] = numbers(table, prefix)
        print(f"{len(rows)} rows, {about['bytes']:,} bytes; {about['answers']}")
        by_onnx(onnx, rows, answers)
        by_torch(options.run, rows, answers)


def read(options, card):
    """Rows as an exported model takes them."""
    if options.mnist:
        with gzip.open(next(options.mnist.glob("t10k-images*"))) as file:
            return np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 28, 28, 1) / 255
    if options.data.endswith(".npz"):
        return np.load(options.data)["X"]
    opened = gzip.open if options.data.endswith(".gz") else open
    with opened(options.data, "rt", newline="") as file:
        names, *cells = csv.reader(file)
    places = [names.index(column["name"]) for column in card["preprocess"]["layout"]["columns"]]
    return np.array([[float(row[place]) for place in places] for row in cells])


def numbers(path, prefix):
    with open(path, newline="") as file:
        names, *rows = csv.reader(file)
    places = [place for place, name in enumerate(names) if name.startswith(prefix)]
    return np.array([[float(row[place]) for place in places] for row in rows])


def by_onnx(path, rows, answers):
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    kind = {"tensor(float)": np.float32, "tensor(double)": np.float64}[session.get_inputs()[0].type]
    parts = [
        session.run(["code", "probabilities"], {"x": rows[first : first + 1000].astype(kind)})
        for first in range(0, len(rows), 1000)
    ]
    code, probabilities = (np.concatenate(part) for part in zip(*parts))
    apart = np.abs(probabilities - answers["p_"]).max(axis=1)
    same = (probabilities.argmax(1) == answers["p_"].argmax(1)).mean()
    print(f"onnxruntime {onnxruntime.__version__}: code {np.abs(code - answers['mean_']).max():.1e}, "
          f"probabilities {apart.max():.1e} ({(apart > 1e-4).sum()} rows above 1e-4), "
          f"{100 * same:.2f} % the same class")


def by_torch(run, rows, answers):
    try:
        import torch
        import cpcvae.torch
    except ImportError as error:
        return print(f"cpcvae.torch: {error}")
    model = cpcvae.torch.load(run)
    with torch.no_grad():
        posterior = model.encode(model.prepare(rows))
        line = f"torch {torch.__version__}: code {np.abs(posterior.mean.numpy() - answers['mean_']).max():.1e}"
        if not model.has_ensemble:
            apart = np.abs(model.probabilities(posterior.mean).numpy() - answers["p_"]).max()
            line += f", probabilities {apart:.1e}"
    print(line)


if __name__ == "__main__":
    main()
