"""Means of every column of real tables, through the package: how far privacy moves them, beside two joint Gaussian releases.

    python run.py --data DIR [--cache DIR] [--runs 20] [--epsilons 0.1,0.5,1,4] [--tables NAME,...] [--output report.md]

For each table, budget (delta = 1 / 10 n) and column: the root mean square distance of the private mean from that of the table within its
declared bounds, over the runs, beside (a) one joint Gaussian release on the declared ranges and (b) the same on the best clips of somebody
who has seen the rows (see `beside.py`). Coverage: the table is drawn again with replacement for each run, so that its mean is that of a
population, and the interval must hold it.
"""

import argparse
import os
import pathlib
import sys
import warnings

import beside
import numpy as np
import pandas as pd
import real_tables

import dpglm

LARGE, SMALL = 300, 100


def is_binary(table, j):
    return table["low"][j] == 0 and table["high"][j] == 1 and set(np.unique(table["columns"][:, j])) <= {0.0, 1.0}


def frame(table):
    """The table as a user has it: one column per category."""
    columns, told = {}, {}
    factor = table["factor"]
    done = set()
    for j, name in enumerate(table["names"]):
        group = factor[j]
        if group < 0:
            label = name.replace("=", " is ")
            columns[label] = table["columns"][:, j].astype(int) if is_binary(table, j) else table["columns"][:, j]
            told[label] = [0, 1] if is_binary(table, j) else (float(table["low"][j]), float(table["high"][j]))
        elif group not in done:
            done.add(group)
            members = np.flatnonzero(factor == group)
            label = name.split("=")[0]
            levels = ["(other)"] + [table["names"][k].split("=", 1)[1] for k in members]
            cells = np.zeros(len(table["columns"]), dtype=int)
            for place, k in enumerate(members, 1):
                cells[table["columns"][:, k] == 1] = place
            columns[label] = pd.Categorical.from_codes(cells, levels)
            told[label] = levels
    return pd.DataFrame(columns), told


def measure(name, epsilon, runs, data, cache):
    table = real_tables.load(name, data, cache)
    n, d = table["columns"].shape
    delta = 1 / (10 * n)
    mu = beside.gaussian_mu(epsilon, delta)
    declared, best = beside.declared(table, mu), beside.oracle(table, mu)
    rows, told = frame(table)
    exact = dict(zip(order(table), table["columns"].mean(0)[places(table)]))
    errors, covered = [], []
    generator = np.random.default_rng(1)
    for _ in range(runs):
        model = dpglm.PrivateMean(feature_bounds=told, epsilon=epsilon, delta=delta, intervals=0.95)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(rows)
            errors.append(model.means_)
            again = dpglm.PrivateMean(feature_bounds=told, epsilon=epsilon, delta=delta, intervals=0.95)
            again.fit(rows.iloc[generator.integers(0, n, n)].reset_index(drop=True))
        ends = np.array([again.intervals_[k] for k in again.coefficient_names_])
        truth = np.array([exact[k] for k in again.coefficient_names_])
        covered.append((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
        found = list(model.coefficient_names_)
    truth = np.array([exact[k] for k in found])
    distance = np.sqrt(((np.array(errors) - truth) ** 2).mean(0))
    covered = np.mean(covered, axis=0)
    index = {label: j for label, j in zip(order(table), places(table))}
    ratio = n * mu / np.sqrt(beside.factors(table))
    out = []
    for k, label in enumerate(found):
        j = index[label]
        out.append(
            dict(
                table=name,
                column=label,
                epsilon=epsilon,
                ratio=ratio,
                number=not (table["low"][j] == 0 and table["high"][j] == 1),
                to_best=distance[k] / min(declared[j], best[j]),
                to_declared=distance[k] / declared[j],
                coverage=covered[k],
                mean=truth[k],
                error=distance[k],
            )
        )
    return out


def places(table):
    """The columns in the order in which the package sees them: a category's indicators together."""
    seen, out = set(), []
    for j, group in enumerate(table["factor"]):
        if group < 0:
            out.append(j)
        elif group not in seen:
            seen.add(group)
            out.extend(np.flatnonzero(table["factor"] == group))
    return out


def order(table):
    """Their names in the package."""
    labels = []
    for j in places(table):
        name = table["names"][j]
        labels.append(name if table["factor"][j] >= 0 else name.replace("=", " is "))
    return labels


def summary(cells):
    """One row per budget."""
    lines = ["| epsilon | columns | median | 95% | worst | worst beside (a) | 0/1 median | 0/1 worst | coverage | below .9 | small tables beside (a) |", "| --- " * 11 + "|"]
    for epsilon, part in cells.groupby("epsilon"):
        large = part[part.ratio >= LARGE]
        number, other = large[large.number], large[~large.number]
        small = part[part.ratio < SMALL]
        rest = f"{small.to_declared.median():.2f} (worst {small.to_declared.max():.2f} of {len(small)})" if len(small) else "none"
        lines.append(
            f"| {epsilon:g} | {len(number)} | {number.to_best.median():.2f} | {number.to_best.quantile(0.95):.2f} | {number.to_best.max():.2f} | "
            f"{number.to_declared.max():.2f} | {other.to_best.median():.2f} | {other.to_best.max():.2f} | {large.coverage.mean():.3f} | "
            f"{100 * (number.coverage < 0.9).mean():.0f}% | {rest} |"
        )
    return "\n".join(lines)


def hard(cells):
    """The columns that are farthest off, and those that are covered least."""
    large = cells[(cells.ratio >= LARGE) & cells.number]
    worst = pd.concat([large.nlargest(12, "to_best"), large.nsmallest(12, "coverage")]).drop_duplicates(["table", "column", "epsilon"])
    lines = ["| table | column | epsilon | mean | error | beside the better | beside (a) | coverage |", "| --- " * 8 + "|"]
    for cell in worst.itertuples():
        lines.append(f"| {cell.table} | {cell.column} | {cell.epsilon:g} | {cell.mean:.4g} | {cell.error:.2g} | {cell.to_best:.2f} | {cell.to_declared:.2f} | {cell.coverage:.2f} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("DPGLM_DATA"), help="folder of the tables (default: DPGLM_DATA)")
    parser.add_argument("--cache", help="folder of the prepared tables")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--epsilons", default="0.1,0.5,1,4")
    parser.add_argument("--tables", default=",".join(real_tables.TABLES))
    parser.add_argument("--output", type=pathlib.Path, help="also write the tables of the report here")
    arguments = parser.parse_args()
    cells = []
    for name in arguments.tables.split(","):
        for epsilon in map(float, arguments.epsilons.split(",")):
            cells.extend(measure(name, epsilon, arguments.runs, arguments.data, arguments.cache))
            print(name, epsilon, file=sys.stderr, flush=True)
    cells = pd.DataFrame(cells)
    report = f"{summary(cells)}\n\n{hard(cells)}\n"
    print(report)
    if arguments.output:
        arguments.output.write_text(report)
        cells.to_csv(arguments.output.with_suffix(".csv"), index=False)


if __name__ == "__main__":
    main()
