"""The page docs/real-data.md from the results: means and standard errors over the splits."""

import math
import textwrap

from tables import SOURCES

# For each family the scores of a table, and the one whose distance from the optimum is shown, with the sign that makes worse positive.
SCORES = {
    "logistic": ({"accuracy": "accuracy", "auc": "AUC", "log_loss": "log-loss"}, "log_loss", 1),
    "gaussian": ({"r2": "R2", "rmse": "RMSE"}, "r2", -1),
    "poisson": ({"explained": "deviance explained"}, "explained", -1),
}
DEFAULT_STRENGTH = 1.0
WIDTH = 130

INTRODUCTION = [
    "Rows held out from five public tables, predicted by models fitted to the others. `benchmarks/real_data/README.md` says how to make"
    " this page; it was made by",
    "<!-- not run: it needs the tables and half an hour -->\n```sh\n{command}\n```",
    "with {versions}. Each number is a mean over random splits (80% fitted, 20% scored, by person where a person has several rows), its"
    " standard error in brackets. *Worse than the optimum* is a mean of differences within a split, so the luck of the split cancels."
    " delta is 1/(10 n), n the number of people (rows) fitted to. Columns and bounds: `benchmarks/real_data/schemas`, each with its"
    " source: documentation, law, or a stated choice (on Diabetes-130 the choices were made after its ranges had been seen).",
    "*Constant*: the mean of the fitted rows for everyone, without privacy. *Optimum*: `--method reference`, the exact optimum without"
    " privacy. *No noise*: `--epsilon inf`, the private algorithm without its noise, which shows what its bounds and its planned number"
    " of steps cost.",
    "*diffprivlib* is given the same rows and scaled columns, with the norm or bounds that the schema implies. Its promises differ: pure"
    " epsilon (delta is 0), which is harder; noise in ordinary floating point; neighbours are not defined (its sensitivities are those"
    " of replacing a row). Its logistic regression charges for the curvature of the loss by the norm of a row where the proof that it"
    " follows (Chaudhuri et al. 2011) has the squared norm: by that proof the run on Adult at epsilon 1 and C = 0.1 has epsilon 1.33."
    " Its linear regression scales the noise on the diagonal of X'X by each column's *lower* bound alone (no noise"
    " at all where that is 0 after centring), and its own steps add up to epsilon (1 + 1/(d + 1)) for d columns; its noisy X'X is often"
    " indefinite, and then its objective has no minimum. The logistic one is shown with its default penalty C = 1, and with the best"
    " C of {strengths} by the mean held-out log-loss itself, a choice that no private analyst can make. It knows no units: on"
    " Diabetes-130 it gets each patient's first row only, so that its promise, too, is for patients.",
]


def page(results, command, strengths):
    """The whole page."""
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    facts = {"command": command, "versions": versions, "strengths": ", ".join(f"{s:g}" for s in strengths)}
    paragraphs = [paragraph.format(**facts) for paragraph in INTRODUCTION]
    text = [p if p.startswith("```") else textwrap.fill(p, WIDTH, break_on_hyphens=False) for p in paragraphs]
    present = {run["data"] for run in results["runs"]}
    sections = [_section(name, [run for run in results["runs"] if run["data"] == name]) for name in SOURCES if name in present]
    return "\n\n".join(["# Accuracy on real data", *text, *sections]) + "\n"


def _section(name, runs):
    source, first = SOURCES[name], runs[0]
    headings, main, _ = SCORES[source.family]
    people = f"{first['units']:,} people, " if first["units"] != first["rows"] else ""
    splits = len({run["seed"] for run in runs})
    lines = [
        f"## {source.title}: {source.explains}",
        "",
        f"{source.family.capitalize()}; {people}{first['rows']:,} rows fitted to; delta {first['delta']:.2g}; {splits} splits.",
        "",
        f"| method | epsilon | {' | '.join(headings.values())} | {headings[main]}: worse than the optimum |",
        "| --- | --- |" + " --- |" * (len(headings) + 1),
    ]
    constants = {run["seed"]: run["scores"] for run in runs if run["method"] == "constant"}
    for run in runs:
        if "scores" in run and "deviance" in run["scores"]:
            run["scores"]["explained"] = 1 - run["scores"]["deviance"] / constants[run["seed"]]["deviance"]
    optima = {run["seed"]: run["scores"] for run in runs if run["method"] == "dpglm reference" and "scores" in run}
    return "\n".join(lines + [_line(*line, SCORES[source.family], optima) for line in _lines(runs)])


def _lines(runs):
    """Label, epsilon and runs of every line of a table, in order."""

    def of(method, epsilon):
        return [run for run in runs if run["method"] == method and run["epsilon"] == epsilon]

    yield "constant", "", of("constant", "inf")
    yield "optimum", "", of("dpglm reference", "inf")
    epsilons = sorted({run["epsilon"] for run in runs if run["epsilon"] != "inf"})
    for method in sorted({run["method"] for run in runs if run["method"].startswith("dpglm") and run["epsilon"] != "inf"}):
        yield f"{method}, no noise", "inf", of(method, "inf")
        for epsilon in epsilons:
            yield method, epsilon, of(method, epsilon)
    for epsilon in epsilons:
        peers = of("diffprivlib", epsilon)
        if peers and "strength" not in peers[0]:
            yield "diffprivlib", epsilon, peers
        elif peers:
            by_strength = {s: [r for r in peers if r["strength"] == s] for s in {r["strength"] for r in peers}}
            best = min(by_strength, key=lambda s: _mean([r["scores"]["log_loss"] for r in by_strength[s]]))
            yield "diffprivlib, C = 1", epsilon, by_strength[DEFAULT_STRENGTH]
            yield f"diffprivlib, best C = {best:g}", epsilon, by_strength[best]


def _line(label, epsilon, runs, scores, optima):
    headings, main, worse = scores
    refused = [run["refused"] for run in runs if "refused" in run]
    fitted = [run for run in runs if "scores" in run]
    if refused:
        label += f", {len(refused)} of {len(runs)} refused ({refused[0]})"
    cells = [_cell(key, [run["scores"][key] for run in fitted]) for key in headings]
    distances = [worse * (run["scores"][main] - optima[run["seed"]][main]) for run in fitted if run["seed"] in optima]
    cells.append("" if label == "optimum" else _cell(main, distances))
    return f"| {label} | {epsilon} | {' | '.join(cells)} |"


def _mean(values):
    return sum(values) / len(values)


def _cell(key, values):
    if not values:
        return ""
    mean = _mean(values)
    error = math.sqrt(sum((v - mean) ** 2 for v in values) / max(len(values) - 1, 1) / len(values))
    digits, largest = (0, 1e6) if key == "rmse" else (4, 100)
    return f"{mean:,.{digits}f} ({error:,.{digits}f})" if abs(mean) < largest else f"{mean:.1e} ({error:.0e})"
