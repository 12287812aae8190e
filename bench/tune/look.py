"""Looks at a search as Optuna sees it, or at what its dashboard serves."""
import collections
import json
import sys
import time
import urllib.error
import urllib.request

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend


def look(folder, when):
    storage = JournalStorage(JournalFileBackend(f"{folder}/journal.log"))
    study = optuna.load_study(study_name="cpcvae", storage=storage)
    states = collections.Counter(trial.state.name for trial in study.trials)
    print(f"{when}: {len(study.trials)} trials, {dict(states)}")
    if len(study.trials) >= 12:
        print("  best:", study.best_trial.number, study.best_value)
        shares = optuna.importance.get_param_importances(study)
        print("  importances:", {name: round(share, 3) for name, share in shares.items()})


def dashboard(address):
    for _ in range(120):
        try:
            with urllib.request.urlopen(f"{address}/api/studies/0") as answer:
                study = json.load(answer)
                break
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.5)
    else:
        sys.exit("the dashboard does not answer")
    assert study["name"] == "cpcvae" and len(study["trials"]) == 15, study["name"]
    print("dashboard:", len(study["trials"]), "trials of", study["name"])


optuna.logging.set_verbosity(optuna.logging.ERROR)
if sys.argv[1] == "--dashboard":
    dashboard(sys.argv[2])
else:
    look(sys.argv[1], sys.argv[2])
