"""Does a method keep its promise on these rows, as far as attacks can tell?"""

from __future__ import annotations

import copy
import html
import json
from dataclasses import dataclass
from typing import Any, cast

from . import _native
from ._base import plain_number
from ._declare import declare_features
from ._estimators import PrivateMean, PrivateSurvivalRegressor, _Model
from ._report import Report, report

__all__ = ["AuditReport", "audit"]


@dataclass(frozen=True)
class AuditReport:
    """Lower bounds on epsilon beside what is claimed. For the curator only: it depends on private rows."""

    lower_bound: float
    """The largest of the proved lower bounds on epsilon that hold for any method."""
    exceeds_claim: bool
    """Whether that is more than was claimed, or one run gave away more than the claimed privacy curve allows."""
    document: dict[str, Any]
    """Everything, as ``dpglm audit --format json`` prints it."""
    text: str

    def __str__(self) -> str:
        return self.text

    def report(self) -> Report:
        """A page for the curator, not for publication: :func:`dpglm.report`."""
        return report(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.text)}</pre>"


def audit(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    *,
    rows: int | None = None,
    columns: int | None = None,
    runs: int = 400,
    canaries: int | None = None,
    opposite: str | None = None,
    confidence: float = 0.95,
    without_noise: bool = False,
) -> AuditReport:
    """Attacks an estimator and bounds its epsilon from below, beside what it claims.

    Plants pairs of canary rows, of which a coin chooses one each, and tries to tell from the estimate which; runs the method
    many times on two tables that differ in one row; and asks how well members can be told from held-out rows. Without ``X``
    the rows are simulated (``rows``, ``columns``). The estimator is not fitted, and nothing of this is private.

    >>> from dpglm import PrivateLogisticRegression
    >>> model = PrivateLogisticRegression(epsilon=1.0, delta=1e-6, feature_bounds=(-1, 1), classes=[0, 1])
    >>> audit(model, rows=200, columns=2, runs=0).exceeds_claim
    False
    """
    if not isinstance(estimator, (_Model, PrivateMean)):
        raise TypeError(
            f"estimator must be one of this package, got {type(estimator).__name__}: give a PrivateLinearRegression, say"
        )
    for name in ("magnitudes", "target_magnitude", "bounds_share"):
        if getattr(estimator, name, None) is not None:
            raise ValueError(f"{name}: an audit cannot follow a search for bounds: declare bounds, and leave out {name}")
    if getattr(estimator, "weight_bounds", None) is not None:
        raise ValueError("weight_bounds: an audit replaces one row and has no sample weights: leave out weight_bounds")
    if isinstance(estimator, PrivateSurvivalRegressor):
        raise ValueError("an audit replaces one row, of which a model of survival makes many: give another model")
    is_mean = isinstance(estimator, PrivateMean)
    estimator = cast(Any, estimator)
    asked = {
        "runs": plain_number("runs", runs, int),
        "canaries": plain_number("canaries", canaries, int),
        "opposite": opposite,
        "confidence": plain_number("confidence", confidence),
        "without_noise": bool(without_noise),
        "rows": plain_number("rows", rows, int),
        "columns": plain_number("columns", columns, int),
    }
    attacked = copy.copy(estimator)
    table, bounds, target = None, None, None
    if X is not None and (rows is not None or columns is not None):
        raise ValueError("rows and columns are for simulated rows: leave them out, or leave out X")
    if y is not None and (is_mean or X is None):
        raise ValueError("y goes with X and a model: leave it out")
    if X is None:
        if rows is None or columns is None:
            raise ValueError("give X and y, or rows=N and columns=D for simulated rows")
        if estimator.strict:
            raise ValueError("strict goes with X: simulated rows have no bad cells; leave it out")
        if not is_mean and estimator.missing != "fill":
            raise ValueError("missing goes with X: simulated rows have no missing cells; leave it out")
        declared = declare_features(estimator.feature_bounds, [f"x{j}" for j in range(columns)])
        bounds = declared.uniform
        if bounds is None:
            raise ValueError("simulated rows need one pair of feature_bounds for all columns: give it, or X and y")
        target = None if is_mean else estimator._declare_target("y")
        uniform: Any = bounds if is_mean else True
    elif is_mean:
        read, declared = attacked._read(X, reset=True)
        table = attacked._encode(
            read, declared, intercept=not estimator._is_sparse(), constant=False, strict=bool(estimator.strict)
        )
        uniform = declared.uniform
    else:
        table, declared = attacked._encoded(X, y)
        uniform = declared.uniform is not None
    wishes = estimator._asked(uniform)
    if is_mean:
        text, words = _native.audit_mean(table, wishes, asked, bounds)
    else:
        public = estimator._public(declared)
        text, words = _native.audit_model(table, wishes, asked, bounds, target, bool(estimator.fit_intercept), public)
    found = json.loads(text)
    return AuditReport(found["lower_bound"], found["exceeds_claim"], found, words)
