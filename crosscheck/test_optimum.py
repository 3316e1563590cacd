"""`--method reference` against scikit-learn and statsmodels: every coefficient in the user's own units, to a relative 1e-6.

* Without a ridge, statsmodels fits the columns as they are in the file (no scaling at all) and scikit-learn the columns scaled by
  their declared bounds, mapped back here.
* With a ridge R, dpglm minimises `mean loss + R/2 * sum_j b_j^2` over the coefficients of the columns scaled to [-1, 1], the
  intercept free. In the user's units that is `R/2 * sum_j (h_j b_j)^2`, h_j half the width of the declared bounds (1 for an
  indicator). scikit-learn is given the scaled columns and the same penalty: `alpha = n R` (Ridge), `C = 1 / (n R)` (logistic),
  `alpha = n R / total exposure` (Poisson, rates weighted by exposures). n counts all rows, those of weight zero too.
* scikit-learn's softmax penalises one block for every class, dpglm none for the first: the same optimum without a ridge, another
  one with it. There the reference is Newton's method from SciPy on the written-out loss.
"""

import pathlib
import warnings

import numpy
import pytest
import statsmodels.api as statsmodels
from scipy import optimize
from sklearn import linear_model

import encoding

TOLERANCE = 1e-6
ADULT = pathlib.Path(__file__).resolve().parent.parent / "examples/adult"
FAMILIES = ["gaussian", "logistic", "multinomial", "poisson"]

SCHEMA = """
target = "{target}"
exposure = "{exposure}"
missing = "{missing}"

[columns]
age     = {{ kind = "real", bounds = [18, 90], fill = 45 }}
income  = {{ kind = "real", bounds = [0, 200000] }}
dose    = {{ kind = "real", bounds = [-0.01, 0.03] }}
visits  = {{ kind = "count", bounds = [0, 12] }}
smoker  = {{ kind = "binary", levels = ["no", "yes"] }}
region  = {{ kind = "category", levels = ["north", "east", ["south", "SOUTH"]], reference = "east" }}
years   = {{ kind = "{years}"{years_bounds} }}
{target} = {{ {response} }}
"""

RESPONSES = {
    "gaussian": 'kind = "real", bounds = [-40, 220]',
    "logistic": 'kind = "binary"',
    "multinomial": 'kind = "category", levels = ["mild", "severe", "grave"]',
    "poisson": 'kind = "count", bounds = [0, 25]',
}


# --- Data ------------------------------------------------------------------------------------------------------------


def _texts(values, random, format="{!r}", gaps=0.02):
    return ["?" if gap else format.format(v) for v, gap in zip(values.tolist(), random.random(len(values)) < gaps)]


def _write(folder, family, missing, rows=3000):
    """A table with gaps, values beyond the bounds and undeclared levels, and its schema."""
    random = numpy.random.default_rng(FAMILIES.index(family))
    age = random.uniform(15, 95, rows)
    income = random.lognormal(10.5, 0.8, rows)
    dose = random.normal(0.01, 0.01, rows)
    visits = random.poisson(3, rows)
    smoker = random.choice(["no", "yes"], rows)
    region = random.choice(["north", "east", "south", "SOUTH", "west"], rows)
    years = random.uniform(0.02, 2.2, rows)
    predictor = 0.02 * (age - 50) + 4e-6 * income + 30 * dose - 0.1 * visits + 0.5 * (smoker == "yes") - 0.4 * (region == "north")
    response = {
        "gaussian": lambda: (80 + 40 * predictor + 30 * random.normal(size=rows)).round(3).astype(str),
        "logistic": lambda: (random.random(rows) < 1 / (1 + numpy.exp(-predictor))).astype(int).astype(str),
        "multinomial": lambda: numpy.array(["mild", "severe", "grave"])[
            numpy.argmax(numpy.outer(predictor, [0, 1, -0.7]) + random.gumbel(size=(rows, 3)), axis=1)
        ],
        "poisson": lambda: random.poisson(years * numpy.exp(predictor)).astype(str),
    }[family]()
    columns = {
        "age": _texts(age, random),
        "income": _texts(income, random),
        "dose": _texts(dose, random),
        "visits": _texts(visits, random),
        "smoker": _texts(smoker, random, "{}"),
        "region": _texts(region, random, "{}"),
        "years": _texts(years, random),
        "outcome": _texts(response, random, "{}", gaps=0.01),
    }
    table, schema = folder / "table.csv", folder / "schema.toml"
    table.write_text("\n".join([",".join(columns), *map(",".join, zip(*columns.values()))]) + "\n")
    is_poisson = family == "poisson"
    text = SCHEMA.format(
        target="outcome",
        missing=missing,
        exposure="years",
        years="real" if is_poisson else "ignore",
        years_bounds=", bounds = [0.05, 2], fill = 1" if is_poisson else "",
        response=RESPONSES[family],
    )
    schema.write_text(text if is_poisson else text.replace('exposure = "years"\n', ""))
    return table, schema


# --- References ------------------------------------------------------------------------------------------------------


def _by_statsmodels(family, data, intercept):
    """The optimum on the user's columns as they are: one block of coefficients, or one a class after the first."""
    design = data.features[data.counts]
    if intercept:
        design = numpy.column_stack([numpy.ones(len(design)), design])
    response = data.response[data.counts]
    if family == "gaussian":
        return numpy.atleast_2d(statsmodels.OLS(response, design).fit().params)
    if family == "multinomial":
        fitted = statsmodels.MNLogit(response, design).fit(method="newton", tol=1e-12, maxiter=100, disp=False)
        return numpy.asarray(fitted.params).T
    family_of = {"logistic": statsmodels.families.Binomial, "poisson": statsmodels.families.Poisson}[family]
    exposure = None if data.exposure is None else data.exposure[data.counts]
    model = statsmodels.GLM(response, design, family=family_of(), exposure=exposure)
    return numpy.atleast_2d(model.fit(tol=1e-13, maxiter=25, tol_criterion="params").params)


def _by_scikit_learn(family, data, intercept, ridge):
    """The same on scaled columns, in the user's units."""
    scaled, response, n = data.scaled[data.counts], data.response[data.counts], len(data.counts)
    if family == "gaussian":
        model = linear_model.Ridge(alpha=n * ridge, fit_intercept=intercept, solver="svd")
        if ridge == 0:
            model = linear_model.LinearRegression(fit_intercept=intercept)
        model.fit(scaled, response)
    elif family == "poisson":
        exposure = numpy.ones(len(response)) if data.exposure is None else data.exposure[data.counts]
        model = linear_model.PoissonRegressor(
            alpha=n * ridge / exposure.sum(), fit_intercept=intercept, solver="newton-cholesky", tol=1e-12, max_iter=200
        )
        model.fit(scaled, response / exposure, sample_weight=exposure)
    else:
        model = linear_model.LogisticRegression(
            C=numpy.inf if ridge == 0 else 1 / (n * ridge),
            fit_intercept=intercept,
            solver="newton-cholesky",
            tol=1e-12,
            max_iter=200,
        )
        model.fit(scaled, response)
    blocks = numpy.column_stack([numpy.atleast_1d(model.intercept_ * numpy.ones(1)), numpy.atleast_2d(model.coef_)])
    if family == "multinomial":
        blocks = blocks[1:] - blocks[0]
    return _in_user_units(blocks, data, intercept)


def _by_scipy(data, intercept, ridge):
    """Softmax with the first class as reference and a ridge on the other classes' slopes: the loss as it is written."""
    n, design = len(data.counts), data.scaled[data.counts]
    design = numpy.column_stack([numpy.full(len(design), float(intercept)), design])
    classes, width = int(data.response.max()), design.shape[1]
    chosen = numpy.eye(classes + 1)[data.response[data.counts].astype(int)]
    penalised = numpy.tile(numpy.arange(width) > 0, classes)

    def probabilities(beta):
        predictors = numpy.column_stack([numpy.zeros(len(design)), design @ beta.reshape(classes, width).T])
        return numpy.exp(predictors - numpy.logaddexp.reduce(predictors, axis=1, keepdims=True))

    def loss(beta):
        return -numpy.log((probabilities(beta) * chosen).sum(axis=1)).sum() / n + ridge / 2 * (beta[penalised] ** 2).sum()

    def gradient(beta):
        residual = (probabilities(beta) - chosen)[:, 1:]
        return (residual.T @ design).ravel() / n + ridge * beta * penalised

    def hessian(beta):
        p = probabilities(beta)[:, 1:]
        blocks = [[(design * (p[:, k] * ((k == l) - p[:, l]))[:, None]).T @ design / n for l in range(classes)] for k in range(classes)]
        # Without an intercept the first column is zero: any value of its coefficient is as good.
        return numpy.block(blocks) + numpy.diag(ridge * penalised + (not intercept) * ~penalised)

    solved = optimize.minimize(loss, numpy.zeros(classes * width), jac=gradient, hess=hessian, method="trust-exact", tol=1e-12)
    beta = solved.x - numpy.linalg.solve(hessian(solved.x), gradient(solved.x))
    return _in_user_units(beta.reshape(classes, width), data, intercept)


def _in_user_units(blocks, data, intercept):
    """From scaled columns to the file's; the intercept comes first and is left out where there is none."""
    slopes = blocks[:, 1:] / data.half_width
    constants = blocks[:, :1] - slopes @ data.centre[:, None]
    return numpy.column_stack([constants, slopes]) if intercept else slopes


# --- Comparison ------------------------------------------------------------------------------------------------------


def _compare(fit, reference, named, record, left_out=()):
    names = [name for name in fit["coefficients"] if name not in left_out]
    kept = [name not in left_out for name in fit["coefficients"]]
    ours = numpy.array([fit["coefficients"][name] for name in names])
    theirs = reference.ravel()[kept]
    assert len(names) >= 5 and numpy.all(numpy.abs(theirs) > 0)
    for ratio in ours / theirs:
        record(f"optimum of {named}", float(ratio))
    worst = numpy.max(numpy.abs(ours / theirs - 1))
    assert worst <= TOLERANCE, f"{named}: {dict(zip(names, zip(ours, theirs)))}"


def _check(dpglm, record, family, table, schema, data, arguments, intercept, ridge, left_out=()):
    flags = [*([] if intercept else ["--no-intercept"]), *([f"--ridge={ridge!r}"] if ridge else [])]
    fit = dpglm("fit", table, f"--schema={schema}", "--method=reference", f"--family={family}", *arguments, *flags)
    assert fit["n"] == len(data.counts) and fit["columns"] == data.names
    if ridge and family == "multinomial":
        _compare(fit, _by_scipy(data, intercept, ridge), "SciPy", record, left_out)
        return
    _compare(fit, _by_scikit_learn(family, data, intercept, ridge), "scikit-learn", record, left_out)
    if not ridge:
        with warnings.catch_warnings():
            # Said of the column that separates the classes, which the comparison leaves out.
            warnings.simplefilter("ignore")
            _compare(fit, _by_statsmodels(family, data, intercept), "statsmodels", record, left_out)


@pytest.mark.parametrize("missing", ["fill", "drop"])
@pytest.mark.parametrize("ridge", [0, 0.01])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("family", FAMILIES)
def test_generated_table(family, intercept, ridge, missing, dpglm, record, tmp_path):
    """Gaps, clamped values and rows of weight zero; counts with exposures."""
    table, schema = _write(tmp_path, family, missing)
    data = encoding.encode(table, encoding.read_schema(schema), intercept)
    assert (missing == "drop") == (not data.counts.all()) and (family == "poisson") == (data.exposure is not None)
    _check(dpglm, record, family, table, schema, data, [], intercept, ridge)


@pytest.mark.parametrize("ridge", [0, 1e-3])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    "family, target",
    [("gaussian", "hours-per-week"), ("logistic", "income"), ("multinomial", "marital-status"), ("poisson", "education-num")],
)
def test_adult(family, target, intercept, ridge, dpglm, record):
    """The compressed example, read by the command itself."""
    table, schema = ADULT / "adult.csv.xz", ADULT / "schema.toml"
    data = encoding.encode(table, encoding.read_schema(schema, target), intercept)
    # Nobody without pay earned more than 50,000: without a ridge that coefficient has no optimum.
    separated = ["workclass=Unpaid"] if family == "logistic" and not ridge else []
    _check(dpglm, record, family, table, schema, data, [f"--target={target}"], intercept, ridge, separated)


def test_comparison_would_notice(dpglm, record, tmp_path):
    """The tolerance is tight enough: a ridge one part in ten thousand off is caught."""
    table, schema = _write(tmp_path, "logistic", "fill")
    data = encoding.encode(table, encoding.read_schema(schema))
    fit = dpglm("fit", table, f"--schema={schema}", "--method=reference", "--ridge=0.01")
    with pytest.raises(AssertionError):
        _compare(fit, _by_scikit_learn("logistic", data, True, 0.01 * 1.0001), "scikit-learn", lambda *_: None)
