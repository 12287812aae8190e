"""`cpcvae.mlflow.log` into a store of MLflow on this machine."""

import json

import pytest

from export_support import mixed_run, module

mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed")


@pytest.fixture
def store(tmp_path):
    """A store of its own in a database file, put back afterwards."""
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    mlflow.create_experiment("cpcvae", artifact_location=(tmp_path / "artifacts").as_uri())
    mlflow.set_experiment("cpcvae")
    yield mlflow.MlflowClient()
    mlflow.set_tracking_uri(before)


def test_a_run_is_logged_whole(store):
    run, _ = mixed_run()
    run_id = module("mlflow").log(run)
    logged = store.get_run(run_id)
    assert logged.info.status == "FINISHED" and logged.info.run_name == run.name
    assert logged.data.params["method.name"] == "cpc"
    assert logged.data.params["train.steps"] == "150"
    assert logged.data.tags["cpcvae.method"] == "cpc"
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    expected = {line["step"]: line["prediction"] for line in lines if "prediction" in line}
    found = {metric.step: metric.value for metric in store.get_metric_history(run_id, "train/prediction")}
    assert found == pytest.approx(expected)
    assert 0 < logged.data.metrics["held_out/accuracy"] <= 1
    files = {file.path for file in store.list_artifacts(run_id, "run")}
    assert {"run/config.toml", "run/model", "run/report.html"} <= files
    assert not any("checkpoints" in file or "crossfit" in file for file in files)


def test_it_goes_into_the_active_run(store):
    run, _ = mixed_run()
    with mlflow.start_run() as active:
        assert module("mlflow").log(run, artifacts=False) == active.info.run_id
    assert not store.list_artifacts(active.info.run_id)
    assert "train.steps" in store.get_run(active.info.run_id).data.params


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="finished run"):
        module("mlflow").log(tmp_path)
