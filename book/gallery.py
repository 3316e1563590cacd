"""The pictures and numbers of docs/gallery.md: six analyses of the example tables, beside the same without privacy.

    python book/gallery.py

writes docs/gallery/*.svg and prints the numbers. Seeds are fixed, so that it can be done again; a fixed seed promises nothing.
"""

import warnings
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy
import pandas
import statsmodels.api as models

import dpglm

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs/gallery"
BLUE, GREY = "#3949ab", "#8a8a8a"
pyplot.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "dpglm", "font.family": "sans-serif", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False})


@dataclass
class Analysis:
    """A regression of an example table."""

    name: str
    table: str
    schema: str
    target: str
    kind: str
    drop: tuple[str, ...]
    epsilon: float
    delta: float
    axis: str
    # Columns are drawn per so many of their units.
    per: dict[str, float]


ANALYSES = [
    Analysis("adult", "adult/adult.csv.xz", "adult/schema.toml", "income", "logistic", (), 1, 1e-6, "log odds of more than $50,000 a year", {"age": 10, "hours-per-week": 10, "capital-gain": 1000, "capital-loss": 1000}),
    Analysis("pressure", "nhanes/nhanes.csv.xz", "nhanes/schema.toml", "pressure", "linear", ("health", "meals", "sleep", "cholesterol", "diabetes", "income", "education"), 2, 1e-5, "mmHg", {"age": 10, "bmi": 5}),
    Analysis("meals", "nhanes/nhanes.csv.xz", "nhanes/schema.toml", "meals", "poisson", ("health", "pressure", "cholesterol", "diabetes", "sleep", "race", "bmi"), 2, 1e-5, "log ratio of meals not prepared at home", {"age": 10}),
    Analysis("diabetes", "nhanes/nhanes.csv.xz", "nhanes/schema.toml", "diabetes", "logistic", ("health", "meals", "sleep", "pressure", "cholesterol"), 2, 1e-5, "log odds of diabetes", {"age": 10, "bmi": 5}),
    Analysis("credit", "german_credit/credit.csv", "german_credit/schema.toml", "risk", "logistic", (), 4, 1e-5, "log odds of a bad credit", {"months": 12, "amount": 1000, "age": 10}),
]  # fmt: skip


def schema_of(analysis: Analysis) -> dpglm.Schema:
    """The example's schema with another target, and without the columns that the analysis leaves out."""
    lines = [line for line in (ROOT / "examples" / analysis.schema).read_text().splitlines() if not line.startswith(("target", "header"))]
    out = [f'target = "{analysis.target}"']
    for line in lines:
        name = line.split("=")[0].strip()
        out.append(f'{name} = {{ kind = "ignore" }}' if name in analysis.drop else line)
    return dpglm.Schema("\n".join(out))


def exact(analysis: Analysis, table: pandas.DataFrame, schema: dict) -> pandas.DataFrame:
    """The same model without privacy: complete cases, numbers clamped, categories against the same reference."""
    columns, names = [], []
    spelled = {}
    for name, column in schema["columns"].items():
        cells = table[name]
        if column["kind"] == "ignore":
            continue
        if column["kind"] in {"real", "count"}:
            fill = column.get("fill")
            cells = pandas.to_numeric(cells, errors="coerce").clip(*column["bounds"])
            made = {name: cells if fill is None else cells.fillna(fill)}
        else:
            levels = [level if isinstance(level, list) else [level] for level in column["levels"]]
            spelling = {word: level[0] for level in levels for word in level}
            cells = cells.map(spelling)
            # An undeclared level of a feature counts as the reference where the schema does not drop.
            if schema.get("missing") != "drop":
                cells = cells.fillna(levels[0][0])
            made = {f"{name}={level[0]}": (cells == level[0]).where(cells.notna()).astype(float) for level in levels[1:]}
        if name == analysis.target:
            spelled = next(iter(made.values()))
            continue
        columns += made.values()
        names += made.keys()
    design = pandas.concat(columns, axis=1, keys=names).astype(float)
    whole = design.notna().all(axis=1) & spelled.notna()
    design, target = models.add_constant(design[whole]), spelled[whole].astype(float)
    if analysis.kind == "linear":
        return models.OLS(target, design).fit(cov_type="HC0")
    family = models.families.Binomial() if analysis.kind == "logistic" else models.families.Poisson()
    return models.GLM(target, design, family=family).fit(cov_type="HC0")


def forest(analysis: Analysis) -> None:
    """A private fit beside the exact one: estimates and 95% intervals."""
    import tomllib

    table = pandas.read_csv(ROOT / "examples" / analysis.table, keep_default_na=False, na_values=["", "NA", "?"])
    schema = schema_of(analysis)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = dpglm.fit_table(table, schema, epsilon=analysis.epsilon, delta=analysis.delta, intervals=0.95, insecure_seed=1)
    text = "\n".join(
        [f'target = "{analysis.target}"', *[line for line in (ROOT / "examples" / analysis.schema).read_text().splitlines() if not line.startswith("target")]]
    )
    declared = tomllib.loads(text)
    for name in analysis.drop:
        declared["columns"][name] = {"kind": "ignore"}
    without = exact(analysis, table, declared)
    found = fit.tidy().set_index("term")
    names = [name for name in found.index if name != "(Intercept)"]
    scale = numpy.array([analysis.per.get(name, 1) for name in names])
    label = [f"{name}, per {analysis.per[name]:,}" if name in analysis.per else name.replace("=", ": ") for name in names]
    figure, axes = pyplot.subplots(figsize=(6.4, 0.32 * len(names) + 1.1), layout="constrained")
    heights = numpy.arange(len(names))[::-1]
    bounds = without.conf_int().loc[names].to_numpy() * scale[:, None]
    axes.hlines(heights - 0.16, bounds[:, 0], bounds[:, 1], color=GREY, lw=1.6)
    axes.plot(without.params[names] * scale, heights - 0.16, "o", ms=3.5, color=GREY, label="without privacy")
    low, high = (found.loc[names, end].to_numpy() * scale for end in ("conf_low", "conf_high"))
    determined = found.loc[names, "determined"].to_numpy(dtype=bool) if "determined" in found else numpy.full(len(names), True)
    estimates = found.loc[names, "estimate"].to_numpy() * scale
    axes.hlines(heights[determined] + 0.16, low[determined], high[determined], color=BLUE, lw=1.6)
    axes.plot(estimates[determined], heights[determined] + 0.16, "o", ms=3.5, color=BLUE, label=f"private, epsilon {analysis.epsilon:g}")
    axes.axvline(0, color="black", lw=0.6)
    # A coefficient that runs off to infinity without privacy would hide all others.
    ends = numpy.concatenate([low[determined], high[determined], bounds[determined].ravel(), [0]])
    left, right = ends.min() - 0.04 * numpy.ptp(ends), ends.max() + 0.04 * numpy.ptp(ends)
    for height, is_known in zip(heights, determined, strict=True):
        if not is_known:
            axes.text(right, height + 0.16, "not determined", color=BLUE, fontsize=7, ha="right", va="center")
    axes.set_xlim(left, right)
    axes.set_yticks(heights, label)
    axes.set_xlabel(analysis.axis)
    axes.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1, 1), ncols=2, borderaxespad=0)
    figure.savefig(OUT / f"{analysis.name}.svg", metadata={"Date": None})
    inside = ((low <= without.params[names] * scale) & (without.params[names] * scale <= high))[determined]
    length = numpy.median((high - low)[determined] / (bounds[:, 1] - bounds[:, 0])[determined])
    print(f"## {analysis.name}: {len(table):,} rows, {len(names)} coefficients, {determined.sum()} determined; "
          f"{inside.sum()} of {len(inside)} intervals hold the exact estimate; median length {length:.2f} times")  # fmt: skip
    for name, factor, estimate, a, b, known in zip(names, scale, estimates, low, high, determined, strict=True):
        print(f"  {name} (per {factor:g}): {estimate:.3g} ({a:.3g} to {b:.3g}){'' if known else ' not determined'}; exact {without.params[name] * factor:.3g}")


def first_table() -> None:
    """Table 1 of NHANES by sex, with its intervals drawn."""
    table = pandas.read_csv(ROOT / "examples/nhanes/nhanes.csv.xz")
    schema = dpglm.Schema.load(ROOT / "examples/nhanes/schema.toml")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dpglm.describe(table, schema, epsilon=1.0, delta=1e-5, by="sex", insecure_seed=1)
    document = found.as_dict()
    numbers = ["pressure", "cholesterol", "bmi", "sleep"]
    figure, axes = pyplot.subplots(1, len(numbers), figsize=(7.2, 2), layout="constrained")
    print("## table 1")
    for axis, name in zip(axes, numbers, strict=True):
        for height, group in enumerate(document["groups"]):
            rows = table[table.sex == group["group"]]
            cell = group["columns"][name]
            axis.hlines(height + 0.12, *cell["mean"]["interval"], color=BLUE, lw=2)
            axis.plot(cell["mean"]["estimate"], height + 0.12, "o", ms=4, color=BLUE)
            axis.plot(rows[name].mean(), height - 0.12, "o", ms=4, color=GREY)
            print(f"  {name}, {group['group']}: {cell['mean']['estimate']:.4g} {cell['mean']['interval']} median {cell['median']['estimate']:.4g}; exact {rows[name].mean():.4g}, median {rows[name].median():.4g}")
        axis.set_yticks(range(len(document["groups"])), [group["group"] for group in document["groups"]] if name == numbers[0] else [])
        axis.set_ylim(-0.6, 1.6)
        axis.set_xlabel(f"mean {name}")
    figure.savefig(OUT / "table1.svg", metadata={"Date": None})


def main() -> None:
    OUT.mkdir(exist_ok=True)
    first_table()
    for analysis in ANALYSES:
        forest(analysis)


if __name__ == "__main__":
    main()
