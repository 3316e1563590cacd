"""The page `docs/gauntlet.md`, from the kept results."""

import bars
import budget
import numpy as np
from intervals import CLASSES
from scores import NAMES
from traps import TRAPS

EPSILONS = bars.EPSILONS


def page(compared, versions):
    """`versions`: (title, results), the newest last."""
    parts = [_head(versions), _bars(compared, versions), _leaderboards(compared, versions), _shares(compared, versions)]
    parts += [_losses(compared, versions), _intervals(compared, versions), _traps(versions), _speed(versions), _tasks(compared)]
    return "\n\n".join(part for part in parts if part) + "\n"


def joined(compared, results):
    """Tasks as the bars want them: mean losses by epsilon, beside what they are measured against."""
    out = {}
    for name, facts in compared.items():
        measured = results["tasks"].get(name, {})
        if measured.get("signature") != facts["signature"] or facts["exact"] is None:
            continue
        means = {into: {e: float(np.mean(losses)) for e, losses in measured.get(into, {}).items()} for into in ("loss", "loss_with_intervals")}
        out[name] = facts | means
    return out


def cells(compared, results):
    """Coverage by task and epsilon."""
    found = []
    for name, by_epsilon in results["intervals"].items():
        facts = compared.get(name)
        if facts is None:  # a part of the tasks was asked for
            continue
        found += [(name, facts["family"], budget.dimension(facts["columns"], facts["classes"]), epsilon, cell) for epsilon, cell in by_epsilon.items()]
    return found


def checks(compared, results):
    found = bars.predictions(joined(compared, results)) + bars.intervals(cells(compared, results))
    return found + bars.traps(results["traps"]) + bars.speed(results["speed"])


# --- Parts ------------------------------------------------------------------------------------------------------------


def _head(versions):
    made = "; ".join(f"{title}: dpglm {results['version']}, commit {results['commit']}, library {results['library']}" for title, results in versions)
    return f"""# The gauntlet: real tables

How good are private fits on real tables? This page has every real table at hand that fits a family, with bounds as someone who knows the field would declare them
before seeing the rows: how much of the prediction is lost, whether intervals cover, and what happens on tables made to be traps. Bars that are missed are shown as missed. Made by
`benchmarks/gauntlet/run.py --all`; its README says how, `benchmarks/gauntlet/definitions` holds the columns and bounds.

{made}.

Each task is fitted to ten random halves and scored on the other halves. delta is 1/(10 n), n the rows fitted. *Exact*: maximum likelihood
without privacy. *Constant*: the mean of the fitted half for everyone, without privacy. *diffprivlib*: its models on columns scaled by the same bounds, at the best
of five penalties by the held-out score itself (a choice that no private analyst can make); it promises pure epsilon and has no Poisson
model. *Share lost*: of the exact fit's gain over the constant, what the private fit loses: 0 is as good as exact, 1 no better than the constant, above 1 worse than it;
a dash where the exact fit gains nothing. The noise of each repetition comes from a fixed seed, so a run can be repeated."""


def _bars(compared, versions):
    found = [(title, {words: (bar, value, ok) for words, bar, value, ok in checks(compared, results)}) for title, results in versions]
    listed = list(dict.fromkeys(words for _, checked in found for words in checked))
    lines = ["## Bars", "", _row("what", "bar", *(title for title, _ in found)), _row(*["---"] * (2 + len(found)))]
    for words in listed:
        bar = next(checked[words][0] for _, checked in found if words in checked)
        told = [f"{'pass' if checked[words][2] else '**fail**'}: {checked[words][1]}" if words in checked else "" for _, checked in found]
        lines.append(_row(words, bar, *told))
    return "\n".join(lines)


def _leaderboards(compared, versions):
    lines = ["## Leaderboards", "", "Epsilon .1 / .5 / 1 / 4. Logistic tasks: share lost; linear ones: held-out R2."]
    lines += ["", _row("task", "bar", *_twice(versions)), _row(*["---"] * (2 + 2 * len(versions)))]
    for name in [*bars.SHARES, *bars.LOG_LOSSES, *bars.R2]:
        if name not in compared or compared[name]["exact"] is None:
            continue
        linear = name in bars.R2
        shown = [bars.R2[name][k] if linear else bars.bar_share(name, k, compared[name]) for k in range(4)]
        row = [name, _slashed(shown)]
        for _, results in versions:
            task = joined(compared, results).get(name)
            for which in ("loss", "loss_with_intervals"):
                losses = [task[which].get(e) if task else None for e in EPSILONS]
                row.append(_slashed([None if loss is None else (1 - loss if linear else bars.share(loss, task)) for loss in losses]))
        lines.append(_row(*row))
    return "\n".join(lines)


def _twice(versions):
    return [heading for title, _ in versions for heading in (title, f"{title}, with intervals")]


def _shares(compared, versions):
    lines = ["## Share lost", "", "Epsilon .1 / .5 / 1 / 4, tasks by rows.", ""]
    lines += [_row("task", "family", "rows", "columns", "diffprivlib", *(title for title, _ in versions)), _row(*["---"] * (5 + len(versions)))]
    for name, facts in _by_rows(compared):
        peer = [bars.share(facts["diffprivlib"].get(e, {}).get("loss"), facts) for e in EPSILONS]
        row = [name, facts["family"], f"{facts['rows']:,}", facts["columns"], _slashed(peer)]
        for _, results in versions:
            task = joined(compared, results).get(name)
            row.append(_slashed([bars.share(task["loss"].get(e), task) if task else None for e in EPSILONS]))
        lines.append(_row(*row))
    return "\n".join(lines)


def _losses(compared, versions):
    named = "; ".join(f"{family}: {NAMES[family]}" for family in NAMES)
    lines = ["## Held-out loss", "", f"{named}. Epsilon .1 / .5 / 1 / 4; in brackets the penalties C that were best for diffprivlib.", ""]
    lines += [_row("task", "constant", "exact", "diffprivlib", *(title for title, _ in versions)), _row(*["---"] * (4 + len(versions)))]
    for name, facts in _by_rows(compared):
        peers = [facts["diffprivlib"].get(e, {}) for e in EPSILONS]
        peer = _slashed([one.get("loss") for one in peers])
        if any(one.get("C") for one in peers):
            peer += " ({})".format(", ".join("{:g}".format(one["C"]) for one in peers))
        row = [name, _short(facts["constant"]), _short(facts["exact"]), peer]
        for _, results in versions:
            task = joined(compared, results).get(name)
            row.append(_slashed([task["loss"].get(e) if task else None for e in EPSILONS]))
        lines.append(_row(*row))
    return "\n".join(lines)


def _intervals(compared, versions):
    title, results = versions[-1]
    if not results["intervals"]:
        return ""
    kinds = "; ".join(f"*{kind}*: {words}" for kind, words in CLASSES.items())
    lines = [
        f"## Intervals ({title})",
        "",
        "Nominal 95% intervals against the exact coefficients of the full table, on tables of half its rows drawn with replacement, pooled over",
        f"draws and determined coefficients. {kinds}. *Signal*: n mu / D over sqrt(D), mu the budget as one Gaussian, D columns and the intercept, for each class but the first.",
        "*Length*: over that of the sandwich interval without privacy, median. *Error*: the standard error reported over the root of noise spread",
        "squared plus sandwich variance, median, largest of a single draw. The noise spread is that of the difference from the exact fit to the same rows.",
        "*Without value*: coefficients that have no exact value, and the share of runs that flag them.",
        "",
        _row("task", "epsilon", "signal", "coverage", "rare", "collinear", "wide", "not determined", "length", "error", "without value"),
        _row(*["---"] * 11),
    ]
    for name, _ in _by_rows(compared):
        for epsilon, cell in results["intervals"].get(name, {}).items():
            if "refused" in cell:
                lines.append(_row(name, epsilon, "", "refused", "", "", "", "", "", "", ""))
                continue
            relative = cell["signal"] / np.sqrt(budget.dimension(compared[name]["columns"], compared[name]["classes"]))
            difficult = [_rate(cell[kind]) for kind in CLASSES]
            error = "" if cell["error_ratio"] is None else f"{cell['error_ratio']:.2f}, {cell['error_ratio_largest']:.3g}"
            missing = f"{cell['missing']}: {cell['missing_flagged']:.2f}" if cell["missing"] else ""
            undetermined, length = ("" if cell[k] is None else f"{cell[k]:.2f}" for k in ("undetermined", "length"))
            lines.append(_row(name, epsilon, f"{relative:.1f}", _rate(cell["covered"]), *difficult, undetermined, length, error, missing))
    return "\n".join(lines)


def _traps(versions):
    title, results = versions[-1]
    if not results["traps"]:
        return ""
    lines = [f"## Traps ({title})", ""]
    lines += ["Counts over repetitions, among coefficients called determined. *Without value*: coefficients without an exact value, and how many of them are flagged."]
    lines += ["", _row("trap", "epsilon", "wrong sign, significant", "beyond 10 times", "exact value covered", "not determined", "without value")]
    lines.append(_row(*["---"] * 7))
    for name in TRAPS:
        for epsilon, cell in results["traps"].get(name, {}).items():
            if cell["refused"]:
                lines.append(_row(name, epsilon, f"refused: {cell['refused']}", "", "", "", ""))
                continue
            known = cell["existing"] - cell["undetermined"]
            missing = f"{cell['missing']}: {cell['missing'] - cell['missing_determined']}" if cell["missing"] else ""
            signs, undetermined = f"{cell['wrong']} of {cell['signs']}", f"{cell['undetermined']} of {cell['existing']}"
            lines.append(_row(name, epsilon, signs, cell["beyond"], f"{cell['covered']} of {known}", undetermined, missing))
    return "\n".join(lines)


def _speed(versions):
    timed = [(title, results["speed"]) for title, results in versions if results["speed"]]
    if not timed:
        return ""
    lines = ["## Speed", "", "Logistic, 1,000,000 x 50 in memory, epsilon 1, in turns with scikit-learn's lbfgs; median seconds and ratios within one run."]
    lines += ["", _row("version", "fit", "with intervals", "lbfgs", "ratio", "ratio with intervals", "load of the machine"), _row(*["---"] * 7)]
    for title, found in timed:
        private, priced, peer = (float(np.median(found[key])) for key in ("private", "intervals", "lbfgs"))
        lines.append(_row(title, f"{private:.2f}", f"{priced:.2f}", f"{peer:.2f}", f"{private / peer:.2f}", f"{priced / peer:.2f}", f"{found['load']:.1f}"))
    return "\n".join(lines)


def _tasks(compared):
    lines = ["## Tasks", "", _row("task", "family", "rows", "columns", "what"), _row(*["---"] * 5)]
    lines += [_row(name, facts["family"], f"{facts['rows']:,}", facts["columns"], facts["about"]) for name, facts in _by_rows(compared)]
    return "\n".join(lines)


# --- Words ------------------------------------------------------------------------------------------------------------


def _by_rows(compared):
    return sorted(((name, facts) for name, facts in compared.items() if facts["exact"] is not None), key=lambda item: -item[1]["rows"])


def _row(*fields):
    return "| " + " | ".join(str(value) for value in fields) + " |"


def _rate(pair):
    return f"{pair[0] / pair[1]:.3f}" if pair[1] else ""


def _short(value):
    """Three digits behind the point, without the leading zero; large values by their size alone."""
    if value is None:
        return "–"
    if abs(value) >= 100:
        return f"{value:.0e}".replace("e+0", "e").replace("e+", "e")
    if abs(value) >= 10:
        return f"{value:.1f}"
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.3f}"


def _slashed(values):
    return "–" if all(value is None for value in values) else " / ".join(_short(value) for value in values)
