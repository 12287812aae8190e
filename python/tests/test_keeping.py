"""Models that are saved, pickled, and shared with the command line."""

import copy
import csv
import io
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from cpcvae import CPCClassifier, CPCRegressor, M2Classifier

joblib = pytest.importorskip("joblib")


def command(*words, folder=None):
    """The output of the command, which must succeed."""
    done = subprocess.run(
        [sys.executable, "-m", "cpcvae", *map(str, words)],
        cwd=folder, capture_output=True, text=True, timeout=300, check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_copies_answer_alike(clouds, fitted, tmp_path):
    X, _, _ = clouds
    path = tmp_path / "model.joblib"
    joblib.dump(fitted, path)
    copies = [copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted)), joblib.load(path)]
    for one in copies:
        np.testing.assert_array_equal(one.predict_proba(X), fitted.predict_proba(X))
        np.testing.assert_array_equal(one.score_samples(X), fitted.score_samples(X))
        assert (one.report_, one.history_) == (fitted.report_, fitted.history_)
        # A copy of a copy is complete, too, although the original folder was deleted.
        assert pickle.dumps(one) == pickle.dumps(fitted)


def test_a_pickle_answers_in_a_fresh_process(clouds, fitted, tmp_path):
    X, _, _ = clouds
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(fitted))
    np.save(tmp_path / "X.npy", X)
    code = (
        "import pickle, numpy as np\n"
        "model = pickle.load(open('model.pickle', 'rb'))\n"
        "np.save('answers.npy', model.predict_proba(np.load('X.npy')))\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, timeout=120)
    np.testing.assert_array_equal(np.load(tmp_path / "answers.npy"), fitted.predict_proba(X))


def test_a_finished_fit_is_taken_up_from_its_folder(clouds, fitted, tmp_path):
    X, y, _ = clouds
    model = CPCClassifier(steps=60, folds=2, folder=tmp_path / "run", resume=True)
    for _ in range(2):
        np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), fitted.predict_proba(X))


def test_files_that_are_no_run_are_refused(fitted):
    from cpcvae._native import Model

    files = fitted._model.files()
    with pytest.raises(ValueError, match="no file of a run"):
        Model.from_files({"../outside": b""})
    damaged = dict(files, **{"model/model.safetensors": files["model/model.safetensors"][:-5]})
    with pytest.raises((ValueError, OSError)):
        Model.from_files(damaged)
    with pytest.raises(OSError):
        CPCClassifier.load("nowhere")


@pytest.fixture(scope="module")
def table(tmp_path_factory, clouds):
    """The clouds in a file, with the names that arrays are given."""
    X, y, _ = clouds
    folder = tmp_path_factory.mktemp("table")
    with open(folder / "rows.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["x0", "x1", "x2", "label"])
        writer.writerows([*map(repr, row.tolist()), int(label)] for row, label in zip(X, y, strict=True))
    return folder


@pytest.fixture(scope="module")
def run(table):
    """A run that the command line trained."""
    command(
        "fit", "rows.csv", "--label", "label", "--task", "classify", "--no-compare", "--folds", 2,
        "--max-steps", 60, "--out", "run", "--quiet", folder=table,
    )
    return table / "run"


MODEL_FILES = [
    "model/model.safetensors", "model/card.json", "model/codes.safetensors", "model/answers.json",
    "model/ensemble.json", "metrics.jsonl", "split.json",
]


def test_python_and_the_command_line_train_the_same_model(clouds, fitted, run, tmp_path):
    X, y, _ = clouds
    fitted.save(tmp_path / "of-python")
    in_folder = CPCClassifier(steps=60, folds=2, folder=tmp_path / "while-training").fit(X, y)
    names = [name for name in MODEL_FILES if (run / name).exists()]
    assert {"model/model.safetensors", "model/card.json", "metrics.jsonl"} <= set(names)
    for name in names:
        asked = (run / name).read_bytes()
        assert (tmp_path / "of-python" / name).read_bytes() == asked, name
        assert (tmp_path / "while-training" / name).read_bytes() == asked, name
    np.testing.assert_array_equal(in_folder.predict_proba(X), fitted.predict_proba(X))


def test_a_run_of_the_command_line_answers_in_python_and_the_other_way_round(
    clouds, fitted, run, table, tmp_path
):
    X, _, _ = clouds
    loaded = CPCClassifier.load(run)
    assert (loaded.method, list(loaded.classes_), loaded.n_features_in_) == ("cpc", [0, 1], 3)
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    fitted.save(tmp_path / "saved")
    said = command("predict", tmp_path / "saved", table / "rows.csv")
    rows = list(csv.DictReader(io.StringIO(said)))
    assert [int(row["label"]) for row in rows] == list(fitted.predict(X))
    log_p = np.array([float(row["log_p"]) for row in rows])
    np.testing.assert_allclose(log_p, fitted.score_samples(X), rtol=1e-6)


def test_a_load_tells_what_a_run_is_not(run):
    with pytest.raises(ValueError, match="model of classes"):
        CPCRegressor.load(run)
    with pytest.raises(ValueError, match="method 'cpc'"):
        M2Classifier.load(run)


def test_the_command_is_the_command(run, table):
    from cpcvae import __version__

    assert command("--version").strip() == f"cpcvae {__version__}"
    assert "cpc" in command("methods")
    report = command("evaluate", run, table / "rows.csv", "--label", "label", "--json")
    assert "accuracy" in report
    done = subprocess.run(
        [sys.executable, "-m", "cpcvae", "predict", "nowhere", "x.csv"],
        capture_output=True, text=True, check=False,
    )
    assert done.returncode == 1 and "error:" in done.stderr


def test_the_command_is_installed_beside_the_interpreter():
    script = os.path.join(os.path.dirname(sys.executable), "cpcvae")
    if not os.path.exists(script):
        pytest.skip(f"the package is not installed: there is no {script}")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("cpcvae ")


def test_a_report_is_a_page(clouds, fitted, tmp_path):
    X, y, _ = clouds
    fitted.write_report(X, y, tmp_path / "report.html")
    assert "<html" in (tmp_path / "report.html").read_text()
