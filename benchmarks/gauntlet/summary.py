"""What was measured, as the two files that are kept with the code: of dpglm, and of what it is measured against."""

import intervals
import numpy as np
import traps
from budget import dimension, signal
from references import STRENGTHS
from store import signature


def references(task, epsilons, halves, store):
    """Means over halves; of diffprivlib also which penalty was the best in hindsight."""
    name, mark = task["name"], signature(task)

    def losses(kind, *rest):
        records = [store.get(kind, (name, repetition, *rest), mark) for repetition in range(halves)]
        return [record["loss"] for record in records if record]

    found = dict(family=task["family"], rows=len(task["y"]), columns=task["Z"].shape[1], about=task["about"], classes=len(task["classes"]))
    found |= dict(signature=mark, halves=len(losses("exact")), constant=_mean(losses("constant")), exact=_mean(losses("exact")), diffprivlib={})
    found["private_constant"] = {str(epsilon): mean for epsilon in epsilons if (mean := _mean(losses("private constant", epsilon))) is not None}
    for epsilon in epsilons:
        means = {strength: _mean(losses("diffprivlib", epsilon, strength)) for strength in [None, *STRENGTHS]}
        means = {strength: mean for strength, mean in means.items() if mean is not None}
        if means:
            best = min(means, key=means.get)
            found["diffprivlib"][str(epsilon)] = dict(loss=means[best], C=best)
    return found


def predictions(task, epsilons, halves, store):
    name, mark = task["name"], signature(task)
    found = dict(signature=mark)
    for kind, into in (("half", "loss"), ("half with intervals", "loss_with_intervals")):
        for epsilon in epsilons:
            records = [store.get(kind, (name, repetition, epsilon), mark) for repetition in range(halves)]
            records = [record for record in records if record]
            told = [record["refused"] for record in records if "refused" in record]
            losses = [record["loss"] for record in records if "loss" in record]
            if told:
                found.setdefault("refused", {})[str(epsilon)] = told[0]
            elif losses:
                found.setdefault(into, {})[str(epsilon)] = [float(f"{loss:.6g}") for loss in losses]
                if kind == "half":
                    found.setdefault("seconds", {})[str(epsilon)] = float(np.median([record["seconds"] for record in records]))
    return found


def whole(subject, commit, loaded, epsilons, halves, draws, repetitions, store, reference):
    """`loaded`: an iterable of tasks."""
    results = dict(library=subject.hash, version=subject.version, commit=commit, tasks={}, intervals={})
    compared = {}
    for task in loaded:
        name = task["name"]
        compared[name] = references(task, epsilons, halves, reference)
        results["tasks"][name] = predictions(task, epsilons, halves, store)
        m, D = len(task["y"]) // 2, dimension(task["Z"].shape[1], len(task["classes"]))
        compared[name]["signal"] = {str(epsilon): round(signal(m, D, epsilon, 1 / (10 * m)), 2) for epsilon in epsilons}
        for epsilon in epsilons:
            cell = intervals.summary(task, epsilon, draws, store, reference)
            if cell:
                results["intervals"].setdefault(name, {})[str(epsilon)] = cell
    results["traps"] = traps.summary(epsilons, repetitions, store)
    fast = store.get("speed", ())
    results["speed"] = {key: fast[key] for key in ("private", "intervals", "lbfgs", "load")} if fast else None
    return results, compared


def _mean(values):
    return float(np.mean(values)) if values else None
