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
    certificate that claims less than they cost is refused. That is arithmetic only: :func:`dpglm.verify` checks who signed it.

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
    def assumptions(self) -> list[str]:
        """What a conditional promise assumes of the data; each was accepted by name."""
        return list(self._document.get("assumptions", []))

    @property
    def enforced(self) -> list[str]:
        """The bounds that were enforced, whatever the data."""
        return list(self._document["enforced"])

    @property
    def conditions(self) -> list[str]:
        """On what the promise rests that no program can enforce: what must be public, what must not be seen."""
        return list(self._document["conditions"])

    @property
    def events(self) -> list[dict[str, Any]]:
        """Every release from all rows: mechanism, sensitivity, noise, count."""
        return list(self._document["events"])

    @property
    def parts(self) -> list[dict[str, Any]]:
        """Where public parts of the rows pay apart: which ``rows``, and the ``events`` that these pay for beside those of all rows."""
        return list(self._document.get("parts", []))

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
        if self.epsilon is None or self.delta is None:
            return f"<Certificate: {self.grade}, no promise>"
        epsilon, delta = _native.rounded_up(self.epsilon), _native.rounded_up(self.delta)
        return f"<Certificate: {self.grade}, epsilon={epsilon}, delta={delta}>"

    def _repr_html_(self) -> str:
        conditions = "".join(f"<li>{html.escape(condition)}</li>" for condition in self.conditions)
        listed = f"<details><summary>Conditions of use</summary><ul>{conditions}</ul></details>" if conditions else ""
        return f"<p><b>{html.escape(self.grade)}</b>: {html.escape(str(self))}</p>{listed}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Certificate) and self._document == other._document

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Certificate.from_json, (self._text,))
