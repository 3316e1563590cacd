"""Models by formula: ``glm("log(y) ~ age + C(sex) + ns(bmi, knots=[25, 30])", data, ...)``.

The library reads the formula, for the command line and for Python alike (``docs/formulas.md``). Every term is a function of one row, and
its bounds follow from the declared bounds of its columns. What would need other rows (``scale()``, ``center()``, knots that are not
given, levels that are not declared) is refused: means, knots and levels that are read off private rows leak.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from . import _native
from ._data import adapt
from ._declare import _column, declare_levels, declare_magnitude, share_for_bounds
from ._ledger import Ledger, expect, paid_from
from ._table import FittedModel, ask

__all__ = ["glm"]


def glm(
    formula: str,
    data: Any,
    *,
    family: str,
    bounds: Mapping[str, Any],
    epsilon: float,
    delta: float | None,
    unit: str | None = None,
    missing: str = "fill",
    magnitudes: Mapping[str, tuple[float, float]] | None = None,
    bounds_share: float | None = None,
    strict: bool = False,
    ledger: Ledger | None = None,
    **wishes: Any,
) -> FormulaModel:
    """Fits a private generalized linear model by formula.

    Parameters
    ----------
    formula : such as ``"y ~ age + C(sex) + age:C(sex) + I(bmi^2) + ns(age, knots=[30, 45, 60])"``; ``- 1`` leaves out the intercept, and
        ``log(y) ~ ...`` explains a function of a column.
    data : a pandas, Polars or Arrow table.
    family : ``"gaussian"``, ``"logistic"``, ``"poisson"`` or ``"multinomial"``.
    bounds : for every column a tuple ``(low, high)`` or a list of levels, the reference first, from public knowledge; or a dictionary as in a
        schema, ``{"kind": "real", "bounds": [0, 90], "fill": 40}``.
    epsilon, delta : the budget. No default.
    unit : the column that says whose row it is: the promise is then for all rows of a person together.
    missing : ``"fill"``: a missing cell counts as its column's ``fill``, by default the middle of its bounds (the first level). ``"drop"``:
        its row gets weight zero. ``"indicator"``: it is filled, and a column of its own, ``age=missing``, says where.
    magnitudes : for numbers whose bounds nobody knows, in their place: the largest size and the smallest difference that matters, as
        ``{"income": (1e9, 1)}``. Their bounds are found privately with ``bounds_share`` (a tenth) of the budget.
    strict : stop at the first cell that is missing, out of bounds or undeclared; for the data's curator only.
    ledger : a :class:`dpglm.Ledger` that pays.
    wishes : ``intervals``, ``sparsity``, ``method``, ``ridge``, ``radius``, ``tune``, ``insecure_seed`` and so on.

    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(1)
    >>> people = pd.DataFrame({"age": rng.uniform(18, 90, 5000), "sex": rng.choice(["f", "m"], 5000)})
    >>> people["y"] = 0.02 * people.age + (people.sex == "m")
    >>> model = glm("y ~ age + C(sex)", people, family="gaussian", epsilon=1.0, delta=1e-6,
    ...             bounds={"age": (18, 90), "sex": ["f", "m"], "y": (0, 4)})
    >>> sorted(model.coefficients_)
    ['(Intercept)', 'age', 'sex=m']
    """
    explained = _explained(formula)
    columns = {str(name): _column(str(name), declared) for name, declared in bounds.items()}
    for name, magnitude in (magnitudes or {}).items():
        if name in columns:
            raise ValueError(f"column `{name}` has bounds and a magnitude: give one of the two")
        counts = family == "poisson" and name == explained
        columns[name] = declare_magnitude(name, magnitude, "count" if counts else "real")
    if family in ("logistic", "probit", "cloglog", "multinomial") and "levels" not in columns.get(explained, {"levels": []}):
        columns[explained] = declare_levels([0, 1])
    schema = {"formula": formula, "missing": missing, "columns": columns, **({} if unit is None else {"unit": unit})}
    share = share_for_bounds(bounds_share, any("magnitude" in column for column in columns.values()))
    paid = paid_from(ledger)
    asked = ask(epsilon=epsilon, delta=delta, family=family, bounds_share=share, **wishes)
    if asked["method"] not in ("reference", "iht"):
        _native.check_budget(asked["epsilon"], asked["delta"])
    expect(paid, asked, unit)
    rows = adapt(data, "data")
    if rows.names is None:
        raise TypeError("data must be a table with named columns, such as a pandas, Polars or Arrow one")
    # Columns that nobody speaks of are not read.
    cells = [(name, column) for name, column in zip(rows.names, rows.by_column()) if name in columns or name == unit]
    how = {
        "schema": json.dumps(schema),
        "name": "data",
        "strict": strict,
        "constant_column": True,
        "for_means": False,
        "needs_target": True,
        "single": False,
    }
    table = _native.encode_columns(how, cells, None)
    artefact, said = _native.fit(table, asked, None, None, paid)
    fitted = FormulaModel(artefact, formula, dict(bounds))
    fitted._tell(table, said)
    return fitted


def _explained(formula: str) -> str:
    """The column on the left side, if it is one."""
    left, mark, _ = formula.partition("~")
    left = left.strip()
    if not mark or not left:
        raise ValueError(f"formula {formula!r} has no left side: write it like 'y ~ age + C(sex)'")
    if left.startswith("C(") and left.endswith(")"):
        left = left[2:-1].strip()
    return left.strip("`")


class FormulaModel(FittedModel):
    """A model that was fitted by formula; it predicts for tables with the formula's columns."""

    def __init__(self, artefact: str, formula: str, bounds: dict[str, Any]) -> None:
        super().__init__(artefact)
        self.formula = formula
        self.bounds = bounds
