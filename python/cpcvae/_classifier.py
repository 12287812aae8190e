"""The base class of all classifiers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score

from cpcvae._estimator import Estimator
from cpcvae._labels import as_array, classes_of, known_places, known_rows, name_of
from cpcvae._rows import array_of


class Classifier(ClassifierMixin, Estimator):  # type: ignore[misc]
    """A classifier of any method; the parameters are the subclasses'."""

    classes_: npt.NDArray[Any]

    def fit(self, X: Any, y: Any) -> Self:
        """Fits to rows with and without a label: -1, NaN and None in ``y`` mean no label."""
        return self._fit(self._labelled(X, y))

    def _fit(self, table: Any) -> Self:
        model = self._train(table)
        # The library's order of classes is that of their names.
        places = {name: place for place, name in enumerate(model.classes)}
        if not places:
            raise ValueError(
                "a model of the method `vae` does not predict labels; CPCImputer(method='vae') fits one"
            )
        self._order = [places[name_of(label)] for label in self.classes_]
        return self._keep(model)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable class of each row."""
        places = self.predict_proba(X).argmax(axis=1)
        return self.classes_[places]

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Probabilities of ``classes_``, calibrated where labels were held out."""
        said = self._model_of(X).predict(self._table(X))
        shares = array_of(said["outputs"]).astype(np.float64)[:, self._order]
        # 32-bit values, while callers expect 64-bit sums.
        return shares / shares.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict_set(self, X: Any, coverage: float = 0.9) -> list[npt.NDArray[Any]]:
        """The classes of each row's conformal set, which contains the truth as often as
        ``coverage`` says. Needs held-out labels."""
        said = self._model_of(X).predict(self._table(X), coverage=coverage)
        if said["sets"] is None:
            raise ValueError(
                "sets come from held-out labels, and none were: fit with hold_out=True and two "
                "labelled rows of each class or more"
            )
        places = {native: place for place, native in enumerate(self._order)}
        return [self.classes_[sorted(places[one] for one in found)] for found in said["sets"]]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy on the rows whose label is known."""
        known = known_rows(as_array(y), classes=True)
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        right = accuracy_score(as_array(y)[known], self.predict(X)[known], sample_weight=weights)
        return float(right)

    def suggest(self, X: Any, n_rows: int = 10, y: Any = None) -> list[dict[str, Any]]:
        """Rows to label next, the best first: uncertain, typical, and different. With
        ``y``, rows that have a label are left out."""
        table = self._table(X)
        if y is not None:
            labels = classes_of(y, len(table))
            names = [name_of(label) for label in self.classes_]
            table.classes("label", names, known_places(labels, self.classes_))
        places = {name_of(label): label for label in self.classes_}
        return [
            {"row": row, "class": places[name], "entropy": entropy, "percentile": percentile}
            for row, name, entropy, percentile in self._model_of(X).suggest(table, n_rows)
        ]

    def evaluate(self, X: Any, y: Any) -> dict[str, Any]:
        """Every figure on rows whose label is known: accuracy, log-loss, calibration, evidence."""
        table = self._table(X)
        labels = classes_of(y, len(table))
        names = [name_of(label) for label in self.classes_]
        table.classes("label", names, known_places(labels, self.classes_))
        found: dict[str, Any] = json.loads(self._model_of(X).evaluate(table))
        return found

    def _labelled(self, X: Any, y: Any, *, reset: bool = True) -> Any:
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; rows "
                "without a label have -1, NaN or None there"
            )
        table = self._table(X, reset=reset)
        labels = classes_of(y, len(table))
        if reset:
            self.classes_ = labels.classes
        table.classes(label_name(y, table.names), labels.names, labels.of_row.tolist())
        return table

    def _class_name(self, class_: Any) -> str:
        return name_of(class_)

    def _loaded(self, card: dict[str, Any]) -> None:
        super()._loaded(card)
        names = self._model.classes
        if not names:
            raise ValueError("this is a model of continuous labels or of none; load a CPCRegressor")
        whole = all(name.lstrip("-").isdigit() for name in names)
        self.classes_ = np.array([int(name) for name in names] if whole else names)
        self._order = list(range(len(names)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.three_d_array = False
        return tags


def label_name(y: Any, taken: Sequence[str]) -> str:
    name = getattr(y, "name", None)
    name = name if isinstance(name, str) and name else "label"
    while name in taken:
        name += "_"
    return name
