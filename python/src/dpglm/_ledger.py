"""A privacy budget that outlives the process."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from . import _native

__all__ = ["Ledger"]


class Ledger:
    """A file that fixes a total privacy loss, and from which fits are paid.

    Give it to ``fit`` of any estimator, or to :func:`dpglm.describe`, :func:`dpglm.fit_table` and :func:`dpglm.glm`, as ``ledger=``.
    What will be released is entered, and on disk, before any row is computed with; a fit for which there is no room is refused and says
    what would fit. Every fit may depend on the results of earlier ones, its budget included: the total holds all the same.

    ``data`` and ``purpose`` are entered with each release. Make another object of the same file for another purpose.

    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import dpglm
    >>> X = np.random.default_rng(0).normal(3.0, 1.0, (2000, 2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "hospital.ledger"
    ...     ledger = dpglm.Ledger.create(path, epsilon=4.0, delta=1e-6, data="visits", purpose="mean stay")
    ...     mean = dpglm.PrivateMean(epsilon=1.0, delta=1e-6, feature_bounds=(-50, 50)).fit(X, ledger=ledger)
    ...     [charge["purpose"] for charge in ledger.charges], ledger.remaining() > 3.7
    (['mean stay'], True)

    As a block, with everything in it paid from the ledger:

    ``with dpglm.Ledger("hospital.ledger", purpose="risk model") as ledger: ledger.fit(model, X, y)``
    """

    def __init__(self, path: str | os.PathLike[str], *, data: str = "", purpose: str = "") -> None:
        self.path = os.fspath(path)
        self.data = str(data)
        self.purpose = str(purpose)
        self.show()

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        epsilon: float,
        delta: float | None,
        reserve: float = 0.0,
        rule: str = "gdp",
        unit: str | None = None,
        protects: str = "row",
        about: str = "",
        data: str = "",
        purpose: str = "",
    ) -> Ledger:
        """Makes a new ledger, as ``dpglm ledger init`` does. A file that exists is never overwritten.

        It protects one row; with ``unit`` all rows of one person, whom this column names; or what ``protects`` says: a user's ``"record"`` or
        ``"label"`` on their device, or a ``"pair"``, one row that describes two people."""
        if rule not in ("gdp", "zcdp", "pure"):
            raise ValueError(f"rule must be one of gdp, zcdp, pure, got {rule}: choose one of them")
        if protects not in ("row", "record", "label", "pair"):
            raise ValueError(f"protects must be one of row, record, label, pair, got {protects}: choose one of them")
        if unit is not None and protects != "row":
            raise ValueError("unit and protects say two things: leave out one of them")
        whom = unit is not None, protects if unit is None else str(unit)
        _native.create_ledger(os.fspath(path), float(epsilon), None if delta is None else float(delta), float(reserve), str(rule), whom, str(about))
        return cls(path, data=data, purpose=purpose)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *raised: object) -> None:
        """Nothing is held between two calls: each locks the file, writes and syncs it by itself."""

    def fit(self, model: Any, X: Any, *y: Any, **arguments: Any) -> Any:
        """``model.fit(X, y, ledger=self)`` for any estimator; means take no ``y``, and models of survival ``time, event``."""
        return model.fit(X, *y, ledger=self, **arguments)

    def fit_table(self, frame: Any, schema: Any, **arguments: Any) -> Any:
        """:func:`dpglm.fit_table`, paid from this ledger."""
        from ._table import fit_table

        return fit_table(frame, schema, ledger=self, **arguments)

    def glm(self, formula: str, frame: Any, **arguments: Any) -> Any:
        """:func:`dpglm.glm`, paid from this ledger."""
        from ._formula import glm

        return glm(formula, frame, ledger=self, **arguments)

    def describe(self, frame: Any, schema: Any, **arguments: Any) -> Any:
        """:func:`dpglm.describe`, paid from this ledger."""
        from ._describe import describe

        return describe(frame, schema, ledger=self, **arguments)

    def show(self) -> dict[str, Any]:
        """All that it holds, as ``dpglm ledger show --format json`` prints it. Every line is verified first."""
        document: dict[str, Any] = json.loads(_native.show_ledger(self.path))
        return document

    @property
    def charges(self) -> list[dict[str, Any]]:
        """What was spent, and what for."""
        charges: list[dict[str, Any]] = self.show()["charges"]
        return charges

    @property
    def spent(self) -> float:
        """The share of the total that is spent."""
        document = self.show()
        return float(document["spent"] / document["limit"])

    @property
    def assuming(self) -> list[str]:
        """On what the total's promise rests that nothing enforces: the assumptions of all fits that were accepted by name."""
        assuming: list[str] = self.show()["assuming"]
        return assuming

    @property
    def head(self) -> str:
        """The hash of the last line. Keep it elsewhere: :meth:`verify` then shows whether the file was cut off or written again."""
        return str(self.show()["head"])

    def remaining(self, delta: float | None = None) -> float:
        """The largest epsilon of one more release with Gaussian noise, at this delta or the total's."""
        return _native.room_in_ledger(self.path, float(self.show()["terms"]["delta"] if delta is None else delta))

    def verify(self, head: str | None = None) -> None:
        """Raises ``ValueError`` if a line was changed, taken out or moved, or if no line has the hash ``head``."""
        self.show()
        if head is not None and _native.line_of_ledger(self.path, head) is None:
            raise ValueError(f"{self.path}: no line has the hash {head}: the ledger was cut off, or written again, since it was shown")

    def __repr__(self) -> str:
        return f"Ledger({self.path!r})"


def paid_from(ledger: Ledger | None) -> tuple[str, str, str] | None:
    """A ledger as the library takes it."""
    if ledger is None:
        return None
    if not isinstance(ledger, Ledger):
        raise TypeError("ledger must be a dpglm.Ledger: open one with Ledger(path), or make one with Ledger.create(path, ...)")
    return ledger.path, ledger.data, ledger.purpose


def expect(paid: tuple[str, str, str] | None, asked: Mapping[str, Any], unit: str | None) -> None:
    """Refuses what the ledger certainly has no room for, and units that it does not protect: before a row is read."""
    if paid is not None and asked.get("method") not in ("reference", "iht"):
        _native.expect_ledger(paid, asked["epsilon"], asked["delta"], asked["insecure_seed"], unit)
