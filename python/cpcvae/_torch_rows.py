"""Preprocessing of a user's rows for a model, and its inverse, as in the library, with numpy."""

import numpy as np


class Rows:
    """Prepares rows according to the card of a model.

    Rows have one value a column, in the columns' order and units: a category as the index of its
    level, a missing cell as NaN. Images have pixels from 0 to 1, channels last.
    """

    def __init__(self, preprocess):
        layout, features = preprocess["layout"], preprocess["features"]
        self.columns = layout.get("columns")
        self.image = layout.get("image")
        ((self.kind, self.scale),) = features.items()
        if self.kind == "mixed":
            self.row = self.scale["row"]
            self.numbers = _standardiser(self.scale["numbers"])
            counts = self.row["counts"]
            self.counts = tuple(np.array([c[key] for c in counts], np.float32) for key in ("mean", "scale"))
            kinds = [_kind(column) for column in self.columns]
            self.of_kind = {
                kind: [place for place, found in enumerate(kinds) if found == kind]
                for kind in ("number", "flag", "count", "category")
            }

    @property
    def levels(self):
        """The levels of each column; None for one that is not a category."""
        kinds = (column["kind"] for column in self.columns or [])
        return [kind["category"] if isinstance(kind, dict) else None for kind in kinds]

    def prepare(self, rows):
        """Converts rows in the user's units to the model's, `[rows, features]` of float32."""
        rows = np.asarray(rows, dtype=np.float64)
        if self.kind == "pixels":
            return self._prepare_images(rows)
        if rows.ndim != 2 or rows.shape[1] != len(self.columns):
            names = ", ".join(column["name"] for column in self.columns[:6])
            raise ValueError(
                f"rows of shape {rows.shape} do not fit: the model has {len(self.columns)} columns ({names}...)"
            )
        offsets = np.array([column.get("offset", 0.0) for column in self.columns])
        values = (rows - offsets).astype(np.float32)
        if self.kind == "standardise":
            mean, scale = _standardiser(self.scale)
            if np.isnan(values).any():
                raise ValueError("the rows have missing cells, but all that the model was trained on are whole")
            return (values - mean) / scale
        return self._prepare_mixed(values)

    def restore(self, features):
        """Converts features of the model, `[rows, features]`, to the user's columns and units."""
        features = np.asarray(features, dtype=np.float32)
        if self.kind == "pixels":
            height, width, channels = (self.image[side] for side in ("height", "width", "channels"))
            low, high = np.float32(self.scale["low"]), np.float32(self.scale["high"])
            planes = ((features - low) / (high - low)).reshape(-1, channels, height, width)
            return planes.transpose(0, 2, 3, 1)
        if self.kind == "standardise":
            mean, scale = _standardiser(self.scale)
            values = features * scale + mean
        else:
            values = self._restore_mixed(features)
        offsets = np.array([column.get("offset", 0.0) for column in self.columns])
        return values if not offsets.any() else values + offsets

    def _prepare_images(self, rows):
        height, width, channels = (self.image[side] for side in ("height", "width", "channels"))
        if rows.size % (height * width * channels):
            raise ValueError(f"images of shape {rows.shape} do not fit: the model has {height} x {width} x {channels}")
        low, high = np.float32(self.scale["low"]), np.float32(self.scale["high"])
        planes = rows.reshape(-1, height, width, channels).transpose(0, 3, 1, 2)
        planes = planes.reshape(len(planes), -1).astype(np.float32)
        return low + planes * (high - low)

    def _prepare_mixed(self, values):
        parts = []
        mean, scale = self.numbers
        parts.append((values[:, self.of_kind["number"]] - mean) / scale)
        parts.append(values[:, self.of_kind["flag"]])
        mean, scale = self.counts
        parts.append((np.log1p(values[:, self.of_kind["count"]]) - mean) / scale)
        for place, levels in zip(self.of_kind["category"], self.row["categories"]):
            column = values[:, place : place + 1]
            one_hot = (column == np.arange(levels)).astype(np.float32)
            parts.append(np.where(np.isnan(column), np.float32(np.nan), one_hot))
        return np.concatenate(parts, axis=1).astype(np.float32)

    def _restore_mixed(self, features):
        values = np.empty((len(features), len(self.columns)), np.float32)
        numbers, flags, counts = (len(self.of_kind[kind]) for kind in ("number", "flag", "count"))
        first, second, third = numbers, numbers + flags, numbers + flags + counts
        mean, scale = self.numbers
        values[:, self.of_kind["number"]] = features[:, :first] * scale + mean
        values[:, self.of_kind["flag"]] = features[:, first:second] >= 0.5
        mean, scale = self.counts
        decoded = np.expm1(features[:, second:third] * scale + mean)
        values[:, self.of_kind["count"]] = np.maximum(np.round(decoded), 0)
        for place, levels in zip(self.of_kind["category"], self.row["categories"]):
            values[:, place] = features[:, third : third + levels].argmax(axis=1)
            third += levels
        return values


def _kind(column):
    return "category" if isinstance(column["kind"], dict) else column["kind"]


def _standardiser(scale):
    return np.array(scale["mean"], np.float32), np.array(scale["scale"], np.float32)
