"""Do intervals of formulas, predictions and Wald's tests keep their rates on real tables?

Rows are drawn with replacement from a table, whose own exact fit is then the truth. Beside them the same model by statsmodels without
privacy, on the same rows: what sampling alone does. Each model has a factor of four levels that has nothing to do with anything, for Wald's test.

    DPGLM_DATA=/path/to/tables python benchmarks/analyst/coverage.py --seeds 20 --epsilon 2

DPGLM names the binary, by default target/release/dpglm. It needs NumPy, pandas, SciPy and statsmodels.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import pandas as pd
import statsmodels.api as sm

HERE = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("DPGLM_DATA", "/data"))
DPGLM = os.environ.get("DPGLM", str(HERE / "target/release/dpglm"))

INSURANCE = """
[columns]
age = { kind = "real", bounds = [18, 64] }
sex = { kind = "binary", levels = ["female", "male"] }
bmi = { kind = "real", bounds = [15, 55] }
children = { kind = "count", bounds = [0, 5] }
smoker = { kind = "binary", levels = ["no", "yes"] }
region = { kind = "category", levels = ["southeast", "southwest", "northeast", "northwest"] }
charges = { kind = "real", bounds = [500, 100000] }
noise = { kind = "category", levels = ["p", "q", "r", "s"] }
"""
ADULT = (HERE / "examples/adult/schema.toml").read_text() + 'noise = { kind = "category", levels = ["p", "q", "r", "s"] }\n'
NHANES = """
missing = "MISSING"
[columns]
Age = { kind = "real", bounds = [0, 80] }
Gender = { kind = "binary", levels = ["female", "male"] }
BMI = { kind = "real", bounds = [10, 70], fill = 27 }
TotChol = { kind = "real", bounds = [1.5, 14], fill = 5 }
Smoke100 = { kind = "binary", levels = ["No", "Yes"] }
BPSysAve = { kind = "real", bounds = [70, 230], fill = 120 }
noise = { kind = "category", levels = ["p", "q", "r", "s"] }
"""


def insurance():
    return pd.read_csv(DATA / "insurance_charges/insurance.csv")


def adult():
    return pd.read_csv(HERE / "examples/adult/adult.csv.xz", skipinitialspace=True)


def nhanes():
    frame = pd.read_csv(DATA / "nhanes/nhanes_2009_2012.csv.gz")
    frame = frame[(frame.Age >= 20) & frame.BPSysAve.notna()]
    return frame[["Age", "Gender", "BMI", "TotChol", "Smoke100", "BPSysAve"]].reset_index(drop=True)


TASKS = {
    "insurance: log(charges), spline, interaction": (
        insurance, INSURANCE, 20_000, "log(charges) ~ ns(age, knots=[30, 45, 55]) + smoker * bmi + children + region + noise",
    ),
    "Adult: income, spline, interaction": (
        adult, ADULT, 32_561,
        "income ~ ns(age, knots=[30, 45, 60]) + `education-num` + sex * `hours-per-week` + `marital-status` + noise",
    ),
    "NHANES: blood pressure, missing = indicator": (
        nhanes, NHANES.replace("MISSING", "indicator"), 20_000, "BPSysAve ~ ns(Age, knots=[40, 60]) * Gender + BMI + TotChol + Smoke100 + noise",
    ),
    "NHANES: blood pressure, missing = drop": (
        nhanes, NHANES.replace("MISSING", "drop"), 20_000, "BPSysAve ~ ns(Age, knots=[40, 60]) * Gender + BMI + TotChol + Smoke100 + noise",
    ),
}  # fmt: skip


def run(folder, *words):
    done = subprocess.run([DPGLM, *map(str, words)], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{words}: {done.stderr}")
    return done.stdout


def fit(folder, table, formula, name, *budget):
    run(folder, "fit", table, "--schema", "schema.toml", "--formula", formula, *budget, "--output", name, "--force")
    return json.loads((folder / name).read_text())


def with_noise(frame, rng):
    return frame.assign(noise=rng.choice(list("pqrs"), len(frame)))


def task(name, seeds, epsilon):
    load, schema, rows, formula = TASKS[name]
    frame = load()
    covered, width, predicted, tests, told = [], [], [], [], []
    with tempfile.TemporaryDirectory() as where:
        folder = pathlib.Path(where)
        (folder / "schema.toml").write_text(schema)
        # The truth has no noise factor: its coefficients are zero.
        with_noise(frame, np.random.default_rng(0)).to_csv(folder / "all.csv", index=False)
        exact = fit(folder, "all.csv", formula.replace(" + noise", ""), "exact.json", "--method", "reference")
        truth = {name: exact["coefficients"].get(name, 0.0) for name in exact["coefficients"]}
        points = frame.dropna().sample(200, random_state=1)
        points.assign(noise="p").to_csv(folder / "points.csv", index=False)
        goal = np.array(json.loads(run(folder, "predict", "exact.json", "points.csv", "--format", "json"))["rows"])[:, -1]
        for seed in range(seeds):
            rng = np.random.default_rng([seed, 7])
            sample = with_noise(frame.sample(rows, replace=True, random_state=rng), rng)
            sample.to_csv(folder / "sample.csv", index=False)
            found = fit(
                folder, "sample.csv", formula, "fit.json", "--epsilon", epsilon, "--delta", 1e-6, "--intervals", 0.95,
                "--insecure-seed", seed,
            )  # fmt: skip
            for coefficient, (low, high) in (found["intervals"] or {}).items():
                known = found["determined"][coefficient]
                told.append(known)
                if known:
                    covered.append(low <= truth.get(coefficient, 0.0) <= high)
                    width.append(found["standard_errors"][coefficient])
            rows_ = json.loads(run(folder, "predict", "fit.json", "points.csv", "--intervals", 0.95, "--format", "json"))["rows"]
            low, high = np.array(rows_)[:, -2:].T
            predicted.append(np.mean((low <= goal) & (goal <= high)))
            joint = json.loads(run(folder, "summary", "fit.json", "--format", "json"))["joint"]
            tests.append(next(test["p_value"] for test in joint if test["term"] == "noise"))
    return {
        "task": name, "rows": rows, "determined": np.mean(told), "coefficients": np.mean(covered), "predictions": np.mean(predicted),
        "p < .05": np.mean(np.array(tests) < 0.05), "p < .5": np.mean(np.array(tests) < 0.5),
    }  # fmt: skip


def beside_statsmodels():
    """Fitted values of a spline and an interaction, by the exact optimum, and by statsmodels in a basis of patsy's."""
    import patsy

    frame = insurance()
    with tempfile.TemporaryDirectory() as where:
        folder = pathlib.Path(where)
        (folder / "schema.toml").write_text(INSURANCE)
        with_noise(frame, np.random.default_rng(0)).to_csv(folder / "all.csv", index=False)
        fit(folder, "all.csv", TASKS["insurance: log(charges), spline, interaction"][3].replace(" + noise", ""), "exact.json",
            "--method", "reference")  # fmt: skip
        ours = np.array(json.loads(run(folder, "predict", "exact.json", "all.csv", "--format", "json"))["rows"])[:, 0]
    design = patsy.dmatrix(
        "cr(age, knots=[30, 45, 55], lower_bound=18, upper_bound=64) - 1 + smoker * bmi + children + region", frame
    )
    return float(np.abs(sm.OLS(np.log(frame.charges), np.asarray(design)).fit().fittedvalues - ours).max())


if __name__ == "__main__":
    asked = argparse.ArgumentParser()
    asked.add_argument("--seeds", type=int, default=20)
    asked.add_argument("--epsilon", type=float, default=2.0)
    asked.add_argument("--task", default="")
    given = asked.parse_args()
    print(f"largest difference of fitted values from statsmodels with patsy's cr: {beside_statsmodels():.1e}", flush=True)
    for name in TASKS:
        if given.task in name:
            print(json.dumps(task(name, given.seeds, given.epsilon), default=float), flush=True)
