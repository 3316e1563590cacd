"""What a mean can be compared with: one joint Gaussian release on the declared ranges, and on the best clips of somebody who has seen the rows."""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm


def gaussian_mu(epsilon, delta):
    """The budget as the `mu` of one Gaussian release."""
    def spent(mu):
        return norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon + norm.logcdf(-mu / 2 - epsilon / mu)) - delta

    return brentq(spent, 1e-6, 100)


def factors(table):
    """The squared l2 sensitivity of all columns together, a column of range 1 being 1: indicators of one category have 2 together."""
    factor = table["factor"]
    groups, sizes = np.unique(factor[factor >= 0], return_counts=True)
    return (factor < 0).sum() + np.minimum(2, sizes).sum()


def declared(table, mu):
    """The noise on each mean of a joint Gaussian release on the declared ranges."""
    return (table["high"] - table["low"]) * math.sqrt(factors(table)) / (mu * len(table["columns"]))


def oracle(table, mu):
    """The error on each mean of the same release on the best clips: noise and bias."""
    columns, low, high = table["columns"], table["low"], table["high"]
    n = len(columns)
    unit = math.sqrt(factors(table)) / (mu * n)
    errors = declared(table, mu)
    steps = np.unique(np.concatenate([[0], np.round(1.25 ** np.arange(0, math.log(n / 4) / math.log(1.25)))])).astype(int)
    for j in range(columns.shape[1]):
        if low[j] == 0 and high[j] == 1:
            continue
        x = np.sort(columns[:, j])
        total = np.concatenate([[0.0], np.cumsum(x)])
        # What clipping at the k-th value from either end takes or adds.
        left, right = x[steps], x[n - 1 - steps]
        added = (steps * left - total[steps]) / n
        taken = (total[n] - total[n - steps] - steps * right) / n
        # Both counted in full: that one end makes up for the other is luck, which no rule for clips can plan with.
        bias = added[:, None] + taken[None, :]
        width = right[None, :] - left[:, None]
        error = np.sqrt(bias**2 + (unit * np.maximum(width, 0)) ** 2)
        error = error[width > 0]
        if len(error):
            errors[j] = min(errors[j], error.min())
    return errors
