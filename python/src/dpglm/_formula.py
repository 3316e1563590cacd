"""Models by formula: ``glm("y ~ age + C(sex)", data, ...)``.

The formula is read by formulaic. Every term is a function of one row, and its bounds follow from the declared bounds of its
columns by interval arithmetic. What would need the rows themselves (``scale()``, ``center()``, ``bs()``, levels that are not
declared) is refused: bounds, means, knots and levels that are read off private rows leak.
"""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import _native
from ._data import adapt
from ._declare import _column, declare_levels, declare_magnitude, share_for_bounds
from ._ledger import Ledger, paid_from
from ._table import FittedModel, ask

__all__ = ["glm"]

ROW_BY_ROW = "I, log, log1p, exp, sqrt, abs and powers"


class Interval:
    """All values between two numbers."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = float(low), float(high)

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __neg__(self) -> Interval:
        return Interval(-self.high, -self.low)

    def __mul__(self, other: Interval) -> Interval:
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends), max(ends))

    def inverse(self, where: str) -> Interval:
        if self.low <= 0 <= self.high:
            raise ValueError(f"`{where}` may divide by 0 within the declared bounds: bound the column away from 0")
        return Interval(1 / self.high, 1 / self.low)

    def monotone(self, function: Callable[[float], float], where: str, above: float = -math.inf, closed: bool = True) -> Interval:
        if self.low < above or (self.low == above and not closed):
            raise ValueError(
                f"`{where}` is not defined on all of the declared bounds [{self.low:g}, {self.high:g}]: declare bounds on which it is"
            )
        return Interval(function(self.low), function(self.high))

    def power(self, exponent: float, where: str) -> Interval:
        if exponent != int(exponent) or exponent < 0:
            return self.monotone(lambda x: x**exponent, where, above=0.0, closed=exponent > 0).ordered()
        ends = [self.low ** int(exponent), self.high ** int(exponent)]
        if int(exponent) % 2 == 0 and self.low <= 0 <= self.high:
            ends.append(0.0)
        return Interval(min(ends), max(ends))

    def ordered(self) -> Interval:
        return Interval(min(self.low, self.high), max(self.low, self.high))

    def magnitude(self) -> Interval:
        ends = [abs(self.low), abs(self.high)]
        return Interval(0.0 if self.low <= 0 <= self.high else min(ends), max(ends))


class Numbers:
    """A numeric factor: its bounds, and its values once there are rows."""

    def __init__(self, bounds: Interval, values: np.ndarray | None) -> None:
        self.bounds, self.values = bounds, values

    def map(self, bounds: Interval, function: Callable[[np.ndarray], np.ndarray]) -> Numbers:
        return Numbers(bounds, None if self.values is None else function(self.values))


class Levels:
    """A categorical factor: its declared levels, and its cells once there are rows."""

    def __init__(self, name: str, declared: dict[str, Any], cells: Any | None) -> None:
        self.name, self.declared, self.cells = name, declared, cells


FUNCTIONS: dict[str, tuple[Callable[[Numbers, str], Interval], Callable[[np.ndarray], np.ndarray]]] = {
    "log": (lambda x, w: x.bounds.monotone(math.log, w, above=0.0, closed=False), np.log),
    "log1p": (lambda x, w: x.bounds.monotone(math.log1p, w, above=-1.0, closed=False), np.log1p),
    "exp": (lambda x, w: x.bounds.monotone(math.exp, w), np.exp),
    "sqrt": (lambda x, w: x.bounds.monotone(math.sqrt, w, above=0.0), np.sqrt),
    "abs": (lambda x, w: x.bounds.magnitude(), np.abs),
}


class Reader:
    """Factors of a formula, from declared bounds and, if there are any, rows."""

    def __init__(self, bounds: Mapping[str, Any], rows: Mapping[str, Any] | None, strict: bool = False) -> None:
        self.bounds, self.rows, self.strict = bounds, rows, strict
        self.notes: dict[str, str] = {}

    def factor(self, text: str) -> Numbers | Levels:
        """A column, ``C(column)``, or a row-by-row function of columns."""
        if text in self.bounds:
            return self.levels(text) if self.has_levels(text) else self.named(text, text)
        try:
            tree = ast.parse(text, mode="eval").body
        except SyntaxError:
            # A name that is no identifier, quoted in the formula.
            return self.levels(text) if self.has_levels(text) else self.named(text, text)
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "C":
            if len(tree.args) != 1 or tree.keywords or not isinstance(tree.args[0], ast.Name):
                raise ValueError(f"`{text}`: write C(column); its levels, the reference first, are declared in bounds")
            return self.levels(tree.args[0].id)
        return self.number(tree, text)

    def declared(self, name: str) -> dict[str, Any]:
        if name not in self.bounds:
            raise ValueError(
                f"no bounds for column `{name}`: give bounds={{{name!r}: (LOW, HIGH)}}, or its levels as a list, from public knowledge"
            )
        return _column(name, self.bounds[name])

    def has_levels(self, name: str) -> bool:
        return "levels" in self.declared(name)

    def levels(self, name: str) -> Levels:
        declared = self.declared(name)
        if "levels" not in declared:
            raise ValueError(
                f"C({name}) needs declared levels: give bounds={{{name!r}: ['first', 'second', ...]}}; levels that are read off "
                "private rows leak"
            )
        return Levels(name, declared, None if self.rows is None else self.cells(name))

    def cells(self, name: str) -> Any:
        assert self.rows is not None
        if name not in self.rows:
            raise ValueError(f"data: there is no column `{name}`: it has {', '.join(map(str, self.rows))}")
        return self.rows[name]

    def named(self, name: str, text: str) -> Numbers:
        declared = self.declared(name)
        if "levels" in declared:
            raise ValueError(f"`{text}`: `{name}` has levels and is no number: write C({name})")
        if "magnitude" in declared:
            raise ValueError(
                f"`{text}`: `{name}` has a magnitude and no bounds, so it can be a term by itself, but no part of another: declare "
                "its bounds"
            )
        low, high = declared["bounds"]
        # The bounds are enforced before anything is computed: no cell can leave a function's domain.
        values = None if self.rows is None else self.stored(name, declared, 0)
        return Numbers(Interval(low, high), values)

    def stored(self, name: str, declared: dict[str, Any], place: int) -> np.ndarray:
        """A column's cells by the public rule, as anywhere: clamped, filled, an undeclared level as the reference."""
        how = {
            "schema": json.dumps({"intercept": False, "scale": "none", "columns": {name: declared}}),
            "name": "data",
            "strict": self.strict,
            "constant_column": False,
            "for_means": False,
            "needs_target": True,
            "single": False,
        }
        table = _native.encode_columns(how, [(name, self.cells(name))], None)
        self.notes[name] = table.curator_notes
        return np.ascontiguousarray(table.column(place))

    def indicator(self, levels: Levels, place: int) -> np.ndarray | None:
        """Whether a cell is this level."""
        return None if levels.cells is None else self.stored(levels.name, {**levels.declared, "kind": "category"}, place - 1)

    def number(self, tree: ast.expr, text: str) -> Numbers:
        if isinstance(tree, ast.Constant) and isinstance(tree.value, (int, float)) and not isinstance(tree.value, bool):
            value = float(tree.value)
            return Numbers(Interval(value, value), np.asarray(value))
        if isinstance(tree, ast.Name):
            return self.named(tree.id, text)
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, (ast.USub, ast.UAdd)):
            inner = self.number(tree.operand, text)
            return inner if isinstance(tree.op, ast.UAdd) else inner.map(-inner.bounds, np.negative)
        if isinstance(tree, ast.BinOp):
            return self.operation(tree, text)
        if isinstance(tree, ast.Call) and not tree.keywords and len(tree.args) == 1:
            name = tree.func.attr if isinstance(tree.func, ast.Attribute) else getattr(tree.func, "id", "")
            if name == "I":
                return self.number(tree.args[0], text)
            if name in FUNCTIONS:
                inner = self.number(tree.args[0], text)
                bounds, function = FUNCTIONS[name]
                return inner.map(bounds(inner, text), function)
        raise ValueError(
            f"`{text}` cannot be computed from declared bounds and one row at a time: use {ROW_BY_ROW}. What needs the rows "
            "themselves, such as scale(), center() or bs(), would leak"
        )

    def operation(self, tree: ast.BinOp, text: str) -> Numbers:
        left, right = self.number(tree.left, text), self.number(tree.right, text)

        def both(function: Callable[[Any, Any], Any]) -> np.ndarray | None:
            return None if left.values is None or right.values is None else function(left.values, right.values)

        if isinstance(tree.op, ast.Add):
            return Numbers(left.bounds + right.bounds, both(np.add))
        if isinstance(tree.op, ast.Sub):
            return Numbers(left.bounds + -right.bounds, both(np.subtract))
        if isinstance(tree.op, ast.Mult):
            return Numbers(left.bounds * right.bounds, both(np.multiply))
        if isinstance(tree.op, ast.Div):
            return Numbers(left.bounds * right.bounds.inverse(text), both(np.divide))
        if isinstance(tree.op, ast.Pow) and isinstance(tree.right, ast.Constant):
            exponent = float(tree.right.value)  # type: ignore[arg-type]
            return left.map(left.bounds.power(exponent, text), lambda x: np.power(x, exponent))
        raise ValueError(f"`{text}`: this operation is not known: use {ROW_BY_ROW}")


class Terms:
    """A formula that was read: the response and the terms on its right."""

    def __init__(self, formula: str) -> None:
        try:
            from formulaic import Formula
        except ImportError:
            raise ImportError("formulas need formulaic and pandas: install them with dpglm[formula]") from None
        parsed = Formula(formula)
        if not hasattr(parsed, "lhs"):
            raise ValueError(f"formula {formula!r} has no left side: write it like 'y ~ age + C(sex)'")
        left = [str(term) for term in parsed.lhs]
        if len(left) != 1:
            raise ValueError(f"formula {formula!r} must have one response on its left side, got {len(left)}")
        self.response = left[0].strip("`")
        self.terms = [[factor.expr for factor in term.factors] for term in parsed.rhs]
        self.intercept = ["1"] in self.terms
        self.terms = [term for term in self.terms if term not in (["1"], ["0"])]
        if not self.terms:
            raise ValueError(f"formula {formula!r} has no columns on its right side: give at least one")

    def columns(self, reader: Reader) -> dict[str, tuple[dict[str, Any], Any]]:
        """Each column's declaration and, with rows, its cells."""
        found: dict[str, tuple[dict[str, Any], Any]] = {}
        for term in self.terms:
            name = term[0].strip("`")
            if len(term) == 1 and name in reader.bounds and "magnitude" in (declared := reader.declared(name)):
                found[name] = (declared, None if reader.rows is None else reader.cells(name))
                continue
            factors = [(text, reader.factor(text)) for text in term]
            text, levels = factors[0]
            if len(factors) == 1 and isinstance(levels, Levels):
                found[text] = (levels.declared, levels.cells)
                continue
            for name, product in _products(factors, reader):
                low, high = product.bounds.low, product.bounds.high
                # What rounding has moved out of the term's bounds is no bad cell.
                values = None if product.values is None else np.clip(product.values, low, high)
                found[name] = ({"kind": "real", "bounds": [low, high]}, values)
        return found


def _products(factors: list[tuple[str, Numbers | Levels]], reader: Reader) -> list[tuple[str, Numbers]]:
    """The products of all factors, one for each combination of levels but the first of each."""
    made: list[tuple[str, Numbers]] = []
    for text, factor in factors:
        if isinstance(factor, Numbers):
            parts = [(text, factor)]
        else:
            names = [str(level[0] if isinstance(level, list) else level) for level in factor.declared["levels"]]
            others = list(enumerate(names))[1:]
            parts = [(f"{text}[{name}]", Numbers(Interval(0, 1), reader.indicator(factor, i))) for i, name in others]
        if not made:
            made = parts
            continue
        made = [
            (
                f"{a}:{b}",
                Numbers(x.bounds * z.bounds, None if x.values is None or z.values is None else x.values * z.values),
            )
            for a, x in made
            for b, z in parts
        ]
    return made


def glm(
    formula: str,
    data: Any,
    *,
    family: str,
    bounds: Mapping[str, Any],
    epsilon: float,
    delta: float | None,
    unit: str | None = None,
    magnitudes: Mapping[str, tuple[float, float]] | None = None,
    bounds_share: float | None = None,
    strict: bool = False,
    ledger: Ledger | None = None,
    **wishes: Any,
) -> FormulaModel:
    """Fits a private generalized linear model by formula.

    Parameters
    ----------
    formula : such as ``"y ~ age + C(sex) + age:C(sex) + I(age**2)"``; ``- 1`` leaves out the intercept.
    data : a pandas, Polars or Arrow table.
    family : ``"gaussian"``, ``"logistic"``, ``"poisson"`` or ``"multinomial"``.
    bounds : for every column a tuple ``(low, high)`` or a list of levels, the reference first, from public knowledge.
    epsilon, delta : the budget. No default.
    unit : the column that says whose row it is: the promise is then for all rows of a person together.
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
    ['(Intercept)', 'C(sex)=m', 'age']
    """
    terms = Terms(formula)
    declare = {}
    for name, magnitude in (magnitudes or {}).items():
        if name in bounds:
            raise ValueError(f"column `{name}` has bounds and a magnitude: give one of the two")
        counts = family == "poisson" and name == terms.response
        declare[name] = declare_magnitude(name, magnitude, "count" if counts else "real")
    bounds = {**bounds, **declare}
    is_searched = any(isinstance(column, Mapping) and "magnitude" in column for column in bounds.values())
    share = share_for_bounds(bounds_share, is_searched)
    paid = paid_from(ledger)
    asked = ask(epsilon=epsilon, delta=delta, family=family, bounds_share=share, **wishes)
    if asked["method"] not in ("reference", "iht"):
        _native.check_budget(asked["epsilon"], asked["delta"])
    rows = _rows(data)
    reader = Reader(bounds, rows, strict)
    columns = terms.columns(reader)
    declared = reader.declared(terms.response)
    if family in ("logistic", "multinomial") and "levels" not in declared:
        declared = declare_levels([0, 1])
    response = (
        terms.response,
        reader.cells(terms.response),
        json.dumps({"target": terms.response, "columns": {terms.response: declared}}),
    )
    units = None if unit is None else (unit, reader.cells(unit))
    table = _encode(columns, terms.intercept, response, constant=terms.intercept, strict=strict, units=units)
    artefact, said = _native.fit(table, asked, None, None, paid)
    encoding = json.loads(artefact)["encoding"]["columns"]
    found = {name: encoding[name] for name in declare if name in encoding}
    fitted = FormulaModel(artefact, formula, {**bounds, **found})
    # Levels that are no part of a product are encoded with the table, and noted there.
    notes = [note for name, note in reader.notes.items() if note]
    fitted._tell(table, said, "\n".join([*notes, table.curator_notes]))
    return fitted


def _rows(data: Any) -> dict[str, Any]:
    rows = adapt(data, "data")
    if rows.names is None:
        raise TypeError("data must be a table with named columns, such as a pandas, Polars or Arrow one")
    return dict(zip(rows.names, rows.by_column()))


def _encode(
    columns: dict[str, tuple[dict[str, Any], Any]],
    intercept: bool,
    response: Any,
    *,
    constant: bool,
    strict: bool = False,
    units: tuple[str, Any] | None = None,
) -> Any:
    how = {
        "schema": json.dumps({"intercept": intercept, "columns": {name: declared for name, (declared, _) in columns.items()}}),
        "name": "data",
        "strict": strict,
        "constant_column": constant,
        "for_means": False,
        "needs_target": True,
        "single": False,
    }
    cells = [(name, _contiguous(values)) for name, (_, values) in columns.items()]
    return _native.encode_columns(how, cells, response, units)


def _contiguous(values: Any) -> Any:
    return values if isinstance(values, tuple) else np.ascontiguousarray(values)


class FormulaModel(FittedModel):
    """A model that was fitted by formula; it predicts for tables with the formula's columns."""

    def __init__(self, artefact: str, formula: str, bounds: dict[str, Any]) -> None:
        super().__init__(artefact)
        self.formula = formula
        self.bounds = bounds

    def predict(self, data: Any) -> np.ndarray:
        """The mean response of each row; for levels the probability of each, in the order declared."""
        terms = Terms(self.formula)
        columns = terms.columns(Reader(self.bounds, _rows(data)))
        table = _encode(columns, terms.intercept, None, constant=False)
        found = np.asarray(self._artefact().predict(table))
        return found[:, 0] if found.shape[1] == 1 else found
