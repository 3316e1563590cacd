"""dpglm's numbers against curves that are known exactly, down to deltas no lattice reaches."""

import math

import mpmath
import pytest
from scipy import optimize

import reference

TOLERANCE = 1e-3


# --- Gaussian: sixty-digit arithmetic --------------------------------------------------------------------------------

BUDGETS = [(epsilon, delta) for epsilon in (0.01, 0.1, 0.5, 1.0, 5.0, 20.0, 100.0) for delta in (1e-2, 1e-5, 1e-9, 1e-15, 1e-30)]


@pytest.mark.parametrize("epsilon, delta", BUDGETS)
def test_calibrated_gaussian_noise(epsilon, delta, dpglm, record):
    """Sigma is enough, and not more than enough."""
    budget = [f"--epsilon={epsilon!r}", f"--delta={delta!r}"]
    sigma = dpglm("calibrate", "--mechanism=gaussian", "--sensitivity=1", *budget)["sigma"]
    exact = reference.bisect(lambda s: reference.gaussian_delta(1 / s, epsilon), delta, sigma)
    record("sigma in sixty digits", float(sigma / exact))
    assert reference.gaussian_delta(1 / mpmath.mpf(sigma), epsilon) <= delta
    assert sigma <= exact * (1 + mpmath.mpf("1e-9"))


@pytest.mark.parametrize("epsilon, delta", BUDGETS)
def test_accounted_gaussian_noise(epsilon, delta, dpglm, record):
    """Epsilon is not below the true one, nor above it in the ninth digit."""
    noise = dpglm("calibrate", "--mechanism=gaussian", "--sensitivity=1", f"--epsilon={epsilon!r}", f"--delta={delta!r}")
    sigma = float(f"{noise['sigma']:.6g}")
    ours = dpglm("account", "--mechanism=gaussian", "--sensitivity=1", f"--sigma={sigma!r}", f"--delta={delta!r}")["epsilon"]
    mu = 1 / mpmath.mpf(sigma)
    exact = reference.bisect(lambda e: reference.gaussian_delta(mu, e), delta, ours)
    record("Gaussian epsilon in sixty digits", float(ours / exact))
    assert exact <= ours <= exact * (1 + mpmath.mpf("1e-9"))


@pytest.mark.parametrize("epsilon, delta", BUDGETS)
def test_gaussian_delta(epsilon, delta, dpglm, record):
    """The curve read the other way: delta at epsilon."""
    noise = dpglm("calibrate", "--mechanism=gaussian", "--sensitivity=1", f"--epsilon={epsilon!r}", f"--delta={delta!r}")
    sigma = float(f"{noise['sigma']:.6g}")
    asked = ["--mechanism=gaussian", "--sensitivity=1", f"--sigma={sigma!r}", f"--at-epsilon={epsilon!r}"]
    ours = dpglm("account", *asked)["delta"]
    exact = reference.gaussian_delta(1 / mpmath.mpf(sigma), epsilon)
    record("Gaussian delta in sixty digits", float(ours / exact))
    assert exact <= ours <= exact * (1 + mpmath.mpf("1e-8"))


# --- One release: closed curves --------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 1e-20, 1e-30])
@pytest.mark.parametrize("width", [1e-2, 0.1, 1.0, 2.727, 30.0])
@pytest.mark.parametrize("mechanism", ["laplace", "pure", "selection"])
def test_one_release(mechanism, width, delta, epsilon_of, record):
    """delta(e) is 1 - exp((e-w)/2) for Laplace noise, (1 - exp(e-w)) / (1 + exp(-w)) for randomized response, and at
    worst (1 - exp((e-w)/2))^2 / (1 - exp(-w)) for a selection of bounded range w."""
    w, d = mpmath.mpf(width), mpmath.mpf(delta)
    exact = {
        "laplace": w + 2 * mpmath.log(1 - d),
        "pure": w + mpmath.log(1 - d * (1 + mpmath.exp(-w))),
        "selection": w + 2 * mpmath.log(1 - mpmath.sqrt(d * (1 - mpmath.exp(-w)))),
    }[mechanism]
    ours = epsilon_of([(mechanism, width, 1)], delta)
    record("one release in sixty digits", float(ours / exact))
    assert exact <= ours <= exact * (1 + mpmath.mpf("1e-6"))


# --- Randomized response: the binomial -------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-12, 1e-20, 1e-30])
@pytest.mark.parametrize(
    "loss, count", [(0.3, 3), (0.1, 50), (1.0, 100), (0.05, 1_000), (0.01, 10_000), (0.003, 100_000), (0.001, 1_000_000)]
)
def test_randomized_response(loss, count, delta, epsilon_of, record):
    ours = epsilon_of([("pure", loss, count)], delta)
    truth = reference.epsilon_where(lambda e: reference.binomial_log_delta(2 * loss, count, e), delta, ours)
    record("binomial", ours / truth)
    # The last digits of the logarithms of factorials limit the reference.
    assert truth * (1 - 1e-10) <= ours <= truth * (1 + TOLERANCE)


# --- Any mix: the contour integral -----------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [1e-5, 1e-12, 1e-20, 1e-30])
@pytest.mark.parametrize(
    "releases",
    [
        [("laplace", 0.1, 2_000)],
        [("laplace", 0.001, 1_000_000)],
        [("gaussian", 0.3, 1), ("laplace", 0.1, 20)],
        [("gaussian", 1.0, 1), ("laplace", 0.3, 5), ("laplace", 0.2, 7)],
        [("gaussian", 1.0, 1), ("laplace", 1e-3, 1)],
        [("gaussian", 1.0, 1), ("laplace", 1e-7, 1)],
        [("gaussian", 1e-7, 1), ("laplace", 0.1, 2_000)],
        [("gaussian", 0.02, 100), ("laplace", 0.02, 1_000), ("pure", 0.01, 1_000)],
    ],
    ids=lambda releases: "+".join(f"{n}x{kind}({x:g})" for kind, x, n in releases),
)
def test_mixes(releases, delta, epsilon_of, record):
    ours = epsilon_of(releases, delta)
    truth = reference.epsilon_where(lambda e: reference.contour_log_delta(releases, e), delta, ours)
    record("contour integral", ours / truth)
    assert truth <= ours <= truth * (1 + TOLERANCE)


# --- zCDP and selections: known brackets -----------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-10, 1e-30])
@pytest.mark.parametrize("rho, count", [(1e-3, 1), (0.01, 1), (0.01, 20), (0.5, 3), (1e-6, 1_000_000)])
def test_zcdp(rho, count, delta, epsilon_of, record):
    """zCDP converts by the best order, and costs more than the Gaussian release that is its tightest member."""
    total = rho * count

    def at(log_order):
        a = math.exp(log_order)
        return (a + 1) * total + (-math.log(delta) - a * math.log1p(1 / a) - math.log1p(a)) / a

    scan = min((at(i / 20), i / 20) for i in range(-300, 400))[1]
    best = optimize.minimize_scalar(at, bounds=(scan - 0.1, scan + 0.1), method="bounded", options={"xatol": 1e-10})
    ours = epsilon_of([("zcdp", rho, count)], delta)
    record("best conversion of zCDP", ours / best.fun)
    assert best.fun * (1 - 1e-12) <= ours <= best.fun * (1 + 1e-6)
    assert ours >= epsilon_of([("gaussian", math.sqrt(2 * rho), count)], delta)


@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-12])
@pytest.mark.parametrize("width, count", [(0.5, 1), (0.1, 10), (1.0, 10), (0.05, 200), (0.01, 10_000)])
def test_selection(width, count, delta, epsilon_of):
    """A selection of bounded range w is w-DP and w^2/8-zCDP. It costs at least what any choice between two candidates
    does whose log-ratios are t and t - w."""
    ours = epsilon_of([("selection", width, count)], delta)
    assert ours <= epsilon_of([("pure", width, count)], delta)
    assert ours <= epsilon_of([("zcdp", width * width / 8, count)], delta) * (1 + 1e-9)
    worst = max(
        reference.binomial_log_delta(width, count, ours, shift=width * share / 40) for share in range(1, 40)
    )
    assert worst <= math.log(delta)
