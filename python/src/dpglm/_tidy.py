"""Estimates as data frames: one row a term, one row a fit."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["glance", "terms", "tidy"]


def terms(document: dict[str, Any]) -> list[dict[str, Any]]:
    """One dictionary for each estimate of a fit or of means."""
    estimates = document.get("estimates") or document.get("coefficients") or document.get("means") or {}
    errors, intervals, determined = (document.get(key) for key in ("standard_errors", "intervals", "determined"))
    rows = []
    for name, estimate in estimates.items():
        low, high = intervals[name] if intervals else (None, None)
        z = None
        if errors and errors[name] > 0 and (not determined or determined[name]):
            z = estimate / errors[name]
        rows.append(
            {
                "term": name,
                "estimate": estimate,
                "std_error": errors[name] if errors else None,
                "statistic": z,
                "p_value": None if z is None else math.erfc(abs(z) / math.sqrt(2)),
                "conf_low": low,
                "conf_high": high,
                "determined": determined[name] if determined else None,
            }
        )
    return rows


def tidy(document: dict[str, Any]) -> Any:
    """The same as a pandas data frame; columns that no row has are left out."""
    import pandas as pd

    rows = terms(document)
    kept = [key for key in rows[0] if any(row[key] is not None for row in rows)] if rows else ["term", "estimate"]
    return pd.DataFrame([{key: row[key] for key in kept} for row in rows], columns=kept)


def glance(document: dict[str, Any]) -> Any:
    """One row about the whole fit: what it is of, of how many rows, and what it cost."""
    import pandas as pd

    certificate = document["certificate"]
    target = document.get("target")
    row = {
        "family": document.get("family", "mean"),
        "method": document.get("method"),
        "target": target["name"] if target else None,
        "n": document["n"],
        "terms": len(terms(document)),
        "level": document.get("level"),
        "grade": certificate["grade"],
        "epsilon": certificate["epsilon"],
        "delta": certificate["delta"],
    }
    return pd.DataFrame([row])
