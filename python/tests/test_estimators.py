"""What the estimators promise: parameters, shapes, names, copies, and no data-dependent default."""

from __future__ import annotations

import inspect
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

import dpglm

BUDGET = {"epsilon": 1.0, "delta": 1e-6, "insecure_seed": 3}
MODELS = [dpglm.PrivateLinearRegression, dpglm.PrivateLogisticRegression, dpglm.PrivatePoissonRegressor, dpglm.PrivateMean]


@pytest.mark.parametrize("kind", MODELS)
def test_privacy_parameters_are_keyword_only_and_required(kind: type) -> None:
    parameters = inspect.signature(kind.__init__).parameters
    needed = ["epsilon", "delta", "feature_bounds"]
    needed += {"PrivateMean": [], "PrivateLogisticRegression": ["classes"]}.get(kind.__name__, ["target_bounds"])
    for name in needed:
        assert parameters[name].default is inspect.Parameter.empty
        with pytest.raises(TypeError, match=name):
            kind(**{other: 1 for other in needed if other != name})
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for name, p in parameters.items() if name != "self")


@pytest.mark.parametrize("missing", ["feature_bounds", "classes", "epsilon", "delta"])
def test_nothing_is_read_off_the_rows(missing: str, table: tuple) -> None:
    arguments = {**BUDGET, "feature_bounds": (-1, 1), "classes": [0, 1], missing: None}
    with pytest.raises(ValueError, match="needed and ha(s|ve) no default"):
        dpglm.PrivateLogisticRegression(**arguments).fit(*table)


def test_rows_of_every_kind_give_the_same_fit(table: tuple) -> None:
    X, y = table
    names = ["a", "b", "c", "d"]
    frame = pd.DataFrame(X, columns=names)
    model = dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=[0, 1], **BUDGET)
    expected = model.fit(frame, y).to_json()
    assert list(model.feature_names_in_) == names and model.n_features_in_ == 4
    responses = [y, y.astype(float), pd.Series(y), pl.Series(y), pa.array(y), y.tolist(), y.astype(bool)]
    for rows in [frame, pl.DataFrame(frame), pa.Table.from_pandas(frame), pd.DataFrame(np.ascontiguousarray(X), columns=names)]:
        assert model.fit(rows, y).to_json() == expected, type(rows)
    for response in responses[:-1]:
        assert model.fit(frame, response).to_json() == expected, type(response)
    truth = dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=[False, True], **BUDGET).fit(X, responses[-1])
    plain = dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=[0, 1], **BUDGET).fit(X, y)
    assert np.array_equal(truth.coef_, plain.coef_) and truth.predict(X).dtype == bool
    assert np.array_equal(plain.coef_, model.coef_)


def test_sparse_formats_give_the_same_fit(rng: np.random.Generator) -> None:
    X = scipy.sparse.random(800, 30, density=0.2, random_state=1, format="csr")
    y = (X[:, [0]].toarray()[:, 0] > 0).astype(int)
    model = dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=[0, 1], **BUDGET)
    expected = model.fit(X, y).to_json()
    assert model.fit(X.tocsc(), y).to_json() == expected
    assert model.fit(scipy.sparse.csr_array(X), y).to_json() == expected
    unsorted = X.copy()
    for i in range(800):
        unsorted.indices[X.indptr[i] : X.indptr[i + 1]] = X.indices[X.indptr[i] : X.indptr[i + 1]][::-1]
        unsorted.data[X.indptr[i] : X.indptr[i + 1]] = X.data[X.indptr[i] : X.indptr[i + 1]][::-1]
    unsorted.has_sorted_indices = False
    assert model.fit(unsorted, y).to_json() == expected
    assert model.predict_proba(X[:5]).shape == (5, 2)
    with pytest.raises(ValueError, match="must hold 0"):
        dpglm.PrivateLogisticRegression(feature_bounds=(0.5, 1), classes=[0, 1], **BUDGET).fit(X, y)


def test_columns_of_levels(rng: np.random.Generator) -> None:
    n = 2000
    frame = pd.DataFrame({"age": rng.uniform(18, 90, n), "work": rng.choice(["a", "b", "c"], n), "sex": rng.choice(["f", "m"], n)})
    y = 0.01 * frame.age + (frame.work == "c") + rng.normal(0, 0.1, n)
    bounds = {"age": (18, 90), "work": ["a", "b", "c"], "sex": ["f", "m"]}
    model = dpglm.PrivateLinearRegression(feature_bounds=bounds, target_bounds=(-1, 4), **BUDGET)
    expected = model.fit(frame, y).to_json()
    assert model.coefficient_names_ == ["age", "work=b", "work=c", "sex=m"] and model.n_features_in_ == 3
    categories = frame.assign(work=frame.work.astype("category"))
    for rows in [categories, pl.DataFrame(frame), pl.DataFrame(frame).cast({"work": pl.Categorical}), pa.Table.from_pandas(categories)]:
        assert model.fit(rows, y).to_json() == expected
    assert model.predict(frame[:3]).shape == (3,)
    with pytest.raises(ValueError, match="no bounds for column `sex`"):
        model.set_params(feature_bounds={"age": (18, 90), "work": ["a", "b", "c"]}).fit(frame, y)
    # Text where numbers are declared is missing cells, and the curator is told; whether there is any depends on private rows.
    with pytest.warns(dpglm.CuratorNote, match="not a number"):
        dpglm.PrivateLinearRegression(feature_bounds=(0, 1), target_bounds=(0, 1), **BUDGET).fit(frame.to_numpy(), y)


ODD = [{"a": 1}, [1, 2], None, pd.NA, pd.NaT, "text", b"\xff", "\ud800", object(), Decimal("sNaN"), 10**400, float("inf"), np.zeros(2)]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
def test_no_cell_stops_a_fit_or_changes_how_others_are_read(odd: object) -> None:
    kinds = [0.5, 1, True, "0.25", b"1.0", np.float32(0.75), np.int8(1), Decimal("0.125"), Fraction(1, 2)] * 20
    levels = ["a", 1, 1.0, True, "1", None, "b", b"b", "1.0"] * 20
    response = [0.1, "1", True, 0, Fraction(1, 3), 1.0, b"0.5", None, np.float64(0.25)] * 20
    columns = [kinds, levels, response]
    model = dpglm.PrivateLinearRegression(
        feature_bounds={"x": (0, 1), "level": ["a", "b", "1"]}, target_bounds=(0, 1), epsilon=float("inf"), delta=None
    )

    def fit(cells: list[list[object]]) -> str:
        *features, y = [np.fromiter(column, dtype=object, count=len(column)) for column in cells]
        return model.fit(pd.DataFrame(dict(zip(["x", "level"], features))), pd.Series(y)).to_json()

    for place in range(3):
        replaced = [list(column) for column in columns]
        replaced[place][0] = odd
        missing = [list(column) for column in columns]
        missing[place][0] = "neither" if place == 1 and isinstance(odd, (str, bytes)) else None
        assert fit(replaced) == fit(missing)


def test_a_matrix_of_objects_is_read_cell_by_cell(table: tuple) -> None:
    X, y = table
    model = dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=[0, 1], **BUDGET)
    expected = model.fit(X, y).to_json()
    assert model.fit(X.astype(object), y).to_json() == expected
    assert model.fit(X.tolist(), [str(label) for label in y]).to_json() == expected
    X = X.copy()
    X[3, 1] = np.nan
    odd = X.astype(object)
    odd[3, 1] = "text"
    assert model.fit(odd, y).to_json() == model.fit(X, y).to_json() == model.fit(odd.astype(str), y).to_json()


def test_single_precision_stays_single(table: tuple) -> None:
    X, y = table
    model = dpglm.PrivateLogisticRegression(feature_bounds=(-3, 3), classes=[0, 1], **BUDGET)
    single = model.fit(X.astype(np.float32), y).coef_
    again = model.fit(X.astype(np.float32).astype(np.float64), y).coef_
    assert not np.array_equal(single, again) and np.allclose(single, again, atol=1e-3)


def test_classes_and_shapes(rng: np.random.Generator) -> None:
    X = rng.uniform(-1, 1, (4000, 2))
    y = np.where(X[:, 0] > 0.3, "c", np.where(X[:, 1] > 0, "b", "a"))
    model = dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=["c", "a", "b"], epsilon=4.0, delta=1e-6).fit(X, y)
    assert list(model.classes_) == ["a", "b", "c"] and model.coef_.shape == (3, 2) and not model.coef_[0].any()
    probabilities = model.predict_proba(X)
    assert np.allclose(probabilities.sum(axis=1), 1) and model.score(X, y) > 0.6
    logits = X @ model.coef_.T + model.intercept_
    logits -= logits.max(axis=1, keepdims=True)
    assert np.allclose(probabilities, np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True))
    assert np.allclose(model.decision_function(X) - logits, (model.decision_function(X) - logits)[:, :1])
    binary = dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=["a", "c"], epsilon=4.0, delta=1e-6)
    binary.fit(X[y != "b"], y[y != "b"])
    assert np.allclose(binary.decision_function(X), X @ binary.coef_[0] + binary.intercept_[0])
    with pytest.warns(dpglm.CuratorNote, match="not a declared level"):
        dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=["a", "b"], epsilon=4.0, delta=1e-6).fit(X, y)


def test_intervals_and_summary(table: tuple) -> None:
    model = dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=[0, 1], intervals=0.9, epsilon=2, delta=1e-6).fit(*table)
    assert set(model.intervals_) == {"(Intercept)", "x0", "x1", "x2", "x3"}
    low, high = model.intervals_["x0"]
    assert low < model.estimates_["x0"] < high and model.standard_errors_["x0"] > 0
    # The coefficients that predict are shrunk; both are there.
    assert set(model.determined_) == set(model.intervals_) and model.coef_[0, 0] != model.estimates_["x0"]
    assert "90% from" in str(model.summary()) and "Replacing any one row" in str(model.summary())
    html = model._repr_html_()
    assert "<table>" in html and "90% from" in html and "certified" in html
    assert "PrivateLogisticRegression(" in dpglm.PrivateLogisticRegression(feature_bounds=1, classes=2, epsilon=1, delta=1)._repr_html_()


def test_pickled_and_cloned(table: tuple) -> None:
    from sklearn.base import clone

    model = dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=[0, 1], **BUDGET).fit(*table)
    back = pickle.loads(pickle.dumps(model))
    assert back.to_json() == model.to_json() and back.certificate_ == model.certificate_
    assert np.array_equal(back.predict_proba(table[0]), model.predict_proba(table[0]))
    copy = clone(model)
    assert copy.get_params() == model.get_params() and not hasattr(copy, "coef_")
    with pytest.raises(ValueError, match="Invalid parameter 'alpha'"):
        copy.set_params(alpha=1)


def test_noise_differs_and_a_seed_voids_the_promise(table: tuple) -> None:
    free = dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=[0, 1], epsilon=1.0, delta=1e-6)
    assert not np.array_equal(free.fit(*table).coef_, free.fit(*table).coef_)
    assert free.certificate_.grade == "certified" and free.certificate_.epsilon <= 1.0
    seeded = dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=[0, 1], **BUDGET)
    assert seeded.fit(*table).certificate_.grade == "none" and seeded.certificate_.epsilon is None
    nothing = dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=[0, 1], epsilon=float("inf"), delta=None)
    assert nothing.fit(*table).certificate_.grade == "none"


def test_a_plan_needs_no_rows() -> None:
    model = dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=[0, 1], epsilon=1.0, delta=1e-6)
    planned = model.planned(5000, 10)
    assert planned.grade == "certified" and 0.9 < planned.epsilon <= 1.0
    mean = dpglm.PrivateMean(feature_bounds={"a": (0, 1), "b": (0, 5)}, epsilon=0.5, delta=1e-6).planned(5000)
    assert mean.epsilon <= 0.5


def test_a_large_delta_is_warned_of(table: tuple) -> None:
    with pytest.warns(dpglm.PrivacyWarning, match="is not below 1/n"):
        dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=[0, 1], epsilon=1.0, delta=0.01).fit(*table)


def test_wrong_types(table: tuple) -> None:
    X, y = table
    for parameters in [{"epsilon": "1"}, {"ridge": [1]}, {"sparsity": 2.5}, {"epsilon": True}]:
        arguments = {**BUDGET, "feature_bounds": (-1, 1), "classes": [0, 1], **parameters}
        with pytest.raises(TypeError, match="must be a"):
            dpglm.PrivateLogisticRegression(**arguments).fit(X, y)
    with pytest.raises(TypeError, match="feature_bounds must be numbers"):
        dpglm.PrivateMean(feature_bounds="wide", **BUDGET).fit(X)
    with pytest.raises(ValueError, match="3 pairs of bounds for 4 columns"):
        dpglm.PrivateMean(feature_bounds=[(0, 1)] * 3, **BUDGET).fit(X)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=[0, 1], **BUDGET).fit(X, y[:-1])


def test_public_features(rng: np.random.Generator) -> None:
    X = rng.uniform(-1, 1, (2000, 20))
    y = X[:, 0] + rng.normal(0, 0.1, 2000)
    model = dpglm.PrivateLinearRegression(
        feature_bounds=(-1, 1), target_bounds=(-2, 2), sparsity=2, method="transfer", public_features=rng.uniform(-1, 1, (500, 20)),
        fit_intercept=False, epsilon=4.0, delta=1e-5,
    )  # fmt: skip
    assert len(model.fit(X, y).support_) <= 2
    with pytest.raises(ValueError, match="public_features goes with method transfer"):
        model.set_params(method="select-refine").fit(X, y)


def test_progress_follows_the_fit(table: tuple, capsys: pytest.CaptureFixture[str]) -> None:
    dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=[0, 1], progress=True, **BUDGET).fit(*table)
    assert "fitting" in capsys.readouterr().err
