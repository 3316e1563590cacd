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


PRINTED = {"method": "peeling-iht", "sparsity": 1, "fit_intercept": False, "radius": 1.0, "support_norm": 1.0}

# For each parameter what it does in `fit`, in `planned`, and in `audit` of simulated rows and of a table.
MODELS: dict[str, tuple[Any, Any, Any, Any]] = {
    "epsilon": (Changes(2.0),) * 4,
    "delta": (Changes(1e-4),) * 4,
    "feature_bounds": (Changes((-2, 2)), Checked([(-1, 1)] * 2), Refused([(-1, 1)] * 2, "one pair"), Changes((-0.5, 2))),
    "target_bounds": (Changes((-3, 2)), Checked((2, -2)), Checked((2, -2)), Changes((-9, 2))),
    "weight_bounds": (Refused((0, 1), "sample_weight"), Changes((0, 1))) + (Refused((0, 1), "leave out"),) * 2,
    # An audit shows how canaries rank, which a small change may leave as it was.
    "dispersion": (Changes(True),) * 2 + (Changes(True, {"epsilon": 10.0}),) * 2,
    "intervals": (Changes(0.9), Changes(0.9), Checked(95.0), Checked(95.0)),
    "sparsity": (Changes(1),) * 4,
    "method": (Changes("statistics"),) * 4,
    "ridge": (Changes(0.5), Checked(-1.0), Changes(0.5), Checked(-1.0)),
    "radius": (Changes(0.01), Checked(0.0), Changes(0.01), Changes(0.01)),
    "tune": (Changes("ridge=auto"),) * 4,
    "row_norm": (Changes(0.5, {"method": "dp-iht", "sparsity": 1}),) * 4,
    "l1_radius": tuple(cell(0.5, {"method": "frank-wolfe", "fit_intercept": False}) for cell in [Changes] * 4),
    "steps": (Changes(3, {"method": "noisy-iht", "sparsity": 1}),) * 4,
    "step_length": (
        Changes(0.01, {"method": "noisy-iht", "sparsity": 1}),
        Checked(0.0, {"method": "noisy-iht", "sparsity": 1}),
        Changes(0.01, {"method": "noisy-iht", "sparsity": 1}),
        Changes(0.01, {"method": "noisy-iht", "sparsity": 1}),
    ),
    "support_norm": (
        Changes(0.3, {"method": "noisy-iht", "sparsity": 1, "fit_intercept": False}),
        Checked(0.0, {"method": "noisy-iht", "sparsity": 1, "fit_intercept": False}),
        Changes(0.1, {"method": "noisy-iht", "sparsity": 1, "fit_intercept": False}),
        Changes(0.1, {"method": "noisy-iht", "sparsity": 1, "fit_intercept": False}),
    ),
    "split": (Changes(True, {"sparsity": 1}),) * 4,
    "calibration": (Changes("printed", PRINTED),) * 4,
    "public_features": (
        Changes(X[:20, ::-1].copy(), TRANSFER),
        Checked(X[:20, :2], TRANSFER),
        Checked("no rows", TRANSFER),
        Checked("no rows", TRANSFER),
    ),
    "accept": (Changes(SAME, {**TRANSFER, "method": "transfer-literal"}),) * 4,
    "magnitudes": (Changes(SIZES), Changes(SIZES)) + (Refused(SIZES, "leave out"),) * 2,
    "bounds_share": (Changes(0.3, {"magnitudes": SIZES}),) * 2 + (Refused(0.3, "leave out"),) * 2,
    "missing": (Changes("indicator"), Changes("indicator"), Refused("drop", "simulated"), Changes("indicator")),
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
# What families have for themselves or do otherwise than the linear one; the rest of their parameters are tried as above in `fit` and `planned`.
LIKELIHOOD = (Refused("statistics", "likelihood"),) * 2
FAMILIES: dict[type, dict[str, tuple[Any, ...]]] = {
    dpglm.PrivatePoissonRegressor: {
        "target_bounds": (Changes((0, 4)), Checked((2, -2))),
        "method": (Changes("bounded-score"),) * 2,
        "l1_radius": (Refused(0.5, "frank-wolfe"),) * 2,
        "calibration": (Refused("printed", "poisson", PRINTED),) * 2,
        "public_features": (Refused(X[:20], "transfer"),) * 2,
        "accept": (Refused(SAME, "transfer-literal"),) * 2,
    },
    dpglm.PrivateLogisticRegression: {
        "classes": (Changes([0, 1, 2]), Changes([0, 1, 2]), Checked([0]), Checked([0])),
        "link": (Changes("probit"), Checked("log"), Changes("probit"), Changes("probit")),
        "method": (Changes("bounded-score"),) * 2,
    },
    dpglm.PrivateGammaRegressor: {"target_bounds": (Changes((0.1, 4)), Checked((2, -2))), "method": LIKELIHOOD},
    dpglm.PrivateTweedieRegressor: {
        "power": (Changes(1.2), Checked(2.0), Changes(1.2), Changes(1.2)),
        "target_bounds": (Changes((0, 4)), Checked((2, -2))),
        "method": LIKELIHOOD,
    },
    # An audit refuses all of survival.
    dpglm.PrivateSurvivalRegressor: {
        "method": LIKELIHOOD,
        "time_bounds": (Changes((0.1, 5)), Checked((0, 4))),
        "cuts": (Changes([2]), Changes([2])),
    },
}
WAYS = ["fit", "planned", "audit of simulated rows", "audit of a table"]
BOUNDS: dict[type, dict[str, Any]] = {
    dpglm.PrivateMean: {},
    dpglm.PrivateLinearRegression: {"target_bounds": (-2, 2)},
    dpglm.PrivatePoissonRegressor: {"target_bounds": (0, 8)},
    dpglm.PrivateLogisticRegression: {"classes": [0, 1]},
    dpglm.PrivateGammaRegressor: {"target_bounds": (0.1, 8)},
    dpglm.PrivateTweedieRegressor: {"target_bounds": (0, 8)},
    dpglm.PrivateSurvivalRegressor: {"time_bounds": (0.1, 4), "cuts": [1, 2]},
}
RESPONSES: dict[type, tuple[np.ndarray, ...]] = {
    dpglm.PrivateMean: (),
    dpglm.PrivateLinearRegression: (Y,),
    dpglm.PrivatePoissonRegressor: (np.floor(np.exp(Y)),),
    dpglm.PrivateLogisticRegression: ((Y > 0).astype(int),),
    dpglm.PrivateGammaRegressor: (np.exp(Y),),
    dpglm.PrivateTweedieRegressor: (np.maximum(Y, 0),),
    dpglm.PrivateSurvivalRegressor: (np.minimum(np.exp(Y), 4), Y < 1),
}


def rows_of(kind: type) -> dict[str, tuple[Any, ...]]:
    """The rows of a family: its own, and those of the linear one."""
    shared = {name: MODELS[name][:2] for name in inspect.signature(kind).parameters if name in MODELS}
    return {**shared, **FAMILIES[kind]}


def use(kind: type, way: str, parameters: dict[str, Any]) -> str:
    """What comes of an estimator with these parameters."""
    model: Any = kind(**{"feature_bounds": (-1, 1), **BUDGET, **BOUNDS[kind], **parameters})
    y = RESPONSES[kind]
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
    for kind, table in [(dpglm.PrivateLinearRegression, MODELS), (dpglm.PrivateMean, MEANS), *((kind, rows_of(kind)) for kind in FAMILIES)]
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
    assert all(names(kind) == set(rows_of(kind)) for kind in FAMILIES)
    assert names(dpglm.PrivatePoissonRegressor) == set(MODELS)
    assert names(dpglm.PrivateLogisticRegression) == set(MODELS) - {"target_bounds", "target_magnitude", "dispersion"} | {"classes", "link"}
    sparse = {"sparsity", "row_norm", "l1_radius", "steps", "step_length", "support_norm", "split", "calibration", "public_features", "accept"}
    amounts = set(MODELS) - sparse - {"robust", "tune", "target_magnitude"}
    assert names(dpglm.PrivateGammaRegressor) == amounts and names(dpglm.PrivateTweedieRegressor) == amounts | {"power"}
    counts = {"target_bounds", "dispersion", "magnitudes", "bounds_share", "fit_intercept"}
    assert names(dpglm.PrivateSurvivalRegressor) == amounts - counts | {"time_bounds", "cuts"}
    assert names(dpglm.PrivateSurvivalRegressor.fit) == {"X", "time", "event", "units", "sample_weight", "ledger"}
    assert names(dpglm.PrivateMean) == set(MEANS)
    # What methods and functions take beside; each is tried below or in the tests of the command line's words.
    for kind in [dpglm.PrivateLinearRegression, dpglm.PrivateLogisticRegression, dpglm.PrivateMean]:
        weights = set() if kind is dpglm.PrivateMean else {"sample_weight"}
        assert names(kind.fit) == {"X", "y", "units", "ledger"} | weights and names(kind.planned) == {"n_rows", "n_features", "unit"}
    assert names(dpglm.audit) == {"estimator", "X", "y"} | set(AUDIT)
    assert names(dpglm.plan) == {"model"} | set(PLAN)
    searched = {"magnitudes", "bounds_share"}
    assert names(dpglm.fit_table) == {"data", "schema", "epsilon", "delta", "fit_intercept", "strict", "ledger", "wishes"} | searched
    assert names(dpglm.glm) == {"formula", "data", "family", "bounds", "epsilon", "delta", "unit", "missing", "strict", "ledger", "wishes"} | searched
    assert names(dpglm.Schema) == {"text", "target", "unit", "formula", "features"}
    batches = {"batches", "schema", "epsilon", "delta", "fit_intercept", "scratch", "read_again", "ledger", "wishes"}
    assert names(dpglm.fit_batches) == batches | searched


AUDIT: dict[str, Any] = {
    "rows": 70, "columns": 3, "runs": 3, "canaries": 9, "opposite": "features", "confidence": 0.8, "without_noise": True,
}  # fmt: skip
PLAN: dict[str, Any] = {
    "columns": 2, "delta": 1e-5, "rows": 200, "epsilon": 2.0, "error": 0.1, "sparsity": 1, "sigma": 2.0, "feature_bounds": (0, 1),
    "target_bounds": (-3, 5), "mean_count": 0.5, "runs": 3, "cache": None,
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
    if name in ("error", "feature_bounds", "mean_count"):
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
    with pytest.raises(ValueError, match="weight_bounds, their public range"):
        dpglm.PrivateLinearRegression(feature_bounds=(-1, 1), target_bounds=(-2, 2), **BUDGET).fit(X, Y, sample_weight=np.ones(ROWS))


def test_weights_powers_and_links() -> None:
    generator = np.random.default_rng(5)
    rows = 20_000
    features = generator.uniform(-1, 1, (rows, 2))
    amounts = np.exp(3 + 0.8 * features[:, 0]) * generator.gamma(2, 0.5, rows)
    heavy = np.where(features[:, 1] > 0, 9.0, 1.0)
    asked = {"feature_bounds": (-1, 1), "epsilon": 4.0, "delta": 1e-6, "insecure_seed": 3, "intervals": 0.95}
    of_amounts = {**asked, "target_bounds": (0.01, 1_000)}
    plain = dpglm.PrivateGammaRegressor(dispersion=True, **of_amounts).fit(features, amounts)
    assert abs(plain.coef_[0] - 0.8) < 0.1 and abs(plain.dispersion_ - 0.5) < 0.1 and plain.score(features, amounts) > 0.2
    # Where weights are heavy the mean is higher: the intercept moves.
    mixed = np.where(features[:, 1] > 0, 2.0, 1.0) * amounts
    constant = {**of_amounts, "feature_bounds": {"a": (-1, 1)}, "weight_bounds": (0, 10)}
    frame = pd.DataFrame({"a": features[:, 0]})
    weighted = dpglm.PrivateGammaRegressor(**constant).fit(frame, mixed, sample_weight=pd.Series(heavy, name="w"))
    assert abs(weighted.intercept_ - (3 + np.log(1.9))) < 0.1
    document = json.loads(weighted.to_json())
    assert document["encoding"]["weight"] == "w" and "design-based" in str(weighted.summary())
    assert weighted.predict(frame).mean() > 1.5 * plain.predict(features).mean()
    for wrong, words in [(heavy[1:], "sample weights for"), (None, "weight_bounds")]:
        with pytest.raises(ValueError, match=words):
            dpglm.PrivateGammaRegressor(**constant).fit(frame, mixed, sample_weight=wrong)
    # A weight that is missing is not one of the middle: its row is dropped where that is the rule.
    gone = pd.Series(np.where(heavy > 1, np.nan, 1.0), name="w")
    for missing, share in [("drop", 0.0), ("indicator", 0.0), ("fill", 5.0)]:
        with pytest.warns(dpglm.CuratorNote, match="column `w`"):
            found = dpglm.PrivateGammaRegressor(missing=missing, **constant).fit(frame, mixed, sample_weight=gone)
        assert abs(found.intercept_ - (3 + np.log((2 * share + 1) / (share + 1)))) < 0.1
    sums = generator.poisson(0.5, rows) * amounts
    tweedie = dpglm.PrivateTweedieRegressor(power=1.7, **{**of_amounts, "target_bounds": (0, 1_000)}).fit(features, sums)
    assert json.loads(tweedie.to_json())["family"] == "tweedie-1.7" and abs(tweedie.coef_[0] - 0.8) < 0.3
    with pytest.raises(ValueError, match="power must be from 1.01 to 1.99"):
        dpglm.PrivateTweedieRegressor(power=2.0, **{**of_amounts, "target_bounds": (0, 1_000)}).fit(features, sums)
    answers = (features[:, 0] + generator.normal(size=rows) > 0).astype(int)
    links = {link: dpglm.PrivateLogisticRegression(classes=[0, 1], link=link, **asked).fit(features, answers) for link in ("logit", "probit", "cloglog")}
    assert abs(links["probit"].coef_[0][0] - 1) < 0.1 < abs(links["cloglog"].coef_[0][0] - 1)
    assert np.allclose(links["probit"].predict_proba(features[:9]).sum(1), 1)
    for wrong in ["log", None]:
        with pytest.raises(ValueError, match="link must be one of"):
            dpglm.PrivateLogisticRegression(classes=[0, 1], link=wrong, **asked).fit(features, answers)
    with pytest.raises(ValueError, match="two classes"):
        dpglm.PrivateLogisticRegression(classes=[0, 1, 2], link="probit", **asked).fit(features, answers)


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


def test_survival() -> None:
    generator = np.random.default_rng(6)
    rows = 20_000
    features = generator.uniform(-1, 1, (rows, 2))
    died, left = generator.exponential(10 * np.exp(-0.8 * features[:, 0])), generator.uniform(0, 10, rows)
    times, events = np.minimum(died, left), died < left
    asked = {"feature_bounds": (-1, 1), "time_bounds": (0.01, 10), "cuts": [2, 5], "epsilon": 4.0, "delta": 1e-6, "insecure_seed": 3}
    model = dpglm.PrivateSurvivalRegressor(intervals=0.95, **asked).fit(features, times, events)
    document = json.loads(model.to_json())
    assert document["certificate"]["adjacency"] == "replace_row" and document["n"] == rows
    assert abs(np.log(model.hazard_ratios_["x0"]) - 0.8) < 0.15 and abs(np.log(model.hazard_ratios_["time from 5 to 10"])) < 0.3
    low, high = model.hazard_ratio_intervals_["x0"]
    assert low < model.hazard_ratios_["x0"] < high and "hazard ratio" in str(model.summary())
    alive = model.predict_survival(np.zeros((1, 2)))[0]
    assert np.allclose(alive, np.exp([-0.2, -0.5, -1.0]), atol=0.05) and model.predict(np.zeros((1, 2)))[0] == alive[-1]
    assert json.loads(model.planned(rows, 2).to_json())["adjacency"] == "replace_row"
    for wrong, words in [({"cuts": [5, 2]}, "ascending"), ({"cuts": [20]}, "ascending"), ({"time_bounds": (0, 10)}, "above 0"), ({"method": "select-refine"}, "likelihood")]:
        with pytest.raises(ValueError, match=words):
            dpglm.PrivateSurvivalRegressor(**{**asked, **wrong}).fit(features, times, events)


@pytest.mark.parametrize("missing", ["fill", "drop", "indicator"])
def test_no_event_or_time_stops_a_fit_of_survival(missing: str) -> None:
    times, events = RESPONSES[dpglm.PrivateSurvivalRegressor]
    asked = {"feature_bounds": (-1, 1), "time_bounds": (0.1, 4), "cuts": [1, 2], "epsilon": float("inf"), "delta": None}
    model = dpglm.PrivateSurvivalRegressor(missing=missing, **asked)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dpglm.CuratorNote)
        plain = model.fit(X, times, events).to_json()
        for same in [events.astype(int), events.astype(float), list(events), pd.Series(events, dtype=object), events.astype(int).astype(str)]:
            assert model.fit(X, times, same).to_json() == plain
        assert events[7] and model.fit(X, times, np.where(np.arange(ROWS) == 7, np.nan, events)).to_json() != plain
        without = model.to_json()
        for odd in ["text", 2, None, pd.NA, object()]:
            cells: list[Any] = [bool(event) for event in events]
            cells[7] = odd
            assert model.fit(X, times, cells).to_json() == without
        late = times.copy()
        late[7] = np.nan
        assert model.fit(X, late, events).to_json() != plain
        # A row that is dropped has no weight.
        dropped = model.fit(X, times, np.where(np.arange(ROWS) == 7, np.nan, events)).to_json() == model.fit(X, late, events).to_json()
        assert dropped == (missing != "fill")
        holes = np.where(np.arange(X.size).reshape(X.shape) % 11 == 0, np.nan, X)
        assert model.fit(holes, times, events).predict_survival(holes).shape == (ROWS, 3)
        assert ("x0=missing" in model.coefficient_names_) == (missing == "indicator")


def test_what_survival_refuses() -> None:
    times, events = RESPONSES[dpglm.PrivateSurvivalRegressor]
    asked = {"feature_bounds": (-1, 1), "time_bounds": (0.1, 4), "cuts": [1, 2], **BUDGET}
    model = dpglm.PrivateSurvivalRegressor(**asked)
    for arguments in [{"X": X, "y": (times, events)}, {"rows": 60, "columns": 2}]:
        with pytest.raises(ValueError, match="an audit replaces one row"):
            dpglm.audit(model, runs=0, **arguments)
    for wrong in [None, 3, "1,2"]:
        with pytest.raises(ValueError, match="cuts.*needed and have no default"):
            dpglm.PrivateSurvivalRegressor(**{**asked, "cuts": wrong}).fit(X, times, events)
    for given, words in [((None, events), "requires time"), ((times, None), "requires event"), ((times[1:], events), "numbers of samples")]:
        with pytest.raises(ValueError, match=words):
            model.fit(X, *given)
    with pytest.raises(ValueError, match='missing must be "fill", "drop" or "indicator"'):
        dpglm.PrivateSurvivalRegressor(missing="guess", **asked).fit(X, times, events)
    import scipy.sparse

    with pytest.raises(ValueError, match="no sparse rows"):
        model.fit(scipy.sparse.csr_array(X), times, events)
