"""Support of the export tests: the command, modules of the package, and a small run."""

import atexit
import csv
import functools
import importlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import types
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
# Options of `fit glyphs` for a short training.
SMALL_IMAGES = ["--set", "data.rows=300", "--set", "model.hidden=[12]", "--set", "train.unlabelled_per_batch=20"]
SMALL_IMAGES += ["--max-steps", "10", "--no-crossfit", "--quiet"]
RECORDED = ROOT / "crates" / "cpcvae" / "tests" / "recorded"


def command(*arguments):
    """The output of `cpcvae ARGUMENTS`: of CPCVAE_BIN, or of the command that was installed with the
    package, or of the one on the path."""
    installed = shutil.which("cpcvae", path=Path(sys.executable).parent)
    program = os.environ.get("CPCVAE_BIN") or installed or shutil.which("cpcvae")
    if program is None:
        pytest.skip("no command `cpcvae`: install the package, or set CPCVAE_BIN")
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def module(name):
    """A module of the package: the installed one, or else the file beside these tests."""
    try:
        return importlib.import_module(f"cpcvae.{name}")
    except ImportError:
        package = types.ModuleType("cpcvae_files")
        package.__path__ = [str(ROOT / "python" / "cpcvae")]
        sys.modules.setdefault("cpcvae_files", package)
        return importlib.import_module(f"cpcvae_files.{name}")


@functools.cache
def scratch():
    """A folder that is removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="cpcvae-test-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def table(text):
    """Names and rows of CSV."""
    names, *rows = csv.reader(io.StringIO(text))
    return names, rows


def columns_of(text, wanted):
    """Numbers of the columns whose names `wanted` takes, `[rows, columns]`."""
    names, rows = table(text)
    places = [place for place, name in enumerate(names) if wanted(name)]
    return np.array([[float(row[place]) for place in places] for row in rows])


def codes(run, rows):
    """Means and standard deviations as `cpcvae encode` gives them in f32."""
    text = command("encode", run, rows, "--precision", "f32")
    return tuple(columns_of(text, lambda name: name.startswith(part)) for part in ("mean_", "sigma_"))


def probabilities(run, rows):
    """Class probabilities as `cpcvae predict` gives them in f32."""
    text = command("predict", run, rows, "--precision", "f32")
    return columns_of(text, lambda name: name.startswith("p_"))


def write_table(path, names, rows):
    """Writes CSV."""
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    return path


def as_numbers(rows, columns):
    """Cells of a table as an exported model takes them: a level's place, days since 1970, NaN."""

    def number(cell, column):
        kind, levels = column["kind"], column.get("levels")
        if isinstance(kind, dict):
            levels = kind["category"]
        if cell == "":
            return float("nan")
        if levels is not None:
            return levels.index(cell)
        if "-" in cell[1:]:
            return (date.fromisoformat(cell) - date(1970, 1, 1)).days
        return float(cell)

    return np.array([[number(cell, column) for cell, column in zip(row, columns)] for row in rows])


NAMES = ["age", "income", "town", "visits", "smokes", "since", "meter", "kind"]


@functools.cache
def mixed_rows():
    """Rows of numbers, levels, counts, flags, dates and a number that is large against its spread, with
    missing cells; a label for a third."""
    random = np.random.default_rng(7)
    rows = []
    for place in range(240):
        group = place % 3
        row = [
            f"{random.normal(30 + 12 * group, 6):.2f}",
            f"{np.exp(random.normal(9 + 0.4 * group, 0.5)):.1f}",
            ["Bern", "Oslo", "Rome", "Turin"][min(3, max(0, round(random.normal(group + 0.5, 0.8))))],
            str(random.poisson(2 + 4 * group)),
            str(int(random.random() < 0.2 + 0.3 * group)),
            (date(2019, 1, 1) + timedelta(days=int(random.integers(0, 1500)))).isoformat(),
            f"{2e9 + group + random.normal(0, 0.8):.3f}",
        ]
        row = ["" if column not in (3, 5) and random.random() < 0.06 else cell for column, cell in enumerate(row)]
        rows.append([*row, ["low", "middle", "high"][group] if place % 9 < 3 else ""])
    return rows


@functools.cache
def mixed_run(*more):
    """A run on these rows, and the file with them."""
    name = "-".join(word.strip("-").replace("=", "-").replace("/", "-") for word in more) or "plain"
    path = write_table(scratch() / "mixed.csv", NAMES, mixed_rows())
    run = scratch() / name
    options = ["--precision", "f32", "--max-steps", "150", "--folds", "2", "--no-compare", "--quiet"]
    command("fit", path, "--label", "kind", "--column", "visits=count", "--out", run, *options, *more)
    return run, path


def pixels(side=28):
    """Grey images of whole numbers from 0 to 255, and an .npy file with them."""
    random = np.random.default_rng(3)
    images = random.integers(0, 256, (40, side, side)).astype(np.uint8)
    path = scratch() / "images.npy"
    np.save(path, images)
    return images, path


def moons():
    """Points of half-moon, and a table with them."""
    names, rows = table(command("data", "export", "half-moon"))
    rows = [row[:2] for row in rows[:300]]
    return np.array(rows, dtype=float), write_table(scratch() / "moons.csv", names[:2], rows)
