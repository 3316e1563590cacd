"""The fused pass over sparse rows beside SciPy's two sparse products (X @ b, X.T @ r), in one run.

Usage: python crosscheck/kernel_scipy.py [rounds]

One matrix has the shape of the RCV1 text data and is the one of the benchmark `fused_sparse`. Where the variable DPGLM_DATA
names the directory of the data, the text itself is the other, and the benchmark reads it. SciPy and the benchmark run in
turn, a few rounds of each; the fastest time of either counts.
"""

import bz2
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy import sparse

ROWS, COLUMNS, DRAWS = 23_749, 47_236, 90
ROOT = Path(__file__).resolve().parent.parent
UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "ns": 1e-9}
PRECISIONS = {"Double": np.float64, "Single": np.float32}


def matrix():
    """Rows of about 75 entries in columns frequent in proportion to one over their number."""
    state, mask = 1, (1 << 64) - 1
    draws = np.empty(ROWS * DRAWS)
    for k in range(draws.size):
        state = (state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) & mask
        draws[k] = (state >> 40) / (1 << 24)
    columns = (COLUMNS**draws).astype(np.int64) - 1
    rows = [np.unique(row) for row in columns.reshape(ROWS, DRAWS)]
    offsets = np.concatenate([[0], np.cumsum([row.size for row in rows])])
    indices = np.concatenate(rows).astype(np.int32)
    values = np.arange(indices.size) * 7_919 % 1_009 / 504.5 - 1.0
    return sparse.csr_matrix((values, indices, offsets.astype(np.int32)), shape=(ROWS, COLUMNS))


def text(path):
    """The rows of a LIBSVM file, without its labels."""
    columns, values, offsets = [], [], [0]
    with bz2.open(path, "rt") as lines:
        for line in lines:
            pairs = [pair.split(":") for pair in line.split()[1:]]
            columns += [int(column) - 1 for column, _ in pairs]
            values += [float(value) for _, value in pairs]
            offsets.append(len(columns))
    entries = np.array(values), np.array(columns, np.int32), np.array(offsets, np.int32)
    return sparse.csr_matrix(entries, shape=(len(offsets) - 1, COLUMNS))


def scipy_seconds(x):
    """Fastest of 50 gradients: two passes over the matrix."""
    transposed, y = x.T, (np.arange(x.shape[0]) % 2).astype(x.dtype)
    b = (np.arange(COLUMNS) * 7_919 % 1_009 / 504.5 - 1.0).astype(x.dtype)
    best = float("inf")
    for _ in range(50):
        start = time.perf_counter()
        residual = 1.0 / (1.0 + np.exp(-(x @ b))) - y
        transposed @ residual
        best = min(best, time.perf_counter() - start)
    return best


def rust_seconds(variables):
    """Fastest sample of the benchmark, by precision."""
    output = subprocess.run(
        ["cargo", "bench", "--bench", "kernels", "--", "fused_sparse"],
        cwd=ROOT / "benchmarks",
        env=os.environ | variables,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = re.findall(r"(Double|Single)\s+([\d.]+) (\w+)", output)
    return {precision: float(number) * UNITS[unit] for precision, number, unit in found}


def compare(name, x, rounds, variables):
    best = {}
    for _ in range(rounds):
        times = {("fused", p): t for p, t in rust_seconds(variables).items()}
        times.update({("scipy", p): scipy_seconds(x.astype(t)) for p, t in PRECISIONS.items()})
        for key, seconds in times.items():
            best[key] = min(seconds, best.get(key, float("inf")))
    print(f"{name}: {x.shape[0]} x {x.shape[1]}, {x.nnz} entries, fastest of {rounds} rounds")
    for precision in PRECISIONS:
        fused, peer = best["fused", precision], best["scipy", precision]
        print(f"{precision:8} fused {1e3 * fused:6.2f} ms  SciPy {1e3 * peer:6.2f} ms  SciPy/fused {peer / fused:5.2f}")


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    compare("simulated", matrix(), rounds, {})
    data = os.environ.get("DPGLM_DATA")
    if data is None:
        return
    x = text(Path(data) / "rcv1_binary_subset" / "rcv1_subset.binary.bz2")
    with tempfile.TemporaryDirectory() as directory:
        arrays = {"offsets": x.indptr.astype("<u8"), "indices": x.indices.astype("<u4"), "values": x.data.astype("<f8")}
        for name, array in arrays.items():
            array.tofile(Path(directory) / name)
        compare("RCV1", x, rounds, {"DPGLM_SPARSE": directory})


if __name__ == "__main__":
    main()
