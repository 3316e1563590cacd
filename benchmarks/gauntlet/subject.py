"""dpglm as a user has it: a data frame under a schema, as `dpglm fit FILE --schema` reads it, without the file.

The library is the shared object that `cargo build --release -p dpglm-py` makes, beside the Python sources of the same checkout. Both are copied
to a folder named by the object's hash, so that a build in the meantime changes nothing.
"""

import hashlib
import importlib
import json
import pathlib
import shutil
import sys
import warnings
import zlib
from dataclasses import dataclass

import numpy as np
import pandas as pd
from tasks import in_units

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET, EXPOSURE = "(target)", "(exposure)"


@dataclass
class Coefficients:
    """What an artefact says of each coefficient, in its order: the intercept first, for several classes one block after the other."""

    names: list
    estimate: np.ndarray
    error: np.ndarray | None = None
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    determined: np.ndarray | None = None


class Subject:
    def __init__(self, library, work):
        library = pathlib.Path(library)
        self.hash = hashlib.sha256(library.read_bytes()).hexdigest()[:16]
        place = pathlib.Path(work) / "libraries" / self.hash
        if not place.exists():
            partial = place.with_suffix(".partial")
            shutil.rmtree(partial, ignore_errors=True)
            shutil.copytree(ROOT / "python" / "src" / "dpglm", partial / "dpglm", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
            shutil.copy(library, partial / "dpglm" / "_native.abi3.so")
            partial.rename(place)
        sys.path.insert(0, str(place))
        self._dpglm = importlib.import_module("dpglm")
        assert str(place) in self._dpglm.__file__, "another dpglm was imported before"
        self.version = self._dpglm.__version__

    def fit(self, family, frame, schema, epsilon, delta, seed, intervals=None, **wishes):
        """A fitted model, or the words of a refusal."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                schema = self._dpglm.Schema(toml(schema))
                wishes |= dict(family=family, epsilon=epsilon, delta=delta, insecure_seed=seed, intervals=intervals)
                return self._dpglm.fit_table(frame, schema, **wishes)
            except ValueError as error:
                return str(error)

    def fit_arrays(self, X, y, epsilon, delta, seed, intervals=None):
        """A logistic model of columns within [-1, 1], straight from arrays."""
        model = self._dpglm.PrivateLogisticRegression(
            epsilon=epsilon, delta=delta, feature_bounds=(-1, 1), classes=[0, 1], insecure_seed=seed, intervals=intervals
        )
        return model.fit(X, y)

    @staticmethod
    def predict(model, frame):
        """Means; for classes one column of probabilities each."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(model.predict(frame.drop(columns=TARGET)))


def seed_of(*what):
    """A seed for one repetition, the same in every run."""
    return zlib.crc32(" ".join(map(str, what)).encode())


# --- A task as a frame and its schema ---------------------------------------------------------------------------------


def frame_of(task, rows):
    """Numbers in their units, categories as the number of their level (0: the reference)."""
    X, made = in_units(task, rows), {}
    for name, places in _grouped(task["names"]).items():
        made[name] = X[:, places[0]] if task["names"][places[0]] == name else X[:, places] @ np.arange(1.0, len(places) + 1)
    made[TARGET] = task["y"][rows]
    if task["exposure"] is not None:
        made[EXPOSURE] = task["exposure"][rows]
    return pd.DataFrame(made)


def schema_of(task):
    """What is public of a task. Columns keep the order of the task's names."""
    declared = {}
    for name, places in _grouped(task["names"]).items():
        number = task["names"][places[0]] == name
        declared[name] = _numeric("real", *task["bounds"][places[0]]) if number else _levels(len(places) + 1)
    if task["family"] in ("logistic", "multinomial"):
        declared[TARGET] = _levels(len(task["classes"]))
    else:
        declared[TARGET] = _numeric("count" if task["family"] == "poisson" else "real", task["low"], task["high"])
    schema = {"target": TARGET}
    if task["exposure"] is not None:
        schema["exposure"] = EXPOSURE
        declared[EXPOSURE] = _numeric("real", *task["exposure_bounds"])
    return schema | {"columns": declared}


def _grouped(names):
    """Columns with the places of their encoded columns."""
    groups = {}
    for place, name in enumerate(names):
        groups.setdefault(name.split("=", 1)[0], []).append(place)
    return groups


def _numeric(kind, low, high):
    return {"kind": kind, "bounds": [float(low), float(high)]}


def _levels(count):
    return {"kind": "binary" if count == 2 else "category", "levels": list(range(count))}


def toml(schema):
    """The schema as the file that a user writes."""
    lines = [f"{key} = {json.dumps(value)}" for key, value in schema.items() if key != "columns"]
    lines.append("[columns]")
    for name, facts in schema["columns"].items():
        lines.append(f"{json.dumps(name)} = {{ {', '.join(f'{key} = {json.dumps(value)}' for key, value in facts.items())} }}")
    return "\n".join(lines)


# --- What an artefact says --------------------------------------------------------------------------------------------


def coefficients(model):
    """Estimates, standard errors and intervals; where prediction uses a shrunk version, the estimates that intervals belong to.

    A coefficient is determined unless the artefact says otherwise; without an interval anything may be true.
    """
    document = json.loads(model.artefact)
    blocks = _flat(document.get("estimates") or document["coefficients"])
    errors, determined = _flat(document.get("standard_errors") or {}), _flat(document.get("determined") or {})
    names, estimate = list(blocks), np.array(list(blocks.values()), dtype=float)
    if not errors and not determined:
        return Coefficients(names, estimate)
    intervals, unknown = _flat(document.get("intervals") or {}), (-np.inf, np.inf)
    low, high = np.array([intervals.get(name) or unknown for name in names], dtype=float).T
    error = np.array([errors.get(name, np.nan) for name in names], dtype=float)
    return Coefficients(names, estimate, error, low, high, np.array([determined.get(name, True) is not False for name in names]))


def _flat(table):
    """One level: blocks of classes are joined, their entries named by both."""
    flat = {}
    for name, entry in table.items():
        if isinstance(entry, dict):
            flat |= {f"{name}: {inner}": value for inner, value in entry.items()}
        else:
            flat[name] = entry
    return flat
