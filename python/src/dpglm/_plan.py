"""How many rows, how much privacy, what error? Two of them give the third."""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import dataclass
from typing import Any

from . import _native, _plot
from ._base import plain_number
from ._report import Report, report
from ._warnings import PrivacyWarning

__all__ = ["StudyPlan", "plan"]


@dataclass(frozen=True)
class StudyPlan:
    """What a study would give; errors are squared l2 distances, for features scaled to [-1, 1]."""

    rows: int
    epsilon: float
    delta: float
    error: float
    standard_error: float
    simulated: bool
    hopeless: bool
    document: dict[str, Any]
    """Everything, as ``dpglm plan --format json`` prints it."""
    text: str

    def __str__(self) -> str:
        return self.text

    def plot(self, *, ax: Any = None) -> Any:
        """Draws the expected error against the number of rows with Matplotlib; gives the axes."""
        return _plot.study(self, ax)

    def report(self) -> Report:
        """The plan as a page: :func:`dpglm.report`."""
        return report(self)

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(self.text)}</pre>"


def plan(
    model: str,
    *,
    columns: int,
    delta: float,
    rows: int | None = None,
    epsilon: float | None = None,
    error: float | None = None,
    sparsity: int | None = None,
    sigma: float | None = None,
    feature_bounds: tuple[float, float] | None = None,
    target_bounds: tuple[float, float] | None = None,
    mean_count: float | None = None,
    runs: int = 40,
    cache: str | os.PathLike[str] | None = None,
) -> StudyPlan:
    """Plans a study by simulation: from two of ``rows``, ``epsilon`` and ``error`` to the third. No private row is read.

    ``sigma``, by default 1, is the standard deviation of the rows (``"mean"``) or of the errors (``"linear"``).
    ``mean_count`` is the count to expect of a row whose features are in the middle of their bounds (``"poisson"``).

    >>> study = plan("logistic", columns=3, rows=500, epsilon=1.0, delta=1e-6, runs=2)
    >>> study.rows, study.error > 0
    (500, True)
    """
    asked = {
        "model": model,
        "columns": plain_number("columns", columns, int),
        "rows": plain_number("rows", rows, int),
        "epsilon": plain_number("epsilon", epsilon),
        "delta": plain_number("delta", delta),
        "error": plain_number("error", error),
        "sparsity": plain_number("sparsity", sparsity, int),
        "sigma": plain_number("sigma", sigma),
        "feature_bounds": None if feature_bounds is None else (float(feature_bounds[0]), float(feature_bounds[1])),
        "target_bounds": None if target_bounds is None else (float(target_bounds[0]), float(target_bounds[1])),
        "mean_count": plain_number("mean_count", mean_count),
        "runs": plain_number("runs", runs, int),
        "cache": None if cache is None else os.fspath(cache),
    }
    text, table, said = _native.plan_study(asked)
    for note in said:
        warnings.warn(note.removeprefix("warning: "), PrivacyWarning, stacklevel=2)
    found = json.loads(text)
    return StudyPlan(
        rows=found["rows"],
        epsilon=found["epsilon"],
        delta=found["delta"],
        error=found["error"],
        standard_error=found["standard_error"],
        simulated=found["simulated"],
        hopeless=found["hopeless"],
        document=found,
        text=table,
    )
