"""The tasks of the gauntlet, prepared once and kept.

`load(name)` gives a dict: `Z` (n x d, columns scaled to [-1, 1] by their public bounds, no constant column), `y` (0/1, a number, a count, or the
index of a class), `family`, `low` and `high` (public bounds of y), `names`, `bounds` (d x 2, in the columns' units), `classes`, `exposure` and
`exposure_bounds` (None where there is none), `about`.

Run as a program, it prepares every task: `python tasks.py --data DIR --cache DIR`.
"""

import argparse
import os
import pathlib

import numpy as np
from definitions import REGISTRY

TASKS = sorted(REGISTRY)
# The tasks of the leaderboards, whose bars the harness knows.
LEADERBOARD = "adult bank_marketing diabetes130 covtype german_credit heart_cleveland california insurance crime adult_hours covtype_elevation".split()


def cache_folder():
    return pathlib.Path(os.environ.get("DPGLM_GAUNTLET_CACHE", pathlib.Path.home() / ".cache" / "dpglm-gauntlet"))


def load(name, data=None, cache=None):
    """One task, from the cache if it is there, else from the data folder (`DPGLM_DATA`)."""
    path = pathlib.Path(cache or cache_folder()) / f"{name}.npz"
    if not path.exists():
        data = data or os.environ.get("DPGLM_DATA")
        if not data:
            raise SystemExit(f"{path} is not there; name the folder of the tables: --data DIR or DPGLM_DATA")
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial.npz")
        np.savez(partial, **prepare(name, data))
        partial.rename(path)
    with np.load(path, allow_pickle=False) as kept:
        task = {key: kept[key] for key in kept.files}
    for key in ("family", "about", "name"):
        task[key] = str(task[key])
    for key in ("low", "high"):
        task[key] = float(task[key])
    task["names"], task["classes"] = task["names"].tolist(), task["classes"].tolist()
    for key in ("exposure", "exposure_bounds"):
        task.setdefault(key, None)
    return task


def prepare(name, data):
    """What is kept of a task."""
    family, function = REGISTRY[name]
    declared = function(data)
    names, cells, low, high = zip(*declared.columns)
    low, high = np.array(low, dtype=float), np.array(high, dtype=float)
    Z = np.column_stack(cells)
    Z -= low
    Z *= 2
    Z /= high - low
    Z -= 1
    assert np.isfinite(Z).all() and np.abs(Z).max() <= 1 and np.isfinite(declared.target).all(), name
    assert len(set(names)) == len(names) and len(declared.target) == len(Z), name
    kept = dict(Z=Z, y=declared.target, family=family, low=declared.low, high=declared.high, names=np.array(names), bounds=np.c_[low, high])
    kept |= dict(classes=np.array(declared.classes, dtype=str), about=function.__doc__.strip().splitlines()[0], name=name)
    if declared.exposure is not None:
        kept |= dict(exposure=declared.exposure, exposure_bounds=np.array(declared.exposure_bounds))
    return kept


def half(task, repetition):
    """Rows to fit and rows to score."""
    n = len(task["y"])
    order = np.random.default_rng(1000 + repetition).permutation(n)
    return order[: n // 2], order[n // 2 :]


def in_units(task, rows=slice(None)):
    """The columns in their own units, as a user has them."""
    low, high = task["bounds"].T
    return np.clip(low + (task["Z"][rows] + 1) / 2 * (high - low), low, high)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the tables (default: DPGLM_DATA)")
    parser.add_argument("--cache", help="folder of the prepared tasks (default: DPGLM_GAUNTLET_CACHE)")
    arguments = parser.parse_args()
    for name in TASKS:
        task = load(name, arguments.data, arguments.cache)
        n, d = task["Z"].shape
        print(f"{name:24} {task['family']:12} {n:7} x {d:3}  y {task['low']:g}..{task['high']:g}  mean {task['y'].mean():.4g}", flush=True)


if __name__ == "__main__":
    main()
