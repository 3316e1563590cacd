"""Ledgers: what is paid from them, and what is refused."""

from __future__ import annotations

import concurrent.futures
import pathlib
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpglm

GENERATOR = np.random.default_rng(5)
X = GENERATOR.uniform(-1, 1, (600, 2))
Y = np.clip(X[:, 0] + GENERATOR.normal(0, 0.3, 600), -2, 2)
FRAME = pd.DataFrame({"a": X[:, 0], "sex": GENERATOR.choice(["f", "m"], 600), "y": Y})
SCHEMA = dpglm.Schema(
    'target = "y"\n[columns]\na = { kind = "real", bounds = [-1, 1] }\nsex = { kind = "binary", levels = ["f", "m"] }\n'
    'y = { kind = "real", bounds = [-2, 2] }\n'
)
BUDGET: dict[str, Any] = {"epsilon": 0.5, "delta": 1e-6}


@pytest.fixture
def ledger(tmp_path: pathlib.Path) -> dpglm.Ledger:
    return dpglm.Ledger.create(
        tmp_path / "a.ledger", epsilon=4.0, delta=1e-6, reserve=1e-7, about="tests", data="people", purpose="to see"
    )


def linear(**changes: Any) -> dpglm.PrivateLinearRegression:
    return dpglm.PrivateLinearRegression(**{**BUDGET, "feature_bounds": (-1, 1), "target_bounds": (-2, 2), **changes})


def test_every_way_pays(ledger: dpglm.Ledger) -> None:
    linear().fit(X, Y, ledger=ledger)
    dpglm.PrivateMean(feature_bounds=(-1, 1), **BUDGET).fit(X, ledger=ledger)
    dpglm.fit_table(FRAME, SCHEMA, ledger=ledger, **BUDGET)
    dpglm.glm("y ~ a", FRAME, family="gaussian", bounds={"a": (-1, 1), "y": (-2, 2)}, ledger=ledger, **BUDGET)
    dpglm.describe(FRAME, SCHEMA, by="sex", ledger=ledger, **BUDGET)
    charges = ledger.charges
    assert [charge["what"] for charge in charges] == ["fit", "mean", "fit", "fit", "describe"]
    assert all(charge["data"] == "people" and charge["purpose"] == "to see" for charge in charges)
    assert all(len(charge["certificate"]) == 64 for charge in charges)
    assert 0 < ledger.spent < 1 and 3.0 < ledger.remaining() < 4.0
    head = ledger.head
    linear().fit(X, Y, ledger=dpglm.Ledger(ledger.path, purpose="again"))
    assert ledger.charges[-1]["purpose"] == "again"
    ledger.verify(head)
    with pytest.raises(ValueError, match="cut off"):
        ledger.verify("0" * 64)


def test_a_block_pays_for_all_in_it(ledger: dpglm.Ledger) -> None:
    with dpglm.Ledger(ledger.path, data="people", purpose="in a block") as block:
        model = block.fit(linear(), X, Y)
        block.fit(dpglm.PrivateMean(feature_bounds=(-1, 1), **BUDGET), X)
        block.fit_table(FRAME, SCHEMA, **BUDGET)
        block.glm("y ~ a", FRAME, family="gaussian", bounds={"a": (-1, 1), "y": (-2, 2)}, **BUDGET)
        block.describe(FRAME, SCHEMA, **BUDGET)
    assert model.certificate_.grade == "certified"
    assert [charge["what"] for charge in ledger.charges] == ["fit", "mean", "fit", "fit", "describe"]
    assert {charge["purpose"] for charge in ledger.charges} == {"in a block"}
    with pytest.raises(RuntimeError, match="stop"), dpglm.Ledger(ledger.path) as block:
        block.fit(linear(), X, Y)
        raise RuntimeError("stop")
    assert len(ledger.charges) == 6


def test_what_has_no_room_is_refused_and_what_fits_is_said(ledger: dpglm.Ledger) -> None:
    linear(epsilon=3.5).fit(X, Y, ledger=ledger)
    before = pathlib.Path(ledger.path).read_bytes()
    # Not certain before the fit is planned: this one also chooses.
    with pytest.raises(ValueError, match="no room in the ledger .* epsilon .* would fit") as refused:
        linear(epsilon=1.02 * ledger.remaining()).fit(X, Y, ledger=ledger)
    assert pathlib.Path(ledger.path).read_bytes() == before
    words = str(refused.value).split("; epsilon ")[1].split(" ")
    linear(epsilon=float(words[0])).fit(X, Y, ledger=ledger)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"epsilon": float("inf"), "delta": None}, "promises nothing"),
        ({"insecure_seed": 3}, "insecure_seed"),
        ({"epsilon": None, "delta": None, "method": "reference"}, "promises nothing"),
    ],
)
def test_what_is_not_private_has_no_place(ledger: dpglm.Ledger, changes: dict[str, Any], word: str) -> None:
    before = pathlib.Path(ledger.path).read_bytes()
    with pytest.raises(ValueError, match=word):
        linear(**changes).fit(X, Y, ledger=ledger)
    assert pathlib.Path(ledger.path).read_bytes() == before


def test_units_must_be_those_of_the_ledger(ledger: dpglm.Ledger, tmp_path: pathlib.Path) -> None:
    ids = pd.Series(np.arange(600) // 2, name="who")
    with pytest.raises(ValueError, match="protects"):
        linear().fit(X, Y, units=ids, ledger=ledger)
    people = dpglm.Ledger.create(tmp_path / "b.ledger", epsilon=4.0, delta=1e-6, unit="who")
    linear().fit(X, Y, units=ids, ledger=people)
    with pytest.raises(ValueError, match="protects"):
        linear().fit(X, Y, ledger=people)


def test_releases_that_may_fail_are_paid_from_the_reserve(ledger: dpglm.Ledger) -> None:
    tuned = dpglm.PrivateMean(feature_bounds=(-1, 1), tune="sparsity=auto:2", epsilon=0.5, delta=8e-8)
    tuned.fit(X, ledger=ledger)
    with pytest.raises(ValueError, match="reserve"):
        tuned.fit(X, ledger=ledger)


def test_threads_pay_each_for_itself(ledger: dpglm.Ledger) -> None:
    def fit(_: int) -> bool:
        try:
            linear(epsilon=1.5).fit(X, Y, ledger=ledger)
            return True
        except ValueError as error:
            assert "no room" in str(error)
            return False

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        paid = sum(pool.map(fit, range(12)))
    assert paid == len(ledger.charges) and 1 < paid < 12 and ledger.spent <= 1.0


def test_an_edited_ledger_pays_nothing(ledger: dpglm.Ledger) -> None:
    linear().fit(X, Y, ledger=ledger)
    path = pathlib.Path(ledger.path)
    path.write_text(path.read_text().replace('"purpose":"to see"', '"purpose":"to sea"'))
    with pytest.raises(ValueError, match="line 2 of the ledger"):
        linear().fit(X, Y, ledger=ledger)


def test_wrong_ledgers(tmp_path: pathlib.Path, ledger: dpglm.Ledger) -> None:
    with pytest.raises(TypeError, match=r"dpglm\.Ledger"):
        linear().fit(X, Y, ledger=ledger.path)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="dpglm ledger init"):
        dpglm.Ledger(tmp_path / "none")
    with pytest.raises(ValueError, match="it may hold what was spent"):
        dpglm.Ledger.create(ledger.path, epsilon=1.0, delta=1e-6)
    with pytest.raises(ValueError, match="rule must be one of gdp, zcdp"):
        dpglm.Ledger.create(tmp_path / "c", epsilon=1.0, delta=1e-6, rule="sum")
    for wrong in [{"epsilon": 0.0}, {"delta": 0.0}, {"reserve": 1e-6}, {"epsilon": float("nan")}]:
        with pytest.raises(ValueError, match="must be"):
            dpglm.Ledger.create(tmp_path / "c", **{"epsilon": 1.0, "delta": 1e-6, **wrong})
    assert not (tmp_path / "c").exists()
    assert pickle.loads(pickle.dumps(ledger)).head == ledger.head


def test_pipelines_and_folds_pay_for_every_fit(ledger: dpglm.Ledger) -> None:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    make_pipeline(FunctionTransformer(), linear()).fit(X, Y, privatelinearregression__ledger=ledger)
    assert len(ledger.charges) == 1


def test_what_has_no_room_is_refused_before_a_row_is_read(ledger: dpglm.Ledger) -> None:
    class Rows:
        """Rows that nobody may look at."""

        def __getattr__(self, name: str) -> Any:
            raise AssertionError(f"{name} of the rows was looked at")

    def batches() -> Any:
        raise AssertionError("the batches were asked for")

    over: dict[str, Any] = {"epsilon": 9.0, "delta": 1e-6}
    before = pathlib.Path(ledger.path).read_bytes()
    for ask in [
        lambda: linear(epsilon=9.0).fit(Rows(), Y, ledger=ledger),
        lambda: dpglm.PrivateMean(feature_bounds=(-1, 1), **over).fit(Rows(), ledger=ledger),
        lambda: dpglm.fit_table(Rows(), SCHEMA, ledger=ledger, **over),
        lambda: dpglm.fit_batches(batches, SCHEMA, ledger=ledger, **over),
        lambda: dpglm.glm("y ~ a", Rows(), family="gaussian", bounds={"a": (-1, 1), "y": (-2, 2)}, ledger=ledger, **over),
        lambda: dpglm.describe(Rows(), SCHEMA, ledger=ledger, **over),
    ]:
        with pytest.raises(ValueError, match="no room in the ledger .* could fit"):
            ask()
    with pytest.raises(ValueError, match="protects"):
        linear().fit(Rows(), Y, units=pd.Series(np.arange(600), name="who"), ledger=ledger)
    assert pathlib.Path(ledger.path).read_bytes() == before


def test_survival_is_paid_by_the_row_and_assumptions_are_told(ledger: dpglm.Ledger) -> None:
    survival = dpglm.PrivateSurvivalRegressor(epsilon=1.0, delta=1e-6, feature_bounds=(-1, 1), time_bounds=(0.1, 3), cuts=[1, 2])
    time = np.clip(GENERATOR.exponential(1, 600), 0.1, 3)
    with dpglm.Ledger(ledger.path) as block:
        fitted = block.fit(survival, X, time, time < 3)
        block.fit(survival, X, time=time, event=time < 3)
    assert fitted.certificate_.as_dict()["adjacency"] == "replace_row" and "with all rows that are made of it" in str(fitted.certificate_)
    assert survival.planned(600, 2).as_dict()["adjacency"] == "replace_row"
    assert ledger.assuming == []
    literal = dpglm.PrivateLogisticRegression(
        epsilon=1.0, delta=1e-6, feature_bounds=(-1, 1), classes=[0, 1], sparsity=1, method="transfer-literal", fit_intercept=False,
        accept="one record does not change the support",
    )  # fmt: skip
    literal.fit(X, (Y > 0).astype(int), ledger=ledger)
    assert ledger.assuming == ["one record does not change the support"] == ledger.charges[-1]["assuming"]
