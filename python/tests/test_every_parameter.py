"""Every parameter is honoured or refused, never ignored: the table of parameters and of what is done with them, each cell tried.

The names come from the signatures themselves: a parameter without a row fails the test.
"""

from __future__ import annotations

import inspect
import json
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpglm

ROWS = 80
GENERATOR = np.random.default_rng(20)
X = GENERATOR.uniform(-1, 1, (ROWS, 3))
X[3, 1] = 7.0
Y = np.clip(X[:, 0] + GENERATOR.normal(0, 0.3, ROWS), -2, 2)
UNITS = np.repeat(np.arange(ROWS // 2), 2)
# Enough that slopes, and not a location alone, can be learned of so few rows.
BUDGET = {"epsilon": 60.0, "delta": 1e-5, "insecure_seed": 7}
TRANSFER = {"method": "transfer", "sparsity": 1, "fit_intercept": False}
# Columns that are not on one scale, the first above zero.
APART = {"feature_bounds": {"x0": (0.1, 1), "x1": (-1, 1), "x2": (-1, 1)}}
# In place of the bounds of a column.
SIZES = {"x0": (10.0, 0.01)}
SAME = "one record does not change the support"


@dataclass
class Changes:
    """With this value, beside these parameters, the result is another."""

    value: Any
    beside: dict[str, Any] = field(default_factory=dict)


@dataclass
class Refused:
    """This value is refused in words that hold the parameter's name and this one."""

    value: Any
    word: str
    beside: dict[str, Any] = field(default_factory=dict)


@dataclass
class Checked:
    """The result does not depend on the value, or shows counts that do not: one that cannot be is refused."""

    wrong: Any
    beside: dict[str, Any] = field(default_factory=dict)


@dataclass
class OfFit:
    """It speaks of reading cells or of waiting for a fit, where nothing is read or waited for; documented so."""

    value: Any


# For each parameter what it does in `fit`, in `planned`, and in `audit` of simulated rows and of a table.
MODELS: dict[str, tuple[Any, Any, Any, Any]] = {
    "epsilon": (Changes(2.0),) * 4,
    "delta": (Changes(1e-4),) * 4,
    "feature_bounds": (Changes((-2, 2)), Checked([(-1, 1)] * 2), Refused([(-1, 1)] * 2, "one pair"), Changes((-0.5, 2))),
    "target_bounds": (Changes((-3, 2)), Checked((2, -2)), Checked((2, -2)), Changes((-9, 2))),
    "intervals": (Changes(0.9), Changes(0.9), Checked(95.0), Checked(95.0)),
    "sparsity": (Changes(1),) * 4,
    "method": (Changes("statistics"),) * 4,
    "ridge": (Changes(0.5), Checked(-1.0), Changes(0.5), Checked(-1.0)),
    "radius": (Changes(0.01), Checked(0.0), Changes(0.01), Changes(0.01)),
    "tune": (Changes("ridge=auto"),) * 4,
    "row_norm": (Changes(0.5, {"method": "dp-iht", "sparsity": 1}),) * 4,
    "l1_radius": tuple(cell(0.5, {"method": "frank-wolfe", "fit_intercept": False}) for cell in [Changes] * 4),
    "public_features": (
        Changes(X[:20, ::-1].copy(), TRANSFER),
        Checked(X[:20, :2], TRANSFER),
        Checked("no rows", TRANSFER),
        Checked("no rows", TRANSFER),
    ),
    "accept": (Changes(SAME, {**TRANSFER, "method": "transfer-literal"}),) * 4,
    "magnitudes": (Changes(SIZES), Changes(SIZES)) + (Refused(SIZES, "leave out"),) * 2,
    "bounds_share": (Changes(0.3, {"magnitudes": SIZES}),) * 2 + (Refused(0.3, "leave out"),) * 2,
    "target_magnitude": (Changes((10.0, 0.01), {"target_bounds": None}),) * 2
    + (Refused((10.0, 0.01), "leave out", {"target_bounds": None}),) * 2,
    "fit_intercept": (Changes(False),) * 4,
    "robust": (Changes(True),) * 4,
    "strict": (Changes(True), OfFit(True), Refused(True, "simulated"), Changes(True)),
    "progress": (OfFit(True),) * 4,
    "insecure_seed": (Changes(8), Changes(None), Changes(8), Changes(8)),
}
MEANS: dict[str, tuple[Any, Any, Any, Any]] = {
    "epsilon": (Changes(2.0),) * 4,
    "delta": (Changes(1e-4),) * 4,
    "feature_bounds": (Changes((-2, 3)), Checked((1, -1)), Refused([(-1, 1)] * 2, "one pair"), Checked((1, -1))),
    "by": (Refused("x0", "declare"), Refused("x0", "declare"), Refused("x0", "leave out"), Refused("x0", "leave out")),
    "sample_weight": (Changes("x0", APART), Checked("nobody", APART)) + (Refused("x0", "leave out"),) * 2,
    "weights": (Changes({"x0": 3.0}, APART), Checked({"nobody": 3.0}, APART)) + (Refused({"x0": 3.0}, "leave out"),) * 2,
    "missing": (Changes("drop", APART), Checked("guess", APART)) + (Refused("drop", "leave out"),) * 2,
    "intervals": (Changes(0.9), Changes(0.9), Refused(0.9, "leave out"), Refused(0.9, "leave out")),
    "sparsity": (Changes(1),) * 4,
    "method": (Changes("karwa-vadhan"),) * 4,
    "deviations": (
        Changes((0.1, 0.3), {"method": "karwa-vadhan"}),
        Checked((0.3, 0.1), {"method": "karwa-vadhan"}),
        Refused((0.1, 0.3), "leave out", {"method": "karwa-vadhan"}),
        Refused((0.1, 0.3), "leave out", {"method": "karwa-vadhan"}),
    ),
    "tune": (Changes("sparsity=auto:2"), Changes("sparsity=auto:2")) + (Refused("sparsity=auto:2", "leave out"),) * 2,
    "magnitudes": (Changes(SIZES), Changes(SIZES)) + (Refused(SIZES, "leave out"),) * 2,
    "bounds_share": (Changes(0.3, {"magnitudes": SIZES}),) * 2 + (Refused(0.3, "leave out"),) * 2,
    "strict": (Changes(True), OfFit(True), Refused(True, "simulated"), Changes(True)),
    "insecure_seed": (Changes(8), Changes(None), Changes(8), Changes(8)),
}
WAYS = ["fit", "planned", "audit of simulated rows", "audit of a table"]


def use(kind: type, way: str, parameters: dict[str, Any]) -> str:
    """What comes of an estimator with these parameters."""
    base: dict[str, Any] = {"feature_bounds": (-1, 1), **BUDGET}
    if kind is dpglm.PrivateLinearRegression:
        base["target_bounds"] = (-2, 2)
    model: Any = kind(**{**base, **parameters})
    y = () if kind is dpglm.PrivateMean else (Y,)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if way == "fit":
            return str(model.fit(X, *y).to_json())
        if way == "planned":
            return str(model.planned(ROWS, None if isinstance(model.feature_bounds, dict) else 3).to_json())
        attack = {"runs": 0, "canaries": 15}
        if way == "audit of a table":
            return json.dumps(dpglm.audit(model, X, *y, **attack).document)
        return json.dumps(dpglm.audit(model, rows=60, columns=3, **attack).document)


CELLS = [
    pytest.param(kind, name, way, cell, id=f"{kind.__name__}-{name}-{way}")
    for kind, table in [(dpglm.PrivateLinearRegression, MODELS), (dpglm.PrivateMean, MEANS)]
    for name, cells in table.items()
    for way, cell in zip(WAYS, cells)
]


@pytest.mark.parametrize(("kind", "name", "way", "cell"), CELLS)
def test_cell(kind: type, name: str, way: str, cell: Any) -> None:
    beside = getattr(cell, "beside", {})
    if isinstance(cell, (Refused, Checked)):
        wrong = cell.value if isinstance(cell, Refused) else cell.wrong
        with pytest.raises((ValueError, TypeError)) as refused:
            use(kind, way, {**beside, name: wrong})
        if isinstance(cell, Refused):
            assert name in str(refused.value) and cell.word in str(refused.value), str(refused.value)
        return

    def outcome(parameters: dict[str, Any]) -> str:
        try:
            return use(kind, way, parameters)
        except ValueError as error:
            # What is missed beside a parameter, and a strict run that stops, are outcomes too.
            return f"refused: {error}"

    without, given = outcome(beside), outcome({**beside, name: cell.value})
    if isinstance(cell, OfFit):
        assert given == without
        return
    assert not given.startswith("refused") or name == "strict", given
    assert given != without


def test_every_parameter_has_a_row() -> None:
    def names(function: Any) -> set[str]:
        return set(inspect.signature(function).parameters) - {"self", "args", "kwargs"}

    assert names(dpglm.PrivateLinearRegression) == set(MODELS)
    assert names(dpglm.PrivatePoissonRegressor) == set(MODELS)
    assert names(dpglm.PrivateLogisticRegression) == set(MODELS) - {"target_bounds", "target_magnitude"} | {"classes"}
    assert names(dpglm.PrivateMean) == set(MEANS)
    # What methods and functions take beside; each is tried below or in the tests of the command line's words.
    for kind in [dpglm.PrivateLinearRegression, dpglm.PrivateLogisticRegression, dpglm.PrivateMean]:
        assert names(kind.fit) == {"X", "y", "units", "ledger"} and names(kind.planned) == {"n_rows", "n_features", "unit"}
    assert names(dpglm.audit) == {"estimator", "X", "y"} | set(AUDIT)
    assert names(dpglm.plan) == {"model"} | set(PLAN)
    searched = {"magnitudes", "bounds_share"}
    assert names(dpglm.fit_table) == {"data", "schema", "epsilon", "delta", "fit_intercept", "strict", "ledger", "wishes"} | searched
    assert names(dpglm.glm) == {"formula", "data", "family", "bounds", "epsilon", "delta", "unit", "strict", "ledger", "wishes"} | searched
    assert names(dpglm.Schema) == {"text", "target", "unit"}


AUDIT: dict[str, Any] = {
    "rows": 70, "columns": 3, "runs": 3, "canaries": 9, "opposite": "features", "confidence": 0.8, "without_noise": True,
}  # fmt: skip
PLAN: dict[str, Any] = {
    "columns": 2, "delta": 1e-5, "rows": 200, "epsilon": 2.0, "error": 0.1, "sparsity": 1, "sigma": 2.0, "feature_bounds": (0, 1),
    "target_bounds": (-3, 5), "runs": 3, "cache": None,
}  # fmt: skip


@pytest.mark.parametrize("name", AUDIT)
def test_arguments_of_an_audit(name: str) -> None:
    model = dpglm.PrivateLinearRegression(feature_bounds=(-1, 1), target_bounds=(-2, 2), **BUDGET)
    plain = {"rows": 60, "columns": 2, "runs": 2, "canaries": 5}
    assert dpglm.audit(model, **{**plain, name: AUDIT[name]}).document != dpglm.audit(model, **plain).document


def test_arguments_of_an_audit_that_do_not_go_together() -> None:
    model = dpglm.PrivateLinearRegression(feature_bounds=(-1, 1), target_bounds=(-2, 2), **BUDGET)
    mean = dpglm.PrivateMean(feature_bounds=(-1, 1), **BUDGET)
    for wrong in [{"rows": 60}, {"columns": 2}]:
        with pytest.raises(ValueError, match="rows and columns are for simulated rows"):
            dpglm.audit(model, X, Y, **wrong)
    for arguments in [(mean, X, Y), (model, None, Y)]:
        with pytest.raises(ValueError, match="y goes with X and a model"):
            dpglm.audit(*arguments, rows=None if arguments[1] is not None else 60, columns=None if arguments[1] is not None else 2)


@pytest.mark.parametrize("name", PLAN)
def test_arguments_of_a_plan(name: str, tmp_path: Any) -> None:
    plain = {"columns": 3, "rows": 100, "epsilon": 1.0, "delta": 1e-6, "runs": 2, "cache": tmp_path / "a", "target_bounds": (-5, 5)}
    if name in ("error", "feature_bounds"):
        with pytest.raises(ValueError, match=name):
            dpglm.plan("linear", **{**plain, name: PLAN[name]})
    elif name == "cache":
        dpglm.plan("linear", **{**plain, "cache": tmp_path / "b"})
        assert (tmp_path / "b").exists()
    else:
        assert dpglm.plan("linear", **{**plain, name: PLAN[name]}).document != dpglm.plan("linear", **plain).document
    with pytest.raises(ValueError, match="sigma goes with model mean and linear"):
        dpglm.plan("logistic", columns=3, rows=100, epsilon=1.0, delta=1e-6, runs=2, sigma=1.0)


# Units.


def test_units_are_protected_together() -> None:
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 2], "y": Y, "who": UNITS})
    schema = dpglm.Schema(
        'target = "y"\nunit = "who"\n[columns]\na = { kind = "real", bounds = [-1, 1] }\nb = { kind = "real", bounds = [-1, 1] }\n'
        'y = { kind = "real", bounds = [-2, 2] }\n'
    )
    by_schema = dpglm.fit_table(frame, schema, **BUDGET)
    model = dpglm.PrivateLinearRegression(feature_bounds=(-1, 1), target_bounds=(-2, 2), **BUDGET)
    for ids in [frame.who, frame.who.astype(str).rename("who"), pd.Series([f"p{u}" for u in UNITS], name="who")]:
        model.fit(frame[["a", "b"]], frame.y, units=ids)
        assert list(by_schema.coefficients_.values())[1:] == list(model.coef_)
        document = json.loads(model.to_json())
        assert (document["n"], document["unit"]) == (ROWS // 2, "who")
        assert document["certificate"]["adjacency"] == {"replace_unit": "who"}
    by_formula = dpglm.glm(
        "y ~ a + b", frame, family="gaussian", unit="who", bounds={"a": (-1, 1), "b": (-1, 1), "y": (-2, 2)}, **BUDGET
    )
    assert by_formula.coefficients_ == by_schema.coefficients_
    assert json.loads(by_formula.to_json())["certificate"]["adjacency"] == {"replace_unit": "who"}
    rows = model.fit(frame[["a", "b"]], frame.y)
    assert json.loads(rows.to_json())["certificate"]["adjacency"] == "replace_row"
    # Ids of a plain array have no name; sparse rows take units too.
    import scipy.sparse

    plain = dpglm.PrivateLinearRegression(feature_bounds=(-1, 1), target_bounds=(-2, 2), **BUDGET)
    for features in [X[:, [0, 2]], scipy.sparse.csr_array(X[:, [0, 2]])]:
        assert json.loads(plain.fit(features, Y, units=UNITS).to_json())["unit"] == "unit"
    assert json.loads(plain.planned(40, 2, unit="person").to_json())["adjacency"] == {"replace_unit": "person"}


def test_means_of_any_columns() -> None:
    generator = np.random.default_rng(21)
    rows = 20_000
    frame = pd.DataFrame({"sex": generator.choice(["f", "m"], rows), "age": generator.normal(50, 10, rows).clip(0, 120)})
    frame["gain"] = np.where(generator.uniform(size=rows) < 0.9, 0.0, 2_000 * generator.uniform(size=rows))
    frame["share"] = generator.uniform(0.5, 2.0, rows)
    frame.loc[frame.age > 60, "gain"] = np.nan
    frame.loc[frame.sex == "m", "age"] += 5
    bounds = {"sex": ["f", "m"], "age": (0, 150), "gain": (0, 100_000), "share": (0.1, 5)}
    mean = dpglm.PrivateMean(feature_bounds=bounds, by="sex", sample_weight="share", missing="drop", intervals=0.95, epsilon=2.0, delta=1e-6, insecure_seed=21)
    with pytest.warns(dpglm.CuratorNote):
        mean.fit(frame)
    found = dict(zip(mean.coefficient_names_, mean.means_))
    assert set(found) == {"age[sex=f]", "gain[sex=f]", "age[sex=m]", "gain[sex=m]"}
    for sex, part in frame.groupby("sex"):
        for name, near in [("age", 2.0), ("gain", 500.0)]:
            kept = part.dropna(subset=[name])
            exact = np.average(kept[name], weights=kept.share)
            entry = f"{name}[sex={sex}]"
            assert abs(found[entry] - exact) < 5 * mean.standard_errors_[entry] < near
        assert abs(mean.groups_[sex] - len(part) / rows) < 0.03
        assert abs(mean.observed_[f"gain[sex={sex}]"] - part.gain.notna().mean()) < 0.05
    assert mean.set_params(insecure_seed=None).fit(frame).certificate_.epsilon <= 2.0


def test_means_of_units() -> None:
    many = np.concatenate([np.zeros(30), np.arange(1, 11)])
    values = np.where(many == 0, 0.0, 1.0)[:, None]
    mean = dpglm.PrivateMean(feature_bounds=(0, 1), epsilon=float("inf"), delta=None).fit(values, units=many)
    assert json.loads(mean.to_json())["n"] == 11 and mean.means_[0] == pytest.approx(10 / 11)
    private = dpglm.PrivateMean(feature_bounds=(0, 1), epsilon=1.0, delta=1e-6)
    for extra in [{}, {"sparsity": 1}, {"tune": "sparsity=auto:1"}]:
        certificate = json.loads(private.set_params(sparsity=None, tune=None).set_params(**extra).fit(values, units=many).to_json())["certificate"]
        assert certificate["adjacency"] == {"replace_unit": "unit"} and certificate["grade"] == "certified"
    private.set_params(tune=None, sparsity=None)
    assert json.loads(private.planned(11, 1, unit="person").to_json())["adjacency"] == {"replace_unit": "person"}
    with pytest.raises(ValueError, match="karwa-vadhan compares rows by their place"):
        private.set_params(method="karwa-vadhan").fit(values, units=many)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"tune": "ridge=auto"}, "the unit `unit` is protected with all of its rows"),
        ({"method": "two-stage", "sparsity": 1, "fit_intercept": False}, "takes one row a person"),
    ],
)
def test_what_units_do_not_go_with(parameters: dict, words: str) -> None:
    model = dpglm.PrivateLinearRegression(feature_bounds=(-1, 1), target_bounds=(-2, 2), **parameters, **BUDGET)
    with pytest.raises(ValueError, match=words):
        model.fit(X, Y, units=UNITS)
    with pytest.raises(ValueError, match=words):
        model.planned(40, 3, unit="unit")
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, Y, units=UNITS[1:])
    named = dpglm.PrivateLinearRegression(feature_bounds=(-1, 1), target_bounds=(-2, 2), **BUDGET)
    with pytest.raises(ValueError, match="cannot also be a feature"):
        named.fit(pd.DataFrame(X, columns=["a", "b", "who"]), Y, units=pd.Series(UNITS, name="who"))


def test_wishes_are_those_of_the_command_line_alone() -> None:
    frame = pd.DataFrame({"a": X[:, 0], "y": Y})
    schema = dpglm.Schema('target = "y"\n[columns]\na = { kind = "real", bounds = [-1, 1] }\ny = { kind = "real", bounds = [-2, 2] }\n')
    for wrong in ["uniform", "target", "units", "sample_weight", "public_features"]:
        with pytest.raises(TypeError, match=wrong):
            dpglm.fit_table(frame, schema, **{wrong: True}, **BUDGET)
    with pytest.raises(TypeError, match="sample_weight"):
        dpglm.PrivateLinearRegression(feature_bounds=(-1, 1), target_bounds=(-2, 2), **BUDGET).fit(X, Y, sample_weight=np.ones(ROWS))


# One private cell must not change how others are read, nor end a fit.


@pytest.mark.parametrize("odd", ["text", 2, 0.5, None])
def test_a_list_is_read_cell_by_cell(odd: object) -> None:
    labels: list[Any] = [True, False] * 40
    model = dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=[False, True], epsilon=float("inf"), delta=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        replaced, missing = ([label] + labels[1:] for label in (odd, None))
        assert model.fit(X, replaced).to_json() == model.fit(X, missing).to_json()
        cells: list[list[Any]] = [[True, bool(row[0] > 0)] for row in X]
        line = dpglm.PrivateLinearRegression(feature_bounds=(-1, 1), target_bounds=(-2, 2), epsilon=float("inf"), delta=None)
        cells[0][0] = odd
        array = np.array([[float(a) if isinstance(a, (int, float)) else np.nan, float(b)] for a, b in cells])
        assert list(line.fit(cells, Y).coef_) == list(line.fit(array, Y).coef_)


@pytest.mark.parametrize("odd", ["unknown", None, float("nan"), b"?", object()])
def test_no_cell_stops_a_formula(odd: object) -> None:
    frame = pd.DataFrame({"a": X[:, 0].astype(object), "y": Y})
    frame.loc[4, "a"] = odd
    plain = pd.DataFrame({"a": X[:, 0], "y": Y})
    plain.loc[4, "a"] = np.nan
    bounds = {"a": (-1, 1), "y": (-2, 2)}
    call = {"family": "gaussian", "bounds": bounds, "epsilon": float("inf"), "delta": None}
    with pytest.warns(dpglm.CuratorNote, match="column `a`: 1 missing"):
        found = dpglm.glm("y ~ a + I(a**2)", frame, **call)
    with pytest.warns(dpglm.CuratorNote, match="column `a`: 1 missing"):
        assert found.coefficients_ == dpglm.glm("y ~ a + I(a**2)", plain, **call).coefficients_


def test_strict_formulas_stop_at_the_cell() -> None:
    frame = pd.DataFrame({"a": X[:, 0], "sex": ["f", "m"] * (ROWS // 2), "y": Y})
    call = {"family": "gaussian", "bounds": {"a": (-1, 1), "sex": ["f", "m"], "y": (-2, 2)}, "strict": True, **BUDGET}
    dpglm.glm("y ~ log(a + 2) + C(sex) + a:C(sex)", frame, **call)
    for column, cell in [("a", 9.0), ("sex", "x")]:
        wrong = frame.copy()
        wrong.loc[5, column] = cell
        for formula in ["y ~ log(a + 2) + C(sex)", "y ~ a:C(sex)"]:
            with pytest.raises(ValueError, match=f"row 6, column `(C\\(sex\\)|{column})`"):
                dpglm.glm(formula, wrong, **call)
    with pytest.warns(dpglm.CuratorNote, match="column `a`: 1 outside the bounds"):
        dpglm.glm("y ~ a", frame.assign(a=[9.0, *frame.a[1:]]), **{**call, "strict": False})
