"""What left, and what it cost."""

from __future__ import annotations

import html
import json
from typing import Any

from . import _native

__all__ = ["Certificate"]


class Certificate:
    """A fit's certificate: every release with its noise, the guarantee they carry together, and on what it rests.

    Its JSON is the one that the command line writes. Reading one computes the claim again from the listed releases; a
    certificate that claims less than they cost is refused.

    >>> from dpglm import PrivateMean
    >>> import numpy as np
    >>> X = np.zeros((500, 2))
    >>> mean = PrivateMean(epsilon=1.0, delta=1e-6, feature_bounds=(-1, 1)).fit(X)
    >>> mean.certificate_.grade
    'certified'
    >>> mean.certificate_.epsilon <= 1.0
    True
    >>> Certificate.from_json(mean.certificate_.to_json()) == mean.certificate_
    True
    """

    def __init__(self, document: dict[str, Any], text: str) -> None:
        self._document = document
        self._text = text

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Reads a certificate and computes its claim again; raises ``ValueError`` if it claims less than it cost."""
        text = _native.verify_certificate(text)
        return cls(json.loads(text), text)

    def to_json(self) -> str:
        """The certificate as the command line writes it."""
        return self._text

    @property
    def grade(self) -> str:
        """``certified``, ``conditional`` (rests on :attr:`assumptions`) or ``none``."""
        return str(self._document["grade"])

    @property
    def epsilon(self) -> float | None:
        """The privacy loss; ``None`` if nothing is promised."""
        value = self._document.get("epsilon")
        return None if value is None else float(value)

    @property
    def delta(self) -> float | None:
        """The probability with which the promise may fail; ``None`` if nothing is promised."""
        value = self._document.get("delta")
        return None if value is None else float(value)

    @property
    def events(self) -> list[dict[str, Any]]:
        """Every release: mechanism, sensitivity, noise, count."""
        return list(self._document["events"])

    @property
    def curve(self) -> list[tuple[float, float]]:
        """The whole privacy curve, as pairs of epsilon and delta."""
        return [(float(e), float(d)) for e, d in self._document.get("curve", [])]

    def as_dict(self) -> dict[str, Any]:
        """All of it."""
        copy: dict[str, Any] = json.loads(self._text)
        return copy

    def __str__(self) -> str:
        return _native.certificate_text(self._text)

    def __repr__(self) -> str:
        promise = "no promise" if self.epsilon is None else f"epsilon={self.epsilon:.6g}, delta={self.delta:.6g}"
        return f"<Certificate: {self.grade}, {promise}>"

    def _repr_html_(self) -> str:
        return f"<p><b>{html.escape(self.grade)}</b>: {html.escape(str(self))}</p>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Certificate) and self._document == other._document

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Certificate.from_json, (self._text,))
