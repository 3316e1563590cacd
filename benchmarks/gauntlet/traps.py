"""Tables that break estimators: each with its truth by construction and its exact fit.

Counted over repetitions, among coefficients that are called determined: intervals that lie wholly on the wrong side of zero; estimates more than
10 times as large as the exact one (or its standard error, if larger). Coefficients without an exact value (copies, separation) must not be
called determined at all.
"""

from dataclasses import dataclass, field

import exact
import numpy as np
import pandas as pd
from subject import TARGET, coefficients, seed_of

TRAPS = {}
ROWS = 20_000


@dataclass
class Trap:
    """Columns in their units. `slopes` are the truth; where the exact value does not exist, its sign alone counts."""

    X: np.ndarray
    y: np.ndarray
    slopes: list
    bounds: list
    family: str = "logistic"
    target: tuple = (0.0, 1.0)
    more: dict = field(default_factory=dict)  # further keys of the schema
    used: np.ndarray | None = None  # rows that count


def trap(*variants):
    def register(function):
        for variant in variants or ((),):
            TRAPS[" ".join([function.__name__.replace("_", " "), *map(str, variant)])] = (function, variant)
        return function

    return register


def answers(rng, family, predictor, noise=1.0):
    if family == "gaussian":
        return predictor + noise * rng.normal(size=len(predictor))
    if family == "poisson":
        return rng.poisson(np.exp(predictor)).astype(float)
    return (rng.random(len(predictor)) < 1 / (1 + np.exp(-predictor))).astype(float)


@trap(("logistic", 1e3), ("logistic", 1e6), ("logistic", 1e9), ("gaussian", 1e3), ("gaussian", 1e6), ("gaussian", 1e9))
def column_far_from_zero(rng, family, spans):
    """Two columns of span 1, one of them at so many spans from zero."""
    U = rng.random((ROWS, 2))
    y = answers(rng, family, 1 + 2 * (U[:, 0] - 0.5) - 2 * (U[:, 1] - 0.5))
    X = np.c_[U[:, 0], spans + U[:, 1]]
    return Trap(X, y, [2, -2], [(0, 1), (spans, spans + 1)], family, (-5, 7) if family == "gaussian" else (0, 1))


@trap((1e3,), (1e6,), (1e9,))
def target_far_from_zero(rng, spans):
    """A target of span 30 at so many spans from zero, such as years."""
    U = rng.random((ROWS, 2))
    start = 30.0 * spans
    return Trap(U, answers(rng, "gaussian", start + 15 + 4 * U[:, 0] - 2 * U[:, 1]), [4, -2], [(0, 1)] * 2, "gaussian", (start, start + 30))


@trap(("logistic", 0.005), ("logistic", 0.001), ("poisson", 0.001), ("gaussian", 0.001))
def rare_levels(rng, family, share):
    """Two rare indicators, both -1.4, beside an ordinary column."""
    X = np.c_[rng.random(ROWS), rng.random((ROWS, 2)) < share].astype(float)
    y = answers(rng, family, (2 if family == "logistic" else 1) + 0.5 * X[:, 0] - 1.4 * X[:, 1] - 1.4 * X[:, 2])
    target = dict(logistic=(0, 1), poisson=(0, 30), gaussian=(-10, 10))[family]
    return Trap(X, np.clip(y, *target), [0.5, -1.4, -1.4], [(0, 1)] * 3, family, target)


@trap(("logistic", 0.0), ("gaussian", 0.0), ("logistic", 1e-3))
def copied_column(rng, family, difference):
    """A column twice, or nearly so."""
    x, z = rng.random((2, ROWS))
    X = np.c_[x, np.clip(x + difference * rng.normal(size=ROWS), 0, 1), z]
    y = answers(rng, family, 2 * (x - 0.5) - (z - 0.5))
    return Trap(X, np.clip(y, -6, 6), [1, 1, -1], [(0, 1)] * 3, family, (-6, 6) if family == "gaussian" else (0, 1))


@trap(("logistic",), ("gaussian",))
def full_dummies(rng, family):
    """An indicator for every level and an intercept as well: only differences exist."""
    level = rng.integers(4, size=ROWS)
    X = np.c_[level[:, None] == np.arange(4), rng.random(ROWS)].astype(float)
    y = answers(rng, family, np.array([-1, 0, 0, 1])[level] + X[:, 4])
    return Trap(X, np.clip(y, -6, 6), [0, 0, 0, 0, 1], [(0, 1)] * 5, family, (-6, 6) if family == "gaussian" else (0, 1))


@trap((0.05,), (0.005,))
def separated_level(rng, share):
    """Every row of a level has the response 1."""
    X = np.c_[rng.random(ROWS) < share, rng.random(ROWS)].astype(float)
    y = np.where(X[:, 0] == 1, 1.0, answers(rng, "logistic", X[:, 1] - 0.5))
    return Trap(X, y, [1, 1], [(0, 1)] * 2)


@trap()
def separated_by_number(rng):
    """A threshold of one column decides."""
    X = rng.random((ROWS, 2))
    return Trap(X, (X[:, 0] > 0.5).astype(float), [1, 0], [(0, 1)] * 2)


@trap(("logistic",), ("gaussian",), ("poisson",))
def constant_columns(rng, family):
    """Columns that are always at their lower bound, their middle, a number in between."""
    x = rng.random(ROWS)
    X = np.c_[x, np.zeros(ROWS), np.full(ROWS, 0.5), np.full(ROWS, 37.0)]
    target = dict(logistic=(0, 1), poisson=(0, 30), gaussian=(-6, 6))[family]
    return Trap(X, np.clip(answers(rng, family, 2 * (x - 0.5)), *target), [2, 0, 0, 0], [(0, 1), (0, 1), (0, 1), (0, 100)], family, target)


@trap(("logistic",), ("gaussian",), ("poisson",))
def bounds_too_wide(rng, family):
    """Bounds a thousand times as wide as the columns, and as the target of a gaussian model."""
    X = rng.uniform(-1, 1, (ROWS, 3))
    y = answers(rng, family, X @ [1, -1, 0.5])
    target = dict(logistic=(0, 1), poisson=(0, 1_000), gaussian=(-4_000, 4_000))[family]
    return Trap(X, np.clip(y, *target), [1, -1, 0.5], [(-1_000, 1_000)] * 3, family, target)


@trap(("logistic",), ("gaussian",))
def nearly_all_dropped(rng, family):
    """95% of the rows lack a cell, and such rows are dropped."""
    X = rng.uniform(-1, 1, (ROWS, 2))
    y = answers(rng, family, 4 * (family == "gaussian") + X @ [1, -1])
    gone = rng.random(ROWS) < 0.95
    X[gone, 0] = np.nan
    return Trap(X, y, [1, -1], [(-1, 1)] * 2, family, (-10, 10) if family == "gaussian" else (0, 1), dict(missing="drop"), ~gone)


@trap()
def nearly_one_class(rng):
    """One row in a thousand has the other response."""
    X = rng.uniform(-1, 1, (ROWS, 3))
    return Trap(X, answers(rng, "logistic", -7.1 + X @ [1, -1, 0]), [1, -1, 0], [(-1, 1)] * 3)


@trap(("logistic",), ("gaussian",), ("poisson",))
def fifty_rows(rng, family):
    X = rng.uniform(-1, 1, (50, 3))
    target = dict(logistic=(0, 1), poisson=(0, 30), gaussian=(-6, 6))[family]
    return Trap(X, np.clip(answers(rng, family, X @ [1, -1, 0]), *target), [1, -1, 0], [(-1, 1)] * 3, family, target)


# --- Runs and counts --------------------------------------------------------------------------------------------------


def measure(subject, epsilons, repetitions, store):
    for name, (function, variant) in TRAPS.items():
        for repetition in range(repetitions):
            made = None
            for epsilon in epsilons:
                key = (name, repetition, epsilon)
                if not store.get("trap", key):
                    made = made or function(np.random.default_rng(seed_of(name, repetition)), *variant)
                    store.put("trap", key, **_one(subject, made, epsilon, seed_of("trap", *key)))


def _one(subject, made, epsilon, seed):
    names = [f"x{j}" for j in range(made.X.shape[1])]
    declared = {name: {"kind": "real", "bounds": [float(low), float(high)]} for name, (low, high) in zip(names, made.bounds)}
    if made.family == "logistic":
        declared[TARGET] = {"kind": "binary", "levels": [0, 1]}
    else:
        declared[TARGET] = {"kind": "count" if made.family == "poisson" else "real", "bounds": [float(made.target[0]), float(made.target[1])]}
    frame = pd.DataFrame(made.X, columns=names).assign(**{TARGET: made.y})
    schema = {"target": TARGET, **made.more, "columns": declared}
    model = subject.fit(made.family, frame, schema, epsilon, 1 / (10 * len(frame)), seed, 0.95)
    if isinstance(model, str):
        return dict(refused=model)
    found = coefficients(model)
    rows = slice(None) if made.used is None else made.used
    truth = exact.fit(made.family, made.X[rows], made.y[rows], inference=True)
    slopes = np.array(made.slopes, dtype=float)
    known, there = found.determined, truth.exists
    size = 10 * np.maximum(np.abs(truth.estimate), truth.error)
    wrong = known[1:] & ((slopes > 0) & (found.high[1:] < 0) | (slopes < 0) & (found.low[1:] > 0))
    return dict(
        signs=int((slopes != 0).sum()),
        wrong=int(wrong.sum()),
        existing=int(there.sum()),
        undetermined=int((~known & there).sum()),
        beyond=int((known & there & (np.abs(found.estimate) > size)).sum()),
        missing=int((~there).sum()),
        missing_determined=int((known & ~there).sum()),
        covered=int((known & there & (found.low <= truth.estimate) & (truth.estimate <= found.high)).sum()),
    )


def summary(epsilons, repetitions, store):
    found = {}
    for name, (function, _) in TRAPS.items():
        for epsilon in epsilons:
            records = [store.get("trap", (name, repetition, epsilon)) for repetition in range(repetitions)]
            records = [record for record in records if record]
            told = [record["refused"] for record in records if "refused" in record]
            parts = "signs wrong existing undetermined beyond missing missing_determined covered".split()
            sums = {part: sum(record[part] for record in records if part in record) for part in parts}
            if records:
                found.setdefault(name, {})[str(epsilon)] = dict(runs=len(records), refused=told[0] if told else None, **sums)
    return found
