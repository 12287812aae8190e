"""Logs a run to MLflow: settings, every term over time, figures, and the run folder as an artifact.

    import mlflow, cpcvae.mlflow
    mlflow.set_experiment("wine")
    cpcvae.mlflow.log("runs/wine-cpc")

Everything is read from the run folder and goes through MLflow's own client.
"""

from __future__ import annotations

import json
import os
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

try:
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param, RunTag
    import mlflow
except ImportError as error:
    raise ImportError("cpcvae.mlflow needs MLflow: `pip install mlflow`") from error

# MLflow's limits on items in one call, and on the length of a setting.
METRICS_AT_ONCE, PARAMETERS_AT_ONCE, LONGEST = 1000, 100, 6000
# Parts of a run folder that are not logged: optimiser state, models of the folds.
LEFT_OUT = {"checkpoints", "crossfit", "quality"}


def log(run: str | os.PathLike[str], name: str | None = None, artifacts: bool = True) -> str:
    """Logs the folder of a finished run as one MLflow run, and returns its id.

    Uses the active MLflow run, or otherwise a new one, which is ended, in the active
    experiment; `name` is that of a new one. `artifacts=False` leaves the files of the run out.
    """
    folder = Path(run)
    if not (folder / "report.json").exists():
        raise FileNotFoundError(f"{folder} is not the folder of a finished run; `cpcvae fit` makes one")
    active = mlflow.active_run()
    if active is not None:
        _log_into(MlflowClient(), active.info.run_id, folder, artifacts)
        return active.info.run_id
    with mlflow.start_run(run_name=name or folder.name) as started:
        _log_into(MlflowClient(), started.info.run_id, folder, artifacts)
    return started.info.run_id


def _log_into(client: MlflowClient, run_id: str, folder: Path, artifacts: bool) -> None:
    settings = tomllib.loads((folder / "config.toml").read_text(encoding="utf-8"))
    parameters = [Param(key, str(value)[:LONGEST]) for key, value in _flat(settings)]
    for first in range(0, len(parameters), PARAMETERS_AT_ONCE):
        client.log_batch(run_id, params=parameters[first : first + PARAMETERS_AT_ONCE])
    card = json.loads((folder / "model" / "card.json").read_text(encoding="utf-8"))
    tags = [RunTag(f"cpcvae.{key}", str(card[key])) for key in ("version", "method", "data", "step")]
    metrics = list(_history(folder)) + list(_figures(folder))
    client.log_batch(run_id, tags=tags)
    for first in range(0, len(metrics), METRICS_AT_ONCE):
        client.log_batch(run_id, metrics=metrics[first : first + METRICS_AT_ONCE])
    if artifacts:
        for path in sorted(folder.iterdir()):
            if path.name not in LEFT_OUT and path.suffix != ".lock":
                client.log_artifact(run_id, str(path), "run")


def _flat(settings: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Keys as on the command line, such as `train.learning_rate`."""
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def _history(folder: Path) -> Iterator[Metric]:
    """The lines of metrics.jsonl: terms as `train/NAME`, figures as `validation/NAME`."""
    now = int(time.time() * 1000)
    path = folder / "metrics.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for line in map(json.loads, lines):
        step = line.pop("step")
        parts = {"validation": line.pop("validation", {}), "constraint": line.pop("constraint", {}), "train": line}
        for part, values in parts.items():
            for name, value in _numbers(values):
                yield Metric(f"{part}/{name}", value, now, step)


def _figures(folder: Path) -> Iterator[Metric]:
    """The final figures of report.json and answers.json."""
    now = int(time.time() * 1000)
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    step = report["fit"]["kept_step"]
    answers = folder / "model" / "answers.json"
    answers = json.loads(answers.read_text(encoding="utf-8")) if answers.exists() else {}
    held_out = answers.get("held_out") or {}
    accuracy = held_out.get("accuracy") or {}
    parts = {
        "kept": report["fit"].get("validation") or {},
        "test": report.get("test") or {},
        "held_out": {**(held_out.get("calibrated") or {}), "accuracy": accuracy.get("value")},
        "fit": {"seconds": report["fit"]["seconds"], "steps": report["fit"]["steps"]},
    }
    for part, values in parts.items():
        for name, value in _numbers(values):
            yield Metric(f"{part}/{name}", value, now, step)


def _numbers(values: dict[str, Any]) -> Iterator[tuple[str, float]]:
    for name, value in values.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            yield name, float(value)
