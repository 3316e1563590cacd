"""From noise to a guarantee, and from a budget to noise."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

from . import _native

__all__ = ["Event", "Guarantee", "account", "calibrate"]


class Event(dict[str, Any]):
    """One kind of release, as events files and certificates write it.

    >>> Event.gaussian(sensitivity=1, sigma=4, count=20)["mechanism"]
    'gaussian'
    """

    @classmethod
    def gaussian(cls, *, sensitivity: float, sigma: float, count: int = 1, release: str = "") -> Event:
        """Gaussian noise on a vector of this l2 sensitivity."""
        return cls(_event("gaussian", release, count, sensitivity=sensitivity, sigma=sigma))

    @classmethod
    def laplace(cls, *, sensitivity: float, scale: float, count: int = 1, release: str = "") -> Event:
        """Laplace noise on a vector of this l1 sensitivity."""
        return cls(_event("laplace", release, count, sensitivity=sensitivity, scale=scale))

    @classmethod
    def selection(cls, *, sensitivity: float, scale: float, count: int = 1, release: str = "") -> Event:
        """A choice by the exponential mechanism: largest score plus Gumbel noise."""
        return cls(_event("selection", release, count, sensitivity=sensitivity, scale=scale))

    @classmethod
    def pure(cls, *, epsilon: float, count: int = 1, release: str = "") -> Event:
        """A release with a pure guarantee of its own."""
        return cls(_event("pure", release, count, epsilon=epsilon))

    @classmethod
    def zcdp(cls, *, rho: float, count: int = 1, release: str = "") -> Event:
        """A release with a zero-concentrated guarantee."""
        return cls(_event("zcdp", release, count, rho=rho))


Events = Union[Mapping[str, Any], Iterable[Mapping[str, Any]]]


def _event(mechanism: str, release: str, count: int, **numbers: float) -> dict[str, Any]:
    return {"release": release, "mechanism": mechanism, **{k: float(v) for k, v in numbers.items()}, "count": int(count)}


@dataclass(frozen=True)
class Guarantee:
    """What releases guarantee together."""

    epsilon: float
    delta: float
    bound: str
    """Which bound gave the numbers."""
    events: Sequence[Mapping[str, Any]]

    def delta_at(self, epsilon: float) -> float:
        """Delta at another epsilon."""
        return _native.delta_at(_json(self.events), float(epsilon))

    def curve(self) -> list[tuple[float, float]]:
        """The whole privacy curve, as pairs of epsilon and delta."""
        return _native.curve(_json(self.events))


def account(events: Events, *, delta: float) -> Guarantee:
    """What do these releases cost together?

    >>> account(Event.gaussian(sensitivity=1, sigma=4, count=20), delta=1e-5).bound
    'exact Gaussian composition'
    """
    listed = _listed(events)
    epsilon, bound = _native.account(_json(listed), float(delta))
    return Guarantee(epsilon, float(delta), bound, listed)


def calibrate(template: Events, *, epsilon: float, delta: float | None, spent: Events = ()) -> list[Event]:
    """How much noise do these releases need? All noise of the template is multiplied by one factor.

    ``delta=None`` asks for a pure guarantee, which Gaussian noise cannot give. ``spent`` counts against the budget and keeps
    its noise.

    >>> event, = calibrate(Event.gaussian(sensitivity=1, sigma=1, count=20), epsilon=0.5, delta=1e-5)
    >>> 31.4472 < event["sigma"] <= 31.4473
    True
    """
    found = _native.calibrate(
        _json(_listed(template)), _json(_listed(spent)), float(epsilon), None if delta is None else float(delta)
    )
    return [Event(event) for event in json.loads(found)]


def _listed(events: Events) -> list[Mapping[str, Any]]:
    return [events] if isinstance(events, Mapping) else list(events)


def _json(events: Sequence[Mapping[str, Any]]) -> str:
    return json.dumps([dict(event) for event in events])
