"""Public bounds and levels as the schema that the library reads tables under."""

from __future__ import annotations

import json
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _native

__all__ = ["Declared", "declare_features", "declare_levels", "declare_target"]

NEEDED = (
    "public bounds are needed and have no default: give feature_bounds=(LOW, HIGH) for all columns, one pair a column, "
    "or a dictionary from column to a pair or to a list of levels"
)
TARGET_NEEDED = (
    "the target's public range is needed and has no default: give target_bounds=(LOW, HIGH)"
)
CLASSES_NEEDED = (
    "the target's classes are needed and have no default: give classes=[...], which public knowledge allows; what is read "
    "off private rows leaks"
)


class Declared:
    """The schema of the features, as the library writes it, and whether one pair of bounds holds for all."""

    def __init__(self, columns: dict[str, Any], uniform: tuple[float, float] | None) -> None:
        self.columns = columns
        self.uniform = uniform

    def schema(self, *, intercept: bool, missing: str = "fill") -> str:
        """JSON of the schema."""
        return json.dumps({"intercept": intercept, "missing": missing, "columns": self.columns})

    @property
    def names(self) -> list[str]:
        return list(self.columns)

    @property
    def has_levels(self) -> bool:
        return any("levels" in column for column in self.columns.values())


def declare_features(bounds: Any, names: Sequence[str]) -> Declared:
    """The declaration of columns of these names."""
    if bounds is None:
        raise ValueError(NEEDED)
    if isinstance(bounds, Mapping):
        unknown = [str(name) for name in bounds if str(name) not in set(names)]
        missing = [name for name in names if name not in bounds]
        if missing or unknown:
            what = [f"no bounds for column `{name}`" for name in missing[:8]]
            what += [f"bounds for `{name}`, which is no column" for name in unknown[:8]]
            raise ValueError(f"feature_bounds: {'; '.join(what)}: give one entry for each of the {len(names)} columns")
        return Declared({name: _column(name, bounds[name]) for name in names}, None)
    array = _numbers(bounds, "feature_bounds")
    if array.shape == (2,):
        pair = _bounds("feature_bounds", array)
        return Declared({name: {"kind": "real", "bounds": list(pair)} for name in names}, pair)
    if array.ndim == 2 and array.shape[1] == 2:
        if len(array) != len(names):
            raise ValueError(
                f"feature_bounds: {len(array)} pairs of bounds for {len(names)} columns: give one pair for each, or one for all"
            )
        pairs = [_bounds(f"feature_bounds of column `{name}`", pair) for name, pair in zip(names, array)]
        return Declared({name: {"kind": "real", "bounds": list(pair)} for name, pair in zip(names, pairs)}, None)
    raise ValueError(f"feature_bounds: an array of shape {array.shape} is no pair of bounds: {NEEDED}")


def _column(name: str, declared: Any) -> dict[str, Any]:
    """A pair of numbers bounds a number; a list of levels declares a category; a dictionary is a schema's own entry."""
    if isinstance(declared, Mapping):
        return dict(declared)
    if isinstance(declared, tuple) and len(declared) == 2 and all(_is_number(x) for x in declared):
        return {"kind": "real", "bounds": list(_bounds(f"feature_bounds of column `{name}`", declared))}
    if isinstance(declared, (list, tuple, np.ndarray)) and len(declared) >= 2:
        return declare_levels(list(declared))
    raise ValueError(
        f"feature_bounds: column `{name}` needs a tuple of two numbers or a list of at least two levels, got "
        f"{type(declared).__name__}: write them like (0, 120) or ['no', 'yes']"
    )


def declare_levels(levels: Sequence[Any]) -> dict[str, Any]:
    """Two levels make a binary column, more a category. The first is the reference."""
    plain = [_plain(level) for level in levels]
    return {"kind": "binary" if len(plain) == 2 else "category", "levels": plain}


def declare_target(bounds: Any, name: str) -> str:
    """JSON of the schema of a numeric target."""
    if bounds is None:
        raise ValueError(TARGET_NEEDED)
    array = _numbers(bounds, "target_bounds")
    if array.shape != (2,):
        raise ValueError(f"target_bounds: an array of shape {array.shape} is no pair of bounds: give (LOW, HIGH)")
    column = {"kind": "real", "bounds": list(_bounds("target_bounds", array))}
    return json.dumps({"target": name, "columns": {name: column}})


def declare_classes(classes: Any, name: str) -> tuple[np.ndarray, str]:
    """The classes in order, and JSON of the schema of a target that has them."""
    if classes is None:
        raise ValueError(CLASSES_NEEDED)
    ordered = np.unique(np.asarray(classes))
    if ordered.ndim != 1 or len(ordered) < 2:
        raise ValueError(f"classes must be a list of at least two different labels, got {len(ordered)}: {CLASSES_NEEDED}")
    column = declare_levels(list(ordered))
    return ordered, json.dumps({"target": name, "columns": {name: column}})


def _bounds(key: str, pair: Any) -> tuple[float, float]:
    """Two numbers that can bound a column; refuses others in the library's words."""
    low, high = float(pair[0]), float(pair[1])
    _native.check_bounds(key, low, high)
    return low, high


def _numbers(values: Any, what: str) -> np.ndarray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{what} must be numbers, write them like (-1, 1), got {type(values).__name__}") from None


def _is_number(x: Any) -> bool:
    return isinstance(x, numbers.Real) and not isinstance(x, (bool, np.bool_))


def _plain(level: Any) -> Any:
    """A level as JSON writes it."""
    if isinstance(level, (bool, np.bool_)):
        return bool(level)
    if isinstance(level, numbers.Integral):
        return int(level)
    if isinstance(level, numbers.Real):
        return float(level)
    return str(level)
