"""How well predictions meet rows that were not fitted to."""

import numpy


def score(family, response, predicted):
    """A dictionary of scores. `predicted` are means: probabilities, values, or expected counts."""
    return {"logistic": _logistic, "gaussian": _gaussian, "poisson": _poisson}[family](response, predicted)


def _logistic(response, probability):
    return {
        "accuracy": float(numpy.mean((probability > 0.5) == (response > 0.5))),
        "auc": _area_under_curve(response, probability),
        "log_loss": float(-numpy.mean(numpy.log(numpy.clip(numpy.where(response > 0.5, probability, 1 - probability), 1e-15, 1)))),
    }


def _area_under_curve(response, probability):
    """The chance that a positive row is ranked above a negative one; ties count half."""
    values, inverse, counts = numpy.unique(probability, return_inverse=True, return_counts=True)
    ranks = (numpy.cumsum(counts) - (counts - 1) / 2)[inverse]
    positive = response > 0.5
    pairs = positive.sum() * (~positive).sum()
    return float((ranks[positive].sum() - positive.sum() * (positive.sum() + 1) / 2) / pairs)


def _gaussian(response, value):
    error = numpy.mean((response - value) ** 2)
    return {"r2": float(1 - error / numpy.var(response)), "rmse": float(numpy.sqrt(error))}


def _poisson(response, mean):
    return {"deviance": deviance(response, mean)}


def deviance(response, mean):
    """Mean Poisson deviance."""
    mean = numpy.maximum(mean, 1e-15)
    logs = numpy.where(response > 0, response * numpy.log(numpy.maximum(response, 1e-300) / mean), 0.0)
    return float(2 * numpy.mean(logs - response + mean))
