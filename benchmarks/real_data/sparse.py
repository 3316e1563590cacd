"""Held-out accuracy of the sparse methods on five public tables with more columns than rows, or nearly, and on a simulated one.

    DPGLM_DATA=/path/to/tables python benchmarks/real_data/sparse.py [--seeds 10] [--tables rcv1 dorothea ...]

Writes docs/real-data-sparse.md and sparse.json next to this file. DPGLM names the binary (target/release/dpglm).
"""

import argparse
import bz2
import csv
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression, Ridge

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
EPSILONS = (0.5, 1, 2, 4)


def libsvm(path, columns):
    """A LIBSVM file as (rows, labels)."""
    labels, offsets, indices, values = [], [0], [], []
    with bz2.open(path, "rt") as lines:
        for line in lines:
            label, *cells = line.split()
            labels.append(float(label) > 0)
            for cell in cells:
                j, x = cell.split(":")
                indices.append(int(j) - 1)
                values.append(float(x))
            offsets.append(len(indices))
    return sp.csr_matrix((np.float32(values), indices, offsets), shape=(len(labels), columns)), np.array(labels)


def genotypes(path):
    """Copies of an allele; a missing genotype counts as none."""
    with gzip.open(path, "rt") as lines:
        lines.readline()
        text = io.StringIO(lines.read().replace('"', ""))
    return np.clip(np.loadtxt(text, delimiter=",", dtype=np.int16), 0, 2).astype(np.int8)


def rcv1(data):
    return libsvm(data / "rcv1_binary_subset/rcv1_subset.binary.bz2", 47_236)


def topic(name):
    """Whether a document of RCV1 has a topic."""

    def load(data):
        x, _ = rcv1(data)
        with gzip.open(data / "rcv1_binary_subset/topics.txt.gz", "rt") as lines:
            return x, np.array([name in line.split()[2].split(",") for line in lines])

    return load


def dorothea(data):
    return libsvm(data / "dorothea/dorothea.libsvm.bz2", 88_119)


def coat(colour):
    """Mice and whether they have a coat of this colour."""

    def load(data):
        with open(data / "geno_mice_bglr/pheno.csv") as file:
            has = np.array([colour in row["CoatColour"].lower() for row in csv.DictReader(file)])
        return genotypes(data / "geno_mice_bglr/geno.csv.gz"), has

    return load


def snpstats(data):
    with open(data / "geno_snpstats_cc/pheno.csv") as file:
        case = np.array([row["cc"].strip() == "1" for row in csv.DictReader(file)])
    return genotypes(data / "geno_snpstats_cc/geno.csv.gz"), case


def we8there(data):
    """Which bigrams a review has, and whether its overall rating is at least 4."""
    folder = data / "we8there_text_regression"
    with open(folder / "ratings.csv") as file:
        good = np.array([float(row["Overall"]) >= 4 for row in csv.DictReader(file)])
    offsets, indices = [0], []
    with gzip.open(folder / "we8there.libsvm.gz", "rt") as lines:
        for line in lines:
            indices += [int(cell.split(":")[0]) - 1 for cell in line.split()[1:]]
            offsets.append(len(indices))
    return sp.csr_matrix((np.ones(len(indices), np.float32), indices, offsets), shape=(len(good), 2_640)), good


def rating(data):
    """The same bigrams scaled to rows of length 1, and the overall rating: a real number."""
    folder = data / "we8there_text_regression"
    with open(folder / "ratings.csv") as file:
        overall = np.array([float(row["Overall"]) for row in csv.DictReader(file)])
    x, _ = we8there(data)
    lengths = np.sqrt(np.asarray(x.multiply(x).sum(1)).ravel())
    return (sp.diags(1 / np.maximum(lengths, 1)) @ x).tocsr().astype(np.float32), overall


def swarm(_):
    """Rows of the shape of the Swarm Behaviour data: entries uniform on (-1, 1), 100 coefficients on a sphere, a predictor of deviation 6."""
    rng = np.random.default_rng(20)
    rows, columns, matter = 24_016, 2_400, 100
    x = rng.uniform(-1, 1, (rows, columns)).astype(np.float32)
    beta = np.zeros(columns)
    beta[rng.choice(columns, matter, replace=False)] = rng.normal(size=matter)
    u = x @ (beta * 6 * np.sqrt(3) / np.linalg.norm(beta))
    return x, rng.uniform(size=rows) < 1 / (1 + np.exp(-u))


@dataclass
class Table:
    """A table, and how it is fitted."""

    load: Callable[[Path], Any]
    title: str
    # The declared bounds of its features.
    bounds: str
    # The numbers of columns asked for.
    asked: tuple[int, ...]
    epsilons: tuple[float, ...] = EPSILONS
    # The part of the rows that is fitted, and delta as a part of 1 / rows.
    fitted: float = 0.8
    delta: float = 0.1
    # The declared bounds of a real response.
    target: str | None = None
    # Whether rows have length 1, which is declared.
    short: bool = False


TABLES = {
    "rcv1": Table(rcv1, "RCV1, 23,749 x 47,236 (other documents than LIBSVM's file)", "0,1", (100,), (0.5, 1, 4), short=True),
    "rcv1-c15": Table(topic("C15"), "RCV1, the same documents, topic C15 (performance)", "0,1", (100,), (0.5, 1, 4), short=True),
    "rcv1-gspo": Table(topic("GSPO"), "RCV1, the same documents, topic GSPO (sports)", "0,1", (100,), (0.5, 1, 4), short=True),
    "we8there": Table(we8there, "We8there restaurant reviews, 6,166 x 2,640 bigrams, overall rating at least 4", "0,1", (50,)),
    "rating": Table(
        rating, "We8there, the overall rating as a number, rows of length 1", "0,1", (50,), (0.5, 1, 4), target="1,5", short=True
    ),
    "dorothea": Table(dorothea, "Dorothea, 800 x 88,119", "0,1", (10,)),
    "mice": Table(coat("albino"), "Mice genotypes, 1,814 x 10,346, albino", "0,2", (5,)),
    "mice-black": Table(coat("black"), "Mice genotypes, black", "0,2", (5,)),
    "mice-chocolate": Table(coat("chocolate"), "Mice genotypes, chocolate", "0,2", (5,)),
    "snpstats": Table(snpstats, "snpStats case-control, 1,000 x 28,501", "0,2", (5,)),
    "swarm": Table(
        swarm, "Swarm-like, simulated, 24,016 x 2,400, of which 100 matter", "-1,1", (5, 10, 25, 50, 100, 200), (0.2, 0.5, 1), 0.5, 0.5
    ),
}


def auc(score, y):
    order = np.argsort(score, kind="stable")
    ranks = np.empty(len(score))
    ranks[order] = np.arange(1, len(score) + 1)
    for value in np.unique(score):  # ties share their mean rank
        tied = score == value
        if tied.sum() > 1:
            ranks[tied] = ranks[tied].mean()
    positives = y.sum()
    return (ranks[y].sum() - positives * (positives + 1) / 2) / (positives * (len(y) - positives))


def write(folder, table, x, y):
    """The rows that are fitted, as the flags that name them."""
    design = folder / ("x.npz" if sp.issparse(x) else "x.npy")
    sp.save_npz(design, x) if sp.issparse(x) else np.save(design, x)
    np.save(folder / "y.npy", y.astype(float))
    response = ["--binary"] if table.target is None else [f"--target-bounds={table.target}"]
    return ["--design", design, "--response", folder / "y.npy", f"--feature-bounds={table.bounds}", *response]


def fit(command, rows, columns, extra):
    arguments = [command, "fit", *rows, "--format", "json", *extra]
    ran = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"{' '.join(map(str, arguments))}\n{ran.stderr}")
    coefficients = json.loads(ran.stdout)["coefficients"]
    b = np.zeros(columns)
    for name, value in coefficients.items():
        if name != "(Intercept)":
            b[int(name[1:])] = value
    return b, coefficients.get("(Intercept)", 0.0)


def penalised(table, x, y):
    """Without privacy and without a limit on the columns: an l1 penalty of scikit-learn's default strength, or a ridge of 1 for a number."""
    if table.target is not None:
        model = Ridge(alpha=1.0).fit(x, y)
        return model.coef_, model.intercept_
    model = LogisticRegression(penalty="l1", solver="liblinear").fit(x, y)
    return model.coef_[0], model.intercept_[0]


def methods(table, delta):
    """Each with its flags."""
    yield "scikit-learn, not private", None
    for s in table.asked:
        few, asked = ["--sparsity", s], f", s = {s}" if len(table.asked) > 1 else ""
        yield f"IHT, not private{asked}", ["--method", "iht", "--no-intercept", *few]
        yield f"default, no noise{asked}", ["--epsilon", "inf", *few]
    for epsilon in table.epsilons:
        budget = ["--epsilon", epsilon, "--delta", delta]
        for s in table.asked:
            asked = f"s = {s}, " if len(table.asked) > 1 else ""
            yield f"default, {asked}epsilon {epsilon}", ["--sparsity", s, *budget]
            if table.short:
                yield f"default, rows of length 1 declared, epsilon {epsilon}", ["--sparsity", s, "--row-norm", 1, *budget]
        if table.short:
            yield f"default, rows of length 1 declared, no sparsity, epsilon {epsilon}", ["--row-norm", 1, *budget]
        if table.target is not None:
            yield f"default, nothing declared, epsilon {epsilon}", budget


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--without-iht", action="store_true", help="leave out non-private hard thresholding, which is slow on wide tables")
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    options = parser.parse_args()
    if "DPGLM_DATA" not in os.environ:
        sys.exit("set DPGLM_DATA to the folder of the tables (see README.md here)")
    data = Path(os.environ["DPGLM_DATA"])
    command = os.environ.get("DPGLM", ROOT / "target/release/dpglm")
    path = HERE / "sparse.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    for name in options.tables:
        table = TABLES[name]
        x, y = table.load(data)
        for seed in range(options.seeds):
            order = np.random.default_rng(seed).permutation(len(y))
            cut = int(len(y) * table.fitted)
            train, test = order[:cut], order[cut:]
            with tempfile.TemporaryDirectory() as folder:
                rows = write(Path(folder), table, x[train], y[train])
                for method, extra in methods(table, table.delta / cut):
                    cell = results.setdefault(name, {}).setdefault(method, {})
                    if str(seed) in cell:
                        continue
                    if extra is None:
                        b, intercept = penalised(table, x[train], y[train])
                    elif "iht" in extra and options.without_iht:
                        continue
                    else:
                        b, intercept = fit(command, rows, x.shape[1], extra)
                    cell[str(seed)] = scored(table, np.asarray(x[test] @ b, dtype=float).ravel() + intercept, y[test], b)
                    path.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
            print(f"{name}: seed {seed + 1} of {options.seeds}", file=sys.stderr)
    report(results)


def scored(table, score, y, b):
    """Held-out scores: AUC and error, or the share of the variance that is explained."""
    columns = int((b != 0).sum())
    if table.target is not None:
        return {"r2": float(1 - np.sum((y - score) ** 2) / np.sum((y - y.mean()) ** 2)), "columns": columns}
    return {"auc": auc(score, y), "error": float(np.mean((score > 0) != y)), "columns": columns}


HEADER = """# Sparse models on real data

80% of the rows fitted, 20% scored, delta 1/(10 n); of the simulated swarms half and half, delta 1/(2 n). Mean over random splits, standard
error in brackets. The number of columns asked for was fixed beforehand; fewer are chosen where the budget tells fewer from noise. An AUC of
0.5 is a coin; the error is that of the sign of the linear predictor. IHT has no intercept: compare it by its AUC.
*No noise*: `--epsilon inf`, the private algorithm without its noise. scikit-learn: an l1 penalty (of a real response a ridge), which keeps as
many columns as it likes. Made by `DPGLM_DATA=... python benchmarks/real_data/sparse.py`; where there are fewer than ten splits, with
`--seeds` of as many. A private row of one split says little: run it again for ten.
"""


def report(results):
    lines = [HEADER]
    for name, table in TABLES.items():
        if name not in results:
            continue
        asked = " or ".join(map(str, table.asked))
        lines += [f"## {table.title}, {asked} columns asked for", ""]
        scores = [("columns", 1, "columns kept")]
        scores = ([("auc", 3, "AUC"), ("error", 3, "error")] if table.target is None else [("r2", 3, "R2")]) + scores
        lines += [f"| method | {' | '.join(score[2] for score in scores)} | splits |", f"|{' --- |' * (len(scores) + 2)}"]
        for method, _ in methods(table, None):
            cells = results[name].get(method, {})
            if not cells:
                continue
            values = [mean_and_error([c[key] for c in cells.values()], digits) for key, digits, _ in scores]
            lines.append(f"| {method} | {' | '.join(values)} | {len(cells)} |")
        lines.append("")
    (ROOT / "docs/real-data-sparse.md").write_text("\n".join(lines))


def mean_and_error(values, digits):
    mean = f"{np.mean(values):.{digits}f}"
    if len(values) < 2:
        return mean
    return f"{mean} ({np.std(values, ddof=1) / np.sqrt(len(values)):.{digits}f})"


if __name__ == "__main__":
    main()
