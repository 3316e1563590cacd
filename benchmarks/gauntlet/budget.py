"""A budget as one Gaussian: how much a task allows."""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm


def gaussian_budget(epsilon, delta):
    """mu: the difference that one row makes, in standard deviations of the noise of everything released together."""

    def gap(mu):
        return norm.cdf(-epsilon / mu + mu / 2) - np.exp(epsilon + norm.logcdf(-epsilon / mu - mu / 2)) - delta

    return brentq(gap, 1e-6, 100)


def dimension(columns, classes):
    """D: the columns and the intercept, of several classes once for each but the first."""
    return (columns + 1) * max(classes - 1, 1)


def signal(n, D, epsilon, delta):
    """n mu / D, the rows per coefficient that the budget leaves."""
    return n * gaussian_budget(epsilon, delta) / D
