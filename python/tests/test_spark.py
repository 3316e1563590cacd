"""Spark leaves the artefact of the same rows in memory, byte for byte, whatever the cluster does."""

from __future__ import annotations

import json
import os
import runpy
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, run

import dpglm

pytest.importorskip("pyspark")
os.environ["PYSPARK_PYTHON"] = sys.executable
import psutil  # noqa: E402
from pyspark.ml import Pipeline, PipelineModel  # noqa: E402
from pyspark.ml.evaluation import BinaryClassificationEvaluator  # noqa: E402
from pyspark.ml.feature import VectorAssembler  # noqa: E402
from pyspark.ml.linalg import Vectors, VectorUDT  # noqa: E402
from pyspark.sql import SparkSession, functions  # noqa: E402
from pyspark.sql.types import DoubleType, StructField, StructType  # noqa: E402

from dpglm import spark as private  # noqa: E402
from dpglm.spark import _rows  # noqa: E402
from dpglm.spark._rows import CachedRows  # noqa: E402

BUDGET = {"epsilon": 2.0, "delta": 1e-6, "insecure_seed": 7}
FLAGS = ["--epsilon", 2, "--delta", 1e-6, "--insecure-seed", 7]
SCHEMA = """
target = "visits"
unit = "person"
missing = "drop"
[columns]
age = { kind = "real", bounds = [18, 90] }
sex = { kind = "binary", levels = ["f", "m"] }
region = { kind = "category", levels = ["north", "south", "west"] }
visits = { kind = "count", bounds = [0, 9] }
"""


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    # Two executors that are processes of their own, of one core each.
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
    for key, value in {
        "spark.driver.memory": "1g",
        "spark.executor.memory": "768m",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.session.timeZone": "UTC",
        "spark.task.maxFailures": "8",
        # Where it is not installed, as in the tree.
        "spark.executorEnv.PYTHONPATH": str(Path(dpglm.__file__).parents[1]),
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """Rows of people, some with several, with cells that are missing, out of bounds and undeclared."""
    rng = np.random.default_rng(11)
    count = 3000
    age = rng.normal(50, 18, count)
    frame = pd.DataFrame(
        {
            "person": rng.integers(0, 1200, count),
            "age": age,
            "sex": rng.choice(["f", "m", "x"], count, p=[0.5, 0.45, 0.05]),
            "region": rng.choice(["north", "south", "west"], count),
            "visits": rng.poisson(np.exp(0.2 + 0.01 * age)).astype(float),
        }
    )
    frame.loc[::97, "age"] = np.nan
    return frame


def spread(session: Any, people: pd.DataFrame, partitions: int) -> Any:
    """The same rows in another order, in so many partitions."""
    rows = [tuple(None if cell != cell else cell for cell in row) for row in people.itertuples(index=False, name=None)]
    frame = session.createDataFrame(rows, "person bigint, age double, sex string, region string, visits double")
    return frame.repartition(partitions)


@pytest.fixture(autouse=True)
def _curator(recwarn: pytest.WarningsRecorder) -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dpglm.CuratorNote)
        yield


def test_any_number_of_partitions_gives_the_artefact_of_the_command(session: Any, people: pd.DataFrame, tmp_path: Path) -> None:
    (tmp_path / "schema.toml").write_text(SCHEMA)
    people.to_csv(tmp_path / "people.csv", index=False)
    done = run("fit", tmp_path / "people.csv", "--schema", tmp_path / "schema.toml", "--family", "poisson", *FLAGS,
                "--output", tmp_path / "fit.json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    expected = (tmp_path / "fit.json").read_text()
    schema = dpglm.Schema.load(tmp_path / "schema.toml")
    asks = private.PrivatePoissonRegressor(schema=schema, **BUDGET)
    for partitions in (1, 7, 64):
        model = asks.fit(spread(session, people, partitions))
        assert model.to_json() == expected, partitions
    # The model goes on to predict.
    rows = model.transform(spread(session, people, 2)).select("prediction").toPandas()
    assert len(rows) == len(people) and (rows["prediction"] > 0).all()


def test_bounds_by_column_give_the_artefact_of_the_package(session: Any, people: pd.DataFrame) -> None:
    bounds = {"age": (18, 90), "sex": ["f", "m"], "region": ["north", "south", "west"]}
    label = (people["visits"] > 1).astype(float).rename("often")
    plain = dpglm.PrivateLogisticRegression(feature_bounds=bounds, classes=[0, 1], intervals=0.9, **BUDGET)
    expected = plain.fit(people[[*bounds]], label, units=people["person"]).to_json()
    frame = spread(session, people, 5).withColumn("often", (functions.col("visits") > 1).cast("double"))
    asks = private.PrivateLogisticRegression(
        feature_bounds=bounds, classes=[0, 1], intervals=0.9, labelCol="often", unitCol="person", **BUDGET
    )
    model = asks.fit(frame)
    assert model.to_json() == expected
    # Cells that the public rule changes are told to the curator, with the counts of the whole table.
    with pytest.warns(dpglm.CuratorNote, match=f"column `age`: {people['age'].isna().sum()} missing"):
        asks.fit(frame)
    found = model.transform(frame).select("person", "age", "probability", "prediction").toPandas()
    order = people.sort_values(["person", "age"], na_position="last").reset_index(drop=True)
    theirs = np.sort(np.array([vector[1] for vector in found["probability"]]))
    assert np.array_equal(theirs, np.sort(plain.predict_proba(order[[*bounds]])[:, 1]))
    assert set(found["prediction"]) <= {0.0, 1.0}


def test_a_pipeline_of_vectors_is_fitted_saved_and_loaded(session: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (4000, 3))
    y = (rng.random(4000) < 1 / (1 + np.exp(-3 * X[:, 0]))).astype(float)
    expected = dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=[0, 1], **BUDGET).fit(
        pd.DataFrame(X, columns=["a", "b", "c"]), pd.Series(y, name="label")
    )
    frame = session.createDataFrame([(*map(float, row), float(label)) for row, label in zip(X, y)], "a double, b double, c double, label double")
    pipeline = Pipeline(
        stages=[
            VectorAssembler(inputCols=["a", "b", "c"], outputCol="features"),
            private.PrivateLogisticRegression(featuresCol="features", feature_bounds=(-1, 1), classes=[0, 1], **BUDGET),
        ]
    )
    pipeline.save(str(tmp_path / "pipeline"))
    fitted = Pipeline.load(str(tmp_path / "pipeline")).fit(frame)
    assert fitted.stages[1].to_json() == expected.to_json()
    fitted.save(str(tmp_path / "model"))
    loaded = PipelineModel.load(str(tmp_path / "model"))
    assert loaded.stages[1].to_json() == expected.to_json()
    predicted = loaded.transform(frame)
    assert BinaryClassificationEvaluator().evaluate(predicted) > 0.8
    probabilities = np.array([row["probability"].toArray() for row in predicted.select("probability").collect()])
    assert np.array_equal(np.sort(probabilities[:, 1]), np.sort(expected.predict_proba(pd.DataFrame(X, columns=["a", "b", "c"]))[:, 1]))


def test_a_null_in_place_of_a_vector_stops_nothing(session: Any) -> None:
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, (300, 2))
    y = (X[:, 0] > 0).astype(float)
    X[7] = np.nan
    expected = dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=[0, 1], **BUDGET).fit(
        pd.DataFrame(X, columns=["x0", "x1"]), pd.Series(y, name="label")
    )
    vectors = [None if np.isnan(row[0]) else Vectors.dense(row) for row in X]
    kind = StructType([StructField("features", VectorUDT()), StructField("label", DoubleType())])
    frame = session.createDataFrame(list(zip(vectors, map(float, y))), kind)
    asks = private.PrivateLogisticRegression(featuresCol="features", feature_bounds=[(-1, 1), (-1, 1)], classes=[0, 1], **BUDGET)
    model = asks.fit(frame)
    assert model.to_json() == expected.to_json()
    assert model.transform(frame).select("prediction").dropna().count() == 300


def test_ids_of_any_size_are_whose_they_are(session: Any) -> None:
    ids = [*range(2**53, 2**53 + 40), *range(-(2**62), -(2**62) + 40), *range(-40, 40)] * 3
    x = np.random.default_rng(6).uniform(0, 1, len(ids))
    people = pd.DataFrame({"person": pd.Series(ids, dtype="Int64"), "x": x, "y": x})
    # In some batches an id is missing, in others none is.
    people.loc[[3, 200], "person"] = None
    schema = dpglm.Schema(
        'unit = "person"\ntarget = "y"\n[columns]\nx = { kind = "real", bounds = [0, 1] }\ny = { kind = "real", bounds = [0, 1] }\n'
    )
    expected = dpglm.fit_table(people, schema, family="gaussian", **BUDGET).to_json()
    assert json.loads(expected)["n"] == 161
    rows = [(None if person is pd.NA else int(person), *map(float, more)) for person, *more in people.itertuples(index=False)]
    for kind in ("bigint", "decimal(20,0)"):
        frame = session.createDataFrame(rows, "person bigint, x double, y double").withColumn("person", functions.col("person").cast(kind))
        assert private.PrivateLinearRegression(schema=schema, **BUDGET).fit(frame.repartition(6)).to_json() == expected


def test_a_formula_and_a_weight_and_new_rows_without_them(session: Any, people: pd.DataFrame) -> None:
    text = SCHEMA.replace('target = "visits"\n', "")
    frame = spread(session, people, 3).withColumns({"share": functions.col("visits") / 2, "often": functions.expr("if(visits > 1, 'yes', 'no')")})
    table = people.assign(share=people["visits"] / 2, often=np.where(people["visits"] > 1, "yes", "no"))
    # Two schemas in one process.
    weighted = dpglm.Schema('weight = "share"\ntarget = "visits"\n' + text + 'share = { kind = "real", bounds = [0, 5] }\n')
    by_formula = dpglm.Schema(text + 'often = { kind = "binary", levels = ["no", "yes"] }\n', formula="often ~ age + I(age^2) + sex")
    first = private.PrivateLinearRegression(schema=weighted, **BUDGET).fit(frame)
    second = private.PrivateLogisticRegression(schema=by_formula, **BUDGET).fit(frame)
    fits = [
        dpglm.fit_table(table.drop(columns="often"), weighted, family="gaussian", **BUDGET),
        dpglm.fit_table(table.drop(columns="share"), by_formula, family="logistic", **BUDGET),
    ]
    assert [first.to_json(), second.to_json()] == [fit.to_json() for fit in fits]
    # New rows need what the model is made of, and nothing else: it may be spelled as Spark takes it.
    new = frame.select(functions.col("age").alias("AGE"), "sex", "region")
    found = first.transform(new).toPandas()["prediction"]
    expected = fits[0].predict(table[["age", "sex", "region"]])
    assert np.array_equal(np.sort(found), np.sort(expected))
    labels = second.transform(new.drop("region")).toPandas()["prediction"]
    assert set(labels) <= {"no", "yes"} and (labels == "yes").sum() == (fits[1].predict(table[["age", "sex"]])[:, 1] > 0.5).sum()
    with pytest.raises(ValueError, match="region"):
        first.transform(new.drop("region"))


def test_means_and_descriptions(session: Any, people: pd.DataFrame) -> None:
    bounds = {"age": (18, 90), "sex": ["f", "m"], "visits": (0, 9)}
    plain = dpglm.PrivateMean(feature_bounds=bounds, method="columns", missing="drop", intervals=0.95, **BUDGET)
    expected = plain.fit(people[[*bounds]], units=people["person"]).to_json()
    asks = private.PrivateMean(feature_bounds=bounds, missing="drop", intervals=0.95, unitCol="person", **BUDGET)
    assert asks.fit(spread(session, people, 7)).to_json() == expected
    schema = dpglm.Schema(SCHEMA.replace('unit = "person"\n', "").replace('target = "visits"\n', ""))
    wishes: dict[str, Any] = {"by": "region", "histograms": 5, "correlations": True, **BUDGET}
    expected = dpglm.describe(people.drop(columns="person"), schema, **wishes).to_json()
    assert private.describe(spread(session, people, 3), schema, **wishes).to_json() == expected


def test_means_are_weighted_by_the_schemas_weight(session: Any, people: pd.DataFrame, tmp_path: Path) -> None:
    text = 'weight = "visits"\n' + SCHEMA.replace('target = "visits"\n', "").replace('kind = "count", bounds = [0, 9]', 'kind = "real", bounds = [0.5, 9]')
    (tmp_path / "schema.toml").write_text(text)
    people.to_csv(tmp_path / "people.csv", index=False)
    done = run("mean", tmp_path / "people.csv", "--schema", tmp_path / "schema.toml", *FLAGS, "--output", tmp_path / "mean.json")
    assert done.returncode == 0, done.stderr
    asks = private.PrivateMean(schema=dpglm.Schema(text), **BUDGET)
    assert asks.fit(spread(session, people, 3)).to_json() == (tmp_path / "mean.json").read_text()
    named = private.PrivateMean(schema=dpglm.Schema(text), sample_weight="visits", **BUDGET)
    assert named.fit(spread(session, people, 2)).to_json() == (tmp_path / "mean.json").read_text()


def test_where_warnings_are_errors_a_curators_note_ends_no_fit(
    session: Any, people: pd.DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    asks = private.PrivateMean(feature_bounds={"age": (18, 90)}, **BUDGET)
    with warnings.catch_warnings():
        warnings.simplefilter("error", dpglm.CuratorNote)
        assert asks.fit(spread(session, people, 2)).to_json()
    assert "CuratorNote: note for the curator" in capsys.readouterr().err


def test_answers_may_be_added_on_the_cluster(session: Any, people: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    bounds = {"age": (18, 90), "visits": (0, 9)}
    expected = dpglm.PrivateMean(feature_bounds=bounds, method="columns", **BUDGET).fit(people[[*bounds]]).to_json()
    merged: list[bool] = []

    def counting(self: Any, function: Any, *more: Any, **named: Any) -> Any:
        merged.append(getattr(function, "__name__", None) == "merge")
        return of_frame(self, function, *more, **named)

    # Seven answers become four, and these two.
    monkeypatch.setattr(_rows, "AT_THE_DRIVER", 0)
    monkeypatch.setattr(_rows, "FAN_IN", 2)
    frame = spread(session, people, 7)
    of_frame = type(frame).mapInArrow
    monkeypatch.setattr(type(frame), "mapInArrow", counting)
    assert private.PrivateMean(feature_bounds=bounds, **BUDGET).fit(frame).to_json() == expected
    assert sum(merged) == 2 * (len(merged) - sum(merged) - 1) > 0


def executors() -> list[psutil.Process]:
    """The processes of this session's executors."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if any("CoarseGrainedExecutorBackend" in word for word in process.cmdline()):
                found.append(process)
        except psutil.Error:
            # It has ended meanwhile.
            continue
    return found


def test_a_killed_executor_does_not_change_the_artefact(session: Any, people: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = dpglm.PrivateLinearRegression(feature_bounds={"age": (18, 90)}, target_bounds=(0, 9), **BUDGET)
    expected = plain.fit(people[["age"]], people["visits"], units=people["person"]).to_json()
    killed = []
    ask = CachedRows._ask

    def killing(self: CachedRows, question: str) -> list[str]:
        if self.passes == 2:
            victim = executors()[0]
            killed.append(victim.pid)
            # In the middle of the pass.
            threading.Timer(0.1, victim.kill).start()
        return ask(self, question)

    monkeypatch.setattr(CachedRows, "_ask", killing)
    asks = private.PrivateLinearRegression(featuresCols=["age"], feature_bounds={"age": (18, 90)}, target_bounds=(0, 9), labelCol="visits", unitCol="person", **BUDGET)
    assert asks.fit(spread(session, people, 7)).to_json() == expected
    assert len(killed) == 1


def test_rows_that_come_out_differently_are_refused(session: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    frame = session.range(2000).withColumn("x", functions.rand()).withColumn("label", functions.rand())
    ask = CachedRows._ask

    def forgetting(self: CachedRows, question: str) -> list[str]:
        if self.passes == 1:
            # What a cluster does that loses its cache.
            self._packed.unpersist(blocking=True)
        return ask(self, question)

    monkeypatch.setattr(CachedRows, "_ask", forgetting)
    path = tmp_path / "spent.ledger"
    ledger = dpglm.Ledger.create(path, epsilon=4.0, delta=1e-5)
    asks = private.PrivateLinearRegression(featuresCols=["x"], feature_bounds=(0, 1), target_bounds=(0, 1), ledger=ledger, epsilon=2.0, delta=1e-6)
    with pytest.raises(RuntimeError, match="not those of the first pass.*nothing is released"):
        # Rows of one seed come out alike: those of a Python function need not.
        asks.fit(frame.select("label", functions.udf(lambda: float(np.random.default_rng().random()), "double").asNondeterministic()().alias("x")))
    # It was entered before rows were computed with.
    assert ledger.remaining() < 3.9


def test_an_interrupt_leaves_nothing_in_the_cache(session: Any, people: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = CachedRows._ask

    def interrupted(self: CachedRows, question: str) -> list[str]:
        if self.passes == 1:
            os.kill(os.getpid(), signal.SIGINT)
        return ask(self, question)

    monkeypatch.setattr(CachedRows, "_ask", interrupted)
    asks = private.PrivateLinearRegression(feature_bounds={"age": (18, 90)}, target_bounds=(0, 9), labelCol="visits", **BUDGET)
    with pytest.raises(KeyboardInterrupt):
        asks.fit(spread(session, people, 2))
    assert len(session.sparkContext._jsc.getPersistentRDDs()) == 0


def test_an_interrupt_ends_passes_of_descriptions(session: Any, people: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    ask, asked, over = CachedRows._ask, [], threading.Event()

    def interrupted(self: CachedRows, question: str) -> list[str]:
        asked.append(question)
        answers = ask(self, question)
        if len(asked) == 1:
            os.kill(os.getpid(), signal.SIGINT)
            while not self._is_closed:
                time.sleep(0.05)
            over.set()
        return answers

    monkeypatch.setattr(CachedRows, "_ask", interrupted)
    schema = dpglm.Schema(SCHEMA.replace('unit = "person"\n', "").replace('target = "visits"\n', ""))
    with pytest.raises(KeyboardInterrupt):
        private.describe(spread(session, people, 2), schema, histograms=5, correlations=True, magnitudes={"visits": (100, 1)}, **BUDGET)
    assert over.wait(60)
    time.sleep(1)
    assert len(asked) == 1
    assert len(session.sparkContext._jsc.getPersistentRDDs()) == 0


def test_a_fault_after_the_first_pass_leaves_nothing_in_the_cache(session: Any, people: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Any) -> Any:
        raise RuntimeError("the driver lost its cluster")

    frame = spread(session, people, 2)
    asks = private.PrivateMean(feature_bounds={"age": (18, 90)}, **BUDGET)
    monkeypatch.setattr(type(frame), "rdd", property(broken))
    with pytest.raises(RuntimeError, match="lost its cluster"):
        asks.fit(frame)
    assert len(session.sparkContext._jsc.getPersistentRDDs()) == 0


def test_the_example_for_the_shell(session: Any, people: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "schema.toml").write_text(SCHEMA)
    spread(session, people, 2).write.parquet(str(tmp_path / "people.parquet"))
    ledger = dpglm.Ledger.create(tmp_path / "spent.ledger", epsilon=4.0, delta=1e-5, unit="person")
    # The session is that of the other tests.
    monkeypatch.setattr(type(session), "stop", lambda self: None)

    def example(output: Path) -> None:
        flags = {"schema": tmp_path / "schema.toml", "family": "poisson", "epsilon": 2, "delta": 1e-6, "ledger": ledger.path, "output": output}
        words = [word for name, value in flags.items() for word in (f"--{name}", str(value))]
        monkeypatch.setattr(sys, "argv", ["fit.py", str(tmp_path / "people.parquet"), *words])
        runpy.run_path(str(ROOT / "examples/spark/fit.py"), run_name="__main__")

    with pytest.raises(SystemExit, match="no folder"):
        example(tmp_path / "nowhere" / "fit.json")
    assert ledger.charges == []
    example(tmp_path / "fit.json")
    assert json.loads((tmp_path / "fit.json").read_text())["family"] == "poisson"
    assert len(ledger.charges) == 1


def test_a_ledger_pays_and_refuses(session: Any, people: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = dpglm.Ledger.create(tmp_path / "spent.ledger", epsilon=2.1, delta=1e-5, purpose="visits")
    budget = {"epsilon": 2.0, "delta": 1e-6}
    asks = private.PrivateMean(feature_bounds={"age": (18, 90)}, ledger=ledger, **budget)
    frame = spread(session, people, 2)
    asks.fit(frame)
    assert [charge["purpose"] for charge in ledger.charges] == ["visits"]
    with pytest.raises(ValueError, match="room|remain|left"):
        asks.fit(frame)
    assert len(ledger.charges) == 1
    # It may be given to fit, too, as elsewhere.
    other = dpglm.Ledger.create(tmp_path / "other.ledger", epsilon=2.1, delta=1e-5)
    private.PrivateMean(feature_bounds={"age": (18, 90)}, **budget).fit(frame, ledger=other)
    assert len(other.charges) == 1 and len(ledger.charges) == 1

    # Refused before a row is read.
    def read(*_: Any) -> None:
        raise AssertionError("rows were packed")

    monkeypatch.setattr(CachedRows, "__init__", read)
    line = private.PrivateLinearRegression(featuresCols=["age"], feature_bounds=(18, 90), target_bounds=(0, 9), labelCol="visits", **budget)
    for refused in [
        lambda: asks.fit(frame),
        lambda: line.fit(frame, ledger=ledger),
        lambda: private.describe(frame, dpglm.Schema(SCHEMA.replace('unit = "person"', '')), ledger=ledger, **budget),
    ]:
        with pytest.raises(ValueError, match="no room in the ledger .* could fit"):
            refused()


def test_what_is_wrong_is_refused_before_rows_are_read(session: Any, people: pd.DataFrame) -> None:
    frame = spread(session, people, 1)
    for wrong, words in [
        ({"epsilon": None}, "epsilon"),
        ({"feature_bounds": None}, "feature"),
        ({"feature_bounds": (0, 1), "featuresCols": None}, "features are needed"),
        ({"target_bounds": None}, "target"),
        ({"featuresCol": "age", "featuresCols": None}, "no column of vectors"),
        ({"featuresCol": "age"}, "one of them"),
        ({"schema": dpglm.Schema(SCHEMA)}, "leave out"),
    ]:
        given = {"featuresCols": ["age"], "feature_bounds": (18, 90), "target_bounds": (0, 9), "labelCol": "visits", **BUDGET, **wrong}
        asks = private.PrivateLinearRegression(**{name: value for name, value in given.items() if value is not None})
        with pytest.raises((ValueError, TypeError), match=words):
            asks.fit(frame)


def test_faults_of_workers_repeat_no_cell(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(batches: Any) -> Any:
        from dpglm._workers import _quiet

        for batch in batches:
            with _quiet():
                raise ValueError(f"cannot convert {batch.column(0)[0]}")
            yield batch

    frame = session.createDataFrame([("a secret",)], "x string")
    with pytest.raises(Exception, match="could not read or answer") as refused:
        frame.mapInArrow(broken, "x string").collect()
    assert "a secret" not in str(refused.value)
