"""Images for the benchmark: bright strokes on black, ten kinds, each image moved a little. About a
fifth of the pixels is not black, as in MNIST. Speed does not depend on what is on the images, but
training on them should look like training."""

from pathlib import Path

import numpy as np

from settings import LABELLED_SHARE, SIDE, Setup

ROWS = 60_000
KINDS = 10


def image_file(cache: Path) -> Path:
    """The file of `ROWS` images `[ROWS, 28, 28]` in bytes; made when it is not there."""
    path = cache / "images.u8"
    if path.exists() and path.stat().st_size == ROWS * SIDE * SIDE:
        return path
    cache.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    # Each kind is a closed curve through random places, drawn with a round pen.
    angle = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    waves = random.normal(size=(KINDS, 2, 2, 3)) / np.arange(1, 4)  # x or y, sin or cos, frequency
    basis = np.stack([[f(k * angle) for k in range(1, 4)] for f in (np.sin, np.cos)])
    curve = 3.2 * np.einsum("kcbf,bft->kct", waves, basis)  # [kinds, 2, points]
    place = np.arange(SIDE) - (SIDE - 1) / 2
    partial = path.with_suffix(".tmp")
    with partial.open("wb") as file:
        for first in range(0, ROWS, 500):
            rows = np.arange(first, min(first + 500, ROWS))
            moved = curve[rows % KINDS] + random.normal(scale=1.2, size=(len(rows), 2, 1))
            dx = place[None, None, :] - moved[:, 0, :, None]  # [rows, points, 28]
            dy = place[None, None, :] - moved[:, 1, :, None]
            distance = dy[:, :, :, None] ** 2 + dx[:, :, None, :] ** 2
            ink = np.clip(2.2 - np.sqrt(distance.min(axis=1)), 0.0, 1.0)
            file.write((255.0 * ink).astype(np.uint8).tobytes())
    partial.rename(path)
    return path


def features(setup: Setup) -> np.ndarray:
    """Rows as the model sees them, `[rows, 784]` in f32: pixels in [-1, 1], for M2 in [0, 1]."""
    low, width = (0.0, 1.0) if setup.method == "m2" else (-1.0, 2.0)
    result = np.empty((setup.rows, SIDE * SIDE), np.float32)
    with open(setup.data, "rb") as file:
        for first in range(0, setup.rows, 1000):  # in pieces: memory is measured too
            piece = result[first : first + 1000]
            bytes_ = np.frombuffer(file.read(piece.size), np.uint8).reshape(piece.shape)
            np.multiply(bytes_, np.float32(width / 255.0), out=piece)
            piece += np.float32(low)
    return result


def batch_rows(setup: Setup, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Row numbers `[batch]` (labelled ones first) and classes `[labelled]` of `count` steps."""
    random = np.random.default_rng(1)
    labelled_rows = setup.rows // LABELLED_SHARE
    result = []
    for _ in range(count):
        few = random.integers(0, labelled_rows, setup.labelled)
        many = random.integers(labelled_rows, setup.rows, setup.batch - setup.labelled)
        result.append((np.concatenate([few, many]), few % setup.classes))
    return result
