"""Optuna as the sampler of `cpcvae tune`.

`cpcvae tune DATA --sampler optuna` calls `python -m cpcvae.tune ask FOLDER` for each trial. A script
may do the same with any sampler of Optuna, and leave training, pruning and reporting to the command:

    import subprocess
    import optuna
    from cpcvae.tune import ask

    number = ask("runs/search", sampler=optuna.samplers.GPSampler())
    subprocess.run(["cpcvae", "tune", "table.csv", "--label", "class", "--out", "runs/search",
                    "--one-trial", str(number)], check=True)

The folder is that of a search created by `cpcvae tune`: `journal.log` is its study, and `search.json`
has the search space. Both sides read and write the same journal.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

STUDY = "cpcvae"


def open_study(folder: str | os.PathLike[str], sampler: Any = None) -> Any:
    """The study of a search in Optuna."""
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    path = os.path.join(os.fspath(folder), "journal.log")
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path}: there is no search here; `cpcvae tune` creates one")
    storage = JournalStorage(JournalFileBackend(path))
    return optuna.load_study(study_name=STUDY, storage=storage, sampler=sampler)


def parameters(folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The search space: name, distribution and condition of each parameter, in order."""
    with open(os.path.join(os.fspath(folder), "search.json"), encoding="utf-8") as file:
        return json.load(file)["space"]


def ask(folder: str | os.PathLike[str], sampler: Any = None) -> int:
    """Lets Optuna choose a trial and write it into the journal; returns its number.

    The trial is left running: `cpcvae tune --one-trial NUMBER` trains it and reports its value.
    """
    from optuna.distributions import json_to_distribution

    trial = open_study(folder, sampler).ask()
    for parameter in parameters(folder):
        when = parameter["when"]
        if when is not None and trial.params.get(when["name"]) not in when["is_one_of"]:
            continue
        distribution = json_to_distribution(parameter["distribution"])
        _suggest(trial, parameter["name"], distribution)
    return int(trial.number)


def _suggest(trial: Any, name: str, distribution: Any) -> None:
    from optuna.distributions import CategoricalDistribution, IntDistribution

    if isinstance(distribution, CategoricalDistribution):
        trial.suggest_categorical(name, distribution.choices)
    elif isinstance(distribution, IntDistribution):
        trial.suggest_int(name, distribution.low, distribution.high, log=distribution.log)
    else:
        trial.suggest_float(name, distribution.low, distribution.high, log=distribution.log)


def main(arguments: list[str]) -> int:
    """`python -m cpcvae.tune ask FOLDER` prints the number of the trial."""
    if len(arguments) != 2 or arguments[0] != "ask":
        print("usage: python -m cpcvae.tune ask FOLDER", file=sys.stderr)
        return 2
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    print(ask(arguments[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
