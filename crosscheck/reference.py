"""Answers to the same question by other means: none shares code or method with dpglm.

* ``lattice``: Google's dp-accounting, which rounds losses on a lattice and convolves. Rounded down, its delta is a lower
  bound; rounded up ("connect the dots"), an upper bound.
* ``contour``: the exact delta of a composition as an integral in the complex plane,
      delta(e) = 1/(2 pi i) * integral of exp(K(t) - e t) / (t (t + 1)) dt   over Re t = a > 0,
  where K(t) is the closed-form log-moment of the total loss. It has no lattice and needs no tail: the trapezoidal rule
  converges exponentially fast as long as the integrand decays, that is for many Laplace releases or with a Gaussian.
* ``binomial``: randomized response composes to a binomial distribution, summed exactly.
* ``gaussian``: the closed curve of Gaussian releases in sixty-digit arithmetic.

A release is a tuple ``(mechanism, intensity, count)``: intensity is mu for a Gaussian, and the pure loss otherwise.
"""

import functools
import math

import mpmath
import numpy
from dp_accounting.pld import common, privacy_loss_distribution
from scipy import optimize, special


def epsilon_where(log_delta, delta, guess, reach=4e-3):
    """The epsilon at which a falling curve passes through delta, sought within a small factor of a guess."""
    excess = lambda ratio: log_delta(guess * ratio) - math.log(delta)
    if not excess(1 - reach) > 0 > excess(1 + reach):
        raise ArithmeticError(f"no epsilon near {guess} has delta {delta}")
    return guess * optimize.brentq(excess, 1 - reach, 1 + reach, xtol=1e-13)


# --- dp-accounting ---------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=4)
def lattice(releases, step, pessimistic):
    """The composed privacy-loss distribution by dp-accounting."""
    total = None
    for mechanism, intensity, count in releases:
        if mechanism == "gaussian" and not pessimistic:
            # Rounding each of many releases down by up to a step would leave no bound at all; one release of the
            # same total mu is the same thing.
            intensity, count = intensity * math.sqrt(count), 1
        one = _single(mechanism, intensity, step, pessimistic)
        # What it truncates it adds to delta, which a lower bound must not.
        part = one if count == 1 else one.self_compose(count, 1e-15 if pessimistic else 0)
        total = part if total is None else total.compose(part)
    return total


def _single(mechanism, intensity, step, pessimistic):
    if mechanism == "gaussian":
        return privacy_loss_distribution.from_gaussian_mechanism(
            1 / intensity,
            pessimistic_estimate=pessimistic,
            value_discretization_interval=step,
            use_connect_dots=pessimistic,
        )
    if mechanism == "laplace":
        return privacy_loss_distribution.from_laplace_mechanism(
            1 / intensity,
            pessimistic_estimate=pessimistic,
            value_discretization_interval=step,
            use_connect_dots=pessimistic,
        )
    # Its atoms must fall on lattice points, else this would be no lower bound.
    assert (intensity / step).is_integer()
    pure = common.DifferentialPrivacyParameters(intensity, 0)
    pmf = privacy_loss_distribution.from_privacy_parameters(pure, step)
    if pessimistic:
        return pmf
    top = round(intensity / step)
    return privacy_loss_distribution.PrivacyLossDistribution.create_from_rounded_probability(
        {top: 1 / (1 + math.exp(-intensity)), -top: 1 / (1 + math.exp(intensity))},
        0,
        step,
        pessimistic_estimate=False,
    )


def noise(count):
    """What the rounding of its transforms may add to a delta after `count` compositions: about ten times the 1e-16 seen
    for few, and growing with their number."""
    return 1e-15 + 2e-17 * count


def lattice_epsilon(distribution, delta, guess):
    """The epsilon of a composed distribution at delta, sought near a guess."""
    return epsilon_where(lambda epsilon: math.log(max(distribution.get_delta_for_epsilon(epsilon), 1e-300)), delta, guess)


# --- contour integral ------------------------------------------------------------------------------------------------


def log_moment(releases, t):
    """K(t) = ln E exp(t L) for complex t."""
    total = 0
    for mechanism, x, count in releases:
        if mechanism == "gaussian":
            one = t * (t + 1) * x * x / 2
        elif mechanism == "laplace":
            one = numpy.log(((t + 1) * numpy.exp(t * x) + t * numpy.exp(-(t + 1) * x)) / (2 * t + 1))
        else:
            one = numpy.log((numpy.exp((t + 1) * x) + numpy.exp(-t * x)) / (1 + math.exp(x)))
        total = total + count * one
    return total


def contour_log_delta(releases, epsilon):
    """ln delta(epsilon), exact up to the rounding of double precision."""

    def exponent(t):
        return log_moment(releases, t) - epsilon * t - numpy.log(t) - numpy.log1p(t)

    # The contour passes through the saddle point, from where the integrand falls fastest.
    rise = lambda log_t: exponent(math.exp(log_t)).real
    saddle = optimize.minimize_scalar(rise, bounds=_orders(releases), method="bounded", options={"xatol": 1e-9})
    a = math.exp(saddle.x)
    peak = exponent(a).real
    h = 1e-3 * a
    width = h / math.sqrt(exponent(a + h) - 2 * peak + exponent(a - h))
    require_decay(releases, a)
    integrals = []
    for spacing in (0.04, 0.02):
        y = width * spacing * numpy.arange(20 / spacing)
        values = numpy.exp(exponent(a + 1j * y) - peak).real
        integrals.append((numpy.sum(values) - values[0] / 2) * width * spacing / math.pi)
    assert abs(integrals[0] / integrals[1] - 1) < 1e-10 and abs(values[-1]) < 1e-14
    return peak + math.log(integrals[1])


def _orders(releases):
    """Logarithms of the orders between which the saddle point is sought."""
    spread = math.sqrt(sum(count * x * x for _, x, count in releases))
    return math.log(0.01 / spread), math.log(100 / spread)


def require_decay(releases, a):
    """Refuses losses that sit on their atoms: their integrand revives wherever the atoms are in phase.

    Between the revivals of the atoms only a Gaussian, or the continuous part of Laplace losses, keeps it small.
    """
    widest = max((x for mechanism, x, _ in releases if mechanism != "gaussian"), default=math.inf)
    damping = 0
    for mechanism, x, count in releases:
        if mechanism == "gaussian":
            damping += count * (x * math.pi / widest) ** 2 / 2
        elif mechanism == "laplace":
            moment = math.exp(log_moment([(mechanism, x, 1)], a))
            continuous = math.exp(-x / 2) / 2 * math.sinh((a + 0.5) * x) / (a + 0.5) / moment
            # In phase, the continuous part contributes a third of its mass at most.
            damping += count * continuous * 2 / 3
    if damping < 30:
        raise ArithmeticError("too few releases for a contour integral")


# --- binomial --------------------------------------------------------------------------------------------------------


def binomial_log_delta(width, count, epsilon, shift=None):
    """ln delta(epsilon) of `count` choices between two outcomes of log-ratios `shift` and `shift - width`. Randomized
    response of pure loss w is the symmetric one: width 2w, shift w."""
    shift = width / 2 if shift is None else shift
    log_top = math.log(-math.expm1(shift - width)) - math.log(-math.expm1(-width))
    log_bottom = math.log(-math.expm1(-shift)) - width + shift - math.log(-math.expm1(-width))
    k = numpy.arange(count + 1, dtype=float)
    total = count * shift - (count - k) * width
    k, total = k[total > epsilon], total[total > epsilon]
    if total.size == 0:
        return -math.inf
    choices = special.gammaln(count + 1) - special.gammaln(k + 1) - special.gammaln(count - k + 1)
    log_mass = choices + k * log_top + (count - k) * log_bottom
    return special.logsumexp(log_mass + numpy.log(-numpy.expm1(epsilon - total)))


# --- sixty digits ----------------------------------------------------------------------------------------------------

mpmath.mp.dps = 60


def gaussian_delta(mu, epsilon):
    """delta(epsilon) of a Gaussian release, or of several of the same total mu."""
    mu, epsilon = mpmath.mpf(mu), mpmath.mpf(epsilon)
    below = lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2
    return below(-epsilon / mu + mu / 2) - mpmath.exp(epsilon) * below(-epsilon / mu - mu / 2)


def bisect(decreasing, target, guess):
    """The argument at which a decreasing function has the target value, to forty digits."""
    low, high = mpmath.mpf(guess) * (1 - mpmath.mpf("1e-3")), mpmath.mpf(guess) * (1 + mpmath.mpf("1e-3"))
    assert decreasing(low) > target > decreasing(high), "the guess is off by more than a part in a thousand"
    while high - low > low * mpmath.mpf("1e-30"):
        middle = (low + high) / 2
        low, high = (middle, high) if decreasing(middle) > target else (low, middle)
    return high
