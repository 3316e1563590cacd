"""A cell means what it spells in whatever form it comes, and what the curator is told ends no fit."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import run

import dpglm

SCHEMA = """
unit = "person"
target = "y"
missing = "drop"
[columns]
number = { kind = "real", bounds = [-2, 9] }
flag = { kind = "real", bounds = [0, 1] }
answer = { kind = "binary", levels = [LEVELS] }
y = { kind = "real", bounds = [0, 3] }
"""
BUDGET = {"epsilon": 8.0, "delta": 1e-6, "insecure_seed": 7}
FLAGS = ["--epsilon", 8, "--delta", 1e-6, "--insecure-seed", 7]
LEVELS = ['"0", "1"', '"False", "True"', '"FALSE", "TRUE"', '"F", "T"']


def lines_of(rng: np.random.Generator) -> list[str]:
    """Rows of people whose ids, numbers and truth values a reader of text may take for such; each has several."""
    spelled = {"flag": ["True", "False"], "answer": ["TRUE", "FALSE"], "number": ["1", "007", "+2.50", "1E0"]}
    return [
        f"{i % 400:07d},{rng.choice(spelled['number'])},{rng.choice(spelled['flag'])},{rng.choice(spelled['answer'])},{rng.uniform(0, 3):.3f}"
        for i in range(2000)
    ]


@pytest.mark.parametrize("levels", LEVELS)
def test_one_odd_cell_leaves_all_others_as_they_are(levels: str, tmp_path: Path, rng: np.random.Generator) -> None:
    schema = dpglm.Schema(SCHEMA.replace("LEVELS", levels))
    (tmp_path / "schema.toml").write_text(SCHEMA.replace("LEVELS", levels))
    lines = lines_of(rng)
    for odd in [None, "zz,1,True,TRUE,1.0", "0000007,zz,True,TRUE,1.0", "0000007,1,zz,TRUE,1.0", "0000007,1,True,zz,1.0", ",,,,"]:
        text = "\n".join(["person,number,flag,answer,y", *lines[:-1], lines[-1] if odd is None else odd]) + "\n"
        (tmp_path / "people.csv").write_text(text)

        def pieces(size: int = 499) -> Any:
            return pd.read_csv(io.StringIO(text), chunksize=size)

        # The reader does guess.
        assert odd is None or len({str(piece.dtypes.to_dict()) for piece in pieces()}) > 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dpglm.CuratorNote)
            whole = dpglm.fit_table(pd.read_csv(io.StringIO(text), dtype=str), schema, **BUDGET).to_json()
            assert dpglm.fit_batches(pieces, schema, **BUDGET).to_json() == whole, odd
            assert dpglm.fit_table(pd.read_csv(io.StringIO(text)), schema, **BUDGET).to_json() == whole, odd
            mixed = pd.concat([piece.astype(object) for piece in pieces()])
            assert dpglm.fit_table(mixed, schema, **BUDGET).to_json() == whole, odd
        done = run("fit", tmp_path / "people.csv", "--schema", tmp_path / "schema.toml", *FLAGS, "--output", tmp_path / "fit.json")
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "fit.json").read_text() == whole
        (tmp_path / "fit.json").unlink()
        assert json.loads(whole)["n"] == (401 if odd is not None and odd.startswith(("zz", ",")) else 400)


FORMS: dict[str, Callable[[list[int]], Any]] = {
    "text": lambda cells: [f"0{cell}" for cell in cells],
    "decimals": lambda cells: [f"+{cell}.00" for cell in cells],
    "truths": lambda cells: [["False", "TRUE"][cell] for cell in cells],
    "integers": lambda cells: np.array(cells),
    "floats": lambda cells: np.array(cells, dtype=float),
    "bools": lambda cells: np.array(cells, dtype=bool),
    "objects": lambda cells: pd.Series([[bool(cell), float(cell), str(cell)][i % 3] for i, cell in enumerate(cells)], dtype=object),
}


def test_each_form_gives_one_result(rng: np.random.Generator) -> None:
    cells = rng.integers(0, 2, 500)
    y = rng.uniform(0, 1, 500)

    def fitted(form: str, bounds: Any) -> str:
        X = pd.DataFrame({"a": FORMS[form](cells.tolist())})
        asks = dpglm.PrivateLinearRegression(feature_bounds={"a": bounds}, target_bounds=(0, 1), epsilon=4.0, delta=1e-6, insecure_seed=1)
        return asks.fit(X, y, units=FORMS[form](cells.tolist())).to_json()

    for bounds in [(0, 1), (-3, 0.5), [0, 1], ["0", "1"], ["False", "True"], [False, True], ["T", "F"]]:
        found = {form: fitted(form, bounds) for form in FORMS}
        assert len(set(found.values())) == 1, (bounds, [form for form in FORMS if found[form] != found["integers"]])


def test_levels_that_a_reader_makes_one_are_refused(rng: np.random.Generator) -> None:
    X = pd.DataFrame({"a": rng.choice(["1", "01"], 200)})
    asks = dpglm.PrivateLinearRegression(feature_bounds={"a": ["1", "01"]}, target_bounds=(0, 1), epsilon=4.0, delta=1e-6)
    with pytest.raises(ValueError, match='levels "1" and "01" are the same to a reader'):
        asks.fit(X, rng.uniform(0, 1, 200))


def test_where_warnings_are_errors_a_curators_note_ends_no_fit(tmp_path: Path, rng: np.random.Generator, capsys: pytest.CaptureFixture[str]) -> None:
    frame = pd.DataFrame({"x": rng.uniform(0, 1, 400), "y": rng.uniform(0, 1, 400)})
    frame.loc[3, "x"] = np.nan
    schema = dpglm.Schema('target = "y"\n[columns]\nx = { kind = "real", bounds = [0, 1] }\ny = { kind = "real", bounds = [0, 1] }\n')
    budget = {"epsilon": 1.0, "delta": 1e-6}
    regression = dpglm.PrivateLinearRegression(feature_bounds=[(0, 1)], target_bounds=(0, 1), **budget)
    mean = dpglm.PrivateMean(feature_bounds=[(0, 1)], **budget)
    releases: list[Callable[[dpglm.Ledger], Any]] = [
        lambda ledger: regression.fit(frame[["x"]].to_numpy(), frame["y"], ledger=ledger),
        lambda ledger: mean.fit(frame[["x"]].to_numpy(), ledger=ledger),
        lambda ledger: dpglm.fit_table(frame, schema, ledger=ledger, **budget),
        lambda ledger: dpglm.fit_batches([frame], schema, ledger=ledger, **budget),
        lambda ledger: dpglm.glm("y ~ x", frame, family="gaussian", bounds={"x": (0, 1), "y": (0, 1)}, ledger=ledger, **budget),
        lambda ledger: dpglm.describe(frame, schema, ledger=ledger, **budget),
    ]
    for place, release in enumerate(releases):
        ledger = dpglm.Ledger.create(tmp_path / f"{place}.ledger", epsilon=2.0, delta=1e-5)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert release(ledger) is not None
        assert "CuratorNote: note for the curator" in capsys.readouterr().err, place
    assert regression.coef_.shape == (1,)
