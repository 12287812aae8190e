"""Regressors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from cpcvae._classifier import label_name
from cpcvae._estimator import Estimator
from cpcvae._labels import as_array, values_of
from cpcvae._parameters import (
    CONSISTENCY,
    FITTED,
    PREDICTION,
    ConsistencyConstraint,
    PredictionConstraint,
)
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


@dataclass(kw_only=True, eq=False, repr=False)
class CPCRegressor(Regressor, ConsistencyConstraint):
    __doc__ = f"""A regressor that learns from rows with and without a label.
{CONSISTENCY}
    method : str
        ``cpc``, or another of ``cpcvae methods`` that learns continuous labels.
{FITTED}
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

    method: str = field(default="cpc", kw_only=False)


@dataclass(kw_only=True, eq=False, repr=False)
class PCRegressor(Regressor, PredictionConstraint):
    __doc__ = f"""A regressor by prediction constraints alone (``pc``).
{PREDICTION}
{FITTED}"""

    _method = "pc"
