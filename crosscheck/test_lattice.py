"""dpglm's epsilon against the lattice accountant of dp-accounting, and against exact integration where its rounding
leaves no lower bound.

Two kinds of error are dp-accounting's own and bound what can be compared. Rounding every loss down by up to a step shifts a
composition of n losses by up to n steps: a useful lower bound costs about 10^4 n lattice points, so n stays below a few
hundred and contour integration takes over. And its transforms leave noise in delta (``reference.noise``): deltas stay
well above that.
"""

import math

import pytest

import reference

SMALL_DELTAS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
LARGE_DELTAS = (1e-2, 1e-4, 1e-6, 1e-8)
HUGE_DELTAS = (1e-2, 1e-4, 1e-6)
TOLERANCE = 1e-3

# The names say which lower bound is used.
BY_ROUNDING_DOWN = [
    *[[("gaussian", mu, 1)] for mu in (0.05, 0.2, 1.0, 5.0)],
    *[[("gaussian", mu, 20)] for mu in (0.05, 0.3, 1.0)],
    *[[("laplace", w, 1)] for w in (0.1, 0.5, 1.0, 3.0)],
    *[[("laplace", w, 5)] for w in (0.1, 0.5, 1.0, 2.0)],
    *[[("laplace", w, 20)] for w in (0.05, 0.1, 0.5, 1.0)],
    *[[("laplace", w, 100)] for w in (0.02, 0.1, 0.3)],
    [("laplace", 0.1, 5), ("laplace", 0.5, 2)],
    [("laplace", 0.05, 20), ("laplace", 0.2, 10), ("laplace", 1.0, 1)],
    [("laplace", 0.1, 10), ("laplace", 0.1 * math.sqrt(2), 10)],
    [("laplace", 0.01, 30), ("laplace", 0.02, 30), ("laplace", 0.05, 30)],
    [("gaussian", 1.0, 1), ("laplace", 1.0, 1)],
    [("gaussian", 0.3, 1), ("laplace", 0.1, 20)],
    [("gaussian", 2.0, 1), ("laplace", 0.5, 10)],
    [("gaussian", 0.05, 100), ("laplace", 0.05, 100)],
    [("pure", 0.125, 1)],
    [("pure", 0.125, 20)],
    [("pure", 0.5, 20)],
    [("pure", 1.0, 7)],
    [("pure", 0.0625, 100)],
    [("pure", 0.25, 100)],
    [("pure", 0.25, 10), ("laplace", 0.1, 10)],
    [("pure", 0.125, 20), ("gaussian", 0.5, 1)],
    [("pure", 0.5, 3), ("laplace", 0.3, 5), ("gaussian", 0.4, 2)],
]
BY_CONTOUR = [
    ([("laplace", 0.1, 1_000)], LARGE_DELTAS),
    ([("laplace", 0.3, 1_000)], LARGE_DELTAS),
    ([("laplace", 0.02, 10_000)], LARGE_DELTAS),
    ([("laplace", 0.1, 500), ("laplace", 0.2, 500)], LARGE_DELTAS),
    ([("gaussian", 0.01, 1_000), ("laplace", 0.1, 1_000)], LARGE_DELTAS),
    ([("gaussian", 0.05, 400), ("pure", 0.03125, 1_000)], LARGE_DELTAS),
    ([("laplace", 0.003, 100_000)], HUGE_DELTAS),
    ([("laplace", 0.001, 1_000_000)], HUGE_DELTAS),
    ([("gaussian", 0.001, 1_000_000), ("laplace", 0.001, 1_000_000)], HUGE_DELTAS),
]
GAUSSIAN_MANY = [
    ([("gaussian", 0.1, 1_000)], LARGE_DELTAS),
    ([("gaussian", 0.01, 10_000)], LARGE_DELTAS),
    ([("gaussian", 0.001, 1_000_000)], HUGE_DELTAS),
]


def describe(value):
    if isinstance(value, list):
        return "+".join(f"{count}x{mechanism}({intensity:.4g})" for mechanism, intensity, count in value)
    return f"{value:g}"


def dyadic(step):
    """The power of two at or below a step: the atoms of the pure releases above then fall on lattice points."""
    return 2.0 ** math.floor(math.log2(step))


def upper_epsilon(releases, delta, guess):
    """dp-accounting's upper bound. Connecting the dots errs by the square of the step, and not at all for atoms on
    lattice points, so a coarse one will do for many releases."""
    many = max(count for _, _, count in releases)
    points = 4096 if many <= 100 else 256 if many <= 1_000 else 64 if many <= 10_000 else 16
    step = min(intensity for _, intensity, _ in releases) / points
    if any(mechanism == "pure" for mechanism, _, _ in releases):
        step = dyadic(step)
    return reference.lattice_epsilon(reference.lattice(tuple(releases), step, True), delta, guess)


def lower_epsilon(releases, delta, guess, smallest):
    """dp-accounting's lower bound. Rounding down shifts the total by half a step per rounded loss on average; the step
    suits the `smallest` epsilon asked of these releases, so that one lattice serves all deltas."""
    rounded = sum(1 if mechanism == "gaussian" else count for mechanism, _, count in releases)
    distribution = reference.lattice(tuple(releases), dyadic(4e-4 * smallest / rounded), False)
    return reference.lattice_epsilon(distribution, delta + reference.noise(rounded), guess)


@pytest.mark.parametrize("delta", SMALL_DELTAS, ids=describe)
@pytest.mark.parametrize("releases", BY_ROUNDING_DOWN, ids=describe)
def test_within_both_bounds(releases, delta, epsilon_of, record):
    ours = epsilon_of(releases, delta)
    upper = upper_epsilon(releases, delta, ours)
    lower = lower_epsilon(releases, delta, ours, smallest=epsilon_of(releases, SMALL_DELTAS[0]))
    assert abs(upper / lower - 1) < 5e-4, "the reference itself is too wide to judge"
    record("lower bound of dp-accounting", ours / lower)
    record("upper bound of dp-accounting", ours / upper)
    assert lower <= ours <= lower * (1 + TOLERANCE)
    assert abs(ours / upper - 1) <= TOLERANCE


@pytest.mark.parametrize("releases, delta", [(r, d) for r, deltas in BY_CONTOUR for d in deltas], ids=describe)
def test_many_releases(releases, delta, epsilon_of, record):
    ours = epsilon_of(releases, delta)
    upper = upper_epsilon(releases, delta, ours)
    truth = reference.epsilon_where(lambda e: reference.contour_log_delta(releases, e), delta, ours)
    assert abs(upper / truth - 1) < 5e-4, "the references disagree"
    record("contour integral", ours / truth)
    record("upper bound of dp-accounting", ours / upper)
    assert truth <= ours <= truth * (1 + TOLERANCE)
    assert abs(ours / upper - 1) <= TOLERANCE


@pytest.mark.parametrize("releases, delta", [(r, d) for r, deltas in GAUSSIAN_MANY for d in deltas], ids=describe)
def test_many_gaussian_releases(releases, delta, epsilon_of, record):
    ours = epsilon_of(releases, delta)
    upper = upper_epsilon(releases, delta, ours)
    lower = lower_epsilon(releases, delta, ours, smallest=ours)
    record("lower bound of dp-accounting", ours / lower)
    record("upper bound of dp-accounting", ours / upper)
    assert lower <= ours <= lower * (1 + TOLERANCE)
    assert abs(ours / upper - 1) <= TOLERANCE
