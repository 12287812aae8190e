"""Imputation of missing cells."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import OneToOneFeatureMixin, TransformerMixin

from cpcvae._classifier import label_name
from cpcvae._estimator import Estimator
from cpcvae._labels import are_continuous, classes_of
from cpcvae._parameters import FITTED, MODEL, ModelParameters
from cpcvae.regressor import with_values


@dataclass(kw_only=True, eq=False, repr=False)
class CPCImputer(OneToOneFeatureMixin, Estimator, ModelParameters):  # type: ignore[misc]
    __doc__ = f"""Fills in missing cells (NaN, None) by a model of the rows.

    ``transform`` gives best guesses, and leaves known cells unchanged. With ``y``, labels
    are used as well: classes, or numbers with fractions for continuous labels.
{MODEL}
    method : str
        A method of ``cpcvae methods``; ``vae`` without ``y``, else ``cpc``.
    beta : float
        Weight of the KL divergence.
{FITTED}
    Examples
    --------
    >>> import numpy as np
    >>> from cpcvae import CPCImputer
    >>> x = np.linspace(0, 1, 100)
    >>> X = np.stack([x, 3 * x], axis=1)
    >>> X[10, 1] = np.nan
    >>> filled = CPCImputer(steps=100).fit_transform(X)
    >>> bool(np.isnan(filled).any()), bool(abs(filled[10, 1] - 3 * x[10]) < 0.3)
    (False, True)
    """

    method: str | None = field(default=None, kw_only=False)
    beta: float | None = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fits the model to rows, and to labels if given."""
        return self._keep(self._train(self._labelled(X, y)))

    def transform(self, X: Any) -> npt.NDArray[Any]:
        """The rows with missing cells imputed."""
        filled = self.impute(X)
        rows = X if isinstance(X, np.ndarray) else None
        if rows is None or rows.ndim != 2 or rows.dtype.kind != "f" or filled.dtype == object:
            return filled
        # Known cells keep all their digits.
        return np.where(np.isnan(rows), filled, rows)

    def _asked(self, **more: Any) -> str:
        asked = json.loads(super()._asked(**more))
        asked["method"] = self.method or ("cpc" if self._has_labels else "vae")
        asked["settings"].setdefault("model.missing_cells", True)
        asked["hold_out"] = False
        return json.dumps(asked)

    def _labelled(self, X: Any, y: Any, *, reset: bool = True) -> Any:
        table = self._table(X, reset=reset)
        self._has_labels = y is not None and self.method != "vae"
        if self._has_labels and are_continuous(y):
            return with_values(table, y)
        if self._has_labels:
            labels = classes_of(y, len(table))
            name = label_name(y, table.names)
            table.classes(name, labels.names, labels.of_row.tolist())
        return table

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        return tags
