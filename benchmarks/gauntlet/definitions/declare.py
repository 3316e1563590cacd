"""How a task is declared: a table, its target, and public facts about its columns.

A task is a function of the data folder, registered by `@task(family)`. Numbers have bounds that someone who knows the field would state
before seeing the rows: round, from documentation or law where there is one. Levels are listed, the reference first. Cells follow one public
rule: a number outside its bounds is clamped, one that is missing becomes the middle of the bounds, an undeclared level is the reference.
"""

import pathlib
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

REGISTRY = {}
FAMILIES = ("logistic", "gaussian", "poisson", "multinomial", "gamma", "tweedie")


@dataclass
class Declared:
    """One task: rows in the units of the columns, and what is public about them."""

    columns: list  # of (name, cells, low, high)
    target: np.ndarray  # 0/1, a number, a count, or the index of a class
    low: float
    high: float
    exposure: np.ndarray | None = None
    exposure_bounds: tuple | None = None
    classes: list = field(default_factory=list)


def task(family):
    assert family in FAMILIES

    def register(function):
        REGISTRY[function.__name__] = (family, function)
        return function

    return register


def read(data, path, **options):
    return pd.read_csv(pathlib.Path(data) / path, low_memory=False, **options)


def text(data, path, **options):
    """Every cell as it is written: "?" and "NA" are levels like any other."""
    return pd.read_csv(pathlib.Path(data) / path, dtype=str, keep_default_na=False, **options)


def r_table(data, name):
    return read(data, f"r_datasets/{name}.csv.gz")


def columns(frame, numbers=None, levels=None):
    """Numbers with bounds, then an indicator for each level but the first.

    Levels are a list, or one string with spaces between; levels joined by "/" (in a list: a tuple) share an indicator.
    """
    made = []
    for name, (low, high) in (numbers or {}).items():
        cells = pd.to_numeric(frame[name], errors="coerce").to_numpy(float)
        made.append((name, np.where(np.isnan(cells), (low + high) / 2, np.clip(cells, low, high)), low, high))
    for name, listed in (levels or {}).items():
        listed = [tuple(level.split("/")) for level in listed.split()] if isinstance(listed, str) else listed
        cells = _as_text(frame[name])
        for level in listed[1:]:
            level = level if isinstance(level, tuple) else (level,)
            made.append((f"{name}={'/'.join(level)}", cells.isin(level).to_numpy(float), 0.0, 1.0))
    return made


def _as_text(column):
    """Whole numbers without their ".0", so that a level reads the same whether or not its column has gaps."""
    if column.dtype.kind == "f" and (column.dropna() % 1 == 0).all():
        return column.astype("Int64").astype(str)
    return column.astype(str).str.strip()


def index_of(column, classes):
    """The number of each row's class; classes as in `columns`. A row without a class has to be left out first."""
    listed = [tuple(c.split("/")) for c in classes.split()] if isinstance(classes, str) else [(c,) if isinstance(c, str) else c for c in classes]
    place = {level: k for k, group in enumerate(listed) for level in group}
    return _as_text(column).map(place).to_numpy(float), ["/".join(group) for group in listed]


def binary(made, target):
    return Declared(made, np.asarray(target, dtype=float), 0.0, 1.0, classes=["0", "1"])


def number(made, target, low, high):
    return Declared(made, np.clip(np.asarray(target, dtype=float), low, high), float(low), float(high))


def count(made, target, high, exposure=None, exposure_bounds=None):
    if exposure is not None:
        exposure = np.clip(np.asarray(exposure, dtype=float), *exposure_bounds)
    return Declared(made, np.clip(np.asarray(target, dtype=float), 0, high), 0.0, float(high), exposure, exposure_bounds)


def amount(made, target, low, high, exposure=None, exposure_bounds=None):
    """An amount: above 0 of a gamma task, where `low` is above 0; with zeros of a Tweedie one."""
    if exposure is not None:
        exposure = np.clip(np.asarray(exposure, dtype=float), *exposure_bounds)
    return Declared(made, np.clip(np.asarray(target, dtype=float), low, high), float(low), float(high), exposure, exposure_bounds)


def category(made, column, classes):
    target, names = index_of(column, classes)
    return Declared(made, target, 0.0, float(len(names) - 1), classes=names)
