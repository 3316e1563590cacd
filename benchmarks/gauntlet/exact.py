"""The exact fit: maximum likelihood by Newton's method, without privacy.

Columns are standardised inside, with a penalty of 1e-6 on the sum of the log-likelihood: nothing where the maximum exists, and a finite answer
where it does not. A coefficient *exists* if a hundred times that penalty does not move it by more than 1 over the column's range (a separated
direction moves by log 100), and if it has no part in a null direction of the columns. Variances are sandwiches, which hold whether or not the
family is right. Coefficients: the intercept first; several classes: one block after the other, each class against the first.
"""

from dataclasses import dataclass

import numpy as np

PENALTY, STRONGER = 1e-6, 1e-4
# The variance is this power of the mean, times the dispersion; the link is the logarithm.
POWERS = dict(poisson=1.0, gamma=2.0, tweedie=1.5)


@dataclass
class Exact:
    """Coefficients in the units of the columns handed in."""

    estimate: np.ndarray
    error: np.ndarray | None = None
    exists: np.ndarray | None = None

    def predict(self, family, X, exposure=None):
        blocks = self.estimate.reshape(-1, X.shape[1] + 1)
        eta = X @ blocks[:, 1:].T + blocks[:, 0]
        mean = _mean(family, eta, np.ones(len(X)) if exposure is None else exposure)
        if family == "multinomial":
            return np.c_[1 - mean.sum(1), mean]
        return mean[:, 0]


def fit(family, X, y, exposure=None, classes=2, inference=False):
    """X without a constant column. `inference` adds standard errors and says which coefficients exist."""
    n, d = X.shape
    middle, scale = X.mean(0), X.std(0)
    flat = scale <= 1e-12 * np.maximum(np.abs(middle), 1e-300)
    scale[flat] = 1
    D = np.empty((n, d + 1))
    D[:, 0] = 1
    np.divide(X - middle, scale, out=D[:, 1:])
    D[:, 1:][:, flat] = 0
    exposure = np.ones(n) if exposure is None else exposure
    blocks = classes - 1 if family == "multinomial" else 1
    Y = (y[:, None] == np.arange(1, classes)).astype(float) if family == "multinomial" else y[:, None].astype(float)

    # To the columns' units: slopes by 1 / scale, and the intercept loses what the centring moved.
    back = np.eye(d + 1)
    back[1:, 1:] = np.diag(1 / scale)
    back[0, 1:] = -middle / scale

    theta = np.zeros((blocks, d + 1))
    theta[:, 0] = _start(family, Y, exposure)
    if not inference:
        return Exact((_newton(family, D, Y, exposure, theta, PENALTY)[0] @ back.T).ravel())
    looser, _ = _newton(family, D, Y, exposure, theta, STRONGER)
    theta, hessian = _newton(family, D, Y, exposure, looser.copy(), PENALTY)
    inverse = np.linalg.inv(hessian)
    covariance = inverse @ _meat(D, _residual(family, D, Y, exposure, theta)) @ inverse
    whole = np.kron(np.eye(blocks), back)
    spread = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", whole, covariance, whole, optimize=True), 0))

    moved = theta - looser
    settled = np.abs(moved[:, 1:]) / scale * np.ptp(X, axis=0) < 1
    # The intercept at zero moves with the slopes that do not settle, however far zero is.
    intercept = np.abs(moved[:, 0] + (moved[:, 1:] * back[0, 1:] * ~settled).sum(1)) < 1
    values, vectors = np.linalg.eigh(D.T @ D / n)
    null = np.abs(back @ vectors[:, values < 1e-9]).max(1, initial=0)
    exists = np.c_[intercept, settled] & (null * np.r_[1, scale] < 1e-4)
    return Exact((theta @ back.T).ravel(), spread, exists.ravel())


# --- Families ---------------------------------------------------------------------------------------------------------


def _start(family, Y, exposure):
    if family == "gaussian":
        return Y.mean(0)
    if family in POWERS:
        return np.log(max(Y.sum(), 0.5) / exposure.sum())
    shares = np.clip(Y.mean(0), 0.5 / len(Y), 1)
    return np.log(shares / max(1 - Y.mean(0).sum(), 0.5 / len(Y)))


def _mean(family, eta, exposure):
    with np.errstate(over="ignore"):
        if family == "gaussian":
            return eta
        if family in POWERS:
            return np.exp(np.minimum(eta, 700)) * exposure[:, None]
        top = np.maximum(eta.max(1, keepdims=True), 0)
        odds = np.exp(eta - top)
        return odds / (np.exp(-top) + odds.sum(1, keepdims=True))


def _loss(family, Y, eta, exposure):
    """Minus the log-likelihood, up to a constant."""
    if family == "gaussian":
        return 0.5 * np.sum((Y - eta) ** 2)
    with np.errstate(over="ignore"):
        if family == "poisson":
            return np.sum(exposure[:, None] * np.exp(eta) - Y * eta)
        if family in POWERS:
            mean, p = exposure[:, None] * np.exp(eta), POWERS[family]
            return np.sum(Y / mean + eta) if p == 2 else np.sum(mean ** (2 - p) / (2 - p) - Y * mean ** (1 - p) / (1 - p))
        top = np.maximum(eta.max(1), 0)
        return np.sum(top + np.log(np.exp(-top) + np.exp(eta - top[:, None]).sum(1))) - np.sum(Y * eta)


def _residual(family, D, Y, exposure, theta):
    return _score(family, Y, _mean(family, D @ theta.T, exposure))


def _score(family, Y, mean):
    """The derivative of the log-likelihood in the predictor."""
    return Y - mean if POWERS.get(family, 1) == 1 else (Y - mean) * mean ** (1 - POWERS[family])


def _meat(D, residual):
    """Sum of the scores' outer products."""
    K, width = residual.shape[1], D.shape[1]
    out = np.empty((K * width, K * width))
    for k in range(K):
        for j in range(k + 1):
            block = (D * (residual[:, k] * residual[:, j])[:, None]).T @ D
            out[k * width : (k + 1) * width, j * width : (j + 1) * width] = block
            out[j * width : (j + 1) * width, k * width : (k + 1) * width] = block
    return out


def _curvature(family, D, mean):
    if family == "gaussian":
        return D.T @ D
    if family in POWERS:
        return (D * mean ** (2 - POWERS[family])).T @ D
    K, width = mean.shape[1], D.shape[1]
    out = np.empty((K * width, K * width))
    for k in range(K):
        for j in range(k + 1):
            weight = mean[:, k] * ((k == j) - mean[:, j])
            block = (D * weight[:, None]).T @ D
            out[k * width : (k + 1) * width, j * width : (j + 1) * width] = block
            out[j * width : (j + 1) * width, k * width : (k + 1) * width] = block
    return out


def _newton(family, D, Y, exposure, theta, penalty):
    """Damped steps until the decrement is far below any standard error; the last curvature."""
    penalties = np.tile(np.r_[0, np.full(D.shape[1] - 1, penalty)], len(theta))
    unit = 1e-9 * np.eye(len(penalties)) if family != "gaussian" else 0

    def objective(theta):
        return _loss(family, Y, D @ theta.T, exposure) + 0.5 * penalties @ theta.ravel() ** 2

    value = objective(theta)
    for _ in range(60):
        mean = _mean(family, D @ theta.T, exposure)
        gradient = (_score(family, Y, mean).T @ D).ravel() - penalties * theta.ravel()
        hessian = _curvature(family, D, mean) + np.diag(penalties)
        step = np.linalg.solve(hessian + unit, gradient)
        decrement, length = step @ gradient, 1.0
        proposal = theta + step.reshape(theta.shape)
        if decrement > 1e-3:  # below, rounding hides the gain, and full steps are safe
            while not (proposed := objective(proposal)) <= value - 1e-4 * length * decrement and length > 1e-8:
                length /= 2
                proposal = theta + length * step.reshape(theta.shape)
            value = proposed
        theta = proposal
        if decrement < 1e-12:
            break
    return theta, hessian
