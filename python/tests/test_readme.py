"""README's Python code works as written."""

import pathlib

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]


def test_the_code_of_readme_runs(tmp_path, monkeypatch, capsys):
    pandas = pytest.importorskip("pandas")
    code = (ROOT / "README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    assert len(code.strip().splitlines()) <= 12
    random = np.random.default_rng(0)
    class_ = np.arange(120) % 3
    table = pandas.DataFrame(random.normal(4 * class_[:, None], 1, (120, 2)), columns=["x", "y"])
    table["class"] = np.where(np.arange(120) % 9 < 3, np.array(["a", "b", "c"])[class_], None)
    table.to_csv(tmp_path / "table.csv.gz", index=False)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    assert (names["model"].predict(names["X"]) == np.array(["a", "b", "c"])[class_]).mean() > 0.9
    assert names["codes"].shape[0] == 120 and names["more"].shape == (100, 2)
    assert (tmp_path / "runs" / "table" / "model").is_dir()
    assert "array" in capsys.readouterr().out
