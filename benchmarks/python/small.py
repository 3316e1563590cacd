"""A whole fit of a small table, artefact included, in turns with diffprivlib's: there planning and Python count.

    python benchmarks/python/small.py [--rows 40000] [--columns 10] [--turns 30]
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from diffprivlib.models import LogisticRegression

import dpglm


def seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--turns", type=int, default=30)
    arguments = parser.parse_args()
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (arguments.rows, arguments.columns))
    y = (rng.random(arguments.rows) < 1 / (1 + np.exp(-X @ rng.normal(size=arguments.columns)))).astype(int)

    def ours(intervals=None):
        model = dpglm.PrivateLogisticRegression(epsilon=1.0, delta=1e-6, feature_bounds=(-1, 1), classes=[0, 1], intervals=intervals)
        return model.fit(X, y).artefact_

    def theirs():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return LogisticRegression(epsilon=1.0, data_norm=arguments.columns**0.5).fit(X, y)

    works = {"dpglm": ours, "dpglm with intervals": lambda: ours(0.95), "diffprivlib": theirs}
    times = {name: [] for name in works}
    for _ in range(arguments.turns):
        for name, work in works.items():
            times[name].append(seconds(work))
    peer = np.median(times["diffprivlib"])
    for name, found in times.items():
        print(f"{name:22} median {1e3 * np.median(found):6.1f} ms, best {1e3 * min(found):6.1f} ms, {np.median(found) / peer:.2f} times diffprivlib")


if __name__ == "__main__":
    main()
