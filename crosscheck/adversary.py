"""The best adversary against selections, by the definition: before each one it picks a shift, after all earlier results.

A selection of bounded range ``w`` with shift ``t`` has two outcomes at worst, of log-ratios ``t`` and ``t - w``; the first has
probability ``(1 - e^(t-w)) / (1 - e^-w)``. With ``d(e)`` the largest delta that the remaining selections can reach at epsilon ``e``, one more reaches

    max over t of  p(t) d(e - t) + (1 - p(t)) d(e - t + w).

* ``lattice_curve`` lets the adversary use shifts on a lattice only, of which epsilons are points too. Nothing is interpolated: what it reaches is a lower bound
  of the optimum, and the finer the lattice the closer to it. No code or method of dpglm's: that keeps an upper bound and
  finds the maximum in closed form.
* ``two_selections``: the optimum for two, from the closed curve of one, by numerical maximisation.
* ``after_gaussian``: a Gaussian release first, to whose result the adversary reacts.
"""

import math

import numpy
from scipy import optimize, special


def trivial(e):
    """The curve of nothing at all."""
    return numpy.maximum(-numpy.expm1(e), 0.0)


def lattice_curve(width, count, points):
    """Epsilons, from ``-count * width`` to ``count * width``, and what the adversary reaches at each; ``points`` to a range."""
    step = width / points
    reach = count * points
    e = step * numpy.arange(-reach, reach + 1)
    shifts = numpy.arange(points + 1)
    top = numpy.expm1(step * shifts - width) / math.expm1(-width)
    curve = trivial(e)
    for _ in range(count):
        # Beyond the lattice the curve is the trivial one.
        left = trivial(e[0] + step * numpy.arange(-points, 0))
        long = numpy.concatenate([left, curve, numpy.zeros(points)])
        best = curve
        for t, p in zip(shifts, top):
            near = long[points - t : points - t + e.size]
            far = long[2 * points - t : 2 * points - t + e.size]
            best = numpy.maximum(best, p * near + (1 - p) * far)
        curve = best
    return e, curve


def one_selection(width, e):
    """The closed curve of one selection."""
    if e >= width:
        return 0.0
    if e <= -width:
        return -math.expm1(e)
    return math.expm1((e - width) / 2) ** 2 / -math.expm1(-width)


def two_selections(width, e):
    """The optimum for two selections, to about ten digits."""

    def reached(t):
        top = math.expm1(t - width) / math.expm1(-width)
        return top * one_selection(width, e - t) + (1 - top) * one_selection(width, e - t + width)

    grid = numpy.linspace(0, width, 2_001)
    best = grid[numpy.argmax([reached(t) for t in grid])]
    low, high = max(best - width / 1_000, 0.0), min(best + width / 1_000, width)
    found = optimize.minimize_scalar(lambda t: -reached(t), bounds=(low, high), method="bounded", options={"xatol": 1e-12})
    return max(-found.fun, reached(best))


def after_gaussian(mu, e, curve, epsilon):
    """A lower bound of delta at ``epsilon`` if the adversary sees a Gaussian release of ``mu`` before selections with this curve."""
    above = lambda loss: special.ndtr(mu / 2 - loss / mu)
    step = e[1] - e[0]
    # Left of the lattice the curve is the trivial one.
    left = e[0] - step * numpy.arange(math.ceil(12 * mu / step), 0, -1)
    e, curve = numpy.concatenate([left, e]), numpy.concatenate([trivial(left), curve])
    # A Gaussian loss between two lattice points leaves at least what is left at the lower one.
    mass = above(epsilon - e) - above(epsilon - e + step)
    return float(numpy.sum(numpy.maximum(mass, 0.0) * curve) + above(epsilon - e[0] + step) * curve[0])
