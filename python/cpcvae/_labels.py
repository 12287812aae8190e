"""Conversion of labels: which rows have one, and the library's names of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from cpcvae._rows import is_missing

#: Marks a row without a label.
UNLABELLED = -1


@dataclass
class Classes:
    """Classes of rows."""

    #: All of them, in order.
    classes: npt.NDArray[Any]
    #: Their names in the library: whole numbers by their digits.
    names: list[str]
    #: Each row's index among them, -1 for rows without a label.
    of_row: npt.NDArray[np.int64]


def as_array(y: Any) -> npt.NDArray[Any]:
    """Labels as an array with one entry a row."""
    if hasattr(y, "to_pylist"):  # of pyarrow
        y = np.array(y.to_pylist(), dtype=object)
    elif hasattr(y, "to_numpy"):
        y = y.to_numpy()
    elif isinstance(y, (list, tuple)) and np.asarray(y).dtype.kind == "U":
        # Otherwise numpy makes texts of -1 and NaN beside texts.
        y = np.array(y, dtype=object)
    y = np.asarray(y)
    return y if y.ndim == 2 and y.shape[1] > 1 else column_or_1d(y, warn=True)


def known_rows(y: npt.NDArray[Any], *, classes: bool) -> npt.NDArray[np.bool_]:
    """Which rows have a label."""
    if y.dtype.kind in "iub":
        return (y != UNLABELLED) if classes and y.dtype.kind == "i" else np.ones(len(y), bool)
    if y.dtype.kind == "f":
        known = ~np.isnan(y)
        return known & (y != UNLABELLED) if classes else known
    numbers = (int, float, np.number)
    return np.array(
        [
            not is_missing(label)
            and not (classes and isinstance(label, numbers) and label == UNLABELLED)
            for label in y
        ],
        dtype=bool,
    )


def are_continuous(y: Any) -> bool:
    """Whether labels are numbers with fractions, or several a row, rather than classes."""
    y = as_array(y)
    if y.ndim == 2:
        return True
    known = y[known_rows(y, classes=False)]
    try:
        numbers = known.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return y.dtype.kind not in "USb" and bool((numbers != np.floor(numbers)).any())


def name_of(label: Any) -> str:
    """The library's name of a class."""
    if isinstance(label, (float, np.floating)) and float(label).is_integer():
        return str(int(label))
    return str(label)


def classes_of(y: Any, rows: int) -> Classes:
    """Reads the labels of a classifier."""
    y = as_array(y)
    _check_length(y, rows)
    if y.ndim == 2:
        raise ValueError(f"y has {y.shape[1]} columns; a class is one column")
    _check_texts(y)
    known = known_rows(y, classes=True)
    labels = y[known]
    if labels.dtype.kind == "f" and np.isinf(labels).any():
        raise ValueError(_INFINITE)
    if labels.dtype == object:
        # Numbers beside None stay numbers.
        kinds = {type(label) for label in labels}
        labels = np.array(labels.tolist()) if len(kinds) == 1 else labels
        if labels.dtype == object and len(kinds) > 1:
            labels = np.array([str(label) for label in labels])
    if len(labels) == 0:
        raise ValueError("no row of y has a label; -1, NaN and None mean that a row has none")
    check_classification_targets(labels)
    classes, places = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        hint = "; -1 means that a row has no label" if (~known).any() else ""
        raise ValueError(
            f"y has only one class, {classes[0]!r}, and a classifier needs at least two{hint}"
        )
    of_row = np.full(len(y), -1, dtype=np.int64)
    of_row[known] = places
    return Classes(classes, [name_of(label) for label in classes], of_row)


def _check_texts(y: npt.NDArray[Any]) -> None:
    """Refuses what numpy makes of texts beside -1, NaN or None: the mark of a row without a label would
    be a class."""
    found = {str(label) for label in np.unique(y)} & _MARKS_AS_TEXT if y.dtype.kind == "U" else None
    if found:
        raise ValueError(
            f"y is an array of texts, in which {min(found)!r} is a class and not a missing label; pass a "
            "list, or an array with dtype=object"
        )


def values_of(y: Any, rows: int) -> npt.NDArray[np.float64]:
    """Reads the labels of a regressor, ``[rows]`` or ``[rows, labels]``; NaN where one is missing."""
    y = as_array(y)
    _check_length(y, rows)
    if y.dtype == object:
        flat = [np.nan if is_missing(label) else label for label in y.reshape(-1)]
        y = np.array(flat, dtype=np.float64).reshape(y.shape)
    y = y.astype(np.float64)
    if np.isinf(y).any():
        raise ValueError(_INFINITE)
    if np.isnan(y).all():
        raise ValueError("no row of y has a label; NaN and None mean that a row has none")
    return y


def known_places(labels: Classes, known_classes: npt.NDArray[Any]) -> list[int]:
    """Each row's index among the classes of a model; an unknown class is an error."""
    places = {name_of(label): place for place, label in enumerate(known_classes)}
    strange = [name for name in labels.names if name not in places]
    if strange:
        raise ValueError(f"y has classes that the model does not know: {', '.join(strange)}")
    return [places[labels.names[place]] if place >= 0 else -1 for place in labels.of_row]


def _check_length(y: npt.NDArray[Any], rows: int) -> None:
    if len(y) != rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{rows}, {len(y)}]"
        )


_MARKS_AS_TEXT = {"-1", "nan", "None"}
_INFINITE = "Input y contains infinity or a value too large for dtype('float64')."
