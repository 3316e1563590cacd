"""Do nominal 95% intervals hold, how long are they, and what do they admit not to know?

Truth: the exact coefficients of the full table, in its units. Each draw takes half as many rows *with* replacement, so that it has the sampling
variance of a sample of that size (a half without replacement has half of it).
"""

import exact
import numpy as np
from budget import dimension, signal
from store import digits, signature
from subject import coefficients, frame_of, schema_of, seed_of
from tasks import in_units

LEVEL, QUANTILE = 0.95, 1.959963984540054
CLASSES = dict(
    rare="indicators of less than 1% of the rows (or more than 99%)",
    collinear="variance inflation above 10",
    wide="numbers that reach more than 10 standard deviations from their mean",
)


def rows_of(task, draw):
    n = len(task["y"])
    return np.random.default_rng(2000 + draw).integers(n, size=n // 2)


def delta_of(task):
    return 1 / (10 * (len(task["y"]) // 2))


def measure(subject, task, epsilons, draws, store, reference):
    name, mark, schema = task["name"], signature(task), schema_of(task)
    for draw in range(draws):
        wanted = [epsilon for epsilon in epsilons if not store.get("draw", (name, draw, epsilon), mark)]
        if not wanted:
            continue
        frame = frame_of(task, rows_of(task, draw))
        for epsilon in wanted:
            key = (name, draw, epsilon)
            model = subject.fit(task["family"], frame, schema, epsilon, delta_of(task), seed_of("draw", *key), LEVEL)
            if isinstance(model, str):
                store.put("draw", key, mark, refused=model)
                continue
            found = coefficients(model)
            if found.low is None:
                store.put("draw", key, mark, refused="the artefact has no intervals")
                continue
            kept = {part: digits(getattr(found, part)) for part in ("estimate", "error", "low", "high")}
            store.put("draw", key, mark, **kept, determined=[int(known) for known in found.determined])
            # The same rows without privacy: what is left of the difference is the noise.
            _exact(task, rows_of(task, draw), reference, draw)


def _truth(task, reference):
    return _exact(task, np.arange(len(task["y"])), reference, "all rows")


def _exact(task, rows, reference, which):
    key, mark = (task["name"], which), signature(task)
    kept = reference.get("coefficients", key, mark)
    if not kept:
        exposure = None if task["exposure"] is None else task["exposure"][rows]
        found = exact.fit(task["family"], in_units(task, rows), task["y"][rows], exposure, max(len(task["classes"]), 2), inference=True)
        values = dict(estimate=digits(found.estimate, 9), error=digits(found.error), exists=[int(x) for x in found.exists])
        kept = reference.put("coefficients", key, mark, **values)
    return {part: np.array(kept[part]) for part in ("estimate", "error", "exists")}


# --- Kinds of columns -------------------------------------------------------------------------------------------------


def kinds(task):
    """For each coefficient of one block, the intercept first, which of the difficult kinds it is of."""
    Z, names = task["Z"], task["names"]
    indicator = np.array(["=" in name for name in names])
    middle, spread = Z.mean(0), Z.std(0)
    share = (middle + 1) / 2
    standard = (Z - middle) / np.where(spread > 0, spread, 1)
    values, vectors = np.linalg.eigh(standard.T @ standard / len(Z))
    inflation = (vectors**2 / np.maximum(values, 1e-12)).sum(1)
    found = dict(
        rare=indicator & (np.minimum(share, 1 - share) < 0.01),
        collinear=inflation > 10,
        wide=~indicator & (np.abs(standard).max(0) > 10),
    )
    return {kind: np.r_[False, of] for kind, of in found.items()}


# --- One task at one epsilon, over its draws --------------------------------------------------------------------------


def summary(task, epsilon, draws, store, reference):
    """None if nothing was measured."""
    name, mark, m = task["name"], signature(task), len(task["y"]) // 2
    records = [(draw, store.get("draw", (name, draw, epsilon), mark)) for draw in range(draws)]
    records = [(draw, record) for draw, record in records if record]
    if not records:
        return None
    told = {record["refused"] for _, record in records if "refused" in record}
    if told:
        return dict(refused=sorted(told)[0])
    truth = _truth(task, reference)
    there, sampling = truth["exists"] == 1, truth["error"] * np.sqrt(len(task["y"]) / m)
    parts = {part: np.array([record[part] for _, record in records], dtype=float) for part in ("estimate", "error", "low", "high")}
    known = np.array([record["determined"] for _, record in records]) == 1
    covered = (parts["low"] <= truth["estimate"]) & (truth["estimate"] <= parts["high"])
    blocks = len(there) // (task["Z"].shape[1] + 1)

    def pooled(of):
        counted = known & (there & of)
        return [int((covered & counted).sum()), int(counted.sum())]

    # The noise alone: private less exact on the same rows, its spread over the draws.
    same = [_exact(task, rows_of(task, draw), reference, draw) for draw, _ in records]
    differences = np.where(np.array([one["exists"] for one in same]) == 1, parts["estimate"] - [one["estimate"] for one in same], np.nan)
    few = np.isfinite(differences).sum(0) < 3
    noise = np.where(few, 0, np.nanstd(np.where(few, 0, differences), axis=0, ddof=1)) if len(records) > 2 else np.zeros(len(there))
    honest = np.where(few, np.nan, np.sqrt(noise**2 + sampling**2))
    with np.errstate(all="ignore"):
        ratio = np.where(known & there, parts["error"] / honest, np.nan)
        length = np.where(known & there, (parts["high"] - parts["low"]) / (2 * QUANTILE * sampling), np.nan)
    outside = (parts["estimate"] < parts["low"]) | (parts["estimate"] > parts["high"])
    finite = lambda values: values[np.isfinite(values)]
    middle = lambda values: float(np.median(finite(values))) if len(finite(values)) else None
    return dict(
        draws=len(records),
        signal=signal(m, dimension(task["Z"].shape[1], len(task["classes"])), epsilon, delta_of(task)),
        coefficients=int(there.sum()),
        covered=pooled(np.ones(len(there), bool)),
        **{kind: pooled(np.tile(of, blocks)) for kind, of in kinds(task).items()},
        undetermined=float(1 - known[:, there].mean()) if there.any() else None,
        length=middle(length),
        error_ratio=middle(ratio),
        error_ratio_largest=float(np.nanmax(ratio)) if len(finite(ratio)) else None,
        estimate_outside=int((outside & known).sum()),
        missing=int((~there).sum()),
        missing_flagged=float(1 - known[:, ~there].mean()) if not there.all() else None,
    )
