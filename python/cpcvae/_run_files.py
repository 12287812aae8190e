"""Reads the files of a run folder: plain numbers and JSON. Nothing in it is executed."""

from __future__ import annotations

import json
import os
import struct
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

FORMAT = 1


class RunFiles(NamedTuple):
    """The parts of a finished run for inference."""

    folder: Path
    card: dict[str, Any]
    """The model's metadata: shapes, classes, preprocessing of rows."""
    tensors: dict[str, npt.NDArray[np.float32]]
    """Parameters by name, as arrays of float32."""
    temperature: float
    """The temperature of class probabilities; 1 leaves them unchanged."""
    has_ensemble: bool
    """Whether the run predicts classes with an ensemble."""


def read_run(folder: str | os.PathLike[str]) -> RunFiles:
    """Reads the folder of a finished run."""
    folder = Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no run folder {folder}; `cpcvae fit` makes one")
    path = folder / "model" / "model.safetensors"
    if not path.exists():
        raise FileNotFoundError(f"{folder} has no model: the run has not finished; resume it first")
    tensors, about = read_tensors(path)
    card = json.loads(about)
    if card.get("format") != FORMAT:
        raise ValueError(
            f"{path} has format {card.get('format')}, and this version of cpcvae reads format {FORMAT}"
        )
    answers = folder / "model" / "answers.json"
    temperature = 1.0
    if answers.exists():
        temperature = json.loads(answers.read_text(encoding="utf-8"))["temperature"]
    has_ensemble = (folder / "model" / "members.safetensors").exists()
    return RunFiles(folder, card, tensors, temperature, has_ensemble)


def read_tensors(path: str | os.PathLike[str]) -> tuple[dict[str, npt.NDArray[np.float32]], str]:
    """The tensors and the metadata text of a safetensors file that cpcvae wrote."""
    data = Path(path).read_bytes()
    try:
        (length,) = struct.unpack_from("<Q", data)
        header = json.loads(data[8 : 8 + length])
        checksum, about = header.pop("__metadata__")["cpcvae"].split(" ", 1)
        body = memoryview(data)[8 + length :]
        tensors = {}
        for name, entry in header.items():
            if entry["dtype"] != "F32":
                raise ValueError(f"tensor `{name}` is not F32")
            first, last = entry["data_offsets"]
            values = np.frombuffer(body[first:last], dtype="<f4")
            tensors[name] = values.reshape(entry["shape"]).copy()
    except (struct.error, KeyError, ValueError, TypeError) as error:
        raise ValueError(f"{path} is damaged or not a file of cpcvae: {error}") from error
    found = zlib.crc32(about.encode())
    for name in sorted(tensors):
        found = zlib.crc32(tensors[name].tobytes(), zlib.crc32(name.encode(), found))
    if found != int(checksum):
        raise ValueError(f"{path} is damaged: its checksum does not match; restore it or train again")
    return tensors, about
