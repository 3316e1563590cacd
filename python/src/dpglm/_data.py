"""Rows in: NumPy, SciPy, pandas, Polars and Arrow, recognised by what they offer, none of them imported.

The library reads numbers where they stand and writes them once, scaled, into its own table. What it cannot read in place is
copied first: arrays that are neither C nor Fortran contiguous, numbers other than float64, float32 and int8, sparse formats
other than CSR, columns with nulls, and text. Integers beside a null stay integers.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

__all__ = ["Rows", "adapt", "column"]


class Rows:
    """Features in one of three shapes: a matrix, sparse rows, or columns."""

    def __init__(
        self,
        rows: int,
        names: list[str] | None,
        width: int,
        *,
        matrix: np.ndarray | None = None,
        sparse: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
        columns: list[Any] | None = None,
    ) -> None:
        self.rows = rows
        self.names = names
        self.width = width
        self.matrix = matrix
        self.sparse = sparse
        self.columns = columns

    def called(self) -> list[str]:
        """The columns' names; ``x0, x1, ...`` if they have none, as the command line calls them."""
        return self.names if self.names is not None else [f"x{j}" for j in range(self.width)]

    def by_column(self) -> list[Any]:
        """The same as columns, each contiguous."""
        if self.columns is not None:
            return self.columns
        if self.matrix is None:
            raise ValueError("sparse rows hold numbers only: declare no levels, or give a data frame")
        return [np.ascontiguousarray(self.matrix[:, j], dtype=np.float64) for j in range(self.width)]


def adapt(X: Any, what: str = "X") -> Rows:
    """Features, one row a record."""
    if hasattr(X, "tocsr") and hasattr(X, "shape"):
        return _sparse(X, what)
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        return _pandas(X)
    if hasattr(X, "get_columns") and hasattr(X, "columns"):
        return _frame(list(X.columns), X.get_columns())
    if hasattr(X, "column_names") and hasattr(X, "column"):
        return _frame(list(X.column_names), [X.column(i) for i in range(len(X.column_names))])
    if hasattr(X, "__arrow_c_stream__") and not hasattr(X, "__array__"):
        import pyarrow

        return adapt(pyarrow.table(X), what)
    return _matrix(X, what)


def _array(values: Any) -> np.ndarray:
    """An array of cells. Those of a list stay what they are: NumPy would make all of them what suits the oddest."""
    array = np.asarray(values)
    if isinstance(values, (list, tuple)) and array.dtype.kind != "O":
        kinds: set[Any] = set()
        for cell in values:
            kinds.update(map(type, cell) if isinstance(cell, (list, tuple)) else [getattr(cell, "dtype", type(cell))])
        # Integers beside a float lose digits, and one cell would change what others are.
        if len(kinds) > 1 and (array.ndim == 1 or not kinds <= {int, float}):
            return np.asarray(values, dtype=object)
    return array


def _matrix(X: Any, what: str) -> Rows:
    array = _array(X)
    if array.dtype.kind == "c":
        raise ValueError(f"{what}: Complex data not supported: give real numbers")
    if array.ndim != 2:
        raise ValueError(
            f"{what}: Expected 2D array, got {array.ndim}D array instead. Reshape your data: one row a record, with "
            "X.reshape(-1, 1) for a single column"
        )
    if array.dtype.kind in "OUST":
        # One cell of text makes all of them text or objects; each is still read by itself.
        width = array.shape[1]
        return Rows(array.shape[0], None, width, columns=[column(array[:, j]) for j in range(width)])
    if array.dtype not in (np.float64, np.float32, np.int8) or not array.dtype.isnative:
        array = array.astype(np.float64)
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        array = np.ascontiguousarray(array)
    return Rows(array.shape[0], None, array.shape[1], matrix=array)


def _sparse(X: Any, what: str) -> Rows:
    if X.ndim != 2:
        raise ValueError(f"{what}: Expected 2D array, got {X.ndim}D array instead. Reshape your data: one row a record")
    if X.dtype.kind == "c":
        raise ValueError(f"{what}: Complex data not supported: give real numbers")
    csr = X.tocsr()
    if not (csr.has_sorted_indices and csr.has_canonical_format):
        csr = csr.copy()
        csr.sum_duplicates()
    values = csr.data
    if values.dtype not in (np.float64, np.float32):
        values = values.astype(np.float64)
    indices = csr.indices
    indices = indices.view(np.uint32) if indices.dtype == np.int32 else indices.astype(np.uint32)
    offsets = np.ascontiguousarray(csr.indptr, dtype=np.int64)
    return Rows(csr.shape[0], None, csr.shape[1], sparse=(offsets, indices, np.ascontiguousarray(values)))


def _pandas(X: Any) -> Rows:
    names = _names(X.columns)
    kinds = {str(dtype) for dtype in X.dtypes}
    if len(kinds) == 1 and kinds <= {"float64", "float32", "int8"}:
        # One block of numbers: pandas keeps columns together and hands out a view.
        rows = _matrix(X.to_numpy(), "X")
        return Rows(rows.rows, names, rows.width, matrix=rows.matrix)
    return Rows(len(X), names, X.shape[1], columns=[column(X.iloc[:, j]) for j in range(X.shape[1])])


def _frame(names: list[Any], columns: Sequence[Any]) -> Rows:
    cells = [column(c) for c in columns]
    rows = len(columns[0]) if columns else 0
    return Rows(rows, _names(names), len(names), columns=cells)


def _names(names: Any) -> list[str] | None:
    """Names that are all text; a frame numbered by pandas has none."""
    listed = list(names)
    if listed and all(isinstance(name, str) for name in listed):
        return listed
    kinds = {type(name).__name__ for name in listed}
    if "str" in kinds and len(kinds) > 1:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{sorted(kinds)} as feature name / column name types. If you want feature names to be stored and validated, you "
            "must convert them all to strings, by using X.columns = X.columns.astype(str) for example."
        )
    return None


def column(values: Any) -> Any:
    """One column's cells: numbers, truth values, or codes with the spellings they stand for."""
    # pandas: categories and texts.
    if hasattr(values, "cat") and hasattr(values.cat, "codes"):
        return _coded(np.asarray(values.cat.codes), list(values.cat.categories))
    # Arrow: dictionaries, then everything else.
    if hasattr(values, "combine_chunks"):
        values = values.combine_chunks()
    if hasattr(values, "dictionary_encode") and hasattr(values, "type"):
        kind = str(values.type)
        with_nulls = kind.startswith(("int", "uint")) and values.null_count > 0
        if with_nulls or kind.startswith(("string", "large_string", "dictionary")):
            coded = values if kind.startswith("dictionary") else values.dictionary_encode()
            codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
            return _coded(codes, coded.dictionary.to_pylist())
        return column(values.to_numpy(zero_copy_only=False))
    # Polars: categories, by their names, and integers that NumPy has none of.
    kind = str(getattr(values, "dtype", ""))
    if hasattr(values, "to_physical") and kind.startswith(("Categorical", "Enum", "Int128", "UInt128")):
        return _objects(np.array(values.to_list(), dtype=object))
    # Polars and pandas: integers beside a null.
    if re.match(r"u?int\d", kind, re.IGNORECASE) and (hasattr(values, "isna") or hasattr(values, "is_null")):
        missing = _nulls(values)
        if missing is not None:
            return _whole(_filled(values), missing)
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    array = _array(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"one column of cells is needed, got an array of shape {array.shape}: give one number a row")
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: give real numbers")
    if array.dtype.kind == "b":
        return np.ascontiguousarray(array)
    if array.dtype in (np.float64, np.float32) and array.dtype.isnative:
        return np.ascontiguousarray(array)
    if array.dtype.kind == "f":
        return array.astype(np.float64)
    if array.dtype.kind == "u" and array.dtype.itemsize == 8 and np.any(array >= 2**63):
        return _whole(array, None)
    if array.dtype.kind in "iu":
        return np.ascontiguousarray(array, dtype=np.int64)
    if array.dtype.kind in "mMV":
        raise TypeError(f"cells of type {array.dtype} are neither numbers nor text: convert them first, dates to days since a date")
    if array.dtype.kind == "U":
        spellings, codes = np.unique(array, return_inverse=True)
        return _coded(codes, spellings.tolist())
    return _objects(array)


def _nulls(values: Any) -> np.ndarray | None:
    """Where a pandas or Polars column of integers has no value; none if it has all of them."""
    is_null = values.isna() if hasattr(values, "isna") else values.is_null()
    missing = np.asarray(is_null.to_numpy(), dtype=bool)
    return missing if missing.any() else None


def _filled(values: Any) -> np.ndarray:
    """The integers, with a zero where there is none."""
    return np.asarray((values.fillna(0) if hasattr(values, "fillna") else values.fill_null(0)).to_numpy())


def _whole(array: np.ndarray, missing: np.ndarray | None) -> Any:
    """Integers to their last digit. Floats, which hold a missing cell as well, have 53 bits: one cell would change other people's ids."""
    cells, codes = np.unique(array, return_inverse=True)
    codes = codes.astype(np.int64, copy=False)
    return _coded(codes if missing is None else np.where(missing, -1, codes), cells.tolist())


def _objects(array: np.ndarray) -> Any:
    """Cells of any kind, each read by itself: what one of them is must not change how another is read."""
    places: dict[tuple[type, Any], int] = {}
    codes = np.empty(len(array), dtype=np.int64)
    for i, cell in enumerate(array.tolist()):
        meaning = _meaning(cell)
        codes[i] = -1 if meaning is None else places.setdefault((type(meaning), meaning), len(places))
    return _coded(codes, [meaning for _, meaning in places])


def _coded(codes: np.ndarray, cells: list[Any]) -> tuple[np.ndarray, list[Any]]:
    meanings = (_meaning(cell) for cell in cells)
    return np.ascontiguousarray(codes, dtype=np.int64), ["" if meaning is None else meaning for meaning in meanings]


#: Longer integers are no ids, and Python need not write their digits.
LONGEST = 10**300


def _meaning(cell: Any) -> bool | int | float | str | None:
    """A cell as a truth value, a number or text; none if it is missing or nothing of the kind. Never fails: an error would
    depend on one private cell."""
    if isinstance(cell, (bool, np.bool_)):
        return bool(cell)
    if isinstance(cell, Decimal) and cell.is_finite() and cell.copy_abs() < LONGEST and cell == cell.to_integral_value():
        cell = int(cell)
    if isinstance(cell, (int, np.integer)) and -LONGEST < int(cell) < LONGEST:
        # What an integer of the library does not hold is read from its digits.
        return int(cell) if -(2**63) <= int(cell) < 2**63 else str(int(cell))
    if isinstance(cell, (numbers.Real, Decimal)):
        try:
            number = float(cell)
        except (OverflowError, ValueError):
            return None
        return number if math.isfinite(number) else None
    if isinstance(cell, (bytes, bytearray)):
        return bytes(cell).decode(errors="replace")
    if isinstance(cell, str):
        # Half a character alone cannot be handed on.
        return cell.encode(errors="replace").decode()
    return None
