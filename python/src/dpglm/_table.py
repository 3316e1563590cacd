"""Whole tables under a schema, as the command line fits them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import _native
from ._base import Estimator, plain_number
from ._data import adapt
from ._declare import declare_magnitude, share_for_bounds
from ._ledger import Ledger, paid_from

__all__ = ["FittedModel", "Schema", "ask", "fit_table"]


class Schema:
    """What is publicly known of a table: the TOML that ``dpglm schema init`` drafts and ``--schema`` reads.

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

    def __init__(self, text: str, *, target: str | None = None, unit: str | None = None) -> None:
        self._json = _native.read_schema(text, target, unit)
        self._document: dict[str, Any] = json.loads(self._json)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, target: str | None = None, unit: str | None = None) -> Schema:
        """Reads a schema file."""
        return cls(Path(path).read_text(encoding="utf-8"), target=target, unit=unit)

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

    def predict(self, data: Any) -> np.ndarray:
        """The mean response of each row; for levels the probability of each, in the order declared.

        Predictions are as private as the rows they are made for."""
        table = encode_table(data, self._encoding, constant=False, needs_target=False)
        found = np.asarray(self._artefact().predict(table))
        return found[:, 0] if found.shape[1] == 1 else found


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
    method: str | None = None,
    robust: bool = False,
    ridge: Any = None,
    radius: Any = None,
    intervals: Any = None,
    tune: str | None = None,
    sparsity: Any = None,
    row_norm: Any = None,
    l1_radius: Any = None,
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
        "method": method,
        "robust": bool(robust),
        "ridge": plain_number("ridge", ridge),
        "radius": plain_number("radius", radius),
        "intervals": plain_number("intervals", intervals),
        "tune": tune,
        "sparsity": plain_number("sparsity", sparsity, int),
        "row_norm": plain_number("row_norm", row_norm),
        "l1_radius": plain_number("l1_radius", l1_radius),
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

    The wishes are those of the command line: ``family``, ``method``, ``robust``, ``intervals``, ``sparsity``, ``ridge``,
    ``radius``, ``tune``, ``row_norm``, ``l1_radius``, ``accept``, ``insecure_seed``. Units and exposures are the schema's. A data
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
    table = encode_table(data, json.dumps(document), constant=True, needs_target=True, strict=strict)
    artefact, said = _native.fit(table, asked, None, None, paid)
    fitted = FittedModel(artefact)
    fitted._tell(table, said)
    return fitted


