"""Regressors."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from cpcvae._classifier import label_name
from cpcvae._docs import COMMON, PREDICTED
from cpcvae._estimator import Estimator
from cpcvae._labels import as_array, values_of
from cpcvae._rows import array_of


def with_values(table: Any, y: Any) -> Any:
    """The table, with continuous labels."""
    values = values_of(y, len(table))
    name = label_name(y, table.names)
    if values.ndim == 1:
        table.values([name], [values.view(np.uint8).data])
        return table
    names = [f"{name}{place}" for place in range(values.shape[1])]
    columns = [np.ascontiguousarray(column).view(np.uint8).data for column in values.T]
    table.values(names, columns)
    return table


class Regressor(RegressorMixin, Estimator):  # type: ignore[misc]
    """A regressor of any method; the parameters are the subclasses'."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fits to rows with and without a label: NaN and None in ``y`` mean no label."""
        return self._keep(self._train(self._labelled(X, y)))

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """The label of each row, ``[rows]``, or ``[rows, labels]`` for several."""
        return self._one_or_several(self._predicted(X)[0])

    def predict_set(self, X: Any, coverage: float = 0.9) -> npt.NDArray[np.float64]:
        """The ends of each row's interval, ``[rows, 2]``, which contains the truth as often as
        ``coverage`` says; ``[rows, labels, 2]`` for several. Needs held-out labels; infinite where
        these are too few for the coverage."""
        values, half = self._predicted(X, coverage)
        if any(width is None for width in half):
            raise ValueError("intervals come from held-out labels, and none were: fit with hold_out=True")
        widths = np.array(half, dtype=np.float64)
        ends = np.stack([values - widths, values + widths], axis=-1)
        return ends[:, 0] if ends.shape[1] == 1 else ends

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R squared over the rows whose label is known."""
        y = values_of(y, len(as_array(y)))
        known = ~np.isnan(y) if y.ndim == 1 else ~np.isnan(y).any(axis=1)
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(r2_score(y[known], self.predict(X)[known], sample_weight=weights))

    def _predicted(
        self, X: Any, coverage: float | None = None
    ) -> tuple[npt.NDArray[np.float64], list[float | None]]:
        said = self._model_of(X).predict(self._table(X), coverage=coverage)
        values = array_of(said["outputs"]).astype(np.float64)
        if said["offsets"]:
            values += np.array(said["offsets"])
        return values, said["half_widths"]

    def _one_or_several(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return values[:, 0] if values.shape[1] == 1 else values

    def _labelled(self, X: Any, y: Any, *, reset: bool = True) -> Any:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; rows "
                "without a label have NaN or None there"
            )
        return with_values(self._table(X, reset=reset), y)

    def _loaded(self, card: dict[str, Any]) -> None:
        super()._loaded(card)
        if self._model.classes:
            raise ValueError("this is a model of classes; load a CPCClassifier")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.target_tags.multi_output = True
        return tags


class CPCRegressor(Regressor):
    __doc__ = f"""A regressor that learns from rows with and without a label.
{COMMON}
    method : str
        ``cpc``, or another of ``cpcvae methods`` that learns continuous labels.
    prediction_weight, consistency_weight, aggregate_weight, entropy_weight : float
        Weights of the constraints (``method.prediction_weight`` is the paper's lambda, ...).
    predictor_norm, beta : float
        Weights of the predictor's squared weights, and of the KL divergence.
    pseudo_labels : {{"none", "propagation", "ensemble"}}
        Source of pseudo-labels; ours, not the paper's.
{PREDICTED}
    Examples
    --------
    >>> import numpy as np
    >>> from cpcvae import CPCRegressor
    >>> X = np.linspace(-1, 1, 120).reshape(-1, 1)
    >>> y = np.where(np.arange(120) % 4 == 0, X[:, 0] * 10, np.nan)   # one row in four
    >>> model = CPCRegressor(steps=200, folds=2).fit(X, y)
    >>> bool(abs(model.predict([[0.5]])[0] - 5) < 2)
    True
    >>> model.predict_set([[0.5]], coverage=0.8).shape
    (1, 2)
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


class PCRegressor(Regressor):
    __doc__ = f"""A regressor by prediction constraints alone (``pc``).
{COMMON}
    prediction_weight, predictor_norm, beta : float
        Weights of the prediction constraint (the paper's lambda), of the predictor's squared weights,
        and of the KL divergence.
{PREDICTED}"""

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
