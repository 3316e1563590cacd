"""What Python adds to a fit: the estimator from NumPy beside the same call in Rust, taken in turns.

    cargo build --release -p dpglm-workflow --example fit_in_memory
    python benchmarks/python/overhead.py target/release/examples/fit_in_memory [--rows 1000000] [--columns 50] [--runs 5]

Both encode the same matrix, fit the same model with the same seed and write the artefact; they must find the same coefficient.
"""

from __future__ import annotations

import argparse
import subprocess
import time

import numpy as np

import dpglm


def rows_like_rust(rows: int, columns: int) -> np.ndarray:
    """The generator of the Rust side, by leaps: state k is a^k + c (a^k - 1) / (a - 1) modulo 2^64."""
    a, c, count = np.uint64(6364136223846793005), np.uint64(1442695040888963407), rows * columns
    powers, sums = np.ones(1, dtype=np.uint64), np.zeros(1, dtype=np.uint64)
    power, total = a, np.uint64(1)
    with np.errstate(over="ignore"):
        while len(powers) < count + 1:
            powers, sums = np.concatenate([powers, powers * power]), np.concatenate([sums, sums * power + total])
            power, total = power * power, total * power + total
        states = powers[1 : count + 1] + c * sums[1 : count + 1]
    return (2.0 * ((states >> np.uint64(11)).astype(np.float64) * 2.0**-53) - 1.0).reshape(rows, columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rust")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    X = rows_like_rust(arguments.rows, arguments.columns)
    y = (X[:, 0] - X[:, 1] > 0).astype(np.int64)
    model = dpglm.PrivateLogisticRegression(epsilon=1.0, delta=1e-7, feature_bounds=(-1, 1), classes=[0, 1], insecure_seed=1)
    ours, theirs, encoding = [], [], []
    for _ in range(arguments.runs):
        shape = [str(arguments.rows), str(arguments.columns), "2"]
        lines = subprocess.run([arguments.rust, *shape], capture_output=True, text=True, check=True).stdout.split("\n")
        # The first run of a process also asks the system for its memory.
        seconds, encoded, coefficient, _ = map(float, lines[1].split())
        theirs.append(seconds)
        encoding.append(encoded)
        model.fit(X, y)
        started = time.perf_counter()
        model.fit(X, y)
        ours.append(time.perf_counter() - started)
        assert model.coef_[0, 0] == coefficient, (model.coef_[0, 0], coefficient)
    a, b = min(ours), min(theirs)
    print(f"n = {arguments.rows}, d = {arguments.columns}, {arguments.runs} runs of each in turns, fastest and median")
    print(f"Python  {a:.3f} s  {np.median(ours):.3f} s")
    print(f"Rust    {b:.3f} s  {np.median(theirs):.3f} s, of which encoding {np.median(encoding):.3f} s")
    print(f"overhead {100 * (a / b - 1):+.2f}% by fastest, {100 * (np.median(ours) / np.median(theirs) - 1):+.2f}% by medians")


if __name__ == "__main__":
    main()
