"""What dpglm is measured against, on the same halves: the exact fit, the constant, and diffprivlib."""

import warnings

import exact
import numpy as np
from budget import gaussian_budget
from scores import constant, loss
from store import signature
from subject import seed_of
from tasks import half

# Of diffprivlib's logistic regression; its default is 1. The best of them is chosen by the held-out score itself, which nobody can do privately.
STRENGTHS = [1.0, 0.1, 0.01, 0.001, 0.0001]


def measure(task, epsilons, halves, store, peers=True):
    name, mark = task["name"], signature(task)
    for repetition in range(halves):
        fitted, scored = half(task, repetition)
        if not store.get("constant", (name, repetition), mark):
            store.put("constant", (name, repetition), mark, loss=constant(task, fitted, scored))
        if not store.get("exact", (name, repetition), mark):
            found = _exact(task, fitted)
            store.put("exact", (name, repetition), mark, loss=loss(task["family"], task["y"][scored], found(scored)))
        for epsilon in epsilons:
            if not store.get("private constant", (name, repetition, epsilon), mark):
                found = private_constant(task, fitted, scored, epsilon, np.random.default_rng(seed_of("private constant", name, repetition, epsilon)))
                store.put("private constant", (name, repetition, epsilon), mark, loss=found)
        for epsilon in epsilons if peers and task["family"] != "poisson" else []:
            for strength in [None] if task["family"] == "gaussian" else STRENGTHS:
                key = (name, repetition, epsilon, strength)
                if not store.get("diffprivlib", key, mark):
                    predicted = _diffprivlib(task, fitted, scored, epsilon, strength, seed_of(*key))
                    store.put("diffprivlib", key, mark, loss=loss(task["family"], task["y"][scored], predicted))


def private_constant(task, fitted, scored, epsilon, generator, draws=50):
    """The mean loss of the fitted rows' mean (rate, shares) with the least noise that a budget allows.

    The whole budget goes to one Gaussian, the clip is the best of all with the rows and the mean known, exposures are public: no private method
    knows as much, and a fit that can find no more than the mean cannot be expected to do better.
    """
    family, y = task["family"], task["y"]
    n = len(fitted)
    noise = 1 / (n * gaussian_budget(epsilon, 1 / (10 * n)))
    if family == "multinomial":
        shares = np.bincount(y[fitted].astype(int), minlength=len(task["classes"])) / n
        drawn = np.maximum(shares + np.sqrt(2) * noise * generator.normal(size=(draws, len(shares))), noise / 2)
        return float(np.mean([loss(family, y[scored], np.tile(p / p.sum(), (len(scored), 1))) for p in drawn]))
    if family == "logistic":
        least = min(noise / 2, 0.5)
        drawn = np.clip(y[fitted].mean() + noise * generator.normal(size=draws), least, 1 - least)
        return float(np.mean([loss(family, y[scored], np.full(len(scored), p)) for p in drawn]))
    exposure = np.ones(len(y)) if task["exposure"] is None else task["exposure"]
    middle = np.median(y[fitted]) if family == "gaussian" else 0.0
    apart = y[fitted] - middle
    found = []
    for clip in np.unique(np.quantile(np.abs(apart), [0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1])):
        clipped, span = np.clip(apart, -clip, clip).mean(), clip * (2 if family == "gaussian" else 1)
        found.append(((clipped - apart.mean()) ** 2 + (span * noise) ** 2, clipped, span * noise))
    _, clipped, deviation = min(found)
    drawn = middle + clipped + deviation * generator.normal(size=draws)
    drawn = drawn if family == "gaussian" else np.maximum(drawn, deviation / 2)
    return float(np.mean([loss(family, y[scored], m / exposure[fitted].mean() * exposure[scored]) for m in drawn]))


def _exact(task, fitted):
    exposure = task["exposure"]
    at = lambda rows: None if exposure is None else exposure[rows]
    model = exact.fit(task["family"], task["Z"][fitted], task["y"][fitted], at(fitted), max(len(task["classes"]), 2))
    return lambda rows: model.predict(task["family"], task["Z"][rows], at(rows))


def _diffprivlib(task, fitted, scored, epsilon, strength, seed):
    """Its models on columns scaled to [-1, 1]. It promises pure epsilon, has no Poisson model, and takes classes one against the rest."""
    from diffprivlib.models import LinearRegression, LogisticRegression

    Z, y, d = task["Z"], task["y"], task["Z"].shape[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if task["family"] == "gaussian":
            middle, half_width = (task["low"] + task["high"]) / 2, (task["high"] - task["low"]) / 2
            model = LinearRegression(epsilon=epsilon, bounds_X=(-np.ones(d), np.ones(d)), bounds_y=(-1, 1), random_state=seed)
            model.fit(Z[fitted], (y[fitted] - middle) / half_width)
            return middle + half_width * model.predict(Z[scored])
        model = LogisticRegression(epsilon=epsilon, data_norm=np.sqrt(d), C=strength, max_iter=1000, random_state=seed)
        model.fit(Z[fitted], y[fitted])
        found = model.predict_proba(Z[scored])
        if task["family"] == "logistic":
            return found[:, 1]
        shares = np.zeros((len(scored), len(task["classes"])))
        shares[:, model.classes_.astype(int)] = found
        return shares
