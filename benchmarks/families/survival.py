"""Survival on flchain (free light chains and mortality, Olmsted County): coverage of hazard ratios, beside the exact fit and Cox's.

    python benchmarks/families/survival.py --data TABLES --library target/release/libdpglm_py.so
"""

import argparse
import json
import pathlib
import sys

import numpy as np
import pandas as pd
import statsmodels.api as sm

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "gauntlet"))
CUTS = [1_000, 2_500]
LONGEST = 5_300


def table(data):
    frame = pd.read_csv(f"{data}/r_datasets/survival_flchain.csv.gz")
    frame["male"] = (frame.sex == "M").astype(float)
    frame["log_chains"] = np.log(frame.kappa + frame["lambda"])
    columns = ["age", "male", "log_chains"]
    time = frame.futime.clip(1, LONGEST).to_numpy(float)
    return frame[columns].clip(lower=[50, 0, -1], upper=[102, 1, 4], axis=1), time, frame.death.to_numpy(int)


def exact(X, time, event):
    """Poisson regression of the rows between cuts, errors by person."""
    starts, ends = np.array([0, *CUTS]), np.array([*CUTS, LONGEST])
    person, interval = np.nonzero(time[:, None] > starts)
    spent = np.minimum(time[person], ends[interval]) - starts[interval]
    came = event[person] * (time[person] <= ends[interval])
    D = np.c_[np.ones(len(person)), X[person], interval == 1, interval == 2].astype(float)
    model = sm.GLM(came, D, family=sm.families.Poisson(), offset=np.log(spent))
    found = model.fit(cov_type="cluster", cov_kwds=dict(groups=person))
    return found.params, found.bse


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--work", default="/tmp/dpglm-families")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--results", default=str(pathlib.Path(__file__).parent / "survival.json"))
    arguments = parser.parse_args()
    from subject import Subject

    dpglm = Subject(arguments.library, arguments.work)._dpglm
    import warnings

    warnings.simplefilter("ignore")
    frame, time, event = table(arguments.data)
    X, n = frame.to_numpy(float), len(frame)
    truth, errors = exact(X, time, event)
    cox = sm.PHReg(time, X, status=event).fit()
    print("exact piecewise-exponential", truth.round(3), "errors", errors.round(3), "Cox", cox.params.round(3), cox.bse.round(3), flush=True)
    found = dict(rows=n, exact=list(truth.round(4)), errors=list(errors.round(4)), cox=list(cox.params.round(4)))
    for epsilon in [0.5, 1.0, 4.0]:
        covered, of, lengths, kept = 0, 0, [], []
        for draw in range(arguments.draws):
            rows = np.random.default_rng(3000 + draw).integers(n, size=n // 2)
            model = dpglm.PrivateSurvivalRegressor(
                epsilon=epsilon,
                delta=1 / (5 * n),
                feature_bounds={"age": (50, 102), "male": (0, 1), "log_chains": (-1, 4)},
                time_bounds=(1, LONGEST),
                cuts=CUTS,
                intervals=0.95,
                insecure_seed=100 * draw + int(10 * epsilon),
            ).fit(frame.iloc[rows].reset_index(drop=True), time[rows], event[rows])
            document = json.loads(model.to_json())
            if not document["intervals"]:
                continue
            ends = np.array(list(document["intervals"].values()))
            known = np.array(list(document["determined"].values()))
            covered += int(((ends[:, 0] <= truth) & (truth <= ends[:, 1]) & known).sum())
            of += int(known.sum())
            kept.append(known.mean())
            lengths += list((np.array(list(document["standard_errors"].values())) / (errors * np.sqrt(2)))[known])
        found[str(epsilon)] = dict(
            covered=covered, intervals=of, coverage=round(covered / of, 3) if of else None,
            undetermined=round(1 - float(np.mean(kept)), 2) if kept else 1.0, length=round(float(np.median(lengths)), 2) if lengths else None,
        )  # fmt: skip
        print(epsilon, json.dumps(found[str(epsilon)]), flush=True)
    pathlib.Path(arguments.results).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
