"""What a process sees: imports with NumPy alone, Ctrl-C, other threads while a fit runs, notebooks."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import dpglm

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))


def python(code: str, *, wait: bool = True) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if wait:
        process.wait(timeout=120)
    return process


def test_numpy_alone_is_enough() -> None:
    process = python(
        """
        import sys
        for name in ["pandas", "scipy", "sklearn", "polars", "pyarrow", "tqdm", "joblib"]:
            sys.modules[name] = None
        import numpy as np, pickle, dpglm
        X = np.random.default_rng(0).uniform(-1, 1, (500, 2))
        model = dpglm.PrivateLogisticRegression(epsilon=1.0, delta=1e-6, feature_bounds=(-1, 1), classes=[0, 1])
        model.fit(X, (X[:, 0] > 0).astype(int)).predict(X)
        pickle.loads(pickle.dumps(model)).summary()
        try:
            dpglm.PrivateMean(epsilon=1.0, delta=1e-6, feature_bounds=(-1, 1))._artefact()
        except ValueError as error:
            assert "not fitted yet" in str(error)
        print("done")
        """
    )
    assert process.returncode == 0 and process.stdout.read() == "done\n", process.stderr.read()


def test_ctrl_c_ends_a_fit() -> None:
    process = python(
        """
        import numpy as np, dpglm, signal, time
        # A process that was started in the background is deaf to Ctrl-C.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        X = np.random.default_rng(0).uniform(-1, 1, (400_000, 30))
        y = (X[:, 0] > 0).astype(int)
        model = dpglm.PrivateLogisticRegression(epsilon=1.0, delta=1e-7, feature_bounds=(-1, 1), classes=[0, 1])
        print("ready", flush=True)
        try:
            while True:
                model.fit(X, y)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        # What was stopped releases nothing, and the process goes on.
        before = hasattr(model, "coef_")
        model.set_params(method="reference", epsilon=None, delta=None).fit(X[:1000], y[:1000])
        print("after", flush=True)
        """,
        wait=False,
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.0)
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n", process.stderr.read()
    assert time.monotonic() - started < 20
    assert process.stdout.readline() == "after\n", process.stderr.read()
    assert process.wait(timeout=60) == 0


def test_other_threads_run_while_a_model_is_fitted(rng: np.random.Generator) -> None:
    X = rng.uniform(-1, 1, (200_000, 20))
    y = (X[:, 0] > 0).astype(int)
    model = dpglm.PrivateLogisticRegression(epsilon=1.0, delta=1e-7, feature_bounds=(-1, 1), classes=[0, 1])
    turns, fitting = 0, threading.Event()

    def fit() -> None:
        model.fit(X, y)
        fitting.set()

    thread = threading.Thread(target=fit)
    thread.start()
    while not fitting.is_set():
        time.sleep(0.001)
        turns += 1
    thread.join()
    # With the interpreter held, this thread would get a handful of turns.
    assert turns > 20


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "notebooks are kept without outputs"
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    assert any(cell.get("outputs") for cell in notebook.cells)


def test_there_are_five_notebooks() -> None:
    assert len(NOTEBOOKS) == 5
