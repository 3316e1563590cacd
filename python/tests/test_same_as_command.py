"""Same seed, same data: the package and the command line leave the identical artefact, and refuse in the same words."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from conftest import run, words

import dpglm

BUDGET = {"epsilon": 1.0, "delta": 1e-6, "insecure_seed": 7}
FLAGS = ["--epsilon", 1, "--delta", 1e-6, "--insecure-seed", 7]


def command(folder: Path, *arguments: object) -> str:
    output = folder / "artefact.json"
    done = run(*arguments, "--output", output)
    assert done.returncode == 0, done.stderr
    return output.read_text()


def save(folder: Path, X: object, y: np.ndarray | None) -> tuple[Path, Path]:
    if scipy.sparse.issparse(X):
        scipy.sparse.save_npz(folder / "X.npz", X)
        design = folder / "X.npz"
    else:
        np.save(folder / "X.npy", X)
        design = folder / "X.npy"
    if y is not None:
        np.save(folder / "y.npy", y)
    return design, folder / "y.npy"


@pytest.mark.parametrize("layout", ["c", "fortran", "single", "bytes", "strided"])
def test_logistic(layout: str, table: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    X, y = table
    X = X.copy()
    X[3, 1], X[5, 2], X[9, 0] = np.nan, 7.0, -np.inf
    if layout == "fortran":
        X = np.asfortranarray(X)
    elif layout == "single":
        X = X.astype(np.float32)
    elif layout == "bytes":
        X = np.nan_to_num(np.clip(np.round(3 * X), -1, 1)).astype(np.int8)
    elif layout == "strided":
        X = np.repeat(X, 2, axis=1)[:, ::2]
    design, response = save(tmp_path, X, y)
    expected = command(
        tmp_path, "fit", "--design", design, "--response", response, "--binary", "--feature-bounds=-1,1", "--intervals", 0.95, *FLAGS
    )
    model = dpglm.PrivateLogisticRegression(feature_bounds=(-1, 1), classes=[0, 1], intervals=0.95, **BUDGET)
    if layout != "bytes":
        with pytest.warns(dpglm.CuratorNote, match="column `x1`: 1 missing"):
            model.fit(X, y)
    else:
        model.fit(X, y)
    assert model.to_json() == expected
    assert model.certificate_.as_dict() == json.loads(expected)["certificate"]


@pytest.mark.parametrize(
    ("family", "kind", "extra"),
    [
        ("gaussian", dpglm.PrivateLinearRegression, {}),
        ("gaussian", dpglm.PrivateLinearRegression, {"method": "statistics"}),
        ("gaussian", dpglm.PrivateLinearRegression, {"ridge": 0.1, "fit_intercept": False}),
        ("gaussian", dpglm.PrivateLinearRegression, {"method": "reference"}),
        ("gaussian", dpglm.PrivateLinearRegression, {"tune": "ridge=auto"}),
        ("poisson", dpglm.PrivatePoissonRegressor, {"radius": 2.0}),
    ],
)
def test_regressions(family: str, kind: type, extra: dict, rng: np.random.Generator, tmp_path: Path) -> None:
    X = rng.uniform(0, 4, (2000, 3))
    y = rng.poisson(np.exp(0.3 * X[:, 0])).astype(np.float64)
    design, response = save(tmp_path, X, y)
    flags = [part for name, value in extra.items() if name != "fit_intercept" for part in (f"--{name}", value)]
    flags += ["--no-intercept"] if "fit_intercept" in extra else []
    # A method without noise takes no budget.
    granted, budget = (FLAGS, BUDGET) if extra.get("method") != "reference" else ([], {"epsilon": None, "delta": None})
    expected = command(
        tmp_path, "fit", "--design", design, "--response", response, "--target-bounds=0,15", "--feature-bounds=0,4", "--family",
        family, *flags, *granted,
    )
    model = kind(feature_bounds=(0, 4), target_bounds=(0, 15), **extra, **budget).fit(X, y)
    assert model.to_json() == expected


@pytest.mark.parametrize("method", [None, "noisy-iht", "dp-iht", "two-stage"])
def test_sparse(method: str | None, rng: np.random.Generator, tmp_path: Path) -> None:
    X = scipy.sparse.random(1500, 60, density=0.1, random_state=3, format="csr", data_rvs=lambda n: rng.uniform(-1, 1, n))
    y = (X[:, [2]].toarray()[:, 0] + rng.normal(0, 0.3, 1500) > 0).astype(np.int64)
    design, response = save(tmp_path, X, y)
    named = ["--method", method] if method else []
    extra = {"fit_intercept": False} if method == "two-stage" else {}
    named += ["--no-intercept"] if extra else []
    expected = command(
        tmp_path, "fit", "--design", design, "--response", response, "--binary", "--feature-bounds=-1,1", "--sparsity", 5, *named, *FLAGS
    )
    model = dpglm.PrivateLogisticRegression(
        feature_bounds=(-1, 1), classes=[0, 1], sparsity=5, method=method, **extra, **BUDGET
    ).fit(X, y)
    assert model.to_json() == expected
    assert len(model.support_) <= 5 and np.count_nonzero(model.coef_) <= 5


@pytest.mark.parametrize("extra", [{}, {"intervals": 0.9}, {"sparsity": 2}, {"method": "karwa-vadhan"}, {"tune": "sparsity=auto:3"}])
def test_means(extra: dict, rng: np.random.Generator, tmp_path: Path) -> None:
    X = rng.normal(0, 1, (2000, 5)) + [0, 0, 3, 0, 0]
    design, _ = save(tmp_path, X, None)
    flags = [part for name, value in extra.items() for part in (f"--{name}", value)]
    expected = command(tmp_path, "mean", design, "--feature-bounds=-20,20", *flags, *FLAGS)
    mean = dpglm.PrivateMean(feature_bounds=(-20, 20), **extra, **BUDGET).fit(X)
    assert mean.to_json() == expected
    # A plan is made for the noise that a fit would draw: from a seed it promises nothing.
    for seed, budget in [(None, FLAGS[:4]), (7, FLAGS)]:
        plan = run("mean", "--dry-run", "--rows", 2000, "--columns", 5, "--feature-bounds=-20,20", "--format", "json", *flags, *budget)
        asked = {**extra, **BUDGET, "insecure_seed": seed}
        planned = dpglm.PrivateMean(feature_bounds=(-20, 20), **asked).planned(2000, 5)
        assert json.loads(plan.stdout)["certificate"] == json.loads(planned.to_json())
        assert planned.epsilon is None if seed else planned.epsilon <= 1.0


def test_wrong_means_are_refused_in_the_same_words(rng: np.random.Generator, tmp_path: Path) -> None:
    X = rng.normal(0, 1, (200, 5))
    design, _ = save(tmp_path, X, None)
    for wrong in [{"tune": "ridge=auto"}, {"tune": "clip=auto"}, {"tune": "sparsity=auto", "sparsity": 2}, {"tune": "sparsity=auto", "method": "karwa-vadhan"}]:
        flags = [part for name, value in wrong.items() for part in (f"--{name}", value)]
        done = run("mean", design, "--feature-bounds=-20,20", *flags, *FLAGS)
        with pytest.raises(ValueError) as refused:
            dpglm.PrivateMean(feature_bounds=(-20, 20), **wrong, **BUDGET).fit(X)
        assert words(done.stderr) == str(refused.value)


SCHEMA = """
target = "work"
[columns]
age = { kind = "real", bounds = [18, 90], fill = 40 }
visits = { kind = "count", bounds = [0, 9] }
sex = { kind = "binary", levels = ["Female", "Male"] }
work = { kind = "category", levels = ["Private", "State", "Self"] }
"""


def people(rng: np.random.Generator) -> pd.DataFrame:
    n = 1500
    frame = pd.DataFrame(
        {
            "age": rng.uniform(10, 95, n).round(2),
            "visits": rng.integers(0, 12, n),
            "sex": rng.choice(["Female", "Male", "?"], n, p=[0.5, 0.45, 0.05]),
            "work": rng.choice(["Private", "State", "Self", "Other"], n, p=[0.5, 0.3, 0.15, 0.05]),
        }
    )
    frame.loc[3, "age"] = np.nan
    return frame


@pytest.mark.parametrize("target", ["work", "age", "sex", "visits"])
def test_a_table_under_a_schema(target: str, rng: np.random.Generator, tmp_path: Path) -> None:
    frame = people(rng)
    frame.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "schema.toml").write_text(SCHEMA)
    expected = command(tmp_path, "fit", tmp_path / "people.csv", "--schema", tmp_path / "schema.toml", "--target", target, *FLAGS)
    schema = dpglm.Schema.load(tmp_path / "schema.toml", target=target)
    with pytest.warns(dpglm.CuratorNote, match="not for publication"):
        fitted = dpglm.fit_table(frame, schema, **BUDGET)
    assert fitted.to_json() == expected
    # The command line predicts from the package's artefact, and the same.
    (tmp_path / "fit.json").write_text(fitted.to_json())
    done = run("predict", tmp_path / "fit.json", tmp_path / "people.csv", "--format", "json")
    assert np.array_equal(np.array(json.loads(done.stdout)["rows"]).squeeze(), fitted.predict(frame))


def test_the_command_shows_what_the_package_wrote(table: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    model = dpglm.PrivateLogisticRegression(epsilon=1, delta=1e-6, feature_bounds=(-1, 1), classes=[0, 1]).fit(*table)
    (tmp_path / "fit.json").write_text(model.to_json())
    shown = run("show", tmp_path / "fit.json")
    assert shown.returncode == 0 and str(model.certificate_) in shown.stdout
    assert str(model.summary()).splitlines()[0] in shown.stdout
    tampered = json.loads(model.to_json())
    tampered["certificate"]["epsilon"] = 0.5
    with pytest.raises(ValueError, match="its events cost"):
        dpglm.Certificate.from_json(json.dumps(tampered["certificate"]))


# What the command line refuses, the package refuses with the same words.

WRONG = [
    ({"epsilon": 0.0}, ["--epsilon", 0]),
    ({"epsilon": -1.0}, ["--epsilon", -1]),
    ({"epsilon": float("nan")}, ["--epsilon", "nan"]),
    ({"epsilon": None}, []),
    ({"delta": None}, ["--epsilon", 1]),
    ({"delta": 0.0}, ["--delta", 0]),
    ({"delta": 1.5}, ["--delta", 1.5]),
    ({"ridge": -1.0}, ["--ridge", -1]),
    ({"intervals": 1.5}, ["--intervals", 1.5]),
    ({"radius": 0.0}, ["--radius", 0]),
    ({"method": "statistics"}, ["--method", "statistics"]),
    ({"method": "noisy-iht"}, ["--method", "noisy-iht"]),
    ({"method": "noisy-iht", "sparsity": 2, "intervals": 0.9}, ["--method", "noisy-iht", "--sparsity", 2, "--intervals", 0.9]),
    ({"sparsity": 99}, ["--sparsity", 99]),
    ({"sparsity": 2, "method": "gradient"}, ["--sparsity", 2, "--method", "gradient"]),
    ({"row_norm": -1.0}, ["--row-norm", -1]),
    ({"accept": "anything"}, ["--accept", "anything"]),
    ({"sparsity": 2, "tune": "sparsity=auto"}, ["--sparsity", 2, "--tune", "sparsity=auto"]),
    ({"tune": "steps=auto"}, ["--tune", "steps=auto"]),
    ({"sparsity": 2, "method": "transfer-literal", "fit_intercept": False},
     ["--sparsity", 2, "--method", "transfer-literal", "--no-intercept"]),
    ({"strict": True}, ["--strict"]),
    ({"epsilon": float("inf")}, ["--epsilon", "inf"]),
    ({"method": "reference"}, ["--method", "reference"]),
    ({"tune": "clip=auto", "method": "dp-iht", "sparsity": 2}, ["--tune", "clip=auto", "--method", "dp-iht", "--sparsity", 2]),
]  # fmt: skip


@pytest.mark.parametrize(("parameters", "flags"), WRONG, ids=[str(p) for p, _ in WRONG])
def test_wrong_input_is_refused_in_the_same_words(
    parameters: dict, flags: list, table: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    X, y = table
    X = X.copy()
    X[4, 2] = np.nan
    design, response = save(tmp_path, X, y)
    budget = []
    if "epsilon" not in parameters and parameters != {"delta": None}:
        budget += ["--epsilon", 1]
    if "delta" not in parameters:
        budget += ["--delta", 1e-6]
    done = run("fit", "--design", design, "--response", response, "--binary", "--feature-bounds=-1,1", *flags, *budget)
    assert done.returncode != 0 and not done.stdout
    told = words(done.stderr).replace(str(design), "X")
    arguments = {"epsilon": 1.0, "delta": 1e-6, "feature_bounds": (-1, 1), "classes": [0, 1], **parameters}
    with pytest.raises(ValueError) as refused:
        dpglm.PrivateLogisticRegression(**arguments).fit(X, y)
    # Where the command line's parser speaks, it quotes the flag before the library's words.
    assert str(refused.value) in told or told.endswith(str(refused.value)), (told, str(refused.value))


def test_wrong_bounds_are_refused_in_the_same_words(table: tuple[np.ndarray, np.ndarray], tmp_path: Path) -> None:
    X, y = table
    design, response = save(tmp_path, X, y)
    for low, high in [(1, -1), (2, 2), (0, float("inf"))]:
        done = run("fit", "--design", design, "--response", response, "--binary", f"--feature-bounds={low},{high}", *FLAGS)
        with pytest.raises(ValueError) as refused:
            dpglm.PrivateLogisticRegression(feature_bounds=(low, high), classes=[0, 1], **BUDGET).fit(X, y)
        assert words(done.stderr) == str(refused.value)


@pytest.mark.parametrize(
    ("extra", "flags"),
    [
        ({}, []),
        ({"by": "sex", "histograms": 5, "intervals": 0.9}, ["--by", "sex", "--histograms", 5, "--intervals", 0.9]),
        ({"cross": ("sex", "work"), "correlations": True}, ["--cross", "sex,work", "--correlations"]),
        ({"magnitudes": {"pay": (1e9, 1)}}, ["--bounds", "private", "--magnitudes", "pay=1e9:1"]),
    ],
)
def test_descriptions(extra: dict, flags: list, rng: np.random.Generator, tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "age": rng.normal(45, 12, 3000).round(1),
            "pay": rng.lognormal(8, 1, 3000).round(2),
            "sex": rng.choice(["f", "m"], 3000),
            "work": rng.choice(["a", "b", "c"], 3000),
        }
    )
    frame.loc[4, "age"] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    text = '''missing = "drop"
[columns]
age = { kind = "real", bounds = [0, 110] }
pay = { kind = "real", bounds = [0, 100000] }
sex = { kind = "binary", levels = ["f", "m"] }
work = { kind = "category", levels = ["a", "b", "c"], reference = "b" }
'''
    (tmp_path / "t.toml").write_text(text)
    expected = command(tmp_path, "describe", tmp_path / "t.csv", "--schema", tmp_path / "t.toml", *flags, *FLAGS)
    with pytest.warns(dpglm.CuratorNote, match="column `age`: 1 missing"):
        found = dpglm.describe(frame, dpglm.Schema(text), **extra, **BUDGET)
    assert found.to_json() == expected
    assert found.certificate.as_dict() == json.loads(expected)["certificate"]
    table = found.table
    assert (table["low"] <= table["estimate"]).all() and (table["estimate"] <= table["high"]).all()
    for group, rows in table.groupby("group"):
        assert rows.loc[(group, "work"), "estimate"].loc[["a", "b", "c"]].sum() == pytest.approx(1), group
    assert len(found.to_polars()) == len(table)
    assert ("by" in extra) == ("share of rows" in table.index.get_level_values("statistic"))
    if "cross" in extra:
        assert found.cross.shape == (2, 3) and found.cross.to_numpy().sum() == pytest.approx(1)
        assert found.correlations.shape == (3, 3) and np.linalg.eigvalsh(found.correlations).min() > -1e-9
    if "by" in extra:
        assert found.histograms["f"]["age"]["edges"][-1] == 110
        assert "<svg" in found._repr_html_() and found.bars()
    if "magnitudes" in extra:
        assert found.as_dict()["groups"][0]["columns"]["pay"]["bounds"][1] < 1e7


def test_descriptions_are_refused_in_the_same_words(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    text = "[columns]\na = { kind = 'real', bounds = [0, 4] }\n"
    (tmp_path / "t.toml").write_text(text)
    for extra, flags in [
        ({"histograms": 1}, ["--histograms", 1]),
        ({"cross": ("a", "b")}, ["--cross", "a,b"]),
        ({"by": "a"}, ["--by", "a"]),
        ({"correlations": True}, ["--correlations"]),
        ({"intervals": 2.0}, ["--intervals", 2]),
    ]:
        done = run("describe", tmp_path / "t.csv", "--schema", tmp_path / "t.toml", *flags, *FLAGS)
        assert done.returncode == 2, (flags, done.stderr)
        with pytest.raises(ValueError) as refused:
            dpglm.describe(frame, dpglm.Schema(text), **extra, **BUDGET)
        assert words(done.stderr) == words(str(refused.value)), flags
    for cross in [("a",), "ab", (1, 2)]:
        with pytest.raises(TypeError, match="names of two categories"):
            dpglm.describe(frame, dpglm.Schema(text), cross=cross, **BUDGET)
