"""Bounds that are found privately: models, formulas and means from magnitudes alone."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dpglm

pd = pytest.importorskip("pandas")

BUDGET = {"epsilon": 1.0, "delta": 1e-6}


def people(n: int = 20_000) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(7)
    X = pd.DataFrame({"age": rng.uniform(20, 70, n), "sex": rng.choice(["f", "m"], n)})
    return X, pd.Series(1000 + 30 * X.age + 200 * (X.sex == "m") + rng.normal(0, 300, n), name="pay")


def test_a_model_finds_the_bounds_of_columns_and_target() -> None:
    X, y = people()
    model = dpglm.PrivateLinearRegression(
        **BUDGET, feature_bounds={"sex": ["f", "m"]}, target_bounds=None, target_magnitude=(1e9, 1), magnitudes={"age": (1e6, 0.1)}
    ).fit(X, y)
    assert abs(model.coef_[0] - 30) < 3
    assert model.certificate_.epsilon <= 1
    assert {"age", "pay"} == set(model.bounds_)
    assert "medians for bounds" in model.certificate_.to_json()
    # Predictions hold to what was found, as those of the command line.
    _, high = model.bounds_["age"]
    far = pd.DataFrame({"age": [high, 1e5], "sex": ["f", "f"]})
    first, second = model.predict(far)
    assert first == second
    assert json.loads(model.artefact_)["encoding"]["columns"]["age"]["bounds"] == model.bounds_["age"]
    assert model.planned(1000).epsilon <= 1


def test_formulas_tables_means_and_other_families() -> None:
    X, y = people()
    frame = X.assign(pay=y)
    by_formula = dpglm.glm(
        "pay ~ age + C(sex)", frame, family="gaussian", bounds={"sex": ["f", "m"]}, magnitudes={"age": (1e6, 0.1), "pay": (1e9, 1)},
        **BUDGET,
    )  # fmt: skip
    assert abs(by_formula.coefficients_["age"] - 30) < 3
    assert by_formula.predict(frame.assign(age=1e5).head(1)) == by_formula.predict(
        frame.assign(age=by_formula.bounds_["age"][1], sex=frame.sex).head(1)
    )
    schema = dpglm.Schema(
        'target = "pay"\n[columns]\nage = { kind = "real", bounds = [0, 100] }\nsex = { kind = "binary", levels = ["f", "m"] }\n'
        'pay = { kind = "real", bounds = [0, 9000] }\n'
    )
    by_table = dpglm.fit_table(frame, schema, magnitudes={"pay": (1e9, 1)}, bounds_share=0.2, **BUDGET)
    assert set(by_table.bounds_) == {"pay"}
    assert abs(by_table.coefficients_["age"] - 30) < 3
    means = dpglm.PrivateMean(**BUDGET, feature_bounds=None, magnitudes={"age": (1e6, 0.1)}).fit(X[["age"]])
    assert abs(means.means_[0] - 45) < 1
    counts = np.random.default_rng(1).poisson(np.exp(0.5 + 0.02 * X.age))
    poisson = dpglm.PrivatePoissonRegressor(
        **BUDGET, feature_bounds=None, target_bounds=None, target_magnitude=(1e6, 1), magnitudes={"age": (1e6, 0.1)}
    ).fit(X[["age"]], counts)
    assert abs(poisson.coef_[0] - 0.02) < 0.005
    logistic = dpglm.PrivateLogisticRegression(
        **BUDGET, feature_bounds=(0, 100), classes=[0, 1], magnitudes={"age": (1e6, 0.1)}
    ).fit(X[["age"]], (X.age > 45).astype(int))
    assert logistic.score(X[["age"]], (X.age > 45).astype(int)) > 0.95


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ({"magnitudes": {"age": 5}}, "write them like"),
        ({"magnitudes": {"foo": (1, 0.1)}}, "`foo` is no column"),
        ({"magnitudes": {"age": (1e3, 1), "sex": (1, 0.1)}}, "bounds and a magnitude"),
        ({"magnitudes": {"age": (1e3, 1)}, "bounds_share": 0.9}, "share of the budget"),
        ({"magnitudes": {"age": (1, 3)}}, "magnitude"),
        ({"magnitudes": [1]}, "dictionary"),
        ({"magnitudes": {"age": (1e3, 1)}, "method": "bounded-score"}, "likelihood"),
        ({"bounds_share": 0.1, "feature_bounds": {"age": (0, 9), "sex": ["f", "m"]}}, "goes with magnitudes"),
        ({"magnitudes": {"age": (1e3, 1)}, "target_magnitude": (1e3, 1)}, "target_bounds or target_magnitude"),
    ],
)
def test_what_does_not_fit_is_refused(wishes: dict, words: str) -> None:
    X, y = people(50)
    given = {**BUDGET, "feature_bounds": {"sex": ["f", "m"]}, "target_bounds": (0, 9000), **wishes}
    with pytest.raises((ValueError, TypeError), match=words):
        dpglm.PrivateLinearRegression(**given).fit(X, y)


def test_what_needs_bounds_says_so() -> None:
    X, y = people(50)
    with pytest.raises(ValueError, match="by itself"):
        dpglm.glm(
            "pay ~ np.log(age)", X.assign(pay=y), family="gaussian", bounds={"pay": (0, 9000)}, magnitudes={"age": (1e6, 0.1)}, **BUDGET
        )
    model = dpglm.PrivateLinearRegression(**BUDGET, feature_bounds=None, target_bounds=(0, 1), magnitudes={"age": (1, 0.1)})
    with pytest.raises(ValueError, match="audit"):
        dpglm.audit(model, X[["age"]], y)
