"""Drawings with Matplotlib, where it is installed."""

from __future__ import annotations

from typing import Any

__all__ = ["coefficients", "privacy_curve", "study"]


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plot() draws with Matplotlib: install it, or make a page with report()") from error
    return plt.subplots()[1]


def coefficients(rows: list[dict[str, Any]], level: float | None, ax: Any = None) -> Any:
    """Estimates below each other with their intervals; those that are not determined are grey and do not stretch the axis."""
    ax = _axes(ax)
    rows = [row for row in rows if row["term"] != "(Intercept)"]
    places = range(len(rows), 0, -1)
    known = [row for row in rows if row["determined"] is not False]
    ends = [row[key] for row in known for key in ("estimate", "conf_low", "conf_high") if row[key] is not None]
    for place, row in zip(places, rows):
        colour = "#0072B2" if row["determined"] is not False else "#888888"
        if row["conf_low"] is not None:
            ax.plot([row["conf_low"], row["conf_high"]], [place, place], color=colour, lw=2, zorder=2)
        if row["determined"] is not False:
            ax.plot([row["estimate"]], [place], "o", color=colour, zorder=3)
    ax.axvline(0.0, color="#222222", lw=1)
    if ends:
        low, high = min(*ends, 0.0), max(*ends, 0.0)
        room = 0.05 * ((high - low) or 1.0)
        ax.set_xlim(low - room, high + room)
    ax.set_yticks(list(places), [row["term"] for row in rows])
    ax.set_xlabel("coefficient" if level is None else f"coefficient, {100 * level:g}% interval")
    return ax


def privacy_curve(certificate: Any, ax: Any = None) -> Any:
    """Every (epsilon, delta) that holds, and the promise among them."""
    if certificate.epsilon is None:
        raise ValueError("nothing is promised, so there is no privacy curve to draw")
    ax = _axes(ax)
    curve = [(epsilon, delta) for epsilon, delta in certificate.curve if delta > 0]
    ax.plot([epsilon for epsilon, _ in curve], [delta for _, delta in curve], color="#0072B2")
    if certificate.delta:
        ax.plot([certificate.epsilon], [certificate.delta], "o", color="#D55E00")
    ax.set_yscale("log")
    ax.set_xlabel("epsilon (privacy loss)")
    ax.set_ylabel("delta (probability of failure)")
    return ax


def study(plan: Any, ax: Any = None) -> Any:
    """The expected error against the number of rows by the plan's fitted law, and the plan itself."""
    from ._accounting import Event, calibrate

    ax = _axes(ax)
    (noise,) = calibrate(Event.gaussian(sensitivity=1, sigma=1), epsilon=plan.epsilon, delta=plan.delta)
    mu = 1.0 / noise["sigma"]
    law = plan.document["law"]
    rows = [plan.rows * 2.0 ** (step / 8) for step in range(-24, 25)]
    ax.plot(rows, [law["fitted_sampling"] / n + law["fitted_noise"] / (n * mu) ** 2 for n in rows], color="#0072B2")
    ax.errorbar([plan.rows], [plan.error], yerr=[2 * plan.standard_error], fmt="o", color="#D55E00")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("rows")
    ax.set_ylabel("expected squared error")
    return ax
