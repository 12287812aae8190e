"""Parameters of the estimators: type, default, key of the library's setting, and description.

Each class adds parameters to those of its base classes; ``dataclass`` makes the constructors from them,
with the signatures that scikit-learn and type checkers read.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Parameters that are settings of the library, and their keys.
KEYS = {
    "steps": "train.steps",
    "learning_rate": "train.learning_rate",
    "precision": "train.precision",
    "code": "model.code",
    "hidden": "model.hidden",
    "missing_cells": "model.missing_cells",
    "validation": "data.validation",
    "prediction_weight": "method.prediction_weight",
    "consistency_weight": "method.consistency_weight",
    "aggregate_weight": "method.aggregate_weight",
    "entropy_weight": "method.entropy_weight",
    "predictor_norm": "method.predictor_norm",
    "beta": "method.beta",
    "classification_weight": "method.classification_weight",
    "pseudo_labels": "pseudo_labels.source",
}
#: Parameters of the fit with the same name in the library.
OPTIONS = ("preset", "folds", "hold_out", "budget", "device")


@dataclass(kw_only=True, eq=False, repr=False)
class ModelParameters:
    """Parameters of every estimator."""

    steps: int | None = None
    learning_rate: float | None = None
    code: int | None = None
    hidden: Sequence[int] | None = None
    columns: dict[str, str] | None = None
    validation: float | None = None
    budget: float | None = None
    preset: str | None = None
    precision: str | None = None
    device: str | None = None
    folder: str | os.PathLike[str] | None = None
    resume: bool = False
    settings: dict[str, Any] | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0


MODEL = """\

    Every parameter is None for the library's default, which may depend on the data.

    Parameters
    ----------
    random_state : int, RandomState or None
        Seed of split, weights, batches and noise; 0 by default. The same rows and
        settings give the same model.
    steps : int
        Steps of training (``train.steps``).
    learning_rate : float
        Adam's step size (``train.learning_rate``).
    code : int
        Dimensions of the code (``model.code``).
    hidden : sequence of int
        Units of the encoder's dense layers; the decoder mirrors them (``model.hidden``).
    columns : dict
        Kinds of columns, instead of guesses: ``{"size": "number"}``; number, flag, category,
        count or ignore.
    validation : float
        Validation rows: a share below 1, or a number.
    budget : float
        The time for everything, in seconds.
    preset : {"default", "paper"}
        Our defaults, or the paper's.
    precision : {"auto", "f32", "bf16"}
        Precision of large products on the CPU.
    device : {"cpu", "wgpu", "cuda", "metal"}
        The device, if this build supports it.
    folder, resume : path, bool
        The run folder, written during training; whether a stopped fit of the same rows there is
        resumed.
    settings : dict
        Any other setting by its key: ``{"train.clip_norm": 10}``. ``docs/methods`` lists them all.
    verbose : int
        1 shows a progress bar, if tqdm is installed."""


@dataclass(kw_only=True, eq=False, repr=False)
class PredictorParameters(ModelParameters):
    """Parameters of classifiers and regressors."""

    missing_cells: bool | None = None
    hold_out: bool | None = None
    folds: int | None = None
    baselines: bool = False


PREDICTOR = f"""{MODEL}
    missing_cells : bool
        Whether new rows may have missing cells although training rows have none.
    hold_out, folds : bool, int
        Whether, and in how many folds, labels are held out to calibrate probabilities and sets.
    baselines : bool
        Whether baselines are trained on the same folds, for :meth:`compare`."""


@dataclass(kw_only=True, eq=False, repr=False)
class PredictionConstraint(PredictorParameters):
    """Parameters of the prediction constraint."""

    prediction_weight: float | None = None
    predictor_norm: float | None = None
    beta: float | None = None


PREDICTION = f"""{PREDICTOR}
    prediction_weight : float
        Weight of the prediction constraint, the paper's lambda (``method.prediction_weight``).
    predictor_norm, beta : float
        Weights of the predictor's squared weights, and of the KL divergence."""


@dataclass(kw_only=True, eq=False, repr=False)
class ConsistencyConstraint(PredictionConstraint):
    """Parameters of all constraints of the paper, and of pseudo-labels."""

    consistency_weight: float | None = None
    aggregate_weight: float | None = None
    entropy_weight: float | None = None
    pseudo_labels: str | None = None


CONSISTENCY = f"""{PREDICTION}
    consistency_weight, aggregate_weight, entropy_weight : float
        Weights of the consistency constraint, of its term for all rows together, and of the entropy
        of predictions (``method.consistency_weight``, ...).
    pseudo_labels : {{"none", "propagation", "ensemble"}}
        Source of pseudo-labels; ours, not the paper's."""

FITTED = """
    Attributes
    ----------
    n_features_in_, feature_names_in_ : int, ndarray
        Number and names of features.
    history_ : list of dict
        Every term of the objective over time.
    report_ : dict
        The reports of training and of held-out labels.
    settings_ : dict
        The complete settings.
"""

CLASSIFIER_FITTED = f"""{FITTED}\
    classes_ : ndarray
        The classes, in order.
"""
