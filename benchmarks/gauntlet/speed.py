"""A logistic fit of a million rows and fifty columns in memory, in turns with scikit-learn's lbfgs (not private).

In a process of its own: here NumPy and scikit-learn use all cores.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

ROWS, COLUMNS, TURNS = 1_000_000, 50, 5


def measure(subject, library, work, store):
    if store.get("speed", ()):
        return
    free = {name: value for name, value in os.environ.items() if name not in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
    ran = subprocess.run([sys.executable, __file__, str(library), str(work)], check=True, stdout=subprocess.PIPE, text=True, env=free)
    store.put("speed", (), **json.loads(ran.stdout))


def main(library, work):
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    from subject import Subject

    subject = Subject(library, work)
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (ROWS, COLUMNS))
    slopes = rng.normal(size=COLUMNS)
    y = (rng.random(ROWS) < 1 / (1 + np.exp(-X @ (slopes / np.linalg.norm(slopes))))).astype(float)
    times = dict(private=[], intervals=[], lbfgs=[])
    for turn in range(TURNS):
        for what, level in (("private", None), ("intervals", 0.95)):
            started = time.perf_counter()
            subject.fit_arrays(X, y, epsilon=1.0, delta=1e-7, seed=turn, intervals=level)
            times[what].append(time.perf_counter() - started)
        started = time.perf_counter()
        LogisticRegression(C=np.inf, tol=1e-6, max_iter=1000).fit(X, y)
        times["lbfgs"].append(time.perf_counter() - started)
    print(json.dumps({what: [round(second, 3) for second in seconds] for what, seconds in times.items()} | dict(load=os.getloadavg()[0])))


if __name__ == "__main__":
    main(*sys.argv[1:])
