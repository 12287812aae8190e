"""Converts rows in all supported Python formats to tables of the native module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from cpcvae import _native


def is_anndata(X: Any) -> bool:
    """Whether these are single cells: an object with a matrix, cells and genes."""
    return all(hasattr(X, name) for name in ("X", "obs", "var_names"))


def is_frame(X: Any) -> bool:
    """Whether this is a table with named columns: of pandas, polars, pyarrow or similar."""
    named = hasattr(X, "columns") or hasattr(X, "column_names")
    return named and (hasattr(X, "__arrow_c_stream__") or hasattr(X, "iloc"))


def array_of(found: tuple[bytearray, str, list[int]]) -> npt.NDArray[Any]:
    """Converts an array of the native module."""
    values, kind, shape = found
    return np.frombuffer(values, dtype=f"={kind}").reshape(shape)


def table_of(estimator: Any, X: Any, *, reset: bool, names: Sequence[str] | None = None) -> Any:
    """The rows of X for the estimator, whose number and names of features are stored in a fit (with
    ``reset``) and checked otherwise. ``names`` are the model's names of columns."""
    if is_anndata(X):
        names = [str(name) for name in X.var_names]
        X = X.X
    if is_frame(X):
        # Also reports names that are missing, new or in another order.
        _validated(estimator, X, reset=reset, skip_check_array=True)
        _check_some(estimator, len(X), reset)
        return _of_frame(X, names)
    if isinstance(X, np.ndarray) and X.ndim in (3, 4):
        return _of_images(estimator, X, reset)
    return _of_array(estimator, X, reset, names)


def _validated(estimator: Any, X: Any, **checks: Any) -> Any:
    """The rows as scikit-learn checks and converts them."""
    return validate_data(estimator, X, **checks)


def _of_array(estimator: Any, X: Any, reset: bool, names: Sequence[str] | None) -> Any:
    checks: dict[str, Any] = {
        "reset": reset,
        "accept_sparse": "csr",
        "ensure_all_finite": "allow-nan",
        "ensure_min_samples": 2 if reset else 1,
    }
    try:
        rows = _validated(estimator, X, dtype="numeric", **checks)
    except ValueError as error:
        if "could not convert string" not in str(error):
            raise
        # Columns with texts are categories.
        checks["ensure_all_finite"] = False
        return _of_texts(_validated(estimator, X, dtype=object, **checks), names)
    if hasattr(rows, "tocsr"):
        rows = rows.astype(np.float32).toarray()
    table = _native.Table(rows.shape[0])
    _add_numbers(table, names or _plain_names(rows.shape[1]), rows)
    return table


def _of_texts(rows: npt.NDArray[Any], names: Sequence[str] | None) -> Any:
    table = _native.Table(rows.shape[0])
    for place, name in enumerate(names or _plain_names(rows.shape[1])):
        _add_column(table, name, rows[:, place])
    return table


def _of_images(estimator: Any, images: npt.NDArray[Any], reset: bool) -> Any:
    _check_some(estimator, len(images), reset)
    # Stored and checked as rows of pixels.
    flat = images.reshape(len(images), -1)
    _validated(estimator, flat, reset=reset, skip_check_array=True)
    whole = np.issubdtype(images.dtype, np.integer)
    pixels = images.astype(np.float32) / 255 if whole else images.astype(np.float32)
    shape = [images.shape[1], images.shape[2], images.shape[3] if images.ndim == 4 else 1]
    return _native.Table.images(_bytes(pixels), len(images), shape)


def _of_frame(X: Any, names: Sequence[str] | None) -> Any:
    if hasattr(X, "iloc"):
        X = _pandas_columns(X, names)
    if hasattr(X, "__arrow_c_stream__"):
        try:
            return _native.Table.from_stream(X)
        except (ImportError, TypeError) as error:
            # pandas needs pyarrow for it, and has column types that Arrow lacks.
            if not hasattr(X, "iloc"):
                raise ValueError(f"the table cannot be read: {error}") from error
        except Exception as error:
            if not hasattr(X, "iloc") or not type(error).__module__.startswith("pyarrow"):
                raise
    table = _native.Table(len(X))
    for name in X.columns:
        _add_column(table, name, X[name].to_numpy())
    return table


def _pandas_columns(X: Any, names: Sequence[str] | None) -> Any:
    """A pandas frame without its index, with text column names."""
    X = X.reset_index(drop=True)
    if not all(isinstance(name, str) for name in X.columns):
        X = X.set_axis(list(names or _plain_names(X.shape[1])), axis=1)
    return X


def _add_numbers(table: Any, names: Sequence[str], rows: npt.NDArray[Any]) -> None:
    if rows.dtype.kind == "b":
        for place, name in enumerate(names):
            table.flags(name, _bytes(rows[:, place].astype(np.uint8)))
        return
    if rows.dtype.kind not in "iuf" or rows.dtype.itemsize > 8:
        rows = rows.astype(np.float64)
    native = rows.dtype.newbyteorder("=")
    kind = f"{native.kind}{native.itemsize}"
    table.numbers(list(names), _bytes(rows.astype(native, copy=False)), kind)


def _add_column(table: Any, name: str, cells: npt.NDArray[Any]) -> None:
    if cells.dtype.kind in "iufb":
        _add_numbers(table, [name], cells.reshape(-1, 1))
        return
    if cells.dtype.kind == "M":
        cells = cells.astype("datetime64[ms]").astype(object)
    table.texts(name, [None if is_missing(cell) else str(cell) for cell in cells])


def _check_some(estimator: Any, rows: int, reset: bool) -> None:
    least = 2 if reset else 1
    if rows < least:
        raise ValueError(
            f"Found array with {rows} sample(s) while a minimum of {least} is required by "
            f"{type(estimator).__name__}."
        )


def _plain_names(count: int) -> list[str]:
    return [f"x{place}" for place in range(count)]


def _bytes(values: npt.NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(values).reshape(-1).view(np.uint8).data


def is_missing(cell: Any) -> bool:
    """Whether a cell or a label is None, NaN, NaT or NA."""
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(cell != cell)
    except (TypeError, ValueError):
        return False
