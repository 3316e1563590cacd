"""Held-out scores as losses: less is better. R2 is 1 minus the loss of a gaussian task."""

import numpy as np

POWER = 1.5  # of the mean in the variance of a Tweedie task
LARGEST = 1e12  # what stands for infinity
NAMES = dict(logistic="log-loss", gaussian="1 - R2", poisson="mean Poisson deviance", multinomial="log-loss", gamma="mean gamma deviance", tweedie="mean Tweedie deviance")


def loss(family, y, predicted):
    predicted = np.asarray(predicted, dtype=float)
    with np.errstate(all="ignore"):
        if family == "logistic":
            p = np.clip(predicted if predicted.ndim == 1 else predicted[:, 1], 1e-12, 1 - 1e-12)
            value = -np.mean(np.where(y == 1, np.log(p), np.log1p(-p)))
        elif family == "multinomial":
            value = -np.mean(np.log(np.clip(predicted[np.arange(len(y)), y.astype(int)], 1e-12, 1)))
        elif family == "gaussian":
            value = np.sum((y - predicted) ** 2) / np.sum((y - y.mean()) ** 2)
        elif family == "gamma":
            ratio = y / np.maximum(predicted, 1e-12)
            value = 2 * np.mean(ratio - 1 - np.log(ratio))
        elif family == "tweedie":
            mean, p = np.maximum(predicted, 1e-12), POWER
            value = 2 * np.mean(y ** (2 - p) / ((1 - p) * (2 - p)) - y * mean ** (1 - p) / (1 - p) + mean ** (2 - p) / (2 - p))
        else:
            mean = np.maximum(predicted, 1e-12)
            value = 2 * np.mean(np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / mean), 0) - (y - mean))
    return float(min(value, LARGEST)) if np.isfinite(value) else LARGEST


def constant(task, fitted, scored):
    """The loss of predicting the fitted rows' mean (rate, shares) for everyone, without privacy."""
    y = task["y"]
    if task["family"] == "multinomial":
        shares = np.bincount(y[fitted].astype(int), minlength=len(task["classes"])) / len(fitted)
        return loss("multinomial", y[scored], np.tile(shares, (len(scored), 1)))
    exposure = np.ones(len(y)) if task["exposure"] is None else task["exposure"]
    return loss(task["family"], y[scored], y[fitted].sum() / exposure[fitted].sum() * exposure[scored])
