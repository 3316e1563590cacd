"""dpglm's charge for several selections against the best adversary (``adversary.py``): never below it, and close to it."""

import math

import numpy
import pytest

import adversary
import reference


@pytest.fixture(scope="session")
def delta_of(dpglm):
    """dpglm's delta for selections, and perhaps a Gaussian, at an epsilon."""

    def delta(width, count, epsilon, mu=None):
        events = [f"--event=selection:sensitivity={width!r},scale=2,count={count}"]
        if mu:
            events.append(f"--event=gaussian:sensitivity={mu!r},sigma=1,count=1")
        return dpglm("account", *events, f"--at-epsilon={epsilon!r}")["delta"]

    return delta


@pytest.mark.parametrize("share", [0.0, 0.1, 0.35, 0.6, 0.8])
@pytest.mark.parametrize("width", [0.001, 0.05, 0.7, 3.0])
def test_two_selections(width, share, delta_of, record):
    epsilon = 2 * share * width
    exact = adversary.two_selections(width, epsilon)
    ours = delta_of(width, 2, epsilon)
    record("two selections, optimum", ours / exact)
    assert exact * (1 - 1e-9) <= ours <= exact * (1 + 3e-3)


@pytest.mark.parametrize("share", [0.0, 0.15, 0.3, 0.5, 0.65])
@pytest.mark.parametrize("width, count, points", [(0.7, 3, 512), (0.05, 4, 512), (2.0, 4, 256), (0.2, 8, 192), (0.05, 20, 96)])
def test_several_selections(width, count, points, share, delta_of, record):
    e, curve = adversary.lattice_curve(width, count, points)
    place = round((1 + share) * count * points)
    ours = delta_of(width, count, max(float(e[place]), 0.0))
    record("several selections, adversary on a lattice", ours / curve[place])
    assert curve[place] * (1 - 1e-9) <= ours <= curve[place] * (1 + 5e-2)


@pytest.mark.parametrize("epsilon", [0.2, 0.6, 1.2])
@pytest.mark.parametrize("mu", [0.1, 0.4, 1.0])
@pytest.mark.parametrize("width, count, points", [(0.3, 3, 1_024), (0.1, 10, 384)])
def test_beside_a_gaussian(width, count, points, mu, epsilon, delta_of, record):
    """The Gaussian first is the worst order: the adversary reacts to it. So this is the optimum too."""
    e, curve = adversary.lattice_curve(width, count, points)
    reached = adversary.after_gaussian(mu, e, curve, epsilon)
    ours = delta_of(width, count, epsilon, mu)
    record("selections after a Gaussian, adversary on a lattice", ours / reached)
    assert reached * (1 - 1e-9) <= ours <= reached * (1 + 3e-2)


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-10])
@pytest.mark.parametrize("width, count", [(0.05, 100), (0.02, 400), (0.01, 10_000)])
def test_many_selections(width, count, delta, epsilon_of, record):
    """Above the best adversary that does not react, and at most 2.5% above: blocks lose no more than that."""
    ours = epsilon_of([("selection", width, count)], delta)
    shifts = width * numpy.linspace(0.45, 0.55, 101)
    curve = lambda epsilon: max(reference.binomial_log_delta(width, count, epsilon, shift=t) for t in shifts)
    fixed = reference.epsilon_where(curve, delta, ours, reach=4e-2)
    record("many selections, shifts fixed in advance", ours / fixed)
    assert fixed <= ours <= fixed * 1.025


@pytest.mark.parametrize("delta", [1e-3, 1e-6])
@pytest.mark.parametrize("width, count", [(0.7, 3), (0.2, 32), (0.05, 200)])
def test_cheaper_than_separate_envelopes(width, count, delta, epsilon_of):
    """What Rényi moments give for the same selections, the better of the bounds for separate ones: charged together they cost less."""
    ours = epsilon_of([("selection", width, count)], delta)

    def moment(a):
        s = lambda k: math.log(math.sinh(k * width / 2) / (k * width / 2))
        return count * ((a + 1) * s(a + 1) - a * s(a) - s(1))

    orders = numpy.exp(numpy.linspace(-2, 6, 2_000))
    renyi = min((moment(a) - math.log(delta) - a * math.log1p(1 / a) - math.log1p(a)) / a for a in orders)
    assert ours <= renyi * (1 + 1e-6)
    assert count == 3 or ours < 0.96 * renyi
