"""README's Python code works as written."""

import pathlib

from sklearn.datasets import load_wine

ROOT = pathlib.Path(__file__).parents[2]


def test_the_code_of_readme_runs(tmp_path, monkeypatch, capsys):
    code = (ROOT / "README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    assert len([line for line in code.splitlines() if line and "import" not in line]) <= 10
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    X, y = load_wine(return_X_y=True)
    hidden = names["y"] == -1
    assert 140 < hidden.sum() < 150
    assert (names["model"].predict(X) == y)[hidden].mean() > 0.9
    assert len(names["codes"]) == len(X) and names["more"].shape == (100, X.shape[1])
    assert (tmp_path / "runs" / "wine" / "model").is_dir()
    assert len(capsys.readouterr().out.splitlines()) > 5
