"""Progress of training: log records, a progress bar, scikit-learn's callbacks."""

from __future__ import annotations

import json
import logging
from typing import Any

logger = logging.getLogger("cpcvae")


class Listener:
    """Receives progress from the native module."""

    def __init__(self, estimator: Any, context: Any, verbose: int) -> None:
        self._estimator = estimator
        self._context = context
        self._bars: dict[int, Any] = {}
        self._make_bar = _bar() if verbose else None

    def note(self, text: str) -> None:
        """Logs a sentence."""
        logger.info("%s", text)

    def begin(self, training: int, name: str, part: int, parts: int) -> None:
        """A training starts; several may run in parallel."""
        title = name if parts == 1 else f"{name} {part + 1}/{parts}"
        logger.info("training %s", title)
        if self._make_bar is not None:
            self._bars[training] = self._make_bar(desc=title, unit="step", leave=parts == 1)

    def step(self, training: int, step: int, steps: int, terms: dict[str, float]) -> None:
        """A step that is logged."""
        if logger.isEnabledFor(logging.DEBUG):
            shown = ", ".join(f"{name} {value:.4g}" for name, value in terms.items())
            logger.debug("step %d of %d: %s", step, steps, shown)
        if training in self._bars:
            bar = self._bars[training]
            bar.total = steps
            bar.set_postfix(loss=f"{terms['loss']:.3g}", refresh=False)
            bar.update(step - bar.n)
        if training == 0 and self._context is not None:
            task = self._context.subcontext(task_name="step")
            task.call_on_fit_task_begin(estimator=self._estimator)
            task.call_on_fit_task_end(estimator=self._estimator, metadata=terms)

    def evaluation(self, training: int, step: int, validation: str) -> None:
        """Figures on validation rows."""
        logger.info("step %d: validation %s", step, json.loads(validation))

    def end(self, training: int) -> None:
        """A training has ended."""
        if training in self._bars:
            self._bars.pop(training).close()

    def close(self) -> None:
        """Removes progress bars after an error."""
        for bar in self._bars.values():
            bar.close()


def _bar() -> Any:
    """The progress bar of tqdm, also for notebooks; None if it is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        logger.info("install tqdm to see a progress bar")
        return None
    return tqdm
