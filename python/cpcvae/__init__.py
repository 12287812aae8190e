"""One model from many rows of which few have a label, as estimators of scikit-learn.

>>> import numpy as np
>>> from cpcvae import CPCClassifier
>>> rng = np.random.default_rng(0)
>>> X = np.concatenate([rng.normal(0, 1, (60, 2)), rng.normal(5, 1, (60, 2))])
>>> y = np.full(120, -1)                       # -1, NaN or None: not labelled
>>> y[[0, 1, 2, 60, 61, 62]] = [0, 0, 0, 1, 1, 1]
>>> model = CPCClassifier(steps=100, folds=2).fit(X, y)
>>> model.predict([[0.0, 0.0], [5.0, 5.0]])
array([0, 1])

See ``docs/python.md`` in the repository for more. Numbers and settings mean the same as in Rust
and on the command line.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cpcvae._native import __version__, methods

if TYPE_CHECKING:
    from cpcvae.classifier import CPCClassifier, M2Classifier, PCClassifier
    from cpcvae.comparison import Comparison
    from cpcvae.imputer import CPCImputer
    from cpcvae.regressor import CPCRegressor, PCRegressor

__all__ = [
    "CPCClassifier",
    "CPCImputer",
    "CPCRegressor",
    "Comparison",
    "M2Classifier",
    "PCClassifier",
    "PCRegressor",
    "__version__",
    "methods",
]

_PLACES = {
    "CPCClassifier": "classifier",
    "CPCImputer": "imputer",
    "CPCRegressor": "regressor",
    "Comparison": "comparison",
    "M2Classifier": "classifier",
    "PCClassifier": "classifier",
    "PCRegressor": "regressor",
}


def __getattr__(name: str) -> Any:
    # scikit-learn takes a second to import, which the command `cpcvae` does not need.
    if name in _PLACES:
        return getattr(import_module(f"cpcvae.{_PLACES[name]}"), name)
    raise AttributeError(f"module 'cpcvae' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
