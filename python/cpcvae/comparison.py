"""The verdict on a model: its held-out predictions compared with baselines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Comparison:
    """A method and its baselines on the same held-out labels.

    ``rows`` has a dictionary for each method: its name, its mean score (accuracy, or minus the mean
    error), and the difference of ours from it, with an interval and a p-value. ``print`` shows a table.
    """

    def __init__(self, found: dict[str, Any]) -> None:
        #: The kind of scores: ``accuracy``, or ``error`` for minus the absolute error.
        self.measure: str = found["measure"]
        #: In how many folds labels were held out.
        self.folds: int = found["folds"]
        #: One dictionary per method; ours first.
        self.rows: list[dict[str, Any]] = found["methods"]
        #: In words, whether the unlabelled rows help; None without a comparison.
        self.verdict: str | None = found["verdict"]
        #: ``Helps``, ``Hurts`` or ``Unclear``.
        self.outcome: str | None = found["outcome"]
        #: Caveats, a sentence or two each.
        self.warnings: list[str] = found["warnings"] or []

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_pandas(self) -> Any:
        """The table as a frame of pandas, if that is installed."""
        import pandas

        return pandas.DataFrame(self.rows)

    def __str__(self) -> str:
        header = ("method", self.measure, "ours minus this")
        lines = [header, *(_cells(row) for row in self.rows)]
        widths = [max(len(line[place]) for line in lines) for place in range(len(header))]
        text = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        said = [self.verdict] if self.verdict else []
        return "\n".join([*text, *said, *(f"warning: {warning}" for warning in self.warnings)])

    def __repr__(self) -> str:
        return f"<Comparison of {len(self.rows)} methods: {self.verdict}>"


def _cells(row: dict[str, Any]) -> tuple[str, str, str]:
    ahead = row["ours_minus_this"]
    if ahead is None:
        return row["method"], f"{row['score']:.4f}", ""
    low, high = row["difference_interval"]
    return row["method"], f"{row['score']:.4f}", f"{ahead:+.4f} ({low:+.4f} to {high:+.4f})"
