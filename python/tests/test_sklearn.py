"""scikit-learn's own checks, and its tools around the estimators.

A check may fail only where privacy forbids what it asks for; each such check is listed with its reason, and must really fail.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator

import dpglm

INFINITE = float("inf")
LABELS = "the labels are a public declaration: those that the check makes up are not declared, and count as missing cells"
RESPONSES = "a missing or infinite response follows the public rule: an error would depend on one private row"
CONTINUOUS = "whether a response is a declared label depends on private cells: one that is not counts as missing, without an error"
EMPTY = "two of the four declared classes have no rows here, and keep a small probability that no single score orders"
OBJECTS = "a cell that is neither number nor text counts as missing: an error would depend on one private cell"
WEIGHTS = "weights are private: they go with their declared bounds, without which they are refused"
ZEROS = "whether all weights are zero depends on private cells: the fit goes on without an error"
REPEATED = "with 15 rows of 30 columns a fit goes with the number of rows: repeating all of them, without weights, changes it too"

# What is asked of all models; those below that are given bounds of weights have to pass the checks of weights.
MODEL = {"check_supervised_y_no_nan": RESPONSES, "check_dtype_object": OBJECTS}
UNDECLARED = dict.fromkeys(
    [
        "check_all_zero_sample_weights_error",
        "check_sample_weights_pandas_series",
        "check_sample_weights_not_an_array",
        "check_sample_weights_list",
        "check_sample_weights_shape",
        "check_sample_weights_not_overwritten",
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ],
    WEIGHTS,
)
WEIGHTED = {
    "check_all_zero_sample_weights_error": ZEROS,
    "check_sample_weight_equivalence_on_dense_data": REPEATED,
    "check_sample_weight_equivalence_on_sparse_data": REPEATED,
}
LABELLED = {
    "check_classifiers_regression_target": CONTINUOUS,
    "check_classifiers_classes": LABELS,
    "check_classifiers_train": LABELS,
    "check_decision_proba_consistency": EMPTY,
}


class Weighing:
    """Declares the bounds of whatever weights it is given: those of the checks are public, those of users are not."""

    def fit(self, X, y, sample_weight=None):  # type: ignore[no-untyped-def]
        self.weight_bounds = None if sample_weight is None else (0, 10)
        return super().fit(X, y, sample_weight=sample_weight)  # type: ignore[misc]


class WeighingLinear(Weighing, dpglm.PrivateLinearRegression):
    pass


class WeighingPoisson(Weighing, dpglm.PrivatePoissonRegressor):
    pass


class WeighingGamma(Weighing, dpglm.PrivateGammaRegressor):
    pass


class WeighingTweedie(Weighing, dpglm.PrivateTweedieRegressor):
    pass


class WeighingLogistic(Weighing, dpglm.PrivateLogisticRegression):
    pass


class Declaring(WeighingLogistic):
    """Declares the labels of whatever it is given: the checks' rows are public, those of users are not."""

    def __init__(self, *, epsilon=INFINITE, delta=None, feature_bounds=(-10, 10)):  # type: ignore[no-untyped-def]
        super().__init__(epsilon=epsilon, delta=delta, feature_bounds=feature_bounds, classes=None)

    @classmethod
    def _parameters(cls) -> list[str]:
        return ["delta", "epsilon", "feature_bounds"]

    @property
    def classes(self):  # type: ignore[no-untyped-def]
        return self.__dict__.get("_labels", [0, 1, 2])

    @classes.setter
    def classes(self, labels) -> None:  # type: ignore[no-untyped-def]
        pass

    def fit(self, X, y, sample_weight=None):  # type: ignore[no-untyped-def]
        if y is not None:
            labels = np.unique(np.asarray(y))
            # A second label that nobody has: one class is no reason to refuse.
            self._labels = labels if len(labels) != 1 else np.unique([labels[0], type(labels[0])(0), type(labels[0])(1)])
        return super().fit(X, y, sample_weight)


# epsilon = inf runs the private algorithm without its noise, so that checks of accuracy and repetition can hold.
OPEN = {"epsilon": INFINITE, "delta": None, "feature_bounds": (-10, 10)}
ONE_LABEL = {"check_classifiers_one_label_sample_weights": WEIGHTS}
CHECKED = [
    (dpglm.PrivateMean(**OPEN), {"check_dtype_object": OBJECTS}),
    (dpglm.PrivateLinearRegression(target_bounds=(-400, 400), **OPEN), {**MODEL, **UNDECLARED}),
    (WeighingLinear(target_bounds=(-400, 400), **OPEN), {**MODEL, **WEIGHTED}),
    (dpglm.PrivatePoissonRegressor(target_bounds=(0, 100), **OPEN), {**MODEL, **UNDECLARED}),
    (WeighingPoisson(target_bounds=(0, 100), **OPEN), {**MODEL, **WEIGHTED}),
    (dpglm.PrivateGammaRegressor(target_bounds=(0.01, 400), **OPEN), {**MODEL, **UNDECLARED}),
    (WeighingGamma(target_bounds=(0.01, 400), **OPEN), {**MODEL, **WEIGHTED}),
    (dpglm.PrivateTweedieRegressor(target_bounds=(0, 400), **OPEN), {**MODEL, **UNDECLARED}),
    (WeighingTweedie(target_bounds=(0, 400), **OPEN), {**MODEL, **WEIGHTED}),
    (dpglm.PrivateLogisticRegression(classes=[0, 1, 2, 3], **OPEN), {**MODEL, **UNDECLARED, **LABELLED, **ONE_LABEL}),
    (WeighingLogistic(classes=[0, 1, 2, 3], **OPEN), {**MODEL, **WEIGHTED, **LABELLED}),
    # With the checks' own labels declared, only these are left.
    (Declaring(), {**WEIGHTED, "check_classifiers_regression_target": CONTINUOUS, "check_dtype_object": OBJECTS}),
]


@pytest.mark.parametrize(("estimator", "expected"), CHECKED, ids=[type(estimator).__name__ for estimator, _ in CHECKED])
def test_checks_of_scikit_learn(estimator: object, expected: dict[str, str]) -> None:
    run_checks(estimator, expected)


def run_checks(estimator: object, expected: dict[str, str]) -> None:
    failed, passed = {}, 0
    for one, check in estimator_checks_generator(estimator):
        name = check.func.__name__ if hasattr(check, "func") else check.__name__
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", dpglm.CuratorNote)
                check(one)
            passed += 1
        except Exception as error:  # noqa: BLE001
            if type(error).__name__ == "SkipTest":
                continue
            failed[name] = f"{type(error).__name__}: {error}"
    surprising = {name: words for name, words in failed.items() if name not in expected}
    assert not surprising, "\n".join(f"{name}: {words[:600]}" for name, words in surprising.items())
    healed = set(expected) - set(failed)
    assert not healed, f"listed as expected failures, but they pass: {healed}"
    assert passed > 25


def test_in_a_pipeline(table: tuple) -> None:
    X, y = table
    # A transform that is fixed in advance reads nothing off the rows.
    model = make_pipeline(
        FunctionTransformer(lambda X: X**2),
        dpglm.PrivateLogisticRegression(epsilon=2.0, delta=1e-6, feature_bounds=(0, 1), classes=[0, 1]),
    )
    assert model.fit(X, y).predict(X).shape == y.shape
    assert model[-1].certificate_.epsilon <= 2.0


def test_a_search_warns_that_selection_is_not_paid_for(table: tuple) -> None:
    X, y = table
    model = dpglm.PrivateLogisticRegression(epsilon=2.0, delta=1e-6, feature_bounds=(-1, 1), classes=[0, 1])
    search = GridSearchCV(model, {"ridge": [0.01, 1.0]}, cv=2)
    with pytest.warns(dpglm.UnpaidSelectionWarning, match="Nothing pays for that selection"):
        search.fit(X, y)
    assert search.best_estimator_.certificate_.epsilon <= 2.0
    fresh = dpglm.PrivateLogisticRegression(epsilon=2.0, delta=1e-6, feature_bounds=(-1, 1), classes=[0, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error", dpglm.UnpaidSelectionWarning)
        fresh.fit(X, y)
    with pytest.warns(dpglm.UnpaidSelectionWarning):
        cross_val_score(fresh, X, y, cv=2)


@pytest.mark.parametrize("estimator", [one for one, _ in CHECKED if isinstance(one, Weighing)], ids=lambda one: type(one).__name__)
def test_a_weight_counts_as_so_many_rows(estimator: Weighing, rng: np.random.Generator) -> None:
    X = rng.uniform(-1, 1, (4000, 2))
    mean = np.exp(0.5 + X[:, 0] * np.where(X[:, 1] > 0, 1, -1))
    y = np.minimum(rng.poisson(mean), 3) if hasattr(estimator, "classes") else mean
    weights = np.where(X[:, 1] > 0, 3, 1)
    weighted = clone(estimator).fit(X, y, sample_weight=weights)
    repeated = clone(estimator).fit(X.repeat(weights, axis=0), y.repeat(weights))
    plain = clone(estimator).fit(X, y)
    # The first is near the second, and both are far from a fit without weights: 0.5 is the effect of the heavy rows, 0 that of all.
    assert np.allclose(weighted.coef_, repeated.coef_, atol=0.02) and np.allclose(weighted.intercept_, repeated.intercept_, atol=0.02)
    assert np.abs(weighted.coef_ - plain.coef_).max() > 0.2
