"""`docs/schema.json` against `report.json` and what every command prints with `--json`."""

import json
import random

import pytest

from export_support import ROOT, command, scratch, write_table

jsonschema = pytest.importorskip("jsonschema")
SCHEMA = json.loads((ROOT / "docs/schema.json").read_text())


def strict(schema):
    """The schema with objects that may hold nothing else: a key that is not described is an error."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: strict(part) for key, part in schema.items()}
    return {**closed, "additionalProperties": False} if "properties" in closed else closed


def check(name, text):
    schema = {"$defs": strict(SCHEMA["$defs"]), "$ref": f"#/$defs/{name}"}
    value = json.loads(text)
    jsonschema.Draft202012Validator(schema).validate(value)
    return value


@pytest.fixture(scope="module")
def classes():
    rows = [[row % 2 * 9 + row % 5, row % 7, ["low", "high"][row % 2] if row % 3 == 0 else ""] for row in range(90)]
    return write_table(scratch() / "classes.csv", ["a", "b", "kind"], rows)


@pytest.fixture(scope="module")
def run(classes):
    folder = scratch() / "of-classes"
    options = ["--label", "kind", "--out", folder, "--folds", "2", "--max-steps", "60", "--json", "--quiet"]
    answer = check("fit_answer", command("fit", classes, *options))
    assert answer["held_out"]["methods"] and answer["run"] == str(folder)
    return folder


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        check("score", '{"format": 1}')


def test_classes(run, classes):
    assert check("report", (run / "report.json").read_text())["verdict"]["outcome"]
    assert check("evaluate", command("evaluate", run, classes, "--json"))["per_class"]
    check("score", command("score", run, classes, "--json"))
    check("export", command("export", run, scratch() / "classes.onnx", "--json"))
    cells = ["--label", "kind", "--folds", "2", "--max-steps", "60", "--json", "--quiet", "--out"]
    listed = check("fold_cells", command("fit", classes, *cells, run, "--list-cells"))
    assert all(cell["done"] for cell in listed["cells"])
    check("fold_cell", command("fit", classes, *cells, scratch() / "cells", "--cell", "1"))


def test_continuous_labels():
    draw = random.Random(0)
    values = [draw.gauss(0, 1) for _ in range(120)]
    rows = [[f"{a:.4f}", row % 7, "" if row % 3 else f"{3 * a + row % 7 + 0.123:.3f}"] for row, a in enumerate(values)]
    path, run = write_table(scratch() / "prices.csv", ["a", "b", "price"], rows), scratch() / "of-prices"
    options = ["--label", "price", "--task", "regress", "--out", run, "--folds", "2", "--max-steps", "60"]
    check("fit_answer", command("fit", path, *options, "--json", "--quiet"))
    assert check("report", (run / "report.json").read_text())["held_out"]["absolute_error"]
    assert "rmse" in check("evaluate", command("evaluate", run, path, "--json"))


@pytest.mark.parametrize("method", ["pc", "vae"])
def test_nothing_held_out_and_a_constraint(method):
    run = scratch() / f"moons-{method}"
    options = ["--method", method, "--out", run, "--no-crossfit", "--max-steps", "30", "--json", "--quiet"]
    if method == "pc":
        options += ["--target-accuracy", "0.9"]
    answer = check("fit_answer", command("fit", "half-moon", *options))
    report = check("report", (run / "report.json").read_text())
    assert answer["held_out"] is None and (report["fit"]["constraint"] is not None) == (method == "pc")
    quality = ["--rows", "40", "--samples", "5", "--json"]
    check("quality", command("quality", run, "half-moon", *quality))


def test_other_commands(classes):
    where = ["--out", scratch() / "curve"]
    check("learning_curve", command("learning-curve", classes, "--label", "kind", "--max-steps", "20", "--json", *where))
    where = ["--out", scratch() / "search"]
    short = ["--trials", "2", "--max-steps", "20", "--json", "--quiet"]
    check("tune", command("tune", classes, "--label", "kind", *short, *where))
    check("devices", command("devices", "--json"))
    check("demo", command("demo", "--json", "--quiet", *["--out", scratch() / "demo"]))
    check("cells", command("experiment", "fig1-half-moon", "--list-cells", "--json"))
    where = ["--results", scratch() / "results"]
    check("experiment", command("experiment", "fig1-half-moon", "--quick", "--only", "PC-VAE", "--json", "--quiet", *where))
