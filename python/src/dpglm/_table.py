"""Whole tables under a schema, as the command line fits them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _native
from ._base import Estimator, plain_number
from ._data import adapt
from ._declare import declare_magnitude, share_for_bounds
from ._ledger import Ledger, expect, paid_from

__all__ = ["FittedModel", "Schema", "ask", "fit_table"]


class Schema:
    """What is publicly known of a table: the TOML that ``dpglm schema init`` drafts and ``--schema`` reads.

    One schema serves many models: ``target`` and ``unit`` name other columns, ``features`` keeps these columns alone, and ``formula`` makes
    terms of them (``docs/formulas.md``).

    >>> schema = Schema('''
    ... target = "income"
    ... [columns]
    ... age = { kind = "real", bounds = [18, 98] }
    ... sex = { kind = "binary", levels = ["Female", "Male"] }
    ... income = { kind = "real", bounds = [0, 200] }
    ... ''')
    >>> schema.target, schema.columns
    ('income', ['age', 'sex', 'income'])
    """

    def __init__(
        self,
        text: str,
        *,
        target: str | None = None,
        unit: str | None = None,
        formula: str | None = None,
        features: Sequence[str] | None = None,
    ) -> None:
        self._json = _native.read_schema(text, target, unit, formula, None if features is None else list(features))
        self._document: dict[str, Any] = json.loads(self._json)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        target: str | None = None,
        unit: str | None = None,
        formula: str | None = None,
        features: Sequence[str] | None = None,
    ) -> Schema:
        """Reads a schema file."""
        text = Path(path).read_text(encoding="utf-8")
        return cls(text, target=target, unit=unit, formula=formula, features=features)

    @property
    def target(self) -> str | None:
        """The column to explain."""
        return self._document.get("target")

    @property
    def columns(self) -> list[str]:
        """The declared columns."""
        return list(self._document["columns"])

    def to_json(self, *, intercept: bool | None = None) -> str:
        """As artefacts hold it."""
        if intercept is None:
            return self._json
        return json.dumps({**self._document, "intercept": intercept})


class FittedModel(Estimator):
    """A model that was fitted to a table: coefficients by name, intervals, certificate, predictions."""

    def __init__(self, artefact: str) -> None:
        document = self._keep(artefact)
        self.coefficients_: dict[str, float] = dict(document["coefficients"])
        self.artefact = artefact
        self._encoding = json.dumps(document["encoding"])

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"<{str(self.summary()).splitlines()[0]}>"

    def predict(self, data: Any, *, intervals: float | None = None) -> np.ndarray:
        """The mean response of each row; for levels the probability of each, in the order declared. Of ``log(y) ~ ...`` it is the mean of
        the logarithm.

        With ``intervals``, a level such as 0.95, three columns: the estimate without shrinkage, to which intervals belong, and their ends;
        of two levels, for the probability of the second. Predictions are as private as the rows they are made for."""
        table = encode_table(data, self._encoding, constant=False, needs_target=False)
        if intervals is not None:
            return np.asarray(self._artefact().predict_with_intervals(table, check_level(intervals)))
        found = np.asarray(self._artefact().predict(table))
        return found[:, 0] if found.shape[1] == 1 else found

    def average(self, data: Any, *, level: float = 0.95) -> dict[str, Any]:
        """The average of the predictions for all rows, with its standard error and interval, and whether all coefficients are determined that
        it rests on. The rows are taken as they are: it is as private as they."""
        table = encode_table(data, self._encoding, constant=False, needs_target=False)
        found: dict[str, Any] = json.loads(self._artefact().average(table, check_level(level)))
        return found


def check_level(level: Any) -> float:
    """A level of confidence."""
    number = plain_number("intervals", level)
    if not 0 < number < 1:
        raise ValueError(f"a level lies between 0 and 1, got {level}: write it like 0.95")
    return float(number)


def encode_table(
    data: Any, schema_json: str, *, constant: bool, needs_target: bool, strict: bool = False, for_means: bool = False
) -> Any:
    """A data frame under a schema."""
    rows = adapt(data)
    how = {
        "schema": schema_json,
        "name": "data",
        "strict": strict,
        "constant_column": constant,
        "for_means": for_means,
        "needs_target": needs_target,
        "single": False,
    }
    return _native.encode_columns(how, list(zip(rows.called(), rows.by_column())), None)


def ask(
    *,
    epsilon: Any,
    delta: Any,
    family: str | None = None,
    power: Any = None,
    dispersion: bool = False,
    method: str | None = None,
    robust: bool = False,
    ridge: Any = None,
    radius: Any = None,
    intervals: Any = None,
    tune: str | None = None,
    sparsity: Any = None,
    row_norm: Any = None,
    l1_radius: Any = None,
    steps: Any = None,
    step_length: Any = None,
    support_norm: Any = None,
    calibration: str | None = None,
    split: bool = False,
    accept: str | None = None,
    insecure_seed: Any = None,
    bounds_share: float | None = None,
) -> dict[str, Any]:
    """What is asked of a model, as the library takes it."""
    return {
        "epsilon": plain_number("epsilon", epsilon),
        "delta": plain_number("delta", delta),
        "insecure_seed": plain_number("insecure_seed", insecure_seed, int),
        "family": family,
        "power": plain_number("power", power),
        "dispersion": bool(dispersion),
        "cuts": None,
        "method": method,
        "robust": bool(robust),
        "ridge": plain_number("ridge", ridge),
        "radius": plain_number("radius", radius),
        "intervals": plain_number("intervals", intervals),
        "tune": tune,
        "sparsity": plain_number("sparsity", sparsity, int),
        "row_norm": plain_number("row_norm", row_norm),
        "l1_radius": plain_number("l1_radius", l1_radius),
        "steps": plain_number("steps", steps, int),
        "step_length": plain_number("step_length", step_length),
        "support_norm": plain_number("support_norm", support_norm),
        "calibration": calibration,
        "split": bool(split),
        "accept": accept,
        "uniform": False,
        "bounds_share": bounds_share,
    }


def fit_table(
    data: Any,
    schema: Schema,
    *,
    epsilon: float,
    delta: float | None,
    fit_intercept: bool | None = None,
    magnitudes: Mapping[str, tuple[float, float]] | None = None,
    bounds_share: float | None = None,
    strict: bool = False,
    ledger: Ledger | None = None,
    **wishes: Any,
) -> FittedModel:
    """Fits a model to a data frame that holds its target, under a schema: ``dpglm fit FILE --schema FILE`` in memory.

    The wishes are those of the command line: ``family``, ``power``, ``dispersion``, ``method``, ``robust``, ``intervals``, ``sparsity``, ``ridge``,
    ``radius``, ``tune``, ``row_norm``, ``l1_radius``, ``steps``, ``step_length``, ``support_norm``, ``calibration``, ``split``, ``accept``,
    ``insecure_seed``. Units, exposures and sampling weights are the schema's. A data
    frame has names of its own: what the schema says about text files (``header``, ``names``, ``delimiter``, ``comment``) is for
    those. ``magnitudes`` and ``bounds_share`` are as for :func:`dpglm.describe`: bounds of these numbers are found first, from the
    same budget. ``ledger`` pays, if one is given (:class:`dpglm.Ledger`).
    """
    paid = paid_from(ledger)
    document = json.loads(schema.to_json(intercept=fit_intercept))
    for name, magnitude in (magnitudes or {}).items():
        if name not in document["columns"]:
            raise ValueError(f"magnitudes: `{name}` is not declared in the schema: give the names of declared numbers")
        known = {key: value for key, value in document["columns"][name].items() if key not in ("bounds", "fill")}
        document["columns"][name] = {**known, **declare_magnitude(name, magnitude, known["kind"])}
    is_searched = any("magnitude" in column for column in document["columns"].values())
    asked = ask(epsilon=epsilon, delta=delta, bounds_share=share_for_bounds(bounds_share, is_searched), **wishes)
    if asked["method"] not in ("reference", "iht"):
        _native.check_budget(asked["epsilon"], asked["delta"])
    expect(paid, asked, document.get("unit"))
    table = encode_table(data, json.dumps(document), constant=True, needs_target=True, strict=strict)
    artefact, said = _native.fit(table, asked, None, None, paid)
    fitted = FittedModel(artefact)
    fitted._tell(table, said)
    return fitted


