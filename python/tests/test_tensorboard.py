"""`cpcvae fit --tensorboard` read back by TensorBoard."""

import json

import numpy as np
import pytest

from export_support import SMALL_IMAGES, command, mixed_run, scratch

loading = pytest.importorskip(
    "tensorboard.backend.event_processing.event_accumulator", reason="tensorboard is not installed"
)


def read(folder):
    events = loading.EventAccumulator(str(folder), size_guidance={loading.SCALARS: 0, loading.IMAGES: 0})
    events.Reload()
    return events


def metrics(run):
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


def test_every_term_of_every_training_is_there():
    board = scratch() / "board"
    run, _ = mixed_run("--tensorboard", str(board))
    assert {path.name for path in board.iterdir()} == {"cpc", "cpc-1-of-2", "cpc-2-of-2"}
    events = read(board / "cpc")
    lines = [line for line in metrics(run) if "loss" in line]
    names = {name for line in lines for name in line} - {"step", "stage"}
    assert {"loss", "prediction", "consistency"} <= names
    tags = set(events.Tags()["scalars"])
    assert {f"train/{name}" for name in names} <= tags and "held_out/accuracy" in tags
    for name in names:
        expected = {line["step"]: line[name] for line in lines if name in line}
        found = {event.step: event.value for event in events.Scalars(f"train/{name}")}
        assert found.keys() == expected.keys()
        assert np.allclose(list(found.values()), list(expected.values()), rtol=1e-6)
    assert "train/loss" in read(board / "cpc-2-of-2").Tags()["scalars"]


def test_validation_and_samples_of_images():
    board, run = scratch() / "images", scratch() / "glyphs"
    validated = ["--validation", "40", "--set", "train.evaluate_every=5"]
    command("fit", "glyphs", "--out", run, "--tensorboard", board, *validated, *SMALL_IMAGES)
    events = read(board / "cpc")
    validated = [line for line in metrics(run) if "validation" in line]
    found = events.Scalars("validation/accuracy")
    assert [event.step for event in found] == [line["step"] for line in validated]
    assert np.allclose([event.value for event in found], [line["validation"]["accuracy"] for line in validated])
    assert set(events.Tags()["images"]) == {"samples/from the prior", "samples/of the kept model"}
    first, *_ = events.Images("samples/from the prior")
    assert (first.height, first.width) == (4 * 28, 4 * 28)
    assert first.encoded_image_string.startswith(b"\x89PNG")
    report = json.loads((run / "report.json").read_text())
    (test,) = events.Scalars("test/accuracy")
    assert test.value == pytest.approx(report["test"]["accuracy"])


def test_a_run_that_begins_anew_replaces_what_was_there():
    board, run = scratch() / "again", scratch() / "moons"
    fit = ["fit", "half-moon", "--out", run, "--tensorboard", board, "--quiet"]
    command(*fit, "--max-steps", "60")
    command(*fit, "--max-steps", "30", "--overwrite")
    events = read(board / "cpc")
    steps = [event.step for event in events.Scalars("train/loss")]
    assert steps == sorted(set(steps)) and max(steps) == 30
