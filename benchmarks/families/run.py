"""Families of amounts, other links, dispersions and survey weights on real tables: coverage, and deviance lost.

    python benchmarks/families/run.py --data TABLES --library target/release/libdpglm_py.so [--tables charges visits] [--draws 20]

Coverage: tables of half the size drawn with replacement; nominal 95% intervals of all determined coefficients against the exact (weighted)
fit of all rows. Deviance lost: fits of a random half without intervals, scored on the other half; the share of the exact fit's gain over the
mean that is lost. Noise comes from fixed seeds.
"""

import argparse
import json
import pathlib
import sys

import numpy as np
import pandas as pd
from exact import deviance, dispersion, fit, mean
from tables import TABLES

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "gauntlet"))


def encoded(table):
    """Columns as numbers, with response, weights and exposure."""
    schema, frame = table.schema, table.frame
    beside = {schema["target"], schema.get("exposure"), schema.get("weight")}
    X, names = [], []
    for name, facts in schema["columns"].items():
        if name in beside:
            continue
        if "levels" not in facts:
            X.append(frame[name].to_numpy(float))
            names.append(name)
        else:
            for level in facts["levels"][1:]:
                X.append((frame[name] == level).to_numpy(float))
                names.append(f"{name}={level}" if len(facts["levels"]) > 2 or level not in ("1", "true") else name)
    target = schema["columns"][schema["target"]]
    y = frame[schema["target"]]
    y = (y == target["levels"][1]).to_numpy(float) if "levels" in target else y.to_numpy(float)
    of = lambda role: frame[schema[role]].to_numpy(float) if role in schema else np.ones(len(frame))
    return np.column_stack(X), names, y, of("weight"), of("exposure")


def measure(dpglm, name, table, epsilons, draws):
    import warnings

    from subject import toml

    warnings.simplefilter("ignore")
    X, names, y, weights, exposure = encoded(table)
    n, family, power = len(y), table.family, table.power
    schema = dpglm.Schema(toml(table.schema))
    called = family if family != "tweedie" else "tweedie"
    wishes = dict(family=called, power=power if family == "tweedie" else None)
    truth, errors = fit(family, X, y, weights, exposure, power)
    phi = dispersion(family, y, mean(family, X @ truth[1:] + truth[0], exposure), weights, power, X.shape[1] + 1)
    there = (errors < 50) & np.r_[True, np.abs(truth[1:]) * np.ptp(X, axis=0) < 12]
    has_dispersion = family in ("gaussian", "poisson", "gamma", "tweedie")
    found = dict(rows=n, columns=X.shape[1], family=family, dispersion=phi)
    for epsilon in epsilons:
        covered, of, ratios, lost, phis, hidden = 0, 0, [], [], [], []
        for draw in range(draws):
            rng = np.random.default_rng(3000 + draw)
            rows = rng.integers(n, size=n // 2)
            seed, delta = 1000 * draw + int(10 * epsilon), 1 / (5 * n)
            asked = dict(epsilon=epsilon, delta=delta, insecure_seed=seed, **wishes)
            model = dpglm.fit_table(table.frame.iloc[rows], schema, intervals=0.95, dispersion=has_dispersion, **asked)
            document = json.loads(model.artefact_)
            if document.get("intervals"):
                ends = document["intervals"]
                order = [key for key in ends]
                assert order[1:] == names, (order, names)
                known = np.array([document["determined"][key] for key in order]) & there
                low, high = np.array([ends[key] for key in order]).T
                covered, of = covered + int(((low <= truth) & (truth <= high) & known).sum()), of + int(known.sum())
                ratios += list((np.array([document["standard_errors"][key] for key in order]) / (errors * np.sqrt(2)))[known])
                hidden.append(1 - known[there].mean())
            phis.append(document.get("dispersion") or np.nan)
            order = rng.permutation(n)
            fitted, scored = order[: n // 2], order[n // 2 :]
            at = lambda b: mean(family, X[scored] @ b[1:] + b[0], exposure[scored])
            model = dpglm.fit_table(table.frame.iloc[fitted], schema, **asked)
            values = json.loads(model.artefact_)["coefficients"]
            private = np.array([values[key] for key in ["(Intercept)", *names]])
            exact, _ = fit(family, X[fitted], y[fitted], weights[fitted], exposure[fitted], power)
            loss = lambda m: deviance(family, y[scored], m, weights[scored], power)
            level = np.average(y[fitted], weights=weights[fitted]) / np.average(exposure[fitted], weights=weights[fitted])
            constant, best = loss(level * exposure[scored]), loss(at(exact))
            lost.append((loss(at(private)) - best) / (constant - best))
        found[str(epsilon)] = dict(
            covered=covered,
            intervals=of,
            coverage=round(covered / of, 3) if of else None,
            undetermined=round(float(np.mean(hidden)), 2) if hidden else 1.0,
            length=round(float(np.median(ratios)), 2) if ratios else None,
            lost=round(float(np.median(lost)), 4),
            worst_lost=round(float(np.max(lost)), 4),
            dispersion=round(float(np.nanmedian(phis)), 3) if has_dispersion else None,
        )
        print(name, epsilon, json.dumps(found[str(epsilon)]), flush=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--work", default="/tmp/dpglm-families")
    parser.add_argument("--tables", nargs="*", default=list(TABLES))
    parser.add_argument("--epsilons", nargs="*", type=float, default=[0.5, 1.0, 4.0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--results", default=str(pathlib.Path(__file__).parent / "results.json"))
    arguments = parser.parse_args()
    from subject import Subject

    dpglm = Subject(arguments.library, arguments.work)._dpglm
    path = pathlib.Path(arguments.results)
    results = json.loads(path.read_text()) if path.exists() else {}
    for name in arguments.tables:
        table = TABLES[name](arguments.data)
        results[name] = measure(dpglm, name, table, arguments.epsilons, arguments.draws)
        path.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
