"""Examples in docstrings, and types."""

import doctest
import importlib
import pathlib
import re
import subprocess
import sys

import pytest

import cpcvae

MODULES = ["cpcvae", "cpcvae.classifier", "cpcvae.regressor", "cpcvae.imputer"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_give_what_they_say(name):
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert failed == 0 and tried > 0


def test_everything_that_is_exported_is_described():
    for name in cpcvae.__all__:
        thing = getattr(cpcvae, name)
        if not callable(thing):
            continue
        assert thing.__doc__, name
        if not isinstance(thing, type):
            continue
        parameters = set(thing._get_param_names()) if hasattr(thing, "_get_param_names") else set()
        methods = [one for one in vars(thing) if not one.startswith("_") and one not in parameters]
        assert all(getattr(thing, one).__doc__ for one in methods), name
        missing = [one for one in parameters if not re.search(rf"\b{one}\b", thing.__doc__)]
        assert not missing, (name, missing)


USE = """
import cpcvae
import numpy as np

model: cpcvae.CPCClassifier = cpcvae.CPCClassifier(steps=3).fit([[1.0]], [0])
shares: np.ndarray = model.predict_proba([[1.0]])
reveal_type(model.report_)
cpcvae.CPCClassifier(steps="many")
"""


def _said(arguments, folder):
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_mypy_accepts_the_package_and_knows_its_types(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "use.py").write_text(USE)
    # scikit-learn has no types of its own.
    said = _said(["mypy", "--ignore-missing-imports", "-p", "cpcvae"], tmp_path)
    assert "Success" in said, said
    said = _said(["mypy", "--ignore-missing-imports", "use.py"], tmp_path)
    assert 'Revealed type is "dict[str, Any]"' in said.replace("builtins.", ""), said
    assert 'has incompatible type "str"' in said and "Found 1 error" in said, said


def test_pyright_accepts_the_package(tmp_path):
    pytest.importorskip("pyright")
    said = _said(["pyright", "--version"], tmp_path)
    if not said.strip().split()[-1][:1].isdigit():
        pytest.skip(f"pyright cannot start here: {said[-200:]}")
    (tmp_path / "use.py").write_text(USE)
    said = _said(["pyright", "--pythonpath", sys.executable, "use.py"], tmp_path)
    assert "dict[str, Any]" in said and "1 error" in said, said
    # All modules but those for packages that may not be installed.
    optional = ("torch", "_torch", "mlflow", "hq", "tune")
    package = pathlib.Path(cpcvae.__file__).parent
    files = [str(path) for path in package.glob("*.py*") if not path.stem.startswith(optional)]
    assert len(files) > 12
    said = _said(["pyright", "--pythonpath", sys.executable, *files], tmp_path)
    assert "0 errors" in said, said
