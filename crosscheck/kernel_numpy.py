"""The fused pass beside NumPy's two matrix-vector products (X @ b, X.T @ r), in one run.

Usage: python crosscheck/kernel_numpy.py [rounds]

NumPy and the benchmark `kernels` run in turn, a few rounds of each; the fastest time of either counts, so that
whatever else the machine does weighs on both alike. Prints the read bandwidth measured beside them as well.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROWS, COLUMNS = 40_000, 1_000
ROOT = Path(__file__).resolve().parent.parent
UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "ns": 1e-9}
PRECISIONS = {"Double": np.float64, "Single": np.float32}


def numpy_seconds(precision):
    """Fastest of 20 gradients: two passes over the matrix."""
    entries = np.arange(ROWS * COLUMNS, dtype=np.int64) * 7_919 % 1_009
    x = (entries / 504.5 - 1.0).astype(precision).reshape(ROWS, COLUMNS)
    b = np.full(COLUMNS, 1e-3, dtype=precision)
    y = (np.arange(ROWS) % 2).astype(precision)
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        residual = 1.0 / (1.0 + np.exp(-(x @ b))) - y
        x.T @ residual
        best = min(best, time.perf_counter() - start)
    return best


def rust_seconds():
    """Fastest sample of each benchmark at this shape, by name and precision."""
    output = subprocess.run(
        ["cargo", "bench", "--bench", "kernels", "--", "a_read", "fused_logistic"],
        cwd=ROOT / "benchmarks",
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found, name = {}, None
    for line in output.splitlines():
        if match := re.search(r"─ (a_read|fused_logistic)\b", line):
            name = match[1]
        match = re.search(rf"\((Double|Single), {ROWS}, {COLUMNS}\)\s+([\d.]+) (\w+)", line)
        if match:
            found[name, match[1]] = float(match[2]) * UNITS[match[3]]
    return found


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    best = {}
    for _ in range(rounds):
        times = rust_seconds()
        times.update({("numpy", p): numpy_seconds(t) for p, t in PRECISIONS.items()})
        for key, seconds in times.items():
            best[key] = min(seconds, best.get(key, float("inf")))
    print(f"{ROWS} x {COLUMNS}, fastest of {rounds} rounds")
    print(f"{'':8}{'read':>12}{'fused':>12}{'NumPy':>12}{'of read':>10}{'NumPy/fused':>14}")
    for precision, dtype in PRECISIONS.items():
        size = ROWS * COLUMNS * np.dtype(dtype).itemsize
        read, fused, peer = (best[name, precision] for name in ("a_read", "fused_logistic", "numpy"))
        row = "".join(f"{1e3 * t:7.2f} ms  " for t in (read, fused, peer))
        print(f"{precision:8}{row}{read / fused:8.0%}{peer / fused:12.2f}   read {size / read / 1e9:.1f} GB/s")


if __name__ == "__main__":
    main()
