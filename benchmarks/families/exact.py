"""The exact fits: Fisher's scoring, weighted, with sandwich errors. `python exact.py` compares them with statsmodels."""

import numpy as np
from scipy.stats import norm


def score_and_weight(family, y, eta, exposure, power):
    """The derivative of the log-likelihood in the predictor, and the expectation of minus its slope."""
    if family == "gaussian":
        return y - eta, np.ones(len(y))
    if family == "logistic":
        p = 1 / (1 + np.exp(-eta))
        return y - p, p * (1 - p)
    if family == "probit":
        one, zero, f = norm.cdf(eta), norm.sf(eta), norm.pdf(eta)
        return np.where(y > 0, f / one, -f / zero), f * f / (one * zero)
    if family == "cloglog":
        h = np.exp(np.clip(eta, -20, 3))
        of_one = h / np.expm1(h)
        return np.where(y > 0, of_one, -h), h * of_one
    mean = exposure * np.exp(np.clip(eta, -50, 50))
    p = {"poisson": 1.0, "gamma": 2.0}.get(family, power)
    return (y - mean) * mean ** (1 - p), mean ** (2 - p)


def mean(family, eta, exposure):
    if family == "gaussian":
        return eta
    if family == "logistic":
        return 1 / (1 + np.exp(-eta))
    if family == "probit":
        return norm.cdf(eta)
    if family == "cloglog":
        return -np.expm1(-np.exp(np.minimum(eta, 30)))
    return exposure * np.exp(np.clip(eta, -50, 50))


def deviance(family, y, m, weights, power):
    with np.errstate(all="ignore"):
        if family == "gaussian":
            each = (y - m) ** 2
        elif family in ("logistic", "probit", "cloglog"):
            m = np.clip(m, 1e-12, 1 - 1e-12)
            each = -2 * np.where(y > 0, np.log(m), np.log1p(-m))
        elif family == "poisson":
            each = 2 * (np.where(y > 0, y * np.log(np.where(y > 0, y, 1) / m), 0) - (y - m))
        elif family == "gamma":
            each = 2 * (y / m - 1 - np.log(y / m))
        else:
            p = power
            each = 2 * (y ** (2 - p) / ((1 - p) * (2 - p)) - y * m ** (1 - p) / (1 - p) + m ** (2 - p) / (2 - p))
    return float(np.average(each, weights=weights))


def fit(family, X, y, weights, exposure, power):
    """Coefficients, the intercept first, and their sandwich errors; X without a constant."""
    middle, scale = X.mean(0), X.std(0)
    scale[scale == 0] = 1
    D = np.c_[np.ones(len(y)), (X - middle) / scale]
    w = weights / weights.mean()
    rate = np.average(y, weights=w) / np.average(exposure, weights=w)
    start = dict(gaussian=rate, logistic=np.log(rate / (1 - rate)) if 0 < rate < 1 else 0, probit=norm.ppf(rate) if 0 < rate < 1 else 0)
    start["cloglog"] = np.log(-np.log1p(-rate)) if 0 < rate < 1 else 0
    b = np.r_[start.get(family, np.log(max(rate, 1e-9))), np.zeros(X.shape[1])]
    value = deviance(family, y, mean(family, D @ b, exposure), w, power)
    for _ in range(100):
        score, slope = score_and_weight(family, y, D @ b, exposure, power)
        H = (D * (w * slope)[:, None]).T @ D + 1e-7 * np.eye(len(b))
        step, length = np.linalg.solve(H, D.T @ (w * score)), 1.0
        while length > 1e-4:
            next_value = deviance(family, y, mean(family, D @ (b + length * step), exposure), w, power)
            if next_value <= value * (1 + 1e-12):
                break
            length /= 2
        b, value = b + length * step, next_value
        if np.abs(step).max() < 1e-9:
            break
    score, slope = score_and_weight(family, y, D @ b, exposure, power)
    inverse = np.linalg.inv((D * (w * slope)[:, None]).T @ D)
    V = (D * ((w * score) ** 2)[:, None]).T @ D
    back = np.diag(np.r_[1, 1 / scale])
    back[0, 1:] = -middle / scale
    covariance = back @ inverse @ V @ inverse @ back.T
    return back @ b, np.sqrt(np.diag(covariance))


def dispersion(family, y, m, weights, power, columns):
    p = {"gaussian": 0.0, "poisson": 1.0, "gamma": 2.0}.get(family, power)
    return float(np.average((y - m) ** 2 / m**p, weights=weights) * len(y) / (len(y) - columns))


if __name__ == "__main__":
    import statsmodels.api as sm

    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    u, e = X @ [0.3, -0.4, 0.1], rng.uniform(0.2, 1, 4000)
    links = sm.families.links
    cases = dict(
        gamma=(sm.families.Gamma(links.Log()), e * np.exp(u) * rng.gamma(2, 0.5, 4000)),
        tweedie=(sm.families.Tweedie(links.Log(), 1.5), e * np.exp(u) * rng.poisson(1, 4000) * rng.gamma(2, 0.5, 4000)),
        poisson=(sm.families.Poisson(), rng.poisson(e * np.exp(u))),
        probit=(sm.families.Binomial(links.Probit()), rng.uniform(size=4000) < norm.cdf(u)),
        cloglog=(sm.families.Binomial(links.CLogLog()), rng.uniform(size=4000) < -np.expm1(-np.exp(u))),
    )
    for family, (theirs, y) in cases.items():
        exposed = family in ("gamma", "tweedie", "poisson")
        model = sm.GLM(y.astype(float), sm.add_constant(X), family=theirs, offset=np.log(e) if exposed else None).fit(cov_type="HC0")
        b, errors = fit(family, X, y.astype(float), np.ones(4000), e if exposed else np.ones(4000), 1.5)
        apart = np.abs(b - model.params).max(), np.abs(errors / model.bse - 1).max()
        print(f"{family:8} coefficients differ by {apart[0]:.1e}, standard errors by a factor of {apart[1]:.1e}")
        assert apart[0] < 1e-5 and apart[1] < 0.15
