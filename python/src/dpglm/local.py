"""The local model: what leaves a person's device is already private.

Randomizers make the reports, and the device's side of ``dpglm collect`` checks a study, makes one report, keeps it and sends it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _native
from ._certificate import Certificate

__all__ = ["LabelNoise", "RandomizedResponse", "ThresholdBit", "VectorRandomizer", "answer"]


class VectorRandomizer:
    """Reports on vectors of bounded l2 norm: 22 bytes each, of pure epsilon whatever the vector.

    >>> randomizer = VectorRandomizer(3, radius=1.0, epsilon=2.0)
    >>> reports = [randomizer.randomize([0.5, 0.0, -0.5]) for _ in range(4000)]
    >>> estimate = randomizer.mean(reports)
    >>> bool(abs(estimate - [0.5, 0.0, -0.5]).max() < 0.3)
    True
    """

    def __init__(self, dimension: int, *, radius: float, epsilon: float, kind: str = "privunit") -> None:
        self._native = _native.Randomizer(int(dimension), radius=float(radius), epsilon=float(epsilon), kind=kind)

    @property
    def mean_square(self) -> float:
        """The expected squared l2 norm of one report's estimate."""
        return self._native.mean_square

    @property
    def certificate(self) -> Certificate:
        """What one report costs its sender."""
        return Certificate.from_json(self._native.certificate())

    def randomize(self, vector: Any, *, insecure_seed: int | None = None) -> bytes:
        """What leaves the device. A vector longer than the radius is shortened."""
        return bytes(self._native.randomize(np.ascontiguousarray(vector, dtype=np.float64), insecure_seed))

    def mean(self, reports: Iterable[bytes]) -> np.ndarray:
        """The server's side: the unbiased estimate of the senders' mean vector."""
        listed = [bytes(report) for report in reports]
        if not listed:
            raise ValueError("reports must be at least 1, got 0: collect some first")
        return np.asarray(self._native.add_up(listed)) / len(listed)


class RandomizedResponse:
    """Reports one of several levels, often the true one.

    >>> response = RandomizedResponse(2, epsilon=1.0)
    >>> response.randomize(1) in (0, 1)
    True
    """

    def __init__(self, levels: int, *, epsilon: float) -> None:
        self._native = _native.RandomizedResponse(int(levels), epsilon=float(epsilon))

    @property
    def certificate(self) -> Certificate:
        """What one report costs its sender."""
        return Certificate.from_json(self._native.certificate())

    def randomize(self, label: int, *, insecure_seed: int | None = None) -> int:
        """What leaves the device."""
        return self._native.randomize(int(label), insecure_seed)

    def share(self, reports: Iterable[int], level: int) -> float:
        """The unbiased estimate of the share of senders whose label is this level."""
        return float(np.mean([self._native.indicator(int(report), int(level)) for report in reports]))


class LabelNoise:
    """Adds noise to a label within public bounds: Laplace noise without a delta, Gaussian noise with one.

    >>> noise = LabelNoise((0, 10), epsilon=1.0)
    >>> noise.certificate
    <Certificate: certified, epsilon=1, delta=0>
    """

    def __init__(self, bounds: tuple[float, float], *, epsilon: float, delta: float | None = None) -> None:
        low, high = bounds
        self._native = _native.LabelNoise((float(low), float(high)), epsilon=float(epsilon), delta=delta)

    @property
    def deviation(self) -> float:
        """The noise's standard deviation."""
        return self._native.deviation

    @property
    def certificate(self) -> Certificate:
        """What one report costs its sender."""
        return Certificate.from_json(self._native.certificate())

    def randomize(self, label: float, *, insecure_seed: int | None = None) -> float:
        """What leaves the device."""
        return self._native.randomize(float(label), insecure_seed)


class ThresholdBit:
    """Reports a random threshold and whether the label is above it, perhaps flipped: 5 bytes.

    >>> bit = ThresholdBit((0, 1), epsilon=2.0)
    >>> values = [bit.value(bit.randomize(0.8)) for _ in range(4000)]
    >>> bool(abs(sum(values) / 4000 - 0.8) < 0.2)
    True
    """

    def __init__(self, bounds: tuple[float, float], *, epsilon: float) -> None:
        low, high = bounds
        self._native = _native.ThresholdBit((float(low), float(high)), epsilon=float(epsilon))

    @property
    def certificate(self) -> Certificate:
        """What one report costs its sender."""
        return Certificate.from_json(self._native.certificate())

    def randomize(self, label: float, *, insecure_seed: int | None = None) -> bytes:
        """What leaves the device."""
        return bytes(self._native.randomize(float(label), insecure_seed))

    def value(self, report: bytes) -> float:
        """The unbiased estimate of the label behind a report."""
        return self._native.value(bytes(report))


def answer(
    service: str,
    record: dict[str, float | None],
    *,
    key: str,
    limit: float,
    token: str,
    device: str,
) -> dict[str, Any]:
    """Answers a study from this device, as ``dpglm collect report`` does: check, randomize, keep, send.

    The values never leave. The report is on the device's disk, and its epsilon counted as spent, before it is sent; calling
    again sends the same bytes.

    Parameters
    ----------
    service : the study's address.
    record : the values by column; a column left out, or ``None``, counts as the middle of its bounds.
    key : the curator's public key, from a source you trust.
    limit : the most epsilon that this device may spend in all its studies together. No default.
    token : this device's enrolment token.
    device : the device's folder, which keeps what was spent and sent.
    """
    import json

    known = {str(name): float(value) for name, value in record.items() if value is not None}
    answered: dict[str, Any] = json.loads(
        _native.answer_study(str(service), known, str(key), float(limit), str(token), str(device))
    )
    return answered
