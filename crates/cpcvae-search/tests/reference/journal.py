"""Writes optuna-journal.log for tests/study.rs.

    pip install optuna && python journal.py
"""
import os

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "optuna-journal.log")
if os.path.exists(PATH):
    os.remove(PATH)
storage = JournalStorage(JournalFileBackend(PATH))
study = optuna.create_study(storage=storage, study_name="demo", direction="minimize")
study.set_user_attr("note", "by hand")


def objective(trial):
    trial.suggest_float("rate", 1e-4, 1.0, log=True)
    trial.suggest_int("n", 3, 3)
    trial.suggest_categorical("kind", ["a", "b"])
    if trial.number == 0:
        trial.report(0.5, 10)
        trial.report(0.25, 20)
        return 0.25
    if trial.number == 1:
        trial.report(float("nan"), 10)
        raise optuna.TrialPruned()
    raise ValueError("an error")


study.enqueue_trial({"rate": 0.5, "kind": "b"})
study.optimize(objective, n_trials=3, catch=ValueError)
study.enqueue_trial({"rate": 0.125})
optuna.create_study(storage=storage, study_name="upwards", direction="maximize")
