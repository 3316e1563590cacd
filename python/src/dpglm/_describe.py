"""The description of a table: what the first table of a paper holds, with one budget."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from . import _native
from ._base import plain_number
from ._certificate import Certificate
from ._declare import declare_magnitude, share_for_bounds
from ._ledger import Ledger, expect, paid_from
from ._report import Report, report
from ._table import Schema, encode_table
from ._warnings import tell

__all__ = ["Description", "describe"]

_STATISTICS = {
    "mean": "mean",
    "deviation": "standard deviation",
    "first_quartile": "first quartile",
    "median": "median",
    "third_quartile": "third quartile",
}


class Description:
    """A description of a table. Every number comes with the ends of its interval, for sampling and privacy noise together."""

    def __init__(self, artefact: str) -> None:
        self._native = _native.Artefact(artefact)
        self._json = artefact
        self._document: dict[str, Any] = json.loads(artefact)
        #: What left, and what it cost.
        self.certificate = Certificate.from_json(self._native.certificate())

    @property
    def n(self) -> int:
        """The number of rows, which is public."""
        return int(self._document["n"])

    def _groups(self) -> list[tuple[str, dict[str, Any]]]:
        return [(group.get("group", "all rows"), group) for group in self._document["groups"]]

    def rows(self) -> list[dict[str, Any]]:
        """Every number of the table: group, column, statistic or level, estimate, low, high."""
        found: list[dict[str, Any]] = []

        def add(group: str, column: str, statistic: str, number: dict[str, Any]) -> None:
            low, high = number["interval"]
            found.append(
                {"group": group, "column": column, "statistic": statistic, "estimate": number["estimate"], "low": low, "high": high}
            )

        for name, group in self._groups():
            if "share" in group:
                add(name, self._document["by"], "share of rows", group["share"])
            for column, said in group["columns"].items():
                for key, statistic in _STATISTICS.items():
                    if key in said:
                        add(name, column, statistic, said[key])
                for level, number in said.get("levels", {}).items():
                    add(name, column, level, number)
                if "missing" in said:
                    add(name, column, "missing", said["missing"])
        return found

    @property
    def table(self) -> Any:
        """The table as a pandas data frame, indexed by group, column and statistic."""
        import pandas as pd

        return pd.DataFrame(self.rows()).set_index(["group", "column", "statistic"])

    def to_polars(self) -> Any:
        """The table as a Polars data frame."""
        import polars as pl

        return pl.DataFrame(self.rows())

    def _by_group(self, found: dict[str, Any]) -> Any:
        return found if "by" in self._document else found.get("all rows")

    @property
    def histograms(self) -> Any:
        """By column, edges and the shares of bins with their intervals, if asked for; by group first, where there are groups."""
        def of(group: dict[str, Any]) -> dict[str, Any]:
            return {name: said["histogram"] for name, said in group["columns"].items() if "histogram" in said}

        return self._by_group({name: of(group) for name, group in self._groups()})

    @property
    def cross(self) -> Any:
        """The cross table as a pandas data frame of shares, if asked for; by group first, where there are groups."""
        def of(group: dict[str, Any]) -> Any:
            import pandas as pd

            said = group.get("cross")
            if said is None:
                return None
            down, along = said["columns"]
            cells = [[number["estimate"] for number in line] for line in said["shares"]]
            return pd.DataFrame(cells, index=pd.Index(said["rows"], name=down), columns=pd.Index(said["across"], name=along))

        return self._by_group({name: of(group) for name, group in self._groups()})

    @property
    def correlations(self) -> Any:
        """The correlations as a pandas data frame, if asked for; by group first, where there are groups."""
        def of(group: dict[str, Any]) -> Any:
            import pandas as pd

            said = group.get("correlations")
            if said is None:
                return None
            cells = [[number["estimate"] for number in line] for line in said["matrix"]]
            return pd.DataFrame(cells, index=said["columns"], columns=said["columns"])

        return self._by_group({name: of(group) for name, group in self._groups()})

    def to_json(self) -> str:
        """The artefact, as ``dpglm describe --output`` writes it."""
        return self._json

    def as_dict(self) -> dict[str, Any]:
        """The same as a dictionary, with the intervals of cross tables and correlations too."""
        return dict(self._document)

    def save(self, path: str | os.PathLike[str], *, key_file: str | os.PathLike[str] | None = None) -> None:
        """Writes the artefact for ``dpglm show``, and its signature beside it if a file with a secret key is given."""
        _native.save_artefact(self._json, os.fspath(path), None if key_file is None else os.fspath(key_file))

    def bars(self) -> str:
        """Histograms and shares as bars of text."""
        return self._native.bars()

    def to_svg(self) -> str:
        """Histograms and shares with error bars as SVG."""
        return self._native.svg()

    def to_html(self) -> str:
        """Tables, drawings and the promise as one page that needs nothing else."""
        return self._native.html()

    def report(
        self, *others: Any, names: list[str] | None = None, ledger: Ledger | str | os.PathLike[str] | None = None
    ) -> Report:
        """One page for who decides, who computes and who reviews, beside other results if given: :func:`dpglm.report`."""
        return report(self, *others, names=names, ledger=ledger)

    def _repr_html_(self) -> str:
        return self._native.fragment()

    def __str__(self) -> str:
        return f"{self._native.table()}\n{self.certificate}"

    __repr__ = __str__


def describe(
    data: Any,
    schema: Schema,
    *,
    epsilon: float,
    delta: float | None,
    by: str | None = None,
    histograms: int | bool | None = None,
    cross: tuple[str, str] | None = None,
    correlations: bool = False,
    intervals: float = 0.95,
    magnitudes: Mapping[str, tuple[float, float]] | None = None,
    bounds_share: float | None = None,
    strict: bool = False,
    insecure_seed: int | None = None,
    ledger: Ledger | None = None,
) -> Description:
    """Describes a data frame under a schema with one budget: ``dpglm describe FILE --schema FILE`` in memory.

    ``by`` names a category or binary whose levels are described apart, ``histograms`` is a number of bins (``True`` for 20), ``cross``
    two categories. ``magnitudes`` gives, for numbers whose bounds nobody knows, the largest size and the smallest difference that matters:
    their bounds are then found privately with ``bounds_share`` of the budget (a tenth). The same is done for numbers to which the
    schema gives a magnitude. ``ledger`` pays, if one is given (:class:`dpglm.Ledger`).

    >>> import numpy as np
    >>> import pandas as pd
    >>> import dpglm
    >>> schema = dpglm.Schema('''
    ... [columns]
    ... age = { kind = "real", bounds = [0, 110] }
    ... sex = { kind = "binary", levels = ["f", "m"] }
    ... ''')
    >>> rng = np.random.default_rng(0)
    >>> people = pd.DataFrame({"age": rng.normal(40, 12, 5000), "sex": rng.choice(["f", "m"], 5000)})
    >>> found = dpglm.describe(people, schema, epsilon=1.0, delta=1e-6)
    >>> [row["statistic"] for row in found.rows()][:3]
    ['mean', 'standard deviation', 'first quartile']
    """
    asked, read = asked_of_description(
        schema, epsilon=epsilon, delta=delta, by=by, histograms=histograms, cross=cross, correlations=correlations, intervals=intervals,
        magnitudes=magnitudes, bounds_share=bounds_share, insecure_seed=insecure_seed,
    )  # fmt: skip
    paid = paid_from(ledger)
    expect(paid, asked, json.loads(read).get("unit"))
    table = encode_table(data, read, constant=False, needs_target=True, strict=strict, for_means=True)
    artefact, said = _native.describe(table, asked, paid)
    tell(said, table.curator_notes)
    return Description(artefact)


def asked_of_description(
    schema: Schema,
    *,
    epsilon: float,
    delta: float | None,
    by: str | None = None,
    histograms: int | bool | None = None,
    cross: tuple[str, str] | None = None,
    correlations: bool = False,
    intervals: float = 0.95,
    magnitudes: Mapping[str, tuple[float, float]] | None = None,
    bounds_share: float | None = None,
    insecure_seed: int | None = None,
) -> tuple[dict[str, Any], str]:
    """What is asked of a description, as the library takes it, and the schema under which a table is read for it."""
    if not isinstance(schema, Schema):
        raise TypeError("schema must be a dpglm.Schema: read one with Schema.load(path), or write Schema('...')")
    if cross is not None and (isinstance(cross, str) or len(cross) != 2 or not all(isinstance(name, str) for name in cross)):
        raise TypeError(f"cross takes the names of two categories or 0/1 columns, got {cross!r}: write them like ('sex', 'region')")
    declared = {name: declare_magnitude(name, magnitude) for name, magnitude in (magnitudes or {}).items()}
    given = [(name, column["magnitude"], column["resolution"]) for name, column in declared.items()]
    columns = json.loads(schema.to_json())["columns"].values()
    searched = bool(given) or any("magnitude" in column for column in columns)
    asked = {
        "epsilon": plain_number("epsilon", epsilon),
        "delta": plain_number("delta", delta),
        "insecure_seed": plain_number("insecure_seed", insecure_seed, int),
        "by": by,
        "level": plain_number("intervals", intervals),
        "bins": 20 if histograms is True else plain_number("histograms", None if histograms is False else histograms, int),
        "cross": None if cross is None else tuple(cross),
        "correlations": bool(correlations),
        "bounds_share": share_for_bounds(bounds_share, searched),
    }
    _native.check_budget(asked["epsilon"], asked["delta"])
    return asked, _native.schema_of_description(schema.to_json(), by, given)
