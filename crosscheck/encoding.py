"""A table under a schema as NumPy arrays: the rules of `dpglm-io`, written a second time in Python.

Covers what the schemas of this repository use (text files with a header line): fill values, clamping to the bounds, levels with several spellings, undeclared
levels as the reference, `missing = "drop"`, exposures and units. Features stay in the user's units; `centre` and `half_width` give
the scaling by the declared bounds that dpglm fits in, under which a ridge penalty is meant.
"""

import bz2
import csv
import dataclasses
import gzip
import lzma
import math
import pathlib
import tomllib

import numpy

# The marks of a missing cell when the schema lists none.
MISSING = {"", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "."}

OPENERS = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}


@dataclasses.dataclass
class Encoded:
    """One row a person (or encounter), one column a coefficient, without the column of ones."""

    names: list[str]
    features: numpy.ndarray
    centre: numpy.ndarray
    half_width: numpy.ndarray
    # Largest l2 norm that a scaled row can have by the declarations alone: at most one indicator of a category is 1.
    norm_bound: float
    response: numpy.ndarray
    exposure: numpy.ndarray | None
    unit: numpy.ndarray | None
    # False for a row of weight zero (`missing = "drop"`).
    counts: numpy.ndarray

    @property
    def scaled(self):
        """The features as dpglm stores them."""
        return (self.features - self.centre) / self.half_width


def read_schema(path, target=None):
    """The schema as a dictionary, perhaps with another target."""
    schema = tomllib.loads(pathlib.Path(path).read_text())
    return schema | ({"target": target} if target else {})


def read_columns(path, schema):
    """The trimmed cells of every column that is not ignored, by name."""
    path = pathlib.Path(path)
    with OPENERS.get(path.suffix, open)(path, "rt", newline="") as file:
        rows = filter(None, csv.reader(file))
        names = [name.strip() for name in next(rows)]
        wanted = [(i, []) for i, name in enumerate(names) if name == schema.get("unit") or schema["columns"][name]["kind"] != "ignore"]
        for row in rows:
            for i, cells in wanted:
                cells.append(row[i].strip())
    return {names[i]: cells for i, cells in wanted}


def encode(path, schema, intercept=True):
    """The file's rows by the schema's public rules."""
    cells = read_columns(path, schema)
    rows = len(next(iter(cells.values())))
    target, exposure, unit = schema.get("target"), schema.get("exposure"), schema.get("unit")
    marks = set(schema.get("missing_values", MISSING))
    counts = numpy.ones(rows, dtype=bool)
    columns, square_norm = [], 0.0
    taken = {target: None, exposure: None}
    for name, column in schema["columns"].items():
        if column["kind"] == "ignore" or name == unit:
            continue
        if column["kind"] in ("real", "count"):
            values, missing = _numbers(cells[name], column)
            bounds = column["bounds"]
        else:
            values, missing = _levels(cells[name], column, marks, name == target, schema.get("undeclared", "reference"))
            bounds = (0.0, 1.0)
        if schema.get("missing") == "drop":
            counts &= ~missing
        if name in taken:
            taken[name] = values
        elif column["kind"] == "category":
            spellings = _spellings(column)
            reference = _find(column, column.get("reference", spellings[0][0]))
            for level, spelled in enumerate(spellings):
                if level != reference:
                    columns.append((f"{name}={spelled[0]}", (values == level).astype(float), 0.0, 1.0))
            square_norm += 1.0
        else:
            columns.append((_name(name, column), values, *_scaling(bounds, intercept)))
            square_norm += 1.0
    return Encoded(
        names=[column[0] for column in columns],
        features=numpy.array([column[1] for column in columns]).T.reshape(rows, len(columns)),
        centre=numpy.array([column[2] for column in columns]),
        half_width=numpy.array([column[3] for column in columns]),
        norm_bound=math.sqrt(square_norm),
        response=taken[target],
        exposure=taken[exposure] if exposure else None,
        unit=numpy.array(cells[unit]) if unit else None,
        counts=counts,
    )


def _scaling(bounds, intercept):
    """To [-1, 1]; without an intercept the user's zero must stay zero."""
    lower, upper = bounds
    return ((lower + upper) / 2, (upper - lower) / 2) if intercept else (0.0, max(abs(lower), abs(upper)))


def _number(text):
    try:
        return float(text)
    except ValueError:
        return math.nan


def _numbers(texts, column):
    values = numpy.array([_number(text) for text in texts])
    missing = ~numpy.isfinite(values)
    lower, upper = column["bounds"]
    middle = (lower + upper) / 2
    whole = column["kind"] == "count"
    values[missing] = float(column.get("fill", math.floor(middle) if whole else middle))
    if whole:
        # Halves away from zero; a count is never negative after clamping.
        values = numpy.floor(values + 0.5)
    return numpy.clip(values, lower, upper), missing


def _spellings(column):
    levels = column.get("levels", ["0", "1"])
    return [[str(s).strip() for s in (level if isinstance(level, list) else [level])] for level in levels]


def _find(column, spelling):
    return next(i for i, spelled in enumerate(_spellings(column)) if str(spelling).strip() in spelled)


def _levels(texts, column, marks, is_target, undeclared):
    known = {text: i for i, spelled in enumerate(_spellings(column)) for text in spelled}
    reference = _find(column, column.get("reference", _spellings(column)[0][0]))
    fill = _find(column, column["fill"]) if "fill" in column else reference
    counts_as_missing = is_target or undeclared == "missing"
    values = numpy.empty(len(texts))
    missing = numpy.zeros(len(texts), dtype=bool)
    for i, text in enumerate(texts):
        if text in known:
            values[i] = known[text]
        elif text in marks or counts_as_missing:
            values[i], missing[i] = fill, True
        else:
            values[i] = reference
    return values, missing


def _name(name, column):
    """A binary column is called by the level that counts as 1, unless that says nothing."""
    if column["kind"] != "binary":
        return name
    one = _spellings(column)[1][0]
    return name if one in ("1", "true") else f"{name}={one}"
