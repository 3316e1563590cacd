"""Formulas, accounting, plans, audits and the local model."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import run, words

import dpglm
from dpglm import Event
from dpglm import local

BUDGET = {"epsilon": 2.0, "delta": 1e-6, "insecure_seed": 5}


def people(rng: np.random.Generator, n: int = 3000) -> pd.DataFrame:
    frame = pd.DataFrame({"age": rng.uniform(18, 90, n), "sex": rng.choice(["f", "m"], n), "work": rng.choice(["a", "b", "c"], n)})
    frame["y"] = 1 + 0.02 * frame.age + (frame.sex == "m") - 0.5 * (frame.work == "c") + rng.normal(0, 0.1, n)
    frame["rich"] = np.where(frame.y > 2.4, "yes", "no")
    return frame


BOUNDS = {"age": (18, 90), "sex": ["f", "m"], "work": ["a", "b", "c"], "y": (0, 5), "rich": ["no", "yes"]}


def test_a_formula_is_the_model_written_by_hand(rng: np.random.Generator) -> None:
    frame = people(rng)
    by_formula = dpglm.glm("y ~ age + C(sex) + C(work)", frame, family="gaussian", bounds=BOUNDS, intervals=0.95, **BUDGET)
    by_hand = dpglm.PrivateLinearRegression(
        feature_bounds={name: BOUNDS[name] for name in ["age", "sex", "work"]}, target_bounds=(0, 5), intervals=0.95, **BUDGET
    ).fit(frame[["age", "sex", "work"]], frame.y)
    assert list(by_formula.coefficients_) == ["(Intercept)", "age", "sex=m", "work=b", "work=c"]
    assert np.array_equal([by_formula.coefficients_[n] for n in list(by_formula.coefficients_)[1:]], by_hand.coef_)
    assert np.allclose(by_formula.predict(frame), by_hand.predict(frame[["age", "sex", "work"]]))
    assert by_formula.intervals_["age"] == by_hand.intervals_["age"]
    polars = dpglm.glm("y ~ age + C(sex) + C(work)", pl.DataFrame(frame), family="gaussian", bounds=BOUNDS, intervals=0.95, **BUDGET)
    assert polars.coefficients_ == by_formula.coefficients_


def test_transforms_have_the_bounds_of_the_declaration(rng: np.random.Generator) -> None:
    frame = people(rng)
    model = dpglm.glm("y ~ log(age) + I(age**2) + age:C(sex) - 1", frame, family="gaussian", bounds=BOUNDS, **BUDGET)
    assert list(model.coefficients_) == ["log(age)", "I(age^2)", "age:sex=f", "age:sex=m"]
    assert json.loads(model.to_json())["encoding"]["formula"] == "y ~ log(age) + I(age**2) + age:C(sex) - 1"
    # A cell outside its bounds cannot leave them through a transform.
    frame.loc[0, "age"] = 1e9
    again = dpglm.glm("y ~ log(age)", frame, family="gaussian", bounds=BOUNDS, **BUDGET)
    frame.loc[0, "age"] = 90.0
    assert again.coefficients_ == dpglm.glm("y ~ log(age)", frame, family="gaussian", bounds=BOUNDS, **BUDGET).coefficients_


def test_families_of_formulas(rng: np.random.Generator) -> None:
    frame = people(rng)
    logistic = dpglm.glm("rich ~ age + C(sex)", frame, family="logistic", bounds=BOUNDS, **BUDGET)
    assert logistic.predict(frame).shape == (3000, 2)
    multinomial = dpglm.glm("work ~ age", frame, family="multinomial", bounds=BOUNDS, **BUDGET)
    assert multinomial.predict(frame).shape == (3000, 3)


@pytest.mark.parametrize(
    ("formula", "says"),
    [
        ("y ~ scale(age)", "which leak"),
        ("y ~ center(age)", "which leak"),
        ("y ~ bs(age, df=4)", "which leak"),
        ("y ~ poly(age, 2)", "which leak"),
        ("y ~ C(age)", "has no levels"),
        ("y ~ height", "`height` has no declared bounds"),
        ("y ~ log(age - 18)", "not defined on all"),
        ("y ~ I(1 / (age - 20))", "divide by 0"),
        ("y ~ age.mean()", "no known function"),
        ("log(rich) ~ age", "has levels and is no number"),
        ("age + C(sex)", "no left side"),
    ],
)
def test_what_needs_the_rows_is_refused(formula: str, says: str, rng: np.random.Generator) -> None:
    with pytest.raises(ValueError, match=says):
        dpglm.glm(formula, people(rng, 50), family="gaussian", bounds=BOUNDS, **BUDGET)


def test_accounting_is_the_command_lines() -> None:
    done = run("account", "--mechanism", "gaussian", "--sensitivity", 1, "--sigma", 4, "--count", 20, "--delta", 1e-5, "--format", "json")
    guarantee = dpglm.account(Event.gaussian(sensitivity=1, sigma=4, count=20), delta=1e-5)
    assert guarantee.epsilon == json.loads(done.stdout)["epsilon"]
    assert guarantee.delta_at(guarantee.epsilon) <= 1e-5 * (1 + 1e-9)
    done = run("calibrate", "--mechanism", "laplace", "--sensitivity", 2, "--epsilon", 0.5, "--pure", "--format", "json")
    (event,) = dpglm.calibrate(Event.laplace(sensitivity=2, scale=2), epsilon=0.5, delta=None)
    assert event["scale"] == json.loads(done.stdout)["scale"] == pytest.approx(4.0, rel=1e-9)
    mixed = [Event.selection(sensitivity=1, scale=2, count=10), Event.gaussian(sensitivity=1, sigma=1)]
    calibrated = dpglm.calibrate(mixed, epsilon=1.0, delta=1e-6, spent=[Event.pure(epsilon=0.1)])
    assert dpglm.account([*calibrated, Event.pure(epsilon=0.1)], delta=1e-6).epsilon <= 1.0
    done = run("account", "--event", "zcdp:rho=-1", "--delta", 1e-5)
    with pytest.raises(ValueError) as refused:
        dpglm.account(Event.zcdp(rho=-1.0), delta=1e-5)
    assert "rho must be a finite number above 0, got -1" in str(refused.value) and "rho must be" in words(done.stderr)


def test_a_plan_is_the_command_lines(tmp_path) -> None:  # type: ignore[no-untyped-def]
    flags = ["--model", "logistic", "--columns", 3, "--rows", 400, "--delta", 1e-6, "--runs", 3, "--format", "json"]
    done = run("plan", *flags, "--epsilon", 1, "--cache", tmp_path / "a")
    study = dpglm.plan("logistic", columns=3, rows=400, epsilon=1.0, delta=1e-6, runs=3, cache=tmp_path / "b")
    assert study.document == json.loads(done.stdout)
    assert "squared l2 error" in str(study)
    with pytest.raises(ValueError, match="give two of rows, epsilon and error"):
        dpglm.plan("logistic", columns=3, rows=400, delta=1e-6)
    with pytest.raises(ValueError, match="model must be one of mean, linear, logistic, poisson, got tree"):
        dpglm.plan("tree", columns=3, rows=400, epsilon=1.0, delta=1e-6)
    with pytest.raises(ValueError, match="model mean needs feature_bounds"):
        dpglm.plan("mean", columns=3, rows=400, epsilon=1.0, delta=1e-6)


def test_an_audit_is_the_command_lines(rng: np.random.Generator) -> None:
    flags = ["--rows", 300, "--columns", 2, "--feature-bounds=-1,1", "--binary", "--epsilon", 1, "--delta", 1e-6, "--insecure-seed", 4]
    done = run("audit", *flags, "--runs", 0, "--format", "json")
    model = dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=[0, 1], epsilon=1.0, delta=1e-6, insecure_seed=4)
    report = dpglm.audit(model, rows=300, columns=2, runs=0)
    assert report.document == json.loads(done.stdout) and not report.exceeds_claim
    caught = dpglm.audit(model, rows=300, columns=2, runs=400, without_noise=True)
    assert caught.exceeds_claim and caught.lower_bound > 1 and "does not hold" in str(caught)
    X = rng.uniform(-1, 1, (400, 2))
    assert not dpglm.audit(model, X, (X[:, 0] > 0).astype(int), runs=0).exceeds_claim
    mean = dpglm.PrivateMean(feature_bounds=(-1, 1), epsilon=1.0, delta=1e-6, insecure_seed=4)
    assert not dpglm.audit(mean, rows=300, columns=2, runs=0).exceeds_claim
    assert not dpglm.audit(mean, X, runs=0).exceeds_claim


def test_one_run_tells_a_mean_with_noise_from_one_without() -> None:
    mean = dpglm.PrivateMean(feature_bounds=(-1, 1), epsilon=4.0, delta=1e-5, insecure_seed=4)
    asked = {"rows": 1100, "columns": 1024, "canaries": 1000, "runs": 0}
    honest = dpglm.audit(mean, **asked)
    found = honest.document["one_run"]
    assert not honest.exceeds_claim and not found["refutes_curve"] and found["p_value"] > 0.05
    assert 0.5 < found["epsilon"] < found["if_gaussian"]["epsilon"] < 4 and found["if_gaussian"]["epsilon"] > 1.2
    broken = dpglm.audit(mean, rows=600, columns=512, canaries=500, runs=0, without_noise=True)
    # No bound for any method reaches the claim; the method's own curve is refuted all the same.
    assert broken.exceeds_claim and broken.lower_bound < 4 and broken.document["one_run"]["refutes_curve"] and "the claimed curve" in str(broken)


def test_randomizers_are_unbiased_and_certified() -> None:
    # Standard errors of the means of 20,000 reports; beyond 5.5 of them lie fewer than one in ten million.
    n, vector = 20_000, np.array([0.6, -0.3, 0.0])
    for kind in ["privunit", "duchi"]:
        randomizer = local.VectorRandomizer(3, radius=1.0, epsilon=1.0, kind=kind)
        assert randomizer.certificate.epsilon == pytest.approx(1.0, rel=1e-9) and randomizer.certificate.grade == "certified"
        reports = [randomizer.randomize(vector, insecure_seed=i) for i in range(n)]
        assert {len(report) for report in reports} == {22}
        error = np.abs(randomizer.mean(reports) - vector)
        assert np.all(error < 5.5 * np.sqrt(randomizer.mean_square / n))
        # The check has power: the estimate without its correction would be caught.
        assert np.any(np.abs(randomizer.mean(reports) * 0.7 - vector) > 5.5 * np.sqrt(randomizer.mean_square / n) / 3)
    response = local.RandomizedResponse(3, epsilon=1.0)
    share = response.share([response.randomize(2, insecure_seed=i) for i in range(n)], 2)
    assert abs(share - 1) < 0.1 and response.certificate.epsilon == pytest.approx(1.0, rel=1e-9)
    noise = local.LabelNoise((0, 10), epsilon=1.0, delta=1e-6)
    labels = [noise.randomize(3.0, insecure_seed=i) for i in range(n)]
    assert abs(np.mean(labels) - 3.0) < 5.5 * noise.deviation / np.sqrt(n)
    with pytest.raises(ValueError, match="epsilon must be"):
        local.VectorRandomizer(3, radius=1.0, epsilon=-1.0)
    with pytest.raises(ValueError, match="kind must be one of privunit, duchi"):
        local.VectorRandomizer(3, radius=1.0, epsilon=1.0, kind="sphere")
