"""The five tables as CSV lines with a header, and their public splits into rows to fit and rows to score."""

import dataclasses
import functools
import gzip
import lzma
import pathlib
import sys
import tempfile

import numpy

HERE = pathlib.Path(__file__).resolve().parent
# The encoder is the one that the cross-checks hold against the command, to a relative 1e-6.
sys.path.insert(0, str(HERE.parent.parent / "crosscheck"))

import encoding  # noqa: E402

TEST_SHARE = 0.2


@dataclasses.dataclass(frozen=True)
class Source:
    """A table: which model it is for and how its files become CSV lines."""

    title: str
    family: str
    read: object
    # Text of the target, for the page.
    explains: str

    @property
    def peer(self):
        """True if diffprivlib has a model of this family."""
        return self.family in ("logistic", "gaussian")


def _lines(path):
    opener = {".xz": lzma.open, ".gz": gzip.open}.get(path.suffix, open)
    with opener(path, "rt") as file:
        return [line.rstrip("\r\n") for line in file if line.strip()]


def _adult(folder):
    """Both published parts; the second starts with a comment and ends its labels with a full stop."""
    rows = _lines(folder / "adult/adult.data") + [line.rstrip(".") for line in _lines(folder / "adult/adult.test")[1:]]
    return [",".join(_declared("adult")), *(row.replace(", ", ",") for row in rows)]


def _german(folder):
    return [",".join(_declared("german_credit")), *(",".join(row.split()) for row in _lines(folder / "german_credit/german.data"))]


def _declared(name):
    """Names of a file without a header line: the schema declares its columns in the file's order."""
    return encoding.read_schema(schema_of(name))["columns"]


SOURCES = {
    "adult": Source("Adult", "logistic", _adult, "income above 50,000 dollars"),
    "german_credit": Source("German credit", "logistic", _german, "bad credit"),
    "california_housing": Source(
        "California housing", "gaussian", lambda folder: _lines(folder / "california_housing/cal_housing.csv"), "median house value"
    ),
    "fremtpl2": Source(
        "freMTPL2", "poisson", lambda folder: _lines(folder / "fremtpl2/fremtpl2.csv.xz"), "number of claims, with exposure"
    ),
    "diabetes130": Source(
        "Diabetes-130", "logistic", lambda folder: _lines(folder / "diabetes130/diabetic_data.csv.xz"), "readmission within 30 days"
    ),
}


def schema_of(name):
    """The schema's path."""
    return HERE / "schemas" / f"{name}.toml"


@dataclasses.dataclass
class Table:
    """A table in memory: its lines for the command, its arrays for scores and for diffprivlib."""

    name: str
    header: str
    lines: numpy.ndarray
    arrays: encoding.Encoded

    def split(self, seed):
        """Row numbers to fit and to score. All rows of a unit go to the same side."""
        units, unit_of_row = numpy.arange(len(self.lines)), numpy.arange(len(self.lines))
        if self.arrays.unit is not None:
            units, unit_of_row = numpy.unique(self.arrays.unit, return_inverse=True)
        order = numpy.random.default_rng(seed).permutation(len(units))
        scored = numpy.isin(unit_of_row, order[: round(TEST_SHARE * len(units))])
        return numpy.flatnonzero(~scored), numpy.flatnonzero(scored)

    def units(self, rows):
        """How many units these rows belong to."""
        return len(rows) if self.arrays.unit is None else len(numpy.unique(self.arrays.unit[rows]))

    def one_row_a_unit(self, rows):
        """The first of these rows for every unit: what a method without units can promise a person."""
        if self.arrays.unit is None:
            return rows
        return rows[numpy.unique(self.arrays.unit[rows], return_index=True)[1]]

    def write(self, rows, path):
        """These rows as a CSV file."""
        path.write_text("\n".join([self.header, *self.lines[rows]]) + "\n")


@functools.lru_cache(maxsize=1)
def load(name, data, work):
    """Reads a table; `work` is a folder for scratch files."""
    header, *lines = SOURCES[name].read(pathlib.Path(data))
    table = Table(name, header, numpy.array(lines, dtype=object), None)
    schema = encoding.read_schema(schema_of(name))
    if not SOURCES[name].peer:
        needed = {schema["target"], schema.get("exposure")}
        schema["columns"] = {n: c if n in needed else {"kind": "ignore"} for n, c in schema["columns"].items()}
    with tempfile.NamedTemporaryFile(dir=work, suffix=".csv") as whole:
        table.write(numpy.arange(len(lines)), pathlib.Path(whole.name))
        table.arrays = encoding.encode(whole.name, schema)
    return table
