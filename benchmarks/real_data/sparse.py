"""Held-out accuracy of the sparse methods on five public tables with more columns than rows, or nearly.

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
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
EPSILONS = [0.5, 1, 2, 4]


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


def dorothea(data):
    return libsvm(data / "dorothea/dorothea.libsvm.bz2", 88_119)


def mice(data):
    with open(data / "geno_mice_bglr/pheno.csv") as file:
        albino = np.array(["albino" in row["CoatColour"].lower() for row in csv.DictReader(file)])
    return genotypes(data / "geno_mice_bglr/geno.csv.gz"), albino


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


# How to read a table, what it is, the declared bounds of its features, the number of columns asked for.
TABLES = {
    "rcv1": (rcv1, "RCV1, 23,749 x 47,236 (other documents than LIBSVM's file)", "0,1", 100),
    "we8there": (we8there, "We8there restaurant reviews, 6,166 x 2,640 bigrams, overall rating at least 4", "0,1", 50),
    "dorothea": (dorothea, "Dorothea, 800 x 88,119", "0,1", 10),
    "mice": (mice, "Mice genotypes, 1,814 x 10,346, albino", "0,2", 5),
    "snpstats": (snpstats, "snpStats case-control, 1,000 x 28,501", "0,2", 5),
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


def fit(command, folder, x, y, bounds, extra):
    design = folder / ("x.npz" if sp.issparse(x) else "x.npy")
    sp.save_npz(design, x) if sp.issparse(x) else np.save(design, x)
    np.save(folder / "y.npy", y.astype(float))
    arguments = [command, "fit", "--design", design, "--response", folder / "y.npy", "--binary", f"--feature-bounds={bounds}"]
    arguments += ["--format", "json", *extra]
    ran = subprocess.run([str(a) for a in arguments], capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"{' '.join(map(str, arguments))}\n{ran.stderr}")
    coefficients = json.loads(ran.stdout)["coefficients"]
    b = np.zeros(x.shape[1])
    for name, value in coefficients.items():
        if name != "(Intercept)":
            b[int(name[1:])] = value
    return b, coefficients.get("(Intercept)", 0.0)


def lasso(x, y):
    """Without privacy and without a limit on the columns: logistic regression with an l1 penalty, scikit-learn's default strength."""
    model = LogisticRegression(penalty="l1", solver="liblinear").fit(x, y)
    return model.coef_[0], model.intercept_[0]


def methods(name, sparsity, delta):
    """Each with its flags."""
    few = ["--sparsity", sparsity]
    yield "scikit-learn, l1 penalty, not private", None
    yield "IHT, not private", ["--method", "iht", "--no-intercept", *few]
    yield "default, no noise", ["--epsilon", "inf", *few]
    for epsilon in EPSILONS:
        budget = ["--epsilon", epsilon, "--delta", delta]
        yield f"default, epsilon {epsilon}", [*few, *budget]
        if name == "rcv1":
            yield f"default, rows of length 1 declared, epsilon {epsilon}", [*few, "--row-norm", 1, *budget]
            yield f"default, rows of length 1 declared, no sparsity, epsilon {epsilon}", ["--row-norm", 1, *budget]
            yield f"dp-iht, epsilon {epsilon}", ["--method", "dp-iht", "--row-norm", 1, *few, *budget]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    options = parser.parse_args()
    if "DPGLM_DATA" not in os.environ:
        sys.exit("set DPGLM_DATA to the folder of the tables (see README.md here)")
    data = Path(os.environ["DPGLM_DATA"])
    command = os.environ.get("DPGLM", ROOT / "target/release/dpglm")
    path = HERE / "sparse.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    for name in options.tables:
        load, _, bounds, sparsity = TABLES[name]
        x, y = load(data)
        for seed in range(options.seeds):
            rng = np.random.default_rng(seed)
            order = rng.permutation(len(y))
            cut = len(y) * 4 // 5
            train, test = order[:cut], order[cut:]
            for method, extra in methods(name, sparsity, 1 / (10 * cut)):
                cell = results.setdefault(name, {}).setdefault(method, {})
                if str(seed) in cell:
                    continue
                if extra is None:
                    b, intercept = lasso(x[train], y[train])
                else:
                    with tempfile.TemporaryDirectory() as folder:
                        b, intercept = fit(command, Path(folder), x[train], y[train], bounds, extra)
                score = np.asarray(x[test] @ b, dtype=float).ravel() + intercept
                cell[str(seed)] = {"auc": auc(score, y[test]), "error": float(np.mean((score > 0) != y[test])), "columns": int((b != 0).sum())}
                path.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
            print(f"{name}: seed {seed + 1} of {options.seeds}", file=sys.stderr)
    report(results)


HEADER = """# Sparse models on real data

80% of the rows fitted, 20% scored; mean over random splits, standard error in brackets. delta is 1/(10 n). The number of columns asked
for was fixed beforehand; fewer are chosen where the budget tells fewer from noise. An AUC of 0.5 is a coin; the error is that of the sign of
the linear predictor. IHT has no intercept: compare it by its AUC.
*No noise*: `--epsilon inf`, the private algorithm without its noise. scikit-learn's penalty keeps as many columns as it likes. Made by
`DPGLM_DATA=... python benchmarks/real_data/sparse.py`.
"""


def report(results):
    lines = [HEADER]
    for name in (name for name in TABLES if name in results):
        _, title, _, sparsity = TABLES[name]
        lines += [f"## {title}, {sparsity} columns asked for", ""]
        lines += ["| method | AUC | error | columns kept | splits |", "| --- | --- | --- | --- | --- |"]
        for method, _ in methods(name, sparsity, None):
            cells = results[name].get(method, {})
            if not cells:
                continue
            values = [mean_and_error([c[key] for c in cells.values()], digits) for key, digits in SCORES]
            lines.append(f"| {method} | {' | '.join(values)} | {len(cells)} |")
        lines.append("")
    (ROOT / "docs/real-data-sparse.md").write_text("\n".join(lines))


SCORES = [("auc", 3), ("error", 3), ("columns", 1)]


def mean_and_error(values, digits):
    mean = f"{np.mean(values):.{digits}f}"
    if len(values) < 2:
        return mean
    return f"{mean} ({np.std(values, ddof=1) / np.sqrt(len(values)):.{digits}f})"


if __name__ == "__main__":
    main()
