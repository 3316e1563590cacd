"""The estimators: linear, logistic, Poisson, gamma and Tweedie regression, and means."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _native
from ._base import Estimator, name_of_unit, plain_number, units_of
from ._certificate import Certificate
from ._data import adapt, column
from ._declare import Declared, declare_classes, declare_target, pair_of, share_for_bounds
from ._ledger import Ledger, expect, paid_from

__all__ = [
    "PrivateGammaRegressor",
    "PrivateLinearRegression",
    "PrivateLogisticRegression",
    "PrivateMean",
    "PrivatePoissonRegressor",
    "PrivateSurvivalRegressor",
    "PrivateTweedieRegressor",
]

SHARED = """
    Parameters
    ----------
    epsilon, delta : float
        The budget. No default: choose the privacy loss you can defend, and delta well below 1/n. ``epsilon=float("inf")``
        runs the same algorithm without noise and promises nothing; ``delta`` is then ``None``, and both are ``None`` for a
        method without noise.
    feature_bounds : pair, list of pairs, or dict
        Public bounds of the columns: one pair for all, one a column, or a dictionary from column to a pair or to a list of
        levels. Values outside are clamped. Never read them off the private rows.
    {target}
{searched}    weight_bounds : pair, optional
        Public bounds of the sampling weights that ``fit`` is given as ``sample_weight``, such as (0, 200000) of a survey. Weights outside are
        clamped. Estimates are weighted then, and standard errors design-based.
    missing : str
        ``"fill"``: a missing cell counts as its column's declared fill, by default the middle of its bounds (the first level). ``"drop"``: its
        row gets weight zero. ``"indicator"``: it is filled, and a column of its own, ``age=missing``, says where; a row whose target is
        missing gets weight zero.
{dispersion}    intervals : float, optional
        Also give standard errors and confidence intervals of this level, paid from the same budget: for the coefficients of
        maximum likelihood, unshrunk and without the penalty.
{sparsity}    method : str, optional
        How to fit, by its name on the command line (``dpglm methods``).
{robust}    ridge, radius : float, optional
        Penalty on, and largest value of, the coefficients' l2 norm, for columns scaled to [-1, 1].
{tune}{intercept}    strict : bool
        In ``fit``, stop at the first cell that is missing, out of bounds or undeclared. Whether it stops depends on private
        cells: for the data's curator only. Predictions follow the public rule always.
    progress : bool
        Show a tqdm bar in ``fit``.
    insecure_seed : int, optional
        Draw the noise from a fixed seed, for experiments: nothing is promised then.

    Attributes
    ----------
    coef_, intercept_ : the coefficients in your own units, shrunk where noise hides them: predictions use these.
    intervals_, standard_errors_ : dictionaries by coefficient, or ``None``. They belong to ``estimates_`` where that is not
        ``None``, to the coefficients otherwise.
    estimates_, determined_ : with intervals, the unshrunk estimates and whether the budget determines them, by coefficient. The
        interval of a coefficient that is not determined says nothing.
    certificate_ : :class:`Certificate`, what left and what it cost.
    bounds_ : the bounds that were found, by column and of the target, or ``None``.
    dispersion_ : the dispersion, where it was asked for, or ``None``.
    artefact_ : the artefact's JSON, the same that the command line writes.
"""

TARGET = """target_bounds : pair
        Public bounds of the {what}. Values outside are clamped."""

MAGNITUDE = """
    target_magnitude : pair, optional
        In place of them, ``target_bounds=None``: the largest size and the smallest difference that matters, as for ``magnitudes``."""

# What not every model takes.
PARTS = {
    "dispersion": """    dispersion : bool
        Also give the dispersion, by how much responses vary more than their means say, as ``dispersion_``, paid from the same budget.
        Standard errors hold without it.
""",
    "searched": """    magnitudes : dict, optional
        For columns whose bounds nobody knows, in their place: the largest size that values can have and the smallest difference that
        matters, as ``{"income": (1e9, 1)}``. Their bounds are then found privately, from the same budget; ``bounds_`` has them.
        ``feature_bounds`` is for the other columns, ``None`` if there are none.
    bounds_share : float, optional
        The part of the budget that finds bounds, a tenth by default.
""",
    "sparsity": """    sparsity : int, optional
        At most so many coefficients differ from zero; the columns are chosen privately.
""",
    "robust": """    robust : bool
        Short for ``method="bounded-score"``: no row's score counts for more than a typical one's. Estimates what a robust fit
        does, not the mean of the response.
""",
    "tune": """    tune : str, optional
        What to choose privately from the same budget: ``"sparsity=auto"`` or ``"ridge=auto"``.
    row_norm, l1_radius, steps, step_length, support_norm, calibration, public_features, accept : optional
        For particular methods, as on the command line.
    split : bool
        With ``sparsity``: choose columns on every second row and fit the others, so that intervals owe nothing to the choice.
""",
    "intercept": """    fit_intercept : bool
        Whether the model has an intercept.
""",
}
METHODS = ("sparsity", "robust", "tune")


def _described(target: str, *without: str) -> str:
    """The description of a model's parameters and attributes, of those that it has."""
    return SHARED.format(target=target, **{name: "" if name in without else part for name, part in PARTS.items()})


class _Model(Estimator):
    """A generalized linear model; its family says the rest."""

    _family: str | None = None

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float | None,
        feature_bounds: Any,
        weight_bounds: Any = None,
        intervals: float | None = None,
        sparsity: int | None = None,
        method: str | None = None,
        robust: bool = False,
        ridge: float | None = None,
        radius: float | None = None,
        tune: str | None = None,
        row_norm: float | None = None,
        l1_radius: float | None = None,
        steps: int | None = None,
        step_length: float | None = None,
        support_norm: float | None = None,
        calibration: str | None = None,
        split: bool = False,
        public_features: Any = None,
        accept: str | None = None,
        magnitudes: Any = None,
        bounds_share: float | None = None,
        missing: str = "fill",
        fit_intercept: bool = True,
        strict: bool = False,
        progress: bool = False,
        insecure_seed: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.feature_bounds = feature_bounds
        self.weight_bounds = weight_bounds
        self.intervals = intervals
        self.sparsity = sparsity
        self.method = method
        self.robust = robust
        self.ridge = ridge
        self.radius = radius
        self.tune = tune
        self.row_norm = row_norm
        self.l1_radius = l1_radius
        self.steps = steps
        self.step_length = step_length
        self.support_norm = support_norm
        self.calibration = calibration
        self.split = split
        self.public_features = public_features
        self.accept = accept
        self.magnitudes = magnitudes
        self.bounds_share = bounds_share
        self.missing = missing
        self.fit_intercept = fit_intercept
        self.strict = strict
        self.progress = progress
        self.insecure_seed = insecure_seed

    def _asked(self, uniform: bool) -> dict[str, Any]:
        return {
            "epsilon": plain_number("epsilon", self.epsilon),
            "delta": plain_number("delta", self.delta),
            "insecure_seed": plain_number("insecure_seed", self.insecure_seed, int),
            "family": self._family_name(),
            "power": plain_number("power", getattr(self, "power", None)),
            "dispersion": bool(getattr(self, "dispersion", False)),
            "cuts": None,
            "method": self.method,
            "robust": bool(self.robust),
            "ridge": plain_number("ridge", self.ridge),
            "radius": plain_number("radius", self.radius),
            "intervals": plain_number("intervals", self.intervals),
            "tune": self.tune,
            "sparsity": plain_number("sparsity", self.sparsity, int),
            "row_norm": plain_number("row_norm", self.row_norm),
            "l1_radius": plain_number("l1_radius", self.l1_radius),
            "steps": plain_number("steps", self.steps, int),
            "step_length": plain_number("step_length", self.step_length),
            "support_norm": plain_number("support_norm", self.support_norm),
            "calibration": self.calibration,
            "split": bool(self.split),
            "accept": self.accept,
            "uniform": uniform,
            "bounds_share": None,
        }

    def _family_name(self) -> str:
        return str(self._family)

    def _share(self, declared: Declared) -> float | None:
        """The part of the budget that finds bounds."""
        return share_for_bounds(self.bounds_share, declared.is_searched or getattr(self, "target_magnitude", None) is not None)

    def _declare_target(self, name: str) -> str:
        raise NotImplementedError

    def fit(
        self, X: Any, y: Any, *, units: Any = None, sample_weight: Any = None, ledger: Ledger | None = None
    ) -> _Model:
        """Fits the model. Rows may be NumPy, SciPy, pandas, Polars or Arrow; float32 stays float32.

        ``sample_weight`` has one sampling weight per row, as of a survey: how many people it stands for. Weights are as private as the rows:
        declare their bounds as ``weight_bounds``.

        ``units`` says whose row each row is, by ids of any kind: the promise is then for all rows of a person together, not
        for each row. A named column of ids gives the unit its name.

        Everything that leaves is paid from the budget, and that from ``ledger`` if one is given (:class:`dpglm.Ledger`). Ctrl-C ends a fit, and then nothing of it is released.
        """
        asked, paid = self._asked(uniform=False), paid_from(ledger)
        if not self._is_reference():
            _native.check_budget(asked["epsilon"], asked["delta"])
        expect(paid, asked, name_of_unit(units))
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: there is no target to explain"
            )
        try:
            table, declared = self._encoded(X, y, units, sample_weight)
            asked["uniform"] = declared.uniform is not None
            asked["bounds_share"] = self._share(declared)
            public = self._public(declared)
            bar = _bar() if self.progress else None
            try:
                artefact, said = _native.fit(table, asked, public, None if bar is None else bar.step, paid)
            finally:
                if bar is not None:
                    bar.close()
        except ValueError as error:
            # Others look for this word.
            raise ValueError(str(error).replace("(n = 1)", "(n_samples = 1)")) from None
        document = self._keep(artefact)
        self.dispersion_ = document.get("dispersion")
        self._set(document)
        self._tell(table, said)
        self._count_fit()
        return self

    def _public(self, declared: Declared) -> Any:
        """The table of the public rows, if there are any."""
        if self.public_features is None:
            return None
        return self._encode(adapt(self.public_features), declared, intercept=bool(self.fit_intercept), constant=False)

    def _weights(self, sample_weight: Any, taken: list[str]) -> tuple[str, Any, tuple[float, float]] | None:
        """The sampling weights with their bounds, if there are any, under a name of their own."""
        if (sample_weight is None) != (self.weight_bounds is None):
            raise ValueError(
                "sample_weight goes with weight_bounds, their public range: give fit(..., sample_weight=...) and weight_bounds=(LOW, HIGH), or "
                "leave out both"
            )
        if sample_weight is None:
            return None
        name = str(getattr(sample_weight, "name", None) or "sample_weight")
        while name in taken:
            name += "_"
        return name, column(sample_weight), pair_of("weight_bounds", self.weight_bounds)

    def _encoded(self, X: Any, y: Any, units: Any = None, sample_weight: Any = None) -> tuple[Any, Declared]:
        """The table of the rows with their response, and what is declared of the features."""
        rows, declared = self._read(X, reset=True)
        name = str(getattr(y, "name", None) or "y")
        if name in declared.columns:
            name = "y"
        if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
            _warn_of_a_column()
        cells = column(y)
        self._require_as_many(rows.rows, cells)
        intercept = bool(self.fit_intercept)
        response = (name, cells, self._target_schema(name))
        table = self._encode(
            rows, declared, intercept=intercept, constant=intercept, response=response, units=units_of(units, rows.rows),
            weights=self._weights(sample_weight, [*declared.columns, name]), strict=bool(self.strict),
        )  # fmt: skip
        return table, declared

    def _target_schema(self, name: str) -> str:
        """The schema of the target, under the same rule for missing cells as the features."""
        if self.missing not in ("fill", "drop", "indicator"):
            raise ValueError(f'missing must be "fill", "drop" or "indicator", got {self.missing!r}')
        return json.dumps({**json.loads(self._declare_target(name)), "missing": self.missing})

    def _is_reference(self) -> bool:
        return self.method in ("reference", "iht")

    @staticmethod
    def _require_as_many(rows: int, cells: Any) -> None:
        count = len(cells[0] if isinstance(cells, tuple) else cells)
        if count != rows:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: {[rows, count]}: give one response for each row"
            )

    def _set(self, document: dict[str, Any]) -> None:
        (intercept, slopes), *_ = self._artefact().blocks()
        self.coef_ = np.asarray(slopes)
        self.intercept_: Any = 0.0 if intercept is None else float(intercept)
        self.coefficient_names_ = list(document["columns"])
        self.support_ = document.get("support")

    def _schema(self, declared: Declared) -> str:
        """The schema of the features."""
        return declared.schema(intercept=bool(self.fit_intercept), missing=str(self.missing))

    def planned(self, n_rows: int, n_features: int | None = None, *, unit: str | None = None) -> Certificate:
        """The certificate that a fit of so many rows would carry: no row is needed and nothing is spent.

        With ``unit``, what a unit is called, ``n_rows`` is the number of units.

        >>> model = PrivateLinearRegression(epsilon=1.0, delta=1e-6, feature_bounds=(0, 1), target_bounds=(0, 10))
        >>> model.planned(10_000, 5).epsilon <= 1.0
        True
        """
        declared = self._declared(_named(n_features, self.feature_bounds, self.magnitudes))
        asked = self._asked(uniform=declared.uniform is not None)
        asked["bounds_share"] = self._share(declared)
        features = self._schema(declared)
        if self.weight_bounds is not None:
            low, high = pair_of("weight_bounds", self.weight_bounds)
            document = json.loads(features)
            document["columns"]["sample_weight"] = {"kind": "real", "bounds": [low, high]}
            features = json.dumps({**document, "weight": "sample_weight"})
        target, public = self._declare_target("y"), self._public(declared)
        return Certificate.from_json(_native.planned_fit(asked, features, target, int(n_rows), unit, public))

    def _predicted(self, X: Any) -> np.ndarray:
        artefact = self._artefact()
        rows, declared = self._read(X, reset=False)
        if self.bounds_:
            # What was found holds for other rows, too.
            encoding = json.loads(self.artefact_)["encoding"]["columns"]
            declared.columns.update({name: encoding[name] for name in declared.names if name in self.bounds_})
        table = self._encode(rows, declared, intercept=bool(self.fit_intercept), constant=False)
        return np.asarray(artefact.predict(table))

    def predict(self, X: Any) -> np.ndarray:
        """The mean response of each row. Predictions are as private as the rows they are made for."""
        return self._predicted(X)[:, 0]

    def _tags_as(self, kind: str) -> Any:
        from sklearn.utils import RegressorTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = kind
        tags.regressor_tags = RegressorTags(poor_score=self._is_noisy())
        return tags

    def _is_noisy(self) -> bool:
        return self.epsilon != float("inf")


class PrivateLinearRegression(_Model):
    __doc__ = (
        """Private linear regression.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (5000, 2))
    >>> y = 3 + 2 * X[:, 0] + rng.normal(0, 0.5, 5000)
    >>> model = PrivateLinearRegression(
    ...     epsilon=1.0, delta=1e-6, feature_bounds=(-1, 1), target_bounds=(-5, 10), intervals=0.95)
    >>> model = model.fit(X, y)
    >>> bool(abs(model.coef_[0] - 2) < 0.5)
    True
    >>> model.certificate_
    <Certificate: certified, epsilon=1, delta=1e-6>
"""
        + _described(TARGET.format(what="target") + MAGNITUDE)
    )
    _family = "gaussian"

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float | None,
        feature_bounds: Any,
        target_bounds: Any,
        target_magnitude: Any = None,
        weight_bounds: Any = None,
        dispersion: bool = False,
        intervals: float | None = None,
        sparsity: int | None = None,
        method: str | None = None,
        robust: bool = False,
        ridge: float | None = None,
        radius: float | None = None,
        tune: str | None = None,
        row_norm: float | None = None,
        l1_radius: float | None = None,
        steps: int | None = None,
        step_length: float | None = None,
        support_norm: float | None = None,
        calibration: str | None = None,
        split: bool = False,
        public_features: Any = None,
        accept: str | None = None,
        magnitudes: Any = None,
        bounds_share: float | None = None,
        missing: str = "fill",
        fit_intercept: bool = True,
        strict: bool = False,
        progress: bool = False,
        insecure_seed: int | None = None,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            feature_bounds=feature_bounds,
            weight_bounds=weight_bounds,
            intervals=intervals,
            sparsity=sparsity,
            method=method,
            robust=robust,
            ridge=ridge,
            radius=radius,
            tune=tune,
            row_norm=row_norm,
            l1_radius=l1_radius,
            steps=steps,
            step_length=step_length,
            support_norm=support_norm,
            calibration=calibration,
            split=split,
            public_features=public_features,
            accept=accept,
            magnitudes=magnitudes,
            bounds_share=bounds_share,
            missing=missing,
            fit_intercept=fit_intercept,
            strict=strict,
            progress=progress,
            insecure_seed=insecure_seed,
        )
        self.target_bounds = target_bounds
        self.target_magnitude = target_magnitude
        self.dispersion = dispersion

    def _declare_target(self, name: str) -> str:
        return declare_target(self.target_bounds, name, self.target_magnitude, counts=self._family == "poisson")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination. A score of private rows is not private: nothing pays for it."""
        y = np.asarray(y, dtype=np.float64)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        residual = np.sum(weights * (y - self.predict(X)) ** 2)
        total = np.sum(weights * (y - np.average(y, weights=weights)) ** 2)
        return float(1 - residual / total) if total > 0 else float("nan")

    def __sklearn_tags__(self) -> Any:
        tags = self._tags_as("regressor")
        # A logarithmic link is for what has no sign.
        tags.target_tags.positive_only = self._family != "gaussian"
        return tags


class PrivatePoissonRegressor(PrivateLinearRegression):
    __doc__ = (
        """Private Poisson regression with a logarithmic link, for counts.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20000, 2))
    >>> y = rng.poisson(np.exp(0.5 + 0.8 * X[:, 0]))
    >>> model = PrivatePoissonRegressor(epsilon=2.0, delta=1e-6, feature_bounds=(-1, 1), target_bounds=(0, 20)).fit(X, y)
    >>> bool(abs(model.coef_[0] - 0.8) < 0.4)
    True
"""
        + _described(TARGET.format(what="counts, from 0") + MAGNITUDE)
    )
    _family = "poisson"

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the Poisson deviance that is explained. A score of private rows is not private."""
        predicted = self.predict(X)
        y = np.maximum(np.asarray(y, dtype=np.float64), 0.0)
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)

        def deviance(mean: np.ndarray) -> float:
            logs = np.where(y > 0, y * np.log(np.where(y > 0, y, 1.0) / mean), 0.0)
            return float(np.sum(weights * (logs - y + mean)))

        null = deviance(np.full(len(y), np.average(y, weights=weights)))
        return 1 - deviance(predicted) / null if null > 0 else float("nan")


class PrivateGammaRegressor(PrivateLinearRegression):
    __doc__ = (
        """Private gamma regression with a logarithmic link, for amounts above 0: claims, charges, durations.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20000, 2))
    >>> y = rng.gamma(2, np.exp(5 + 0.8 * X[:, 0]) / 2)
    >>> model = PrivateGammaRegressor(epsilon=2.0, delta=1e-6, feature_bounds=(-1, 1), target_bounds=(1, 3000)).fit(X, y)
    >>> bool(abs(model.coef_[0] - 0.8) < 0.2)
    True
"""
        + _described(TARGET.format(what="amounts, above 0"), *METHODS)
    )
    _family = "gamma"

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float | None,
        feature_bounds: Any,
        target_bounds: Any,
        weight_bounds: Any = None,
        dispersion: bool = False,
        intervals: float | None = None,
        method: str | None = None,
        ridge: float | None = None,
        radius: float | None = None,
        magnitudes: Any = None,
        bounds_share: float | None = None,
        missing: str = "fill",
        fit_intercept: bool = True,
        strict: bool = False,
        progress: bool = False,
        insecure_seed: int | None = None,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            feature_bounds=feature_bounds,
            target_bounds=target_bounds,
            weight_bounds=weight_bounds,
            dispersion=dispersion,
            intervals=intervals,
            method=method,
            ridge=ridge,
            radius=radius,
            magnitudes=magnitudes,
            bounds_share=bounds_share,
            missing=missing,
            fit_intercept=fit_intercept,
            strict=strict,
            progress=progress,
            insecure_seed=insecure_seed,
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the gamma deviance that is explained. A score of private rows is not private."""
        y = np.maximum(np.asarray(y, dtype=np.float64), np.finfo(float).tiny)
        return _explained(lambda mean: y / mean - 1 - np.log(y / mean), self.predict(X), y, sample_weight)


class PrivateTweedieRegressor(PrivateLinearRegression):
    __doc__ = (
        """Private Tweedie regression with a logarithmic link, for amounts that are often 0: the claims of a policy.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (40000, 2))
    >>> y = rng.poisson(0.3, 40000) * rng.gamma(2, np.exp(5 + 0.8 * X[:, 0]) / 2)
    >>> model = PrivateTweedieRegressor(epsilon=2.0, delta=1e-6, feature_bounds=(-1, 1), target_bounds=(0, 3000)).fit(X, y)
    >>> bool(abs(model.coef_[0] - 0.8) < 0.4)
    True
"""
        + _described(
            "power : float\n        The power of the mean in the variance, from 1.01 to 1.99.\n    " + TARGET.format(what="amounts, from 0"),
            *METHODS,
        )
    )
    _family = "tweedie"

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float | None,
        feature_bounds: Any,
        target_bounds: Any,
        power: float = 1.5,
        weight_bounds: Any = None,
        dispersion: bool = False,
        intervals: float | None = None,
        method: str | None = None,
        ridge: float | None = None,
        radius: float | None = None,
        magnitudes: Any = None,
        bounds_share: float | None = None,
        missing: str = "fill",
        fit_intercept: bool = True,
        strict: bool = False,
        progress: bool = False,
        insecure_seed: int | None = None,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            feature_bounds=feature_bounds,
            target_bounds=target_bounds,
            weight_bounds=weight_bounds,
            dispersion=dispersion,
            intervals=intervals,
            method=method,
            ridge=ridge,
            radius=radius,
            magnitudes=magnitudes,
            bounds_share=bounds_share,
            missing=missing,
            fit_intercept=fit_intercept,
            strict=strict,
            progress=progress,
            insecure_seed=insecure_seed,
        )
        self.power = power

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the Tweedie deviance that is explained. A score of private rows is not private."""
        y, p = np.maximum(np.asarray(y, dtype=np.float64), 0.0), self.power

        def deviance(mean: np.ndarray) -> np.ndarray:
            return np.asarray(y ** (2 - p) / ((1 - p) * (2 - p)) - y * mean ** (1 - p) / (1 - p) + mean ** (2 - p) / (2 - p))

        return _explained(deviance, self.predict(X), y, sample_weight)


class PrivateSurvivalRegressor(_Model):
    __doc__ = (
        """Private proportional hazards: the piecewise-exponential model of times to an event, some of them cut short.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20000, 2))
    >>> died = rng.exponential(10 * np.exp(-0.8 * X[:, 0]))
    >>> left = rng.uniform(0, 10, 20000)
    >>> model = PrivateSurvivalRegressor(
    ...     epsilon=2.0, delta=1e-6, feature_bounds=(-1, 1), time_bounds=(0.01, 10), cuts=[2, 5])
    >>> model = model.fit(X, np.minimum(died, left), died < left)
    >>> bool(abs(np.log(model.hazard_ratios_["x0"]) - 0.8) < 0.3)
    True
"""
        + _described(
            "time_bounds : pair\n        Public bounds of the times, above 0: from the start to the event, or to the end of what is known.\n"
            "    cuts : list\n        The times at which the hazard may change, ascending. All that a person adds to the intervals between them is"
            "\n        protected together.",
            "dispersion", "searched", "intercept", *METHODS,
        )  # fmt: skip
    )
    _family = "poisson"

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float | None,
        feature_bounds: Any,
        time_bounds: Any,
        cuts: Any,
        weight_bounds: Any = None,
        intervals: float | None = None,
        method: str | None = None,
        ridge: float | None = None,
        radius: float | None = None,
        missing: str = "fill",
        strict: bool = False,
        progress: bool = False,
        insecure_seed: int | None = None,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            feature_bounds=feature_bounds,
            weight_bounds=weight_bounds,
            intervals=intervals,
            method=method,
            ridge=ridge,
            radius=radius,
            missing=missing,
            strict=strict,
            progress=progress,
            insecure_seed=insecure_seed,
        )
        self.time_bounds = time_bounds
        self.cuts = cuts

    def _asked(self, uniform: bool) -> dict[str, Any]:
        if isinstance(self.cuts, str) or not isinstance(self.cuts, (Sequence, np.ndarray)):
            raise ValueError(
                f"cuts, the times at which the hazard may change, are needed and have no default, got {self.cuts!r}: write them like [1, 2, 5]"
            )
        return {**super()._asked(False), "cuts": [plain_number("cuts", cut) for cut in self.cuts]}

    def _declare_target(self, name: str) -> str:
        return declare_classes([0, 1], name)[1]

    def _schema(self, declared: Declared) -> str:
        """The schema of the features, with the time as exposure."""
        if "time" in declared.columns:
            raise ValueError("a column is called `time`: give the column another name")
        low, high = pair_of("time_bounds", self.time_bounds)
        document = json.loads(declared.schema(intercept=True, missing=str(self.missing)))
        document["columns"]["time"] = {"kind": "real", "bounds": [low, high]}
        return json.dumps({**document, "exposure": "time"})

    def fit(  # type: ignore[override]
        self, X: Any, time: Any, event: Any, *, units: Any = None, sample_weight: Any = None, ledger: Ledger | None = None
    ) -> _Model:
        """Fits the model to times, and to whether the event came then; the rest is as in the other models."""
        return super().fit(X, (time, event), units=units, sample_weight=sample_weight, ledger=ledger)

    def _encoded(self, X: Any, y: Any, units: Any = None, sample_weight: Any = None) -> tuple[Any, Declared]:
        rows, declared = self._read(X, reset=True)
        if rows.sparse is not None:
            raise ValueError("a model of survival takes no sparse rows: give a data frame or a dense array")
        for name, cells_given in [("time", y[0]), ("event", y[1])]:
            if cells_given is None:
                raise ValueError(f"{type(self).__name__} requires {name} to be passed, got None: give one for each row")
        time, event = column(y[0]), _zeros_and_ones(column(y[1]))
        self._require_as_many(rows.rows, time)
        self._require_as_many(rows.rows, event)
        how = {
            "schema": self._schema(declared),
            "name": "X",
            "strict": bool(self.strict),
            "constant_column": True,
            "for_means": False,
            "needs_target": True,
            "single": False,
        }
        cells = [*zip(declared.names, rows.by_column()), ("time", time)]
        taken = [*declared.columns, "time", "event"]
        table = _native.encode_columns(
            how, cells, ("event", event, self._target_schema("event")), units_of(units, rows.rows), self._weights(sample_weight, taken)
        )
        return table, declared

    def _set(self, document: dict[str, Any]) -> None:
        super()._set(document)
        estimates = document.get("estimates") or document["coefficients"]
        ratios = {name: float(np.exp(b)) for name, b in estimates.items() if name != "(Intercept)"}
        self.hazard_ratios_ = ratios
        intervals = document.get("intervals")
        self.hazard_ratio_intervals_ = intervals and {name: tuple(np.exp(intervals[name])) for name in ratios}

    def predict_survival(self, X: Any) -> np.ndarray:
        """The probability of no event up to each cut and up to the upper bound of times: a column for each."""
        return self._predicted(X)

    def predict(self, X: Any) -> np.ndarray:
        """The probability of no event up to the upper bound of times."""
        return self._predicted(X)[:, -1]


def _zeros_and_ones(cells: Any) -> Any:
    """A column whose truth values are 0 and 1. Whatever else stands in a cell stays what it is, for the public rule."""
    if isinstance(cells, tuple):
        codes, meanings = cells
        return codes, [int(meaning) if isinstance(meaning, bool) else meaning for meaning in meanings]
    return cells.astype(np.int64) if cells.dtype.kind == "b" else cells


def _explained(deviance: Callable[[np.ndarray], np.ndarray], predicted: np.ndarray, y: np.ndarray, sample_weight: Any) -> float:
    """The share of the deviance of the mean alone that predictions explain."""
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    null = float(np.sum(weights * deviance(np.full(len(y), np.average(y, weights=weights)))))
    return 1 - float(np.sum(weights * deviance(predicted))) / null if null > 0 else float("nan")


class PrivateLogisticRegression(_Model):
    __doc__ = (
        """Private logistic regression; softmax regression for more than two classes.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20000, 3))
    >>> y = np.where(rng.random(20000) < 1 / (1 + np.exp(-3 * X[:, 0])), "yes", "no")
    >>> model = PrivateLogisticRegression(epsilon=1.0, delta=1e-6, feature_bounds=(-1, 1), classes=["no", "yes"]).fit(X, y)
    >>> model.predict(X[:1]).dtype.kind, model.coef_.shape
    ('U', (1, 3))
    >>> bool(model.score(X, y) > 0.7)
    True
"""
        + _described(
            "classes : list\n        The labels that the target can take: a public fact. A label outside it counts as a missing cell."
            "\n    link : str\n        ``\"logit\"``, ``\"probit\"`` or ``\"cloglog\"`` (complementary log-log), of two classes.",
            "dispersion",
        )
    )

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float | None,
        feature_bounds: Any,
        classes: Any,
        link: str = "logit",
        weight_bounds: Any = None,
        intervals: float | None = None,
        sparsity: int | None = None,
        method: str | None = None,
        robust: bool = False,
        ridge: float | None = None,
        radius: float | None = None,
        tune: str | None = None,
        row_norm: float | None = None,
        l1_radius: float | None = None,
        steps: int | None = None,
        step_length: float | None = None,
        support_norm: float | None = None,
        calibration: str | None = None,
        split: bool = False,
        public_features: Any = None,
        accept: str | None = None,
        magnitudes: Any = None,
        bounds_share: float | None = None,
        missing: str = "fill",
        fit_intercept: bool = True,
        strict: bool = False,
        progress: bool = False,
        insecure_seed: int | None = None,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            feature_bounds=feature_bounds,
            weight_bounds=weight_bounds,
            intervals=intervals,
            sparsity=sparsity,
            method=method,
            robust=robust,
            ridge=ridge,
            radius=radius,
            tune=tune,
            row_norm=row_norm,
            l1_radius=l1_radius,
            steps=steps,
            step_length=step_length,
            support_norm=support_norm,
            calibration=calibration,
            split=split,
            public_features=public_features,
            accept=accept,
            magnitudes=magnitudes,
            bounds_share=bounds_share,
            missing=missing,
            fit_intercept=fit_intercept,
            strict=strict,
            progress=progress,
            insecure_seed=insecure_seed,
        )
        self.classes = classes
        self.link = link

    def _family_name(self) -> str:
        names = {"logit": "logistic", "probit": "probit", "cloglog": "cloglog"}
        if self.link not in names:
            raise ValueError(f"link must be one of {', '.join(names)}, got {self.link!r}: choose one of them")
        if len(declare_classes(self.classes, "y")[0]) == 2:
            return names[self.link]
        if self.link != "logit":
            raise ValueError(f"link={self.link!r} is of two classes: give two classes, or leave out link")
        return "multinomial"

    def _declare_target(self, name: str) -> str:
        return declare_classes(self.classes, name)[1]

    def _set(self, document: dict[str, Any]) -> None:
        self.classes_, _ = declare_classes(self.classes, "y")
        blocks = self._artefact().blocks()
        slopes = [slopes for _, slopes in blocks]
        intercepts = [0.0 if intercept is None else intercept for intercept, _ in blocks]
        if len(self.classes_) > 2:
            # The first class is the one that others are measured against.
            slopes, intercepts = [[0.0] * len(slopes[0])] + slopes, [0.0] + intercepts
        self.coef_ = np.asarray(slopes)
        self.intercept_ = np.asarray(intercepts)
        self.coefficient_names_ = list(document["columns"])
        self.support_ = document.get("support")

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, in the order of ``classes_``."""
        return self._predicted(X)

    def decision_function(self, X: Any) -> np.ndarray:
        """Log odds of the second class against the first, or, with more than two, of each class against the first."""
        logs = self.predict_log_proba(X)
        return np.asarray(logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs - logs[:, :1])

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of the probabilities."""
        return np.asarray(np.log(self.predict_proba(X)))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row. Predictions are as private as the rows they are made for."""
        return np.asarray(self.classes_[np.argmax(self.predict_proba(X), axis=1)]) if self._fitted() else np.empty(0)

    def _fitted(self) -> bool:
        self._check_fitted()
        return True

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted. A score of private rows is not private: nothing pays for it."""
        return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags(multi_class=len(np.unique(self.classes)) > 2, poor_score=self._is_noisy())
        return tags


class PrivateMean(Estimator):
    """Private means of columns; of a column of levels, the share of each level but the first.

    Parameters
    ----------
    epsilon, delta : float
        The budget. No default.
    feature_bounds : pair, list of pairs, or dict
        Public bounds of the columns. Wide bounds cost little: a coarse private look finds where the rows lie.
    magnitudes, bounds_share : optional
        As for the models.
    by : str, optional
        Take the means of each level of this column apart, in one release.
    sample_weight : str, optional
        The column of survey weights, with bounds above 0.
    weights : dict, optional
        How precise columns are to be beside the others' 1: one of weight 2 has half the noise.
    missing : str
        ``"fill"``: a missing cell counts as the middle of its bounds (the first level). ``"drop"``: it is counted out, and the mean is that
        of the cells which are there; ``observed_`` says which share that is.
    intervals : float, optional
        Also give standard errors and confidence intervals of this level.
    sparsity : int, optional
        At most so many means differ from zero; the columns are chosen privately.
    method : str, optional
        ``"columns"`` (each column its own clip and noise; the default unless all columns have one pair of bounds), ``"localise"`` (one
        clip of whole rows, for columns on one scale) or ``"karwa-vadhan"``.
    deviations : pair, optional
        Public bounds on the columns' standard deviations, for ``"karwa-vadhan"``.
    tune : str, optional
        ``"sparsity=auto"`` chooses the sparsity privately, from the same budget; ``"sparsity=auto:MAX"`` at most MAX.
    strict, insecure_seed
        As for the models.

    ``fit`` takes ``units`` as the models do: each person counts once, by the mean of their rows, and the promise is for all rows of
    a person together.

    Attributes
    ----------
    means_ : array, one mean for each encoded column (of each group); zero for columns that were not chosen.
    groups_ : dict or None, each group's share of the rows.
    observed_ : dict or None, the share of the rows in which each column has a value.

    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(3.0, 1.0, (5000, 2))
    >>> mean = PrivateMean(epsilon=1.0, delta=1e-6, feature_bounds=(-50, 50)).fit(X)
    >>> bool(np.all(abs(mean.means_ - 3) < 0.5))
    True
    """

    def __init__(
        self,
        *,
        epsilon: float,
        delta: float | None,
        feature_bounds: Any,
        by: str | None = None,
        sample_weight: str | None = None,
        weights: Any = None,
        missing: str = "fill",
        intervals: float | None = None,
        sparsity: int | None = None,
        method: str | None = None,
        deviations: Any = None,
        tune: str | None = None,
        magnitudes: Any = None,
        bounds_share: float | None = None,
        strict: bool = False,
        insecure_seed: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.feature_bounds = feature_bounds
        self.magnitudes = magnitudes
        self.bounds_share = bounds_share
        self.by = by
        self.sample_weight = sample_weight
        self.weights = weights
        self.missing = missing
        self.intervals = intervals
        self.sparsity = sparsity
        self.method = method
        self.deviations = deviations
        self.tune = tune
        self.strict = strict
        self.insecure_seed = insecure_seed

    def _asked(self, uniform: tuple[float, float] | None) -> dict[str, Any]:
        deviations = self.deviations
        return {
            "epsilon": plain_number("epsilon", self.epsilon),
            "delta": plain_number("delta", self.delta),
            "insecure_seed": plain_number("insecure_seed", self.insecure_seed, int),
            "method": self.method,
            "intervals": plain_number("intervals", self.intervals),
            "tune": self.tune,
            "sparsity": plain_number("sparsity", self.sparsity, int),
            "deviations": None if deviations is None else (float(deviations[0]), float(deviations[1])),
            "weights": None if self.weights is None else {str(name): float(weight) for name, weight in dict(self.weights).items()},
            "by": self.by,
            "sample_weight": self.sample_weight,
            "missing": str(self.missing),
            "uniform": uniform,
            "bounds_share": None,
        }

    def _is_sparse(self) -> bool:
        return self.sparsity is not None or (self.tune is not None and "sparsity" in str(self.tune))

    def fit(self, X: Any, y: Any = None, *, units: Any = None, ledger: Ledger | None = None) -> PrivateMean:
        """Takes the means of the columns of ``X``; ``y`` is there for scikit-learn's pipelines and not read."""
        asked, paid = self._asked(None), paid_from(ledger)
        _native.check_budget(asked["epsilon"], asked["delta"])
        expect(paid, asked, name_of_unit(units))
        rows, declared = self._read(X, reset=True)
        asked["uniform"] = declared.uniform
        asked["bounds_share"] = share_for_bounds(self.bounds_share, declared.is_searched)
        # Columns that are not centred keep their zero, the mean of those that are not chosen.
        table = self._encode(
            rows,
            declared,
            intercept=not self._is_sparse(),
            constant=False,
            units=units_of(units, rows.rows),
            strict=bool(self.strict),
            for_means=True,
            schema=self._schema(declared),
        )
        try:
            artefact, said = _native.mean(table, asked, paid)
        except ValueError as error:
            # Others look for this word.
            raise ValueError(f"{error} (n_samples = 1)" if rows.rows == 1 else str(error)) from None
        document = self._keep(artefact)
        self.coefficient_names_ = list(document["columns"])
        self.support_ = document.get("support")
        self.means_ = np.array([document["means"].get(name, 0.0) for name in document["columns"]])
        self.groups_ = document.get("groups")
        self.observed_ = document.get("observed")
        self._tell(table, said)
        self._count_fit()
        return self

    def _schema(self, declared: Any) -> str:
        """JSON of the schema, groups and survey weights apart from the features."""
        if self.missing not in ("fill", "drop"):
            raise ValueError(f'missing must be "fill" or "drop", got {self.missing!r}')
        features = declared.schema(intercept=not self._is_sparse(), missing=str(self.missing))
        return str(_native.schema_of_means(features, self.by, self.sample_weight))

    def planned(self, n_rows: int, n_features: int | None = None, *, unit: str | None = None) -> Certificate:
        """The certificate that the means of so many rows, or units, would carry: no row is needed and nothing is spent."""
        declared = self._declared(_named(n_features, self.feature_bounds, self.magnitudes))
        asked = self._asked(declared.uniform)
        asked["bounds_share"] = share_for_bounds(self.bounds_share, declared.is_searched)
        return Certificate.from_json(_native.planned_mean(asked, self._schema(declared), int(n_rows), unit))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags


def _named(n_features: int | None, bounds: Any, magnitudes: Any) -> list[str]:
    """The names of so many columns, or of those that are declared."""
    if n_features is not None:
        return [f"x{j}" for j in range(n_features)]
    return [str(name) for name in [*(bounds or ()), *(magnitudes or ())]]


def _warn_of_a_column() -> None:
    message = "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples, )."
    try:
        from sklearn.exceptions import DataConversionWarning
    except ImportError:
        warnings.warn(message, UserWarning, stacklevel=4)
        return
    warnings.warn(message, DataConversionWarning, stacklevel=4)


class _bar:
    """A tqdm bar that follows a fit's steps."""

    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            raise ImportError("progress=True needs tqdm: install it, or leave progress out") from None
        self._tqdm: Callable[..., Any] = tqdm
        self._shown: Any = None

    def step(self, done: int, of: int) -> None:
        if self._shown is None:
            self._shown = self._tqdm(total=of, desc="fitting", leave=False)
        self._shown.total = of
        self._shown.update(done - self._shown.n)

    def close(self) -> None:
        if self._shown is not None:
            self._shown.close()
