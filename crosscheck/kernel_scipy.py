"""The fused pass over sparse rows beside SciPy's two sparse products (X @ b, X.T @ r), in one run.

Usage: python crosscheck/kernel_scipy.py [rounds]

The matrix has the shape of the RCV1 text data and is the one of the benchmark `fused_sparse`. SciPy and the benchmark run
in turn, a few rounds of each; the fastest time of either counts.
"""

import re
import subprocess
import sys
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


def scipy_seconds(x):
    """Fastest of 50 gradients: two passes over the matrix."""
    transposed, y = x.T, (np.arange(ROWS) % 2).astype(x.dtype)
    b = (np.arange(COLUMNS) * 7_919 % 1_009 / 504.5 - 1.0).astype(x.dtype)
    best = float("inf")
    for _ in range(50):
        start = time.perf_counter()
        residual = 1.0 / (1.0 + np.exp(-(x @ b))) - y
        transposed @ residual
        best = min(best, time.perf_counter() - start)
    return best


def rust_seconds():
    """Fastest sample of the benchmark, by precision."""
    output = subprocess.run(
        ["cargo", "bench", "--bench", "kernels", "--", "fused_sparse"],
        cwd=ROOT / "benchmarks",
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = re.findall(r"(Double|Single)\s+([\d.]+) (\w+)", output)
    return {precision: float(number) * UNITS[unit] for precision, number, unit in found}


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    x = matrix()
    best = {}
    for _ in range(rounds):
        times = {("fused", p): t for p, t in rust_seconds().items()}
        times.update({("scipy", p): scipy_seconds(x.astype(t)) for p, t in PRECISIONS.items()})
        for key, seconds in times.items():
            best[key] = min(seconds, best.get(key, float("inf")))
    print(f"{ROWS} x {COLUMNS}, {x.nnz} entries, fastest of {rounds} rounds")
    for precision in PRECISIONS:
        fused, peer = best["fused", precision], best["scipy", precision]
        print(f"{precision:8} fused {1e3 * fused:6.2f} ms  SciPy {1e3 * peer:6.2f} ms  SciPy/fused {peer / fused:5.2f}")


if __name__ == "__main__":
    main()
