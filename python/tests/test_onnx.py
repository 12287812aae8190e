"""`cpcvae export` against `cpcvae encode` and `predict`, row by row, by onnxruntime."""

import json

import numpy as np
import pytest

from cpcvae import CPCClassifier
from export_support import (
    NAMES, RECORDED, as_numbers, codes, columns_of, command, mixed_rows, mixed_run, moons, pixels,
    probabilities, scratch, write_table,
)

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
TOLERANCE = 1e-4
VECTORS = sorted(path.name for path in RECORDED.glob("half-moon-*"))
IMAGES = ["glyphs-cpc", "glyphs-m2", "glyphs-wrn"]


class Graph:
    """An exported model."""

    def __init__(self, run, *options):
        path = scratch() / f"{run.name}{len(options)}.onnx"
        self.about = json.loads(command("export", run, path, "--json", *options))
        self.session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        self.bytes = path.stat().st_size
        self.texts = self.session.get_modelmeta().custom_metadata_map
        self.columns, self.classes = json.loads(self.texts["columns"]), json.loads(self.texts["classes"])
        (self.input,) = self.session.get_inputs()

    def __call__(self, rows):
        kind = {"tensor(float)": np.float32, "tensor(double)": np.float64}[self.input.type]
        names = [output.name for output in self.session.get_outputs()]
        values = self.session.run(names, {self.input.name: np.asarray(rows, dtype=kind)})
        return dict(zip(names, values))


def compare(graph, run, rows, path):
    """Codes and probabilities of the graph against those of the command."""
    said = graph(rows)
    if "code" in said:
        assert np.abs(said["code"] - codes(run, path)[0]).max() < TOLERANCE
    if "probabilities" in said:
        expected = probabilities(run, path)
        assert np.abs(said["probabilities"] - expected).max() < TOLERANCE
        assert (said["label"] == said["probabilities"].argmax(axis=1)).all()
    return said


@pytest.mark.parametrize("name", VECTORS)
def test_every_method_answers_as_the_library_does(name):
    rows, path = moons()
    graph = Graph(RECORDED / name)
    said = compare(graph, RECORDED / name, rows, path)
    assert graph.texts["method"] == name.removeprefix("half-moon-")
    assert set(said) >= ({"code"} if name == "half-moon-vae" else {"probabilities", "label"})


@pytest.mark.parametrize("name", IMAGES)
def test_images_go_in_as_pixels_from_0_to_1(name):
    images, path = pixels()
    graph = Graph(RECORDED / name)
    assert graph.input.shape[1:] == [28, 28, 1]
    compare(graph, RECORDED / name, images[..., None] / 255, path)


@pytest.mark.parametrize(
    "more", [(), ("--set=model.batch_norm=true", "--set=model.activation=softplus"), ("--method=m2",)]
)
def test_a_mixed_table(more):
    run, path = mixed_run(*more)
    is_vote = "--method=m2" not in more
    graph = Graph(run)
    rows = as_numbers([row[:-1] for row in mixed_rows()], graph.columns)
    assert np.isnan(rows).any()
    # A column is so large against its spread that 32 bits could not tell its numbers apart.
    assert graph.input.type == "tensor(double)"
    said = compare(graph, run, rows, path)
    assert all((name in graph.about["answers"]) == is_vote for name in ("extra-trees", "label-spreading"))
    assert graph.classes == ["high", "low", "middle"]
    # New rows, too: ensemble members fit the training rows exactly.
    random = np.random.default_rng(1)
    columns = range(len(NAMES) - 1)
    mixed = [[mixed_rows()[random.integers(240)][column] for column in columns] for _ in range(100)]
    new = write_table(scratch() / "new.csv", NAMES[:-1], mixed)
    compare(graph, run, as_numbers(mixed, graph.columns), new)
    alone = Graph(run, "--network-only")
    difference = np.abs(alone(rows)["probabilities"] - said["probabilities"]).max()
    assert (difference > 0.01) == is_vote and (alone.bytes < graph.bytes) == is_vote
    assert ("as it states them" in alone.about["answers"]) == is_vote


def test_images_with_an_ensemble():
    # Horizontal and vertical bars, of which a few have a label.
    random = np.random.default_rng(5)
    images = random.integers(0, 60, (60, 12, 12)).astype(np.uint8)
    labels = np.array([place % 2 for place in range(60)])
    for place, image in enumerate(images):
        at = random.integers(2, 8)
        (image if labels[place] else image.T)[at : at + 3, 1:11] = 230
    labels[24:] = -1
    path, run = scratch() / "bars.npz", scratch() / "bars"
    np.savez(path, x=images, y=labels)
    small = ["--set", "model.hidden=[12]", "--max-steps", "10", "--no-crossfit", "--quiet"]
    command("fit", path, "--out", run, "--precision", "f32", *small)
    graph = Graph(run)
    assert "extra-trees" in graph.about["answers"]
    compare(graph, run, images[..., None] / 255, path)


def test_continuous_labels_are_in_the_users_units():
    random = np.random.default_rng(2)
    rows = random.normal(size=(150, 3))
    targets = 1e6 + 40 * rows[:, 0] + random.normal(size=150)
    cells = [[*row, target if place < 60 else ""] for place, (row, target) in enumerate(zip(rows, targets))]
    path, run = write_table(scratch() / "values.csv", ["a", "b", "c", "price"], cells), scratch() / "values"
    options = ["--task", "regress", "--precision", "f32", "--max-steps", "100", "--no-crossfit", "--quiet"]
    command("fit", path, "--label", "price", "--out", run, *options)
    graph = Graph(run)
    predicted = command("predict", run, path, "--precision", "f32")
    expected = columns_of(predicted, lambda name: name == "price")
    said = graph(rows)["values"]
    assert np.abs(said - expected).max() < TOLERANCE * targets.std()
    assert json.loads(graph.texts["labels"]) == ["price"]


def test_a_name_that_is_not_onnx_is_refused():
    with pytest.raises(AssertionError, match="does not end in .onnx"):
        command("export", RECORDED / "half-moon-cpc", scratch() / "model.pt")


def test_what_is_printed_says_what_goes_in_and_out():
    path = scratch() / "said.onnx"
    text = command("export", RECORDED / "table-cpc", path)
    for words in ("input", "float [rows, 4]", "code", "probabilities", "answers"):
        assert words in text


def test_an_estimator_writes_the_same_file_as_the_command(clouds, tmp_path):
    X, y, _ = clouds
    # The file computes in 32 bits.
    model = CPCClassifier(steps=60, folds=2, precision="f32").fit(X, y)
    written = model.export_onnx(tmp_path / "python.onnx")
    assert written["input"]["kind"] == "float [rows, 3]"
    model.save(tmp_path / "run")
    command("export", tmp_path / "run", tmp_path / "command.onnx")
    assert (tmp_path / "python.onnx").read_bytes() == (tmp_path / "command.onnx").read_bytes()
    session = onnxruntime.InferenceSession(tmp_path / "python.onnx")
    code, probabilities, label = session.run(None, {"x": X.astype(np.float32)})
    assert np.abs(probabilities - model.predict_proba(X)).max() < TOLERANCE
    assert np.abs(code - model.transform(X)).max() < TOLERANCE
    assert (label == model.predict(X)).all()
    model.export_onnx(tmp_path / "network.onnx", network_only=True)
    assert (tmp_path / "network.onnx").stat().st_size < (tmp_path / "python.onnx").stat().st_size
