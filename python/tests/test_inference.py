"""Formulas and what follows from a fit, beside statsmodels: a budget without noise, so that sampling alone is left."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

import dpglm

ROWS = 20_000
BOUNDS = {"age": (20, 80), "bmi": (15, 45), "sex": ["f", "m"], "work": ["a", "b", "c"], "ill": [0, 1], "costs": (0.01, 1e4)}
FREE = {"epsilon": float("inf"), "delta": None, "intervals": 0.95}


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.uniform(20, 80, ROWS), "bmi": rng.uniform(15, 45, ROWS)})
    frame["sex"], frame["work"] = rng.choice(["f", "m"], ROWS), rng.choice(["a", "b", "c"], ROWS)
    log = 2 + np.sin(frame.age / 12) + 0.02 * frame.bmi * (frame.sex == "m") + 0.3 * (frame.work == "c")
    frame["costs"] = np.exp(log + rng.normal(0, 0.5, ROWS))
    logit = -2 + 0.03 * frame.age + 0.5 * (frame.work == "b")
    frame["ill"] = (rng.uniform(size=ROWS) < 1 / (1 + np.exp(-logit))).astype(int)
    return frame


@pytest.fixture(scope="module")
def logistic(people: pd.DataFrame) -> tuple[dpglm._table.FittedModel, object]:
    ours = dpglm.glm("ill ~ age + work + sex", people, family="logistic", bounds=BOUNDS, **FREE)
    theirs = smf.logit("ill ~ age + C(work) + C(sex)", people).fit(disp=0)
    return ours, theirs


def test_splines_and_interactions_are_those_of_statsmodels(people: pd.DataFrame) -> None:
    ours = dpglm.glm(
        "log(costs) ~ ns(age, knots=[35, 50, 65]) + bmi*C(sex) + work", people, family="gaussian", bounds=BOUNDS, method="reference",
        epsilon=None, delta=None,
    )  # fmt: skip
    from scipy.interpolate import CubicSpline

    knots = [20, 35, 50, 65, 80]
    curve = CubicSpline(knots, np.eye(5), bc_type="natural")(people.age)[:, [0, 2, 3, 4]]
    male = (people.sex == "m").to_numpy(float)
    design = np.column_stack([curve, people.bmi, male, male * people.bmi, people.work == "b", people.work == "c"]).astype(float)
    exact = sm.OLS(np.log(people.costs), sm.add_constant(design)).fit()
    assert np.allclose(ours.predict(people), exact.fittedvalues, atol=1e-6)
    assert ours.coefficients_["ns(age, knots=[35, 50, 65])[50]"] == pytest.approx(exact.params.iloc[2], abs=1e-6)
    assert ours.coefficients_["bmi:sex=m"] == pytest.approx(exact.params.iloc[7], abs=1e-7)
    # The formula is the model's: another table needs its columns alone, in any order.
    new = people[["work", "sex", "bmi", "age"]].head(7)
    assert np.allclose(ours.predict(new), exact.fittedvalues[:7], atol=1e-6)


def test_tests_and_ratios_are_those_of_statsmodels(logistic) -> None:  # type: ignore[no-untyped-def]
    ours, theirs = logistic
    found = ours.infer(ratios=True, contrasts=["work=c - work=b"])
    lines = found.to_frame()
    for name, other in [("age", "age"), ("work=b", "C(work)[T.b]"), ("sex=m", "C(sex)[T.m]")]:
        assert lines.z[name] == pytest.approx(theirs.tvalues[other], rel=0.05, abs=0.1)
        assert lines.ratio[name][0] == pytest.approx(np.exp(theirs.params[other]), rel=0.01)
        low, high = np.exp(theirs.conf_int().loc[other])
        assert lines.ratio[name][1:] == pytest.approx([low, high], rel=0.02)
    (joint,) = found.document["joint"]
    wald = theirs.wald_test("C(work)[T.b] = 0, C(work)[T.c] = 0", scalar=True)
    assert joint["term"] == "work" and joint["statistic"] == pytest.approx(wald.statistic, rel=0.05)
    contrast = theirs.t_test("C(work)[T.c] - C(work)[T.b] = 0")
    (mine,) = found.document["contrasts"]
    assert mine["estimate"] == pytest.approx(contrast.effect.item(), abs=0.01)
    assert mine["standard_error"] == pytest.approx(contrast.sd.item(), rel=0.05)
    tidy = ours.tidy().set_index("term")
    assert tidy.statistic["age"] == lines.z["age"] and tidy.p_value["age"] == pytest.approx(lines.p_value["age"], abs=1e-9)
    assert "odds ratio" in str(found) and "Wald" in str(found)


def test_predictions_and_effects_are_those_of_statsmodels(logistic, people: pd.DataFrame) -> None:  # type: ignore[no-untyped-def]
    ours, theirs = logistic
    some = people.head(50)
    found = ours.predict(some, intervals=0.9)
    design = theirs.model.exog[:50]
    error = np.sqrt(np.einsum("ij,jk,ik->i", design, theirs.cov_params().to_numpy(), design))
    ends = [theirs.predict(some).to_numpy()]
    ends += [1 / (1 + np.exp(-(design @ theirs.params + k * 1.6449 * error))) for k in (-1, 1)]
    assert np.allclose(found, np.column_stack(ends), atol=0.005)
    average = ours.average(people)
    assert average["estimate"] == pytest.approx(people.ill.mean(), abs=0.005)
    assert average["determined"] is True
    assert average["standard_error"] == pytest.approx(np.sqrt(people.ill.mean() * (1 - people.ill.mean()) / ROWS), rel=0.15)
    at = ours.infer(at={"age": 40, "work": "b", "sex": "f"}).document["at"]
    slope = next(effect for effect in at["effects"] if effect["change"].startswith("age"))
    p = theirs.predict(pd.DataFrame({"age": [40.0], "work": ["b"], "sex": ["f"]}))[0]
    assert at["prediction"]["estimate"] == pytest.approx(p, abs=0.003)
    assert slope["estimate"] == pytest.approx(theirs.params["age"] * p * (1 - p), rel=0.03)
    with pytest.raises(ValueError, match="level lies between 0 and 1"):
        ours.predict(some, intervals=95)


def test_missing_cells_as_asked(people: pd.DataFrame) -> None:
    frame = people.copy()
    frame.loc[::4, "age"] = np.nan
    call = {"family": "gaussian", "method": "reference", "epsilon": None, "delta": None}
    bounds = {**BOUNDS, "age": {"kind": "real", "bounds": [20, 80], "fill": 30}}
    with pytest.warns(dpglm.CuratorNote, match="column `age`: 5000 missing"):
        indicator = dpglm.glm("log(costs) ~ age + sex", frame, bounds=bounds, missing="indicator", **call)
    filled = frame.assign(gone=frame.age.isna().astype(float), age=frame.age.fillna(30), empty=0.0)
    exact = smf.ols("np.log(costs) ~ age + C(sex) + gone", filled).fit()
    assert indicator.coefficients_["age=missing"] == pytest.approx(exact.params["gone"], abs=1e-6)
    assert indicator.coefficients_["age"] == pytest.approx(exact.params["age"], abs=1e-7)
    with pytest.warns(dpglm.CuratorNote):
        dropped = dpglm.glm("log(costs) ~ age + sex", frame, bounds=bounds, missing="drop", **call)
    exact = smf.ols("np.log(costs) ~ age + C(sex)", frame.dropna()).fit()
    assert dropped.coefficients_["age"] == pytest.approx(exact.params["age"], abs=1e-7)


def test_two_models_beside_each_other(people: pd.DataFrame) -> None:
    call = {"family": "gaussian", "bounds": BOUNDS, **FREE}
    a, b = (dpglm.glm(formula, people, **call) for formula in ["log(costs) ~ age + sex", "log(costs) ~ age + work"])
    found = a.compare(b).document
    assert found["only"] == [["sex=m"], ["work=b", "work=c"]]
    age = next(line for line in found["coefficients"] if line["name"] == "age")
    assert age["difference"] == pytest.approx(a.estimates_["age"] - b.estimates_["age"], abs=1e-12)
    plain = dpglm.glm("log(costs) ~ age", people, **{**call, "intervals": None})
    with pytest.raises(ValueError, match="no standard errors"):
        a.compare(plain)


def test_one_schema_serves_many_models(people: pd.DataFrame) -> None:
    text = """
target = "costs"
[columns]
age = { kind = "real", bounds = [20, 80] }
bmi = { kind = "real", bounds = [15, 45] }
sex = { kind = "binary", levels = ["f", "m"] }
work = { kind = "category", levels = ["a", "b", "c"] }
ill = { kind = "binary" }
costs = { kind = "real", bounds = [0.01, 10000] }
"""
    call = {"epsilon": None, "delta": None, "method": "reference"}
    one = dpglm.fit_table(people, dpglm.Schema(text, target="ill", features=["age", "sex"]), **call)
    two = dpglm.fit_table(people, dpglm.Schema(text, formula="ill ~ age + sex"), **call)
    assert one.coefficients_ == two.coefficients_
    # Without a left side the target is named beside the formula.
    for asked in [{"formula": "~ age + sex", "target": "ill"}, {"formula": "~ age + C(sex)", "target": "ill"}]:
        assert dpglm.fit_table(people, dpglm.Schema(text, **asked), **call).coefficients_ == two.coefficients_
    by_glm = dpglm.glm("ill ~ age + sex", people, family="logistic", bounds=BOUNDS, **call)
    assert by_glm.coefficients_ == two.coefficients_
    with pytest.raises(ValueError, match="left side"):
        dpglm.Schema(text, target="ill", formula="costs ~ age")
