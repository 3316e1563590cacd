"""Private estimation of means, linear regression and generalized linear models.

>>> import numpy as np
>>> from dpglm import PrivateLinearRegression
>>> X = np.random.default_rng(0).uniform(0, 1, (1000, 2))
>>> model = PrivateLinearRegression(epsilon=1.0, delta=1e-6, feature_bounds=(0, 1), target_bounds=(0, 2))
>>> model.fit(X, X[:, 0]).certificate_.grade
'certified'

Epsilon, delta and bounds have no defaults: they are yours to choose, and bounds must come from public knowledge.
"""

from __future__ import annotations

from . import local
from ._accounting import Event, Guarantee, account, calibrate
from ._audit import AuditReport, audit
from ._batches import fit_batches
from ._certificate import Certificate
from ._describe import Description, describe
from ._estimators import (
    PrivateGammaRegressor,
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivateMean,
    PrivatePoissonRegressor,
    PrivateSurvivalRegressor,
    PrivateTweedieRegressor,
)
from ._formula import glm
from ._ledger import Ledger
from ._native import version as _version
from ._plan import StudyPlan, plan
from ._report import Report, report
from ._signed import keygen, verify
from ._table import Schema, fit_table
from ._warnings import CuratorNote, PrivacyWarning, UnpaidSelectionWarning

__all__ = [
    "AuditReport",
    "Certificate",
    "CuratorNote",
    "Description",
    "Event",
    "Guarantee",
    "Ledger",
    "PrivacyWarning",
    "PrivateGammaRegressor",
    "PrivateLinearRegression",
    "PrivateLogisticRegression",
    "PrivateMean",
    "PrivatePoissonRegressor",
    "PrivateSurvivalRegressor",
    "PrivateTweedieRegressor",
    "Report",
    "Schema",
    "StudyPlan",
    "UnpaidSelectionWarning",
    "account",
    "audit",
    "calibrate",
    "describe",
    "fit_batches",
    "fit_table",
    "glm",
    "keygen",
    "local",
    "plan",
    "report",
    "verify",
]
__version__ = _version()


def __dir__() -> list[str]:
    return sorted(__all__)
