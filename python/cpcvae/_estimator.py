"""The base class of the estimators: passes settings to the library, and converts its results."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from cpcvae import _native
from cpcvae._listener import Listener
from cpcvae._parameters import KEYS, OPTIONS
from cpcvae._rows import array_of, table_of
from cpcvae.comparison import Comparison

try:
    from sklearn.callback import CallbackSupportMixin  # type: ignore
    from sklearn.callback._callback_support import callback_management_context
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """scikit-learn has no callbacks before 1.9."""

    callback_management_context = nullcontext

#: Upper bound of drawn seeds.
_MOST_SEED = 2**31 - 1


class Estimator(
    CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Methods of every model; the parameters are the subclasses'."""

    #: The method, if the class is for a single one.
    _method: ClassVar[str | None] = None

    _model: Any

    # To the library -----------------------------------------------------------------------------

    def _asked(self, **more: Any) -> str:
        """The request of a fit, as JSON. None is left to the library."""
        given = self.get_params(deep=False)
        settings: dict[str, Any] = {}
        seed = given.get("random_state")
        if seed is not None:
            whole = isinstance(seed, (int, np.integer))
            draw = seed if whole else check_random_state(seed).randint(_MOST_SEED)
            settings["seed"] = int(draw)
        for name, key in KEYS.items():
            if given.get(name) is not None:
                settings[key] = _plain(given[name])
        if given.get("columns"):
            kinds = given["columns"].items()
            settings["data.columns"] = [f"{name}={kind}" for name, kind in kinds]
        settings.update({key: _plain(value) for key, value in (given.get("settings") or {}).items()})
        asked = {name: _plain(given[name]) for name in OPTIONS if given.get(name) is not None}
        if given.get("folder") is not None:
            asked["folder"] = os.fspath(given["folder"])
            asked["resume"] = bool(given.get("resume"))
        asked |= {"method": self._method or given.get("method"), "settings": settings}
        asked["compare"] = bool(given.get("baselines"))
        return json.dumps(asked | more)

    def _train(self, table: Any, **more: Any) -> Any:
        """A model of these rows."""
        context = None
        with callback_management_context(self):
            if getattr(self, "_skl_callbacks", None):
                context = self._init_callback_context(max_subtasks=None)  # type: ignore
                context.call_on_fit_task_begin(estimator=self)
            verbose = self.get_params(deep=False).get("verbose", 0)
            listener = Listener(self, context, verbose)
            try:
                model = _native.fit(table, self._asked(**more), listener)
            finally:
                listener.close()
            if context is not None:
                context.call_on_fit_task_end(estimator=self)
        return model

    def _table(self, X: Any, *, reset: bool = False) -> Any:
        if not reset:
            check_is_fitted(self)
        return table_of(self, X, reset=reset, names=None if reset else self._names())

    def _keep(self, model: Any) -> Self:
        self._model = model
        return self

    # Properties of the model ----------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def _card(self) -> dict[str, Any]:
        card: dict[str, Any] = json.loads(self._model.about())["card"]
        return card

    def _columns(self) -> list[dict[str, Any]]:
        """Columns as the model's card describes them; none for images."""
        columns: list[dict[str, Any]] = self._card()["preprocess"]["layout"].get("columns", [])
        return columns

    def _names(self) -> list[str] | None:
        return [column["name"] for column in self._columns()] or None

    @property
    def _n_features_out(self) -> int:
        width: int = self._card()["shape"]["code"]
        return width

    @property
    def history_(self) -> list[dict[str, Any]]:
        """Every term of the objective over time, a dictionary for each logged step."""
        check_is_fitted(self)
        return [json.loads(line) for line in self._model.history.splitlines()]

    @property
    def report_(self) -> dict[str, Any]:
        """The reports of training and of held-out labels."""
        check_is_fitted(self)
        report: dict[str, Any] = json.loads(self._model.report())
        return report

    @property
    def settings_(self) -> dict[str, Any]:
        """The complete settings of the training, as in ``config.toml`` of a run."""
        check_is_fitted(self)
        return tomllib.loads(self._model.settings)

    # Answers --------------------------------------------------------------------------------------

    def score_samples(self, X: Any) -> npt.NDArray[np.float64]:
        """log p(x) of each row, in nats and the user's units."""
        found = self._model_of(X).predict(self._table(X), density=True)["log_density"]
        if found is None:
            raise ValueError("this model has no generative part, so it has no log p(x)")
        return array_of(found).astype(np.float64)

    def percentile(self, X: Any) -> npt.NDArray[np.float64]:
        """Of 100 training rows, how many are at least as unusual as each row."""
        found = self._model_of(X).predict(self._table(X), density=True)["percentile"]
        if found is None:
            raise ValueError("this model has no generative part, so it has no percentiles")
        return array_of(found).astype(np.float64)

    def transform(self, X: Any) -> npt.NDArray[np.float64]:
        """Means of the codes q(z|x), ``[rows, code]``."""
        mean, _ = self._model_of(X).encode(self._table(X))
        # scikit-learn's transformers return 64-bit values for 64-bit input.
        return array_of(mean).astype(np.float64)

    def inverse_transform(self, X: Any) -> npt.NDArray[Any]:
        """Rows decoded from codes, in the user's units."""
        check_is_fitted(self)
        codes = np.ascontiguousarray(X, dtype=np.float32)
        if codes.ndim != 2:
            raise ValueError(f"codes must be an array [rows, code], but this one has shape {codes.shape}")
        cells = codes.reshape(-1).view(np.uint8).data
        return self._in_user_units(self._model.decode(cells, codes.shape[1]))

    def reconstruct(self, X: Any, kind: str = "mean") -> npt.NDArray[Any]:
        """Reconstructions of rows: ``mean``, ``sampled``, ``aligned`` or ``transformed``."""
        return self._in_user_units(self._model_of(X).reconstruct(self._table(X), kind))

    def impute(
        self,
        X: Any,
        *,
        draw: int | None = None,
        iterations: int | None = None,
        random_state: int | None = None,
    ) -> npt.NDArray[Any]:
        """Rows with missing cells imputed: best guesses, or with ``draw`` the draw of that number.
        Known cells are unchanged. ``iterations`` is the length of the search for each row's code."""
        table = self._table(X)
        filled = self._model_of(X).impute(table, draw, iterations, random_state)
        return self._in_user_units(filled)

    def sample(
        self,
        n_samples: int = 1,
        class_: Any = None,
        *,
        noisy: bool = False,
        prior: bool = False,
        threshold: float | None = None,
        random_state: int | None = None,
    ) -> npt.NDArray[Any]:
        """New rows in the user's units, of one class if it is given.

        They are means of p(x|z), or with ``noisy`` draws from it; with ``prior`` codes come from the
        prior instead of the mixture fitted to codes of training rows.
        """
        check_is_fitted(self)
        name = None if class_ is None else self._class_name(class_)
        made = self._model.sample(n_samples, name, noisy, prior, threshold, random_state)
        return self._in_user_units(made)

    def compare(self, X: Any = None, y: Any = None) -> Comparison:
        """The model compared with baselines on held-out labels, with the verdict in words.

        Available if the estimator was fitted with ``baselines=True``. Otherwise pass the training rows
        again: then the baselines are trained, which takes as long as several fits.
        """
        check_is_fitted(self)
        model = self._model
        if X is not None:
            model = self._train(self._labelled(X, y), compare=True, hold_out=True, folder=None)
        found = json.loads(model.comparison())
        if found is None or (X is None and found["verdict"] is None):
            raise ValueError(
                "there was no comparison: pass the training rows, compare(X, y), or fit with baselines=True"
            )
        return Comparison(found)

    # Saving and loading ---------------------------------------------------------------------------

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes the folder of a run, which the command ``cpcvae`` and :meth:`load` open."""
        check_is_fitted(self)
        self._model.save(Path(folder))

    @classmethod
    def load(cls, folder: str | os.PathLike[str], *, device: str = "cpu") -> Self:
        """Opens the folder of a finished run."""
        model = _native.Model.load(Path(folder), device)
        estimator = cls()
        estimator._keep(model)
        card = estimator._card()
        if cls._method is None and hasattr(estimator, "method"):
            estimator.set_params(method=card["method"])
        elif card["method"] != cls._method:
            raise ValueError(f"{folder} holds a model of the method {card['method']!r}")
        estimator._loaded(card)
        return estimator

    def _loaded(self, card: dict[str, Any]) -> None:
        """Sets the attributes that a fit sets."""
        names = self._names()
        layout = card["preprocess"]["layout"]
        image = layout.get("image")
        self.n_features_in_ = len(names or []) or int(
            np.prod([image[side] for side in ("height", "width", "channels")])
        )
        if names and names != [f"x{place}" for place in range(len(names))]:
            self.feature_names_in_ = np.array(names, dtype=object)

    def export_onnx(
        self, path: str | os.PathLike[str], *, network_only: bool = False
    ) -> dict[str, Any]:
        """Writes an ONNX graph from rows to codes and calibrated predictions, the same as
        ``cpcvae export``, and returns its description.

        With an ensemble the file contains training rows; ``network_only`` leaves the ensemble out.
        """
        check_is_fitted(self)
        written: dict[str, Any] = json.loads(self._model.export_onnx(Path(path), network_only))
        return written

    def write_report(self, X: Any, y: Any, path: str | os.PathLike[str]) -> None:
        """Writes an HTML page about the model on its training rows."""
        check_is_fitted(self)
        self._model.write_report(self._labelled(X, y, reset=False), Path(path))

    # For the subclasses ---------------------------------------------------------------------------

    def _labelled(self, X: Any, y: Any, *, reset: bool = True) -> Any:
        """Rows with their labels, as for a training."""
        raise NotImplementedError

    def _class_name(self, class_: Any) -> str:
        raise ValueError(f"this model knows no classes, so it draws no rows of {class_!r}")

    def _model_of(self, X: Any) -> Any:
        check_is_fitted(self)
        return self._model

    def _in_user_units(self, found: tuple[bytearray, str, list[int]]) -> npt.NDArray[Any]:
        """Rows as an array: of numbers, or of objects if a column has texts."""
        rows = array_of(found)
        columns = self._columns()
        layout = self._card()["preprocess"]["layout"]
        if "image" in layout:
            shape = [layout["image"][side] for side in ("height", "width", "channels")]
            shape = shape[:2] if shape[2] == 1 else shape
            return rows.reshape(len(rows), *shape)
        kinds = [column["kind"] for column in columns]
        if not any(isinstance(kind, dict) for kind in kinds):
            return rows
        made = rows.astype(object)
        for place, kind in enumerate(kinds):
            if isinstance(kind, dict):
                levels: Sequence[str] = kind["category"]
                made[:, place] = [_level(levels, value) for value in rows[:, place]]
        return made


def _level(levels: Sequence[str], value: float) -> str | None:
    return None if np.isnan(value) else levels[int(value)]


def _plain(value: Any) -> Any:
    """A value converted for JSON."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Iterable):
        return [_plain(one) for one in value]
    return value
