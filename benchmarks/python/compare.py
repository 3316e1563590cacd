"""dpglm beside diffprivlib and Opacus in one run: error, time and peak memory.

    python benchmarks/python/compare.py [--seeds N] [--methods dpglm,diffprivlib,opacus] [--settings logistic-40000-10,...]

The settings are those of `benchmarks/src/bin/accuracy.rs` and the Adult table (held-out log loss). Every method gets the same rows, the
same public bounds and the same budget, and runs in a process of its own. Memory is what a fit needs beyond the loaded rows, in another
process whose allocator gives freed memory back at once, so that earlier arrays do not hide it.

What differs: diffprivlib's guarantees are pure (it takes no delta) and for real numbers, not for the floating-point program; Opacus
protects the addition or removal of a row, which is weaker than replacement at the same epsilon, and its rows are taken by Poisson
sampling. Both get fixed, ordinary settings: no tuning on the rows, which would have to be paid for.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time
import warnings

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
SETTINGS = ["logistic-40000-10", "logistic-40000-20", "logistic-40000-40", "linear-20000-20", "mean-20000-20", "mean-100000-20", "adult"]
# glibc's malloc: arrays of more than 64 kilobytes get pages of their own, and free ones go back.
FRUGAL = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
METHODS = ["non-private", "dpglm", "diffprivlib", "opacus"]


class Problem:
    """Rows, public bounds, a budget, and how an estimate is judged."""

    def __init__(self, setting: str, seed: int) -> None:
        self.kind, *shape = setting.split("-")
        rng = np.random.default_rng(seed)
        if self.kind == "adult":
            self.adult(rng)
            return
        n, d = map(int, shape)
        self.epsilon, self.intercept = 0.5, False
        self.bounds, self.target = (-1.0, 1.0), (0.0, 1.0)
        if self.kind == "mean":
            self.truth = rng.uniform(-10, 10, d)
            self.X, self.y = self.truth + rng.standard_normal((n, d)), None
            self.bounds, self.delta = (-50.0, 50.0), 10 / n**1.1
            return
        direction = rng.standard_normal(d)
        self.truth = direction / np.linalg.norm(direction)
        self.X = rng.uniform(-1, 1, (n, d))
        if self.kind == "logistic":
            self.y = (rng.random(n) < 1 / (1 + np.exp(-self.X @ self.truth))).astype(np.int64)
            self.delta = 0.5 / n
        else:
            # The declared box of each feature is [-1/sqrt d, 1/sqrt d].
            self.X /= np.sqrt(d)
            self.bounds, self.target = (-1 / np.sqrt(d), 1 / np.sqrt(d)), (-5.0, 5.0)
            self.y = np.clip(self.X @ self.truth + rng.standard_normal(n), -5, 5)
            self.delta = 10 / n**1.1

    def adult(self, rng: np.random.Generator) -> None:
        """The example's table, scaled to [-1, 1] by its declared bounds; a fifth of the rows is held out."""
        root = HERE.parent.parent
        sys.path.insert(0, str(root / "crosscheck"))
        import encoding

        schema = encoding.read_schema(root / "examples/adult/schema.toml")
        table = encoding.encode(root / "examples/adult/adult.csv.xz", schema)
        X = (table.features - table.centre) / table.half_width
        order = rng.permutation(len(X))
        held, used = order[: len(X) // 5], order[len(X) // 5 :]
        self.X, self.y = np.ascontiguousarray(X[used]), table.response[used].astype(np.int64)
        self.held_X, self.held_y = X[held], table.response[held]
        self.bounds, self.target, self.epsilon, self.delta, self.intercept = (-1.0, 1.0), (0.0, 1.0), 1.0, 1e-6, True
        self.truth = None

    def error(self, slopes: np.ndarray, intercept: float) -> float:
        """Squared l2 distance from the truth (for means its root), or the log loss of held-out rows."""
        if self.kind == "adult":
            u = self.held_X @ slopes + intercept
            return float(np.mean(np.logaddexp(0, u) - self.held_y * u))
        square = float(np.sum((slopes - self.truth) ** 2))
        return np.sqrt(square) if self.kind == "mean" else square

    @property
    def norm(self) -> float:
        """The largest l2 norm of a row that the bounds allow."""
        return max(abs(b) for b in self.bounds) * np.sqrt(self.X.shape[1])


def by_nobody(p: Problem) -> tuple[np.ndarray, float]:
    """Without privacy: what is left is the sampling error."""
    if p.kind == "mean":
        return p.X.mean(axis=0), 0.0
    from sklearn.linear_model import LinearRegression, LogisticRegression

    model = LinearRegression(fit_intercept=p.intercept) if p.kind == "linear" else LogisticRegression(C=1e6, fit_intercept=p.intercept)
    model.fit(p.X, p.y)
    return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])


def by_dpglm(p: Problem) -> tuple[np.ndarray, float]:
    import dpglm

    budget = {"epsilon": p.epsilon, "delta": p.delta, "feature_bounds": p.bounds}
    if p.kind == "mean":
        return dpglm.PrivateMean(**budget).fit(p.X).means_, 0.0
    if p.kind == "linear":
        model = dpglm.PrivateLinearRegression(target_bounds=p.target, fit_intercept=p.intercept, **budget)
    else:
        model = dpglm.PrivateLogisticRegression(classes=[0, 1], fit_intercept=p.intercept, **budget)
    model.fit(p.X, p.y)
    return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])


def by_diffprivlib(p: Problem) -> tuple[np.ndarray, float]:
    from diffprivlib import models, tools

    if p.kind == "mean":
        return np.asarray(tools.mean(p.X, epsilon=p.epsilon, bounds=p.bounds, axis=0)), 0.0
    if p.kind == "linear":
        model = models.LinearRegression(epsilon=p.epsilon, bounds_X=p.bounds, bounds_y=p.target, fit_intercept=p.intercept)
    else:
        model = models.LogisticRegression(epsilon=p.epsilon, data_norm=p.norm, fit_intercept=p.intercept)
    model.fit(p.X, p.y)
    return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])


def by_opacus(p: Problem) -> tuple[np.ndarray, float]:
    """Noisy stochastic gradients: 20 passes, batches of 2% of the rows, clipped to norm 1."""
    if p.kind == "mean":
        raise NotImplementedError("Opacus trains models")
    import torch
    from opacus import PrivacyEngine

    torch.manual_seed(0)
    X, y = torch.tensor(p.X, dtype=torch.float32), torch.tensor(p.y, dtype=torch.float32)
    batch = max(64, len(X) // 50)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), batch_size=batch)
    model = torch.nn.Linear(X.shape[1], 1, bias=p.intercept)
    torch.nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0 if p.kind != "linear" else 0.5)
    loss = torch.nn.MSELoss() if p.kind == "linear" else torch.nn.BCEWithLogitsLoss()
    engine = PrivacyEngine(accountant="prv")
    model, optimizer, loader = engine.make_private_with_epsilon(
        module=model, optimizer=optimizer, data_loader=loader, target_epsilon=p.epsilon, target_delta=p.delta, epochs=20, max_grad_norm=1.0
    )
    for _ in range(20):
        for rows, response in loader:
            optimizer.zero_grad()
            loss(model(rows)[:, 0], response).backward()
            optimizer.step()
    inner = model._module
    bias = float(inner.bias.detach()[0]) if p.intercept else 0.0
    return inner.weight.detach().numpy()[0].astype(np.float64), bias


def memory(what: str) -> float:
    """Megabytes of this process, from the system's own count."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) / 1024
    return float("nan")


def worker(method: str, setting: str, seeds: int) -> None:
    """Fits one setting again and again, and prints what came out."""
    warnings.simplefilter("ignore")
    fit = {"non-private": by_nobody, "dpglm": by_dpglm, "diffprivlib": by_diffprivlib, "opacus": by_opacus}[method]
    small = Problem("mean-200-2" if setting.startswith("mean") else "logistic-200-2" if setting == "adult" else setting.split("-")[0] + "-200-2", 0)
    fit(small)  # Imports and first calls are not what is measured.
    errors, seconds, peaks = [], [], []
    for seed in range(seeds):
        problem = Problem(setting, seed)
        pathlib.Path("/proc/self/clear_refs").write_text("5")
        before, started = memory("VmRSS"), time.perf_counter()
        slopes, intercept = fit(problem)
        seconds.append(time.perf_counter() - started)
        peaks.append(memory("VmHWM") - before)
        errors.append(problem.error(slopes, intercept))
    print(json.dumps({"errors": errors, "seconds": seconds, "peaks": peaks, "rows": problem.X.nbytes / 2**20}))


def run_worker(method: str, setting: str, seeds: int, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, __file__, "--worker", method, setting, str(seeds)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--settings", default=",".join(SETTINGS))
    parser.add_argument("--worker", nargs=3)
    arguments = parser.parse_args()
    if arguments.worker:
        method, setting, seeds = arguments.worker
        return worker(method, setting, int(seeds))
    print("| setting | method | error (s.e.) | seconds | peak MB beyond the rows |\n| --- | --- | --- | --- | --- |")
    for setting in arguments.settings.split(","):
        for method in arguments.methods.split(","):
            done = run_worker(method, setting, arguments.seeds)
            if done.returncode != 0:
                reason = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "it said nothing"
                print(f"| {setting} | {method} | {reason} | | |", flush=True)
                continue
            found = json.loads(done.stdout.splitlines()[-1])
            peaks = json.loads(run_worker(method, setting, 3, **FRUGAL).stdout.splitlines()[-1])["peaks"]
            errors = np.array(found["errors"])
            spread = errors.std(ddof=1) / np.sqrt(len(errors)) if len(errors) > 1 else float("nan")
            print(
                f"| {setting} | {method} | {errors.mean():.5g} ({spread:.2g}) | {np.median(found['seconds']):.3f} | {np.median(peaks):.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
