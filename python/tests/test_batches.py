"""Rows in batches leave the artefact of the same rows in memory."""

from __future__ import annotations

import json
import sqlite3
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest

import dpglm

SCHEMA = """
target = "income"
[columns]
age = { kind = "real", bounds = [18, 90] }
sex = { kind = "binary", levels = ["f", "m"] }
income = { kind = "real", bounds = [0, 100] }
"""
OF_PEOPLE = 'unit = "person"\n' + SCHEMA
BUDGET = {"epsilon": 1.0, "delta": 1e-6, "insecure_seed": 7, "intervals": 0.95}


@pytest.fixture(autouse=True)
def _curator() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dpglm.CuratorNote)
        yield


@pytest.fixture
def people(rng: np.random.Generator) -> pd.DataFrame:
    age = rng.normal(50, 18, 30_000)
    frame = pd.DataFrame({"age": age, "sex": rng.choice(["f", "m", "x"], 30_000), "income": 20 + 0.5 * age + rng.normal(0, 9, 30_000)})
    frame.loc[::50, "age"] = np.nan
    return frame


def pieces(frame: pd.DataFrame, size: int) -> list[pd.DataFrame]:
    return [frame.iloc[start : start + size] for start in range(0, len(frame), size)]


def test_batches_of_any_kind_and_size_give_the_artefact_of_the_table(people: pd.DataFrame, tmp_path: Path) -> None:
    schema = dpglm.Schema(SCHEMA)
    expected = dpglm.fit_table(people, schema, **BUDGET).to_json()
    arrow = pyarrow.Table.from_pandas(people, preserve_index=False)
    for place, piece in enumerate(pieces(people, 7000)):
        pyarrow.parquet.write_table(pyarrow.Table.from_pandas(piece, preserve_index=False), tmp_path / f"{place}.parquet")
    given: dict[str, Any] = {
        "pandas": lambda: iter(pieces(people, 999)),
        "polars": lambda: (polars.from_pandas(piece) for piece in pieces(people, 20_000)),
        "arrow": lambda: arrow.to_batches(max_chunksize=4096),
        "list": [people],
        "dataset": pyarrow.dataset.dataset(tmp_path, format="parquet"),
        "lazy": polars.scan_parquet(tmp_path / "*.parquet"),
    }
    for name, batches in given.items():
        for read_again in (False, True):
            assert dpglm.fit_batches(batches, schema, read_again=read_again, **BUDGET).to_json() == expected, (name, read_again)


def test_a_duckdb_relation(people: pd.DataFrame) -> None:
    schema = dpglm.Schema(SCHEMA)
    relation = duckdb.connect().from_df(people)
    expected = dpglm.fit_table(people, schema, **BUDGET).to_json()
    for read_again in (False, True):
        assert dpglm.fit_batches(relation, schema, read_again=read_again, **BUDGET).to_json() == expected


def test_matrices_have_the_columns_of_the_schema(people: pd.DataFrame) -> None:
    schema = dpglm.Schema('target = "income"\n[columns]\nage = { kind = "real", bounds = [18, 90] }\nincome = { kind = "real", bounds = [0, 100] }\n')
    expected = dpglm.fit_table(people[["age", "income"]], schema, **BUDGET).to_json()
    matrix = people[["age", "income"]].to_numpy()
    assert dpglm.fit_batches(lambda: np.array_split(matrix, 9), schema, **BUDGET).to_json() == expected
    with pytest.raises(ValueError, match="columns without names"):
        dpglm.fit_batches(lambda: [matrix[:, :1]], schema, **BUDGET)


def test_units_may_be_spread_over_batches_in_any_order(people: pd.DataFrame, rng: np.random.Generator) -> None:
    people["person"] = rng.integers(0, 9000, len(people))
    schema = dpglm.Schema(OF_PEOPLE)
    expected = dpglm.fit_table(people, schema, **BUDGET).to_json()
    for size in (1000, 30_000):
        shuffled = people.sample(frac=1.0, random_state=size)
        assert dpglm.fit_batches(lambda: pieces(shuffled, size), schema, **BUDGET).to_json() == expected
    # In memory too: the order of rows does not matter.
    assert dpglm.fit_table(shuffled, schema, **BUDGET).to_json() == expected
    with pytest.raises(ValueError, match="brought together"):
        dpglm.fit_batches([people], schema, read_again=True, **BUDGET)


#: Ids that a double does not tell apart, negative ones and small ones.
IDS = [*range(2**53, 2**53 + 40), *range(9 * 10**18, 9 * 10**18 + 40), *range(-(2**60), -(2**60) + 40), *range(-40, 40)]

FORMS: dict[str, Callable[[list[int | None]], Any]] = {
    "list": list,
    "objects": lambda ids: np.array(ids, dtype=object),
    "decimals": lambda ids: [None if id is None else Decimal(id) for id in ids],
    "text": lambda ids: pd.Series([None if id is None else str(id) for id in ids]),
    "pandas": lambda ids: pd.Series(ids, dtype="Int64"),
    "pandas and Arrow": lambda ids: pd.Series(ids, dtype="int64[pyarrow]"),
    "Arrow": lambda ids: pyarrow.array(ids, pyarrow.int64()),
    "Polars": lambda ids: polars.Series(ids, dtype=polars.Int64),
    "Polars, long": lambda ids: polars.Series(ids, dtype=polars.Int128),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_missing_id_leaves_other_people_as_they_are(form: str, rng: np.random.Generator) -> None:
    ids: list[int | None] = [*IDS, *IDS]
    x = rng.uniform(0, 1, len(ids))
    asks = dpglm.PrivateLinearRegression(feature_bounds=[(0, 1)], target_bounds=(0, 1), epsilon=4.0, delta=1e-6, insecure_seed=1)

    def units() -> int:
        return int(json.loads(asks.fit(x[:, None], x, units=FORMS[form](ids)).to_json())["n"])

    assert units() == len(IDS)
    # A person who loses one of two ids joins those who have none.
    ids[0] = None
    assert units() == len(IDS) + 1


def test_unsigned_ids_keep_all_digits(rng: np.random.Generator) -> None:
    ids = [*range(2**64 - 40, 2**64), *range(2**53, 2**53 + 40)]
    x = rng.uniform(0, 1, 2 * len(ids))
    asks = dpglm.PrivateLinearRegression(feature_bounds=[(0, 1)], target_bounds=(0, 1), epsilon=4.0, delta=1e-6, insecure_seed=1)
    expected = asks.fit(x[:, None], x, units=[str(id) for id in [*ids, *ids]]).to_json()
    whole = np.array([*ids, *ids], dtype=np.uint64)
    for given in [whole, list(whole), pd.Series(whole, name="unit"), pyarrow.array(whole), polars.Series("unit", whole)]:
        assert asks.fit(x[:, None], x, units=given).to_json() == expected
    assert json.loads(expected)["n"] == len(ids)


@pytest.mark.parametrize("kind", ["Arrow", "Polars", "pandas"])
def test_a_person_is_one_in_batches_with_and_without_a_missing_id(kind: str, rng: np.random.Generator) -> None:
    ids = [*IDS, *IDS, *IDS]
    if kind == "pandas":
        # Its integers beside a null are floats: those that floats hold are still the same people's.
        ids = [id for id in ids if abs(id) < 2**53]
    size = len(ids) // 3
    x = rng.uniform(0, 1, len(ids))
    table = pd.DataFrame({"person": pd.Series(ids, dtype="Int64"), "x": x, "y": x})
    table.loc[size, "person"] = None
    if kind == "pandas":
        chunks: list[Any] = [piece.astype({"person": "float64" if piece["person"].isna().any() else "int64"}) for piece in pieces(table, size)]
    else:
        arrow = pyarrow.table({"person": pyarrow.array(table["person"], pyarrow.int64()), "x": x, "y": x})
        chunks = [arrow.slice(start, size) for start in range(0, len(ids), size)]
        if kind == "Polars":
            chunks = [polars.from_arrow(chunk) for chunk in chunks]
    schema = dpglm.Schema(
        'unit = "person"\ntarget = "y"\n[columns]\nx = { kind = "real", bounds = [0, 1] }\ny = { kind = "real", bounds = [0, 1] }\n'
    )
    fitted = json.loads(dpglm.fit_batches(chunks, schema, **BUDGET).to_json())
    assert fitted["n"] == size + 1
    assert fitted == json.loads(dpglm.fit_table(table, schema, **BUDGET).to_json())


def test_batches_are_read_again_in_the_thread_of_the_caller(people: pd.DataFrame) -> None:
    schema = dpglm.Schema(SCHEMA)
    # A connection of SQLite serves no other thread.
    with closing(sqlite3.connect(":memory:")) as connection:
        people.to_sql("people", connection, index=False)
        for read_again in (False, True):
            fitted = dpglm.fit_batches(
                lambda: pd.read_sql("SELECT * FROM people", connection, chunksize=7000), schema, read_again=read_again, **BUDGET
            )
            assert fitted.to_json() == dpglm.fit_table(people, schema, **BUDGET).to_json()


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_what_stops_batches_that_are_read_again_is_said(error: type[BaseException], people: pd.DataFrame) -> None:
    calls = []

    def stopping() -> Iterator[pd.DataFrame]:
        calls.append(None)
        yield people
        if len(calls) > 2:
            raise error

    with pytest.raises(error):
        dpglm.fit_batches(stopping, dpglm.Schema(SCHEMA), read_again=True, **BUDGET)
    assert len(calls) == 3


def test_batches_that_change_are_refused(people: pd.DataFrame) -> None:
    schema = dpglm.Schema(SCHEMA)
    calls = []

    def changing() -> list[pd.DataFrame]:
        calls.append(None)
        return [people.assign(age=people["age"] + 1e-9 * len(calls))]

    with pytest.raises(RuntimeError, match="not those of the first time: nothing is released"):
        dpglm.fit_batches(changing, schema, read_again=True, **BUDGET)
    with pytest.raises(TypeError, match="cannot be started again"):
        dpglm.fit_batches(iter(pieces(people, 100)), schema, **BUDGET)
    with pytest.raises(ValueError, match="leave out scratch"):
        dpglm.fit_batches([people], schema, read_again=True, scratch="/tmp", **BUDGET)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_found_before_a_budget_is_spent(people: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = dpglm.Schema(SCHEMA)
    ledger = dpglm.Ledger.create(tmp_path / "spent.ledger", epsilon=4.0, delta=1e-5)
    budget = {"epsilon": 1.0, "delta": 1e-6}
    monkeypatch.setattr("dpglm._batches.tempfile.TemporaryFile", lambda dir: open("/dev/full", "w+b"))
    # Few rows wait in a buffer until the end, many are written at once.
    for rows in (10, len(people)):
        with pytest.raises(OSError, match="No space left"):
            dpglm.fit_batches([people[:rows]], schema, ledger=ledger, **budget)
    assert ledger.charges == []


def test_a_missing_folder_and_an_interrupt_leave_nothing(people: pd.DataFrame, tmp_path: Path) -> None:
    schema = dpglm.Schema(SCHEMA)
    with pytest.raises(FileNotFoundError):
        dpglm.fit_batches([people], schema, scratch=tmp_path / "nowhere", **BUDGET)

    def interrupted() -> Iterator[pd.DataFrame]:
        yield people
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dpglm.fit_batches(interrupted, schema, scratch=tmp_path, **BUDGET)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("head", "formula", "wishes"),
    [
        ("", None, {"family": "gamma", "dispersion": True}),
        ("", None, {"family": "tweedie", "power": 1.3}),
        ('missing = "indicator"', None, {"family": "gamma"}),
        ('missing = "drop"\nweight = "share"', None, {"intervals": 0.9}),
        ('weight = "share"', None, {"family": "gamma", "dispersion": True}),
        ("", "log(cost) ~ age * sex + I(age^2)", {"intervals": 0.9}),
    ],
)
def test_families_weights_and_formulas_of_batches(head: str, formula: str | None, wishes: dict[str, Any], rng: np.random.Generator) -> None:
    age = rng.uniform(18, 90, 3000)
    frame = pd.DataFrame({"age": age, "sex": rng.choice(["f", "m"], 3000), "share": rng.uniform(-1, 6, 3000)})
    frame["cost"] = np.exp(0.02 * age + rng.normal(0, 0.3, 3000))
    frame.loc[::17, "age"] = np.nan
    text = f"""{head}
target = "cost"
[columns]
age = {{ kind = "real", bounds = [18, 90] }}
sex = {{ kind = "binary", levels = ["f", "m"] }}
share = {{ kind = "real", bounds = [0, 5] }}
cost = {{ kind = "real", bounds = [0.1, 50] }}
"""
    schema = dpglm.Schema(text, formula=formula)
    asked = {"epsilon": 4.0, "delta": 1e-6, "insecure_seed": 3, **wishes}
    expected = dpglm.fit_table(frame, schema, **asked).to_json()
    for read_again in [False, True]:
        assert dpglm.fit_batches(lambda: iter(pieces(frame, 700)), schema, read_again=read_again, **asked).to_json() == expected


def test_what_batches_do_not_take(people: pd.DataFrame) -> None:
    schema = dpglm.Schema(SCHEMA)
    for wishes in [{"sparsity": 1}, {"robust": True}, {"tune": "ridge=auto"}, {"row_norm": 1.0}]:
        with pytest.raises(ValueError, match="use method likelihood, which reads it block by block"):
            dpglm.fit_batches([people], schema, **BUDGET | {"intervals": None}, **wishes)
    with pytest.raises(ValueError, match="power goes with family tweedie"):
        dpglm.fit_batches([people], schema, power=1.5, **BUDGET)
