"""Public bounds and levels as the schema that the library reads tables under."""

from __future__ import annotations

import json
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _native

__all__ = ["Declared", "declare_features", "declare_levels", "declare_magnitude", "declare_target", "pair_of", "share_for_bounds"]

NEEDED = (
    "public bounds are needed and have no default: give feature_bounds=(LOW, HIGH) for all columns, one pair a column, "
    "or a dictionary from column to a pair or to a list of levels"
)
TARGET_NEEDED = (
    "the target's public range is needed and has no default: give target_bounds=(LOW, HIGH), or "
    "target_magnitude=(LARGEST, RESOLUTION), from which bounds are found privately"
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
    def is_searched(self) -> bool:
        """Whether bounds of some column are to be found."""
        return any("magnitude" in column for column in self.columns.values())

    @property
    def has_levels(self) -> bool:
        return any("levels" in column for column in self.columns.values())


def declare_magnitude(name: str, magnitude: Any, kind: str = "real") -> dict[str, Any]:
    """The declaration of a number whose bounds are to be found."""
    pair = magnitude if isinstance(magnitude, (list, tuple, np.ndarray)) else ()
    if len(pair) != 2 or not all(_is_number(x) for x in pair):
        raise ValueError(
            f"magnitudes: `{name}` needs the largest size that values can have and the smallest difference that matters, got "
            f"{magnitude!r}: write them like (1e9, 1)"
        )
    return {"kind": kind, "magnitude": float(pair[0]), "resolution": float(pair[1])}


def share_for_bounds(share: Any, is_searched: bool) -> float | None:
    """The part of the budget that finds bounds, where there are any to find."""
    if share is not None and not is_searched:
        raise ValueError("bounds_share goes with magnitudes: give magnitudes too, or leave out bounds_share")
    if not is_searched:
        return None
    if share is None:
        return 0.1
    if not _is_number(share):
        raise TypeError(f"bounds_share must be a number, got {type(share).__name__}: write it like 0.1")
    return float(share)


def declare_features(bounds: Any, names: Sequence[str], magnitudes: Any = None) -> Declared:
    """The declaration of columns of these names; those with a magnitude need no bounds."""
    if magnitudes is not None:
        return _searched(bounds, names, magnitudes)
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


def _searched(bounds: Any, names: Sequence[str], magnitudes: Any) -> Declared:
    if not isinstance(magnitudes, Mapping):
        raise TypeError(
            f"magnitudes must be a dictionary from column to (LARGEST, RESOLUTION), got {type(magnitudes).__name__}: write it like "
            "{'income': (1e9, 1)}"
        )
    unknown = [str(name) for name in magnitudes if str(name) not in set(names)]
    if unknown:
        raise ValueError(f"magnitudes: `{unknown[0]}` is no column: give names among {', '.join(map(str, names[:8]))}")
    if isinstance(bounds, Mapping):
        twice = [name for name in names if name in magnitudes and name in bounds]
        if twice:
            raise ValueError(f"column `{twice[0]}` has bounds and a magnitude: give one of the two")
    elif bounds is not None and _numbers(bounds, "feature_bounds").ndim != 1:
        raise ValueError("with magnitudes, feature_bounds is one pair for all other columns, or a dictionary of them")
    others = [name for name in names if name not in magnitudes]
    declared = declare_features(bounds, others).columns if others or bounds else {}
    columns = {
        name: declare_magnitude(name, magnitudes[name]) if name in magnitudes else declared[name] for name in names
    }
    return Declared(columns, None)


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


def declare_target(bounds: Any, name: str, magnitude: Any = None, *, counts: bool = False) -> str:
    """JSON of the schema of a numeric target."""
    if magnitude is not None:
        if bounds is not None:
            raise ValueError("the target has bounds and a magnitude: give target_bounds or target_magnitude")
        column = declare_magnitude("target", magnitude, "count" if counts else "real")
        return json.dumps({"target": name, "columns": {name: column}})
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


def pair_of(key: str, bounds: Any) -> tuple[float, float]:
    """A pair of bounds; refuses what is none."""
    array = _numbers(bounds, key)
    if array.shape != (2,):
        raise ValueError(f"{key}: an array of shape {array.shape} is no pair of bounds: give (LOW, HIGH)")
    return _bounds(key, array)


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
