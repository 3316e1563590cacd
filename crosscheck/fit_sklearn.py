"""A whole logistic fit of a million rows and fifty columns: the command beside scikit-learn's lbfgs (not private), one run.

    .venv/bin/python crosscheck/fit_sklearn.py target/release/dpglm
"""

import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from sklearn.linear_model import LogisticRegression

N, D = 1_000_000, 50

MEASURE = """
import resource, subprocess, sys, time
start = time.perf_counter()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


def main(command: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, (N, D))
    beta = rng.normal(size=D)
    beta /= np.linalg.norm(beta)
    y = (rng.random(N) < 1 / (1 + np.exp(-x @ beta))).astype(float)
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("x.npy", "y.npy")]
        np.save(paths[0], x)
        np.save(paths[1], y)
        arguments = [command, "fit", "--design", paths[0], "--response", paths[1], "--family", "logistic", "--binary"]
        arguments += ["--feature-bounds=-1,1", "--no-intercept", "--epsilon", "0.5", "--delta", "1e-7", "--format", "json"]
        # From a small process of its own: a child's peak counts what its parent held when it was started.
        ran = subprocess.run([sys.executable, "-c", MEASURE, *arguments], check=True, capture_output=True, text=True)
    ours, peak = map(float, ran.stdout.split())
    start = time.perf_counter()
    LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-6).fit(x, y)
    theirs = time.perf_counter() - start
    print(f"dpglm, files read, private: {ours:.2f} s; scikit-learn lbfgs from memory: {theirs:.2f} s; ratio {theirs / ours:.2f}")
    print(f"dpglm's peak memory: {peak / x.nbytes:.3f} of the stored design")


if __name__ == "__main__":
    main(sys.argv[1])
