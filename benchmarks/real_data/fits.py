"""Every method on one split: dpglm with and without noise, diffprivlib, and the constant prediction."""

import json
import pathlib
import subprocess
import tempfile
import time
import warnings

import numpy
from diffprivlib.models import LinearRegression, LogisticRegression
from diffprivlib.utils import DiffprivlibCompatibilityWarning
from scores import score
from sklearn.exceptions import ConvergenceWarning
from tables import SOURCES, encoding, load, schema_of

EPSILONS = [0.1, 0.5, 1.0, 4.0]
# Of diffprivlib's logistic regression: its default is 1. The page shows the default and the best of these in hindsight.
PEER_STRENGTHS = [1.0, 0.1, 0.01, 0.001, 0.0001]


def run(name, seed, data, binary, work):
    """All rows of the page that one split gives."""
    table = load(name, data, work)
    fitted, scored = table.split(seed)
    units = table.units(fitted)
    delta = 1 / (10 * units)
    with tempfile.TemporaryDirectory(dir=work) as folder:
        folder = pathlib.Path(folder)
        table.write(fitted, folder / "fit.csv")
        table.write(scored, folder / "score.csv")
        rows = [
            _constant(table, fitted, scored),
            *_by_dpglm(table, scored, folder, binary, delta),
            *(_by_diffprivlib(table, fitted, scored) if SOURCES[name].peer else []),
        ]
    return [{"data": name, "seed": seed, "rows": len(fitted), "units": units, "delta": delta, **row} for row in rows]


def _row(table, scored, method, epsilon, started, predicted, **more):
    scores = score(SOURCES[table.name].family, table.arrays.response[scored], predicted)
    return {"method": method, "epsilon": epsilon, "seconds": round(time.perf_counter() - started, 3), "scores": scores, **more}


def _constant(table, fitted, scored):
    """The mean of the fitted rows (the rate, where rows have exposures), without privacy."""
    started, arrays = time.perf_counter(), table.arrays
    exposure = numpy.ones(len(arrays.response)) if arrays.exposure is None else arrays.exposure
    rate = arrays.response[fitted].sum() / exposure[fitted].sum()
    return _row(table, scored, "constant", "inf", started, rate * exposure[scored])


# --- dpglm -----------------------------------------------------------------------------------------------------------


def _by_dpglm(table, scored, folder, binary, delta):
    methods = ["gradient", "statistics"] if SOURCES[table.name].family == "gaussian" else ["gradient"]
    yield _dpglm_fit(table, scored, folder, binary, "reference", "inf", [])
    for method in methods:
        for epsilon in [*EPSILONS, "inf"]:
            budget = [f"--epsilon={epsilon}", *([] if epsilon == "inf" else [f"--delta={delta!r}"])]
            yield _dpglm_fit(table, scored, folder, binary, method, epsilon, budget)


def _dpglm_fit(table, scored, folder, binary, method, epsilon, budget):
    started = time.perf_counter()
    model, predictions = folder / "model.json", folder / "predicted.csv"
    named = f"dpglm {method}"
    command = [binary, "fit", folder / "fit.csv", f"--schema={schema_of(table.name)}", f"--method={method}", *budget]
    refused = _refusal([*command, f"--output={model}"]) or _refusal([binary, "predict", model, folder / "score.csv", f"--output={predictions}"])
    if refused:
        return {"method": named, "epsilon": epsilon, "refused": refused}
    # The last column: the second level's probability, or the mean.
    predicted = numpy.loadtxt(predictions, delimiter=",", skiprows=1, ndmin=2)[:, -1]
    grade = json.loads(model.read_text())["certificate"]["grade"]
    return _row(table, scored, named, epsilon, started, predicted, grade=grade)


def _refusal(command):
    """Runs a command; its last line of complaint if it failed."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    return done.stderr.strip().splitlines()[-1] if done.returncode else None


# --- diffprivlib -----------------------------------------------------------------------------------------------------


def _by_diffprivlib(table, fitted, scored):
    """Its models on the same rows, features scaled to [-1, 1] by the declared bounds. It knows no units: a patient gives the first row."""
    rows = table.one_row_a_unit(fitted)
    scaled, response = table.arrays.scaled, table.arrays.response
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiffprivlibCompatibilityWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FutureWarning)
        for epsilon in EPSILONS:
            if SOURCES[table.name].family == "gaussian":
                started = time.perf_counter()
                middle, half_width = _target_scaling(table.name)
                model = LinearRegression(epsilon=epsilon, bounds_X=_scaled_bounds(table), bounds_y=(-1, 1))
                model.fit(scaled[rows], (response[rows] - middle) / half_width)
                yield _row(table, scored, "diffprivlib", epsilon, started, middle + half_width * model.predict(scaled[scored]))
                continue
            for strength in PEER_STRENGTHS:
                started = time.perf_counter()
                model = LogisticRegression(epsilon=epsilon, data_norm=table.arrays.norm_bound, C=strength, max_iter=1000)
                model.fit(scaled[rows], response[rows])
                probability = model.predict_proba(scaled[scored])[:, 1]
                yield _row(table, scored, "diffprivlib", epsilon, started, probability, strength=strength)


def _scaled_bounds(table):
    """Indicators of a category lie in [0, 1] (they are not centred), everything else in [-1, 1]."""
    indicators = (table.arrays.centre == 0) & (table.arrays.half_width == 1)
    return numpy.where(indicators, 0.0, -1.0), numpy.ones(len(indicators))


def _target_scaling(name):
    """The target, too, is scaled to [-1, 1]: its optimiser gets lost in values of 500,000."""
    schema = encoding.read_schema(schema_of(name))
    lower, upper = schema["columns"][schema["target"]]["bounds"]
    return (lower + upper) / 2, (upper - lower) / 2
