"""Classifiers: one for every method, and one each for the best-known ones."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from cpcvae._classifier import Classifier
from cpcvae._docs import CLASSIFIED, COMMON


class CPCClassifier(Classifier):
    __doc__ = f"""A classifier that learns from rows with and without a label.

    It fits a variational autoencoder whose codes must predict the labels (prediction constraint) and
    whose generated rows must get the prediction of the code that they were generated from (consistency
    constraint).
{COMMON}
    method : str
        ``cpc``, or any other of ``cpcvae methods``.
    prediction_weight, consistency_weight, aggregate_weight, entropy_weight : float
        Weights of the constraints (``method.prediction_weight`` is the paper's lambda, ...).
    predictor_norm, beta : float
        Weights of the predictor's squared weights, and of the KL divergence.
    pseudo_labels : {{"none", "propagation", "ensemble"}}
        Source of pseudo-labels; ours, not the paper's.
{CLASSIFIED}
    Examples
    --------
    >>> import numpy as np
    >>> from cpcvae import CPCClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(5, 1, (60, 2))])
    >>> y = np.array([None] * 120, dtype=object)
    >>> y[[0, 1, 2, 60, 61, 62]] = ["low", "low", "low", "high", "high", "high"]
    >>> model = CPCClassifier(steps=100, folds=2).fit(X, y)
    >>> model.classes_.tolist()
    ['high', 'low']
    >>> model.predict([[0.0, 0.0], [5.0, 5.0]]).tolist()
    ['low', 'high']
    >>> model.predict_proba(X).shape, model.transform(X).shape, model.sample(3, "low").shape
    ((120, 2), (120, 2), (3, 2))
    """

    def __init__(
        self,
        method: str = "cpc",
        *,
        prediction_weight: float | None = None,
        consistency_weight: float | None = None,
        aggregate_weight: float | None = None,
        entropy_weight: float | None = None,
        predictor_norm: float | None = None,
        beta: float | None = None,
        pseudo_labels: str | None = None,
        steps: int | None = None,
        learning_rate: float | None = None,
        code: int | None = None,
        hidden: Sequence[int] | None = None,
        columns: dict[str, str] | None = None,
        missing_cells: bool | None = None,
        validation: float | None = None,
        hold_out: bool | None = None,
        folds: int | None = None,
        baselines: bool = False,
        budget: float | None = None,
        preset: str | None = None,
        precision: str | None = None,
        device: str | None = None,
        folder: str | os.PathLike[str] | None = None,
        resume: bool = False,
        settings: dict[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.method = method
        self.prediction_weight = prediction_weight
        self.consistency_weight = consistency_weight
        self.aggregate_weight = aggregate_weight
        self.entropy_weight = entropy_weight
        self.predictor_norm = predictor_norm
        self.beta = beta
        self.pseudo_labels = pseudo_labels
        self.steps = steps
        self.learning_rate = learning_rate
        self.code = code
        self.hidden = hidden
        self.columns = columns
        self.missing_cells = missing_cells
        self.validation = validation
        self.hold_out = hold_out
        self.folds = folds
        self.baselines = baselines
        self.budget = budget
        self.preset = preset
        self.precision = precision
        self.device = device
        self.folder = folder
        self.resume = resume
        self.settings = settings
        self.random_state = random_state
        self.verbose = verbose


class PCClassifier(Classifier):
    __doc__ = f"""A classifier by prediction constraints alone (``pc``).

    A variational autoencoder whose codes must predict the labels; :class:`CPCClassifier` adds the
    consistency constraint.
{COMMON}
    prediction_weight, predictor_norm, beta : float
        Weights of the prediction constraint (the paper's lambda), of the predictor's squared weights,
        and of the KL divergence.
{CLASSIFIED}"""

    _method = "pc"

    def __init__(
        self,
        *,
        prediction_weight: float | None = None,
        predictor_norm: float | None = None,
        beta: float | None = None,
        steps: int | None = None,
        learning_rate: float | None = None,
        code: int | None = None,
        hidden: Sequence[int] | None = None,
        columns: dict[str, str] | None = None,
        missing_cells: bool | None = None,
        validation: float | None = None,
        hold_out: bool | None = None,
        folds: int | None = None,
        baselines: bool = False,
        budget: float | None = None,
        preset: str | None = None,
        precision: str | None = None,
        device: str | None = None,
        folder: str | os.PathLike[str] | None = None,
        resume: bool = False,
        settings: dict[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.prediction_weight = prediction_weight
        self.predictor_norm = predictor_norm
        self.beta = beta
        self.steps = steps
        self.learning_rate = learning_rate
        self.code = code
        self.hidden = hidden
        self.columns = columns
        self.missing_cells = missing_cells
        self.validation = validation
        self.hold_out = hold_out
        self.folds = folds
        self.baselines = baselines
        self.budget = budget
        self.preset = preset
        self.precision = precision
        self.device = device
        self.folder = folder
        self.resume = resume
        self.settings = settings
        self.random_state = random_state
        self.verbose = verbose


class M2Classifier(Classifier):
    __doc__ = f"""A classifier by the semi-supervised model M2 of Kingma et al. (``m2``).

    The label is a latent variable: rows of a class are drawn from p(x|y) directly.
{COMMON}
    classification_weight : float
        alpha, the weight of the classification loss.
{CLASSIFIED}"""

    _method = "m2"

    def __init__(
        self,
        *,
        classification_weight: float | None = None,
        steps: int | None = None,
        learning_rate: float | None = None,
        code: int | None = None,
        hidden: Sequence[int] | None = None,
        columns: dict[str, str] | None = None,
        missing_cells: bool | None = None,
        validation: float | None = None,
        hold_out: bool | None = None,
        folds: int | None = None,
        baselines: bool = False,
        budget: float | None = None,
        preset: str | None = None,
        precision: str | None = None,
        device: str | None = None,
        folder: str | os.PathLike[str] | None = None,
        resume: bool = False,
        settings: dict[str, Any] | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.classification_weight = classification_weight
        self.steps = steps
        self.learning_rate = learning_rate
        self.code = code
        self.hidden = hidden
        self.columns = columns
        self.missing_cells = missing_cells
        self.validation = validation
        self.hold_out = hold_out
        self.folds = folds
        self.baselines = baselines
        self.budget = budget
        self.preset = preset
        self.precision = precision
        self.device = device
        self.folder = folder
        self.resume = resume
        self.settings = settings
        self.random_state = random_state
        self.verbose = verbose
