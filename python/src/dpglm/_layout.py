"""Which columns are read, and how their rows are packed: public facts alone, the same on the driver and on every worker."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _native
from ._data import column

__all__ = ["Layout", "PRINTS"]

#: Fingerprints of rows add up modulo this.
PRINTS = 2**40

#: Numbers of a block's rows, about: they stay in a processor's cache.
NUMBERS = 2**19


@dataclass(frozen=True)
class Layout:
    """How a table's columns become packed rows.

    ``names`` are the columns under ``schema`` (JSON); ``response`` is the response's name and schema, where it has one of its own; ``unit``
    says what a unit is called that the schema does not name. ``single`` says that all numbers are of single precision, ``bytes`` that they
    are bytes.
    """

    schema: str
    names: tuple[str, ...]
    constant: bool
    response: tuple[str, str] | None = None
    unit: str | None = None
    single: bool = False
    bytes: bool = False
    for_means: bool = False

    @classmethod
    def of_schema(cls, schema: str, *, constant: bool, for_means: bool = False) -> Layout:
        """The layout of the columns that a schema declares, its unit among them."""
        document = json.loads(schema)
        names = [name for name, declared in document["columns"].items() if declared.get("kind") != "ignore"]
        unit = document.get("unit")
        if unit is not None and unit not in names:
            names.append(str(unit))
        return cls(schema, tuple(names), constant, for_means=for_means)

    def how(self) -> dict[str, Any]:
        """How the library is to read a batch."""
        return {
            "schema": self.schema,
            "name": "the rows",
            "strict": False,
            "constant_column": self.constant,
            "for_means": self.for_means,
            "needs_target": True,
            "single": self.single,
        }

    def packing(self) -> Any:
        """What packs rows, and answers for them."""
        return _native.Packing(
            {"how": self.how(), "names": list(self.names), "response": self.response, "unit": self.unit, "bytes": self.bytes}
        )

    @property
    def unit_name(self) -> str | None:
        """What a unit is called, where units may have several rows."""
        named = json.loads(self.schema).get("unit")
        return self.unit if named is None else str(named)

    def rows_of_a_block(self) -> int:
        """Each block costs some products of matrices, so blocks of wide tables have more rows than columns."""
        width = len(self.names)
        return max(NUMBERS // (width + 8), 4 * width, 256)

    def encode(self, features: Any, response: Any) -> Any:
        """A batch as the library's table. Features are a matrix, or columns by name."""
        cells = None if self.response is None else (self.response[0], column(response), self.response[1])
        if isinstance(features, np.ndarray):
            return _native.encode_matrix(self.how(), features, list(self.names), cells)
        columns = [(name, column(features[name])) for name in self.names]
        return _native.encode_columns(self.how(), columns, cells)
