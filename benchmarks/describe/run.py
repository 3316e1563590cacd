"""Descriptions of real tables, through the package, beside the same statistics by diffprivlib and OpenDP.

    python run.py --data DIR [--runs 20] [--epsilons 0.5,1,4] [--tables NAME,...] [--others] [--private-bounds] [--output report.md]

Error: the root mean square distance of what is released from the table's own number, over the runs; of means, deviations and quartiles in units
of the column's standard deviation, of shares as they are. Coverage: each run draws the table's rows again with replacement, and the 95%
interval must hold the number of the whole table. delta = 1 / 10 n. `--private-bounds` gives magnitudes of 1e9 and a resolution of 1e-3 in place
of all bounds.
"""

import argparse
import collections
import sys
import time
import tomllib
import warnings

import numpy as np
import others
import pandas as pd
import tables

import dpglm

KINDS = {"mean": "mean", "standard deviation": "deviation", "first quartile": "quartile", "median": "quartile", "third quartile": "quartile"}


def described(frame, text):
    """The columns as others take them, and the exact statistics within the declared bounds."""
    schema = tomllib.loads(text)
    columns, exact, units = {}, {}, {}
    for name, declared in schema["columns"].items():
        kind = declared["kind"]
        if kind in ("real", "count"):
            low, high = declared["bounds"]
            cells = pd.to_numeric(frame[name], errors="coerce")
            if schema.get("missing", "fill") == "drop":
                exact[name, "missing"] = cells.isna().mean()
                cells = cells.dropna()
            else:
                cells = cells.fillna(declared.get("fill", (low + high) / 2))
            x = np.clip(cells.to_numpy(float), low, high)
            columns[name] = ("number", x, low, high)
            units[name] = max(x.std(), 1e-12)
            exact[name, "mean"], exact[name, "standard deviation"] = x.mean(), x.std()
            sorted_ = np.sort(x)
            for statistic, q in others.QUARTILES.items():
                exact[name, statistic] = sorted_[max(int(np.round(q * len(x))), 1) - 1]
        elif kind in ("binary", "category"):
            spellings = [[str(s) for s in (level if isinstance(level, list) else [level])] for level in declared["levels"]]
            place = {s: k for k, level in enumerate(spellings) for s in level}
            cells = frame[name].astype("string").str.strip()
            missing = cells.isna() | cells.isin(["?", "NA", ""])
            codes = cells.map(lambda s: place.get(s, 0) if isinstance(s, str) else 0).to_numpy(int)
            if schema.get("missing", "fill") == "drop":
                exact[name, "missing"] = missing.mean()
                codes = codes[~missing.to_numpy(bool)]
            else:
                codes = np.where(missing.to_numpy(bool), 0, codes)
            columns[name] = ("levels", codes, len(spellings))
            for k, level in enumerate(spellings):
                exact[name, level[0]] = (codes == k).mean()
    return columns, exact, units


def kind_of(statistic):
    return KINDS.get(statistic, "missing" if statistic == "missing" else "share")


def ours(frame, schema, epsilon, delta, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dpglm.describe(frame, schema, epsilon=epsilon, delta=delta, **more)
    return {(row["column"], row["statistic"]): row for row in found.rows()}


def measure(name, data, epsilon, runs, with_others, private_bounds):
    frame, text = tables.load(name, data)
    schema = dpglm.Schema(text)
    columns, exact, units = described(frame, text)
    n = len(frame)
    rng = np.random.default_rng([5, n, int(100 * epsilon)])
    delta = 1 / (10 * n)
    more = {}
    if private_bounds:
        more["magnitudes"] = {c: (1e9, 1e-3) for c, column in columns.items() if column[0] == "number"}
    squares, seconds = collections.defaultdict(list), collections.defaultdict(float)
    covered = collections.defaultdict(list)

    def unit(column, statistic):
        return units[column] if kind_of(statistic) in ("mean", "deviation", "quartile") else 1.0

    def keep(who, key, estimate):
        squares[who, key].append(((estimate - exact[key]) / unit(*key)) ** 2)

    def keep_other(who, found):
        for (column, statistic), estimate in found.items():
            if isinstance(statistic, int):
                statistic = [s for c, s in exact if c == column and s != "missing"][statistic]
            keep(who, (column, statistic), float(estimate))

    for seed in range(runs):
        start = time.perf_counter()
        found = ours(frame, schema, epsilon, delta, **more)
        seconds["dpglm"] += time.perf_counter() - start
        for key in exact:
            keep("dpglm", key, found[key]["estimate"])
        again = frame.iloc[rng.integers(0, n, n)]
        for key, row in ours(again, schema, epsilon, delta, **more).items():
            # A quartile of a column with ties may be any of the tied values: rounding of the last digit is forgiven.
            slack = 1e-9 * unit(*key)
            covered[key].append(row["low"] - slack <= exact[key] <= row["high"] + slack)
        if with_others:
            for who, library in [("diffprivlib", others.diffprivlib), ("OpenDP", others.opendp)]:
                if who == "OpenDP" and seed >= max(3, runs // 4):
                    continue
                start = time.perf_counter()
                try:
                    found = library(columns, epsilon, delta, 1000 * seed)
                except Exception as failure:  # noqa: BLE001 - another library's failure is a result
                    print(f"{name}: {who} failed: {failure}", file=sys.stderr)
                    continue
                seconds[who] += (time.perf_counter() - start) * (runs / max(3, runs // 4) if who == "OpenDP" else 1)
                keep_other(who, found)
    lines = []
    for kind in ["mean", "deviation", "quartile", "share", "missing"]:
        keys = [key for key in exact if kind_of(key[1]) == kind]
        if not keys:
            continue
        cells = [name, epsilon, kind, len(keys)]
        for who in ["dpglm"] + (["diffprivlib", "OpenDP"] if with_others else []):
            errors = [np.sqrt(np.mean(squares[who, key])) for key in keys if squares[who, key]]
            cells += [f"{np.median(errors):.3g}" if errors else "", f"{np.max(errors):.3g}" if errors else ""]
        rates = [np.mean(covered[key]) for key in keys]
        cells += [f"{np.mean(rates):.3f}", f"{np.mean(np.array(rates) < 0.9):.0%}"]
        lines.append(cells)
        worst = [(np.sqrt(np.mean(squares["dpglm", key])), np.mean(covered[key]), key) for key in keys]
        for error, rate, key in worst:
            if rate < 0.85:
                print(f"  {name} {epsilon} {key}: error {error:.3g}, coverage {rate:.2f}", file=sys.stderr)
    return lines, {who: total / runs for who, total in seconds.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--epsilons", default="0.5,1,4")
    parser.add_argument("--tables", default=",".join(tables.TABLES))
    parser.add_argument("--others", action="store_true")
    parser.add_argument("--private-bounds", action="store_true")
    parser.add_argument("--output")
    asked = parser.parse_args()
    heads = ["table", "epsilon", "statistic", "numbers", "dpglm median", "worst"]
    heads += ["diffprivlib median", "worst", "OpenDP median", "worst"] if asked.others else []
    heads += ["coverage", "below .9"]
    text = "| " + " | ".join(heads) + " |\n|" + " --- |" * len(heads) + "\n"
    times = []
    for name in asked.tables.split(","):
        for epsilon in map(float, asked.epsilons.split(",")):
            lines, seconds = measure(name, asked.data, epsilon, asked.runs, asked.others, asked.private_bounds)
            text += "".join("| " + " | ".join(map(str, cells)) + " |\n" for cells in lines)
            times.append((name, epsilon, seconds))
            print(name, epsilon, {k: round(v, 3) for k, v in seconds.items()}, file=sys.stderr, flush=True)
    text += "\nSeconds for a description:\n\n"
    text += "".join(f"- {name}, epsilon {epsilon}: {seconds}\n" for name, epsilon, seconds in times)
    print(text)
    if asked.output:
        with open(asked.output, "w") as file:
            file.write(text)


if __name__ == "__main__":
    main()
