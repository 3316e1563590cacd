"""Private estimation on a Spark cluster: rows stay where Spark has them, and exact sums alone come to the driver, which adds the noise.

    from dpglm.spark import PrivateLogisticRegression

    model = PrivateLogisticRegression(
        epsilon=1.0, delta=1e-8, feature_bounds={"age": (17, 90), "sex": ["f", "m"]}, classes=[0, 1], labelCol="income",
    ).fit(frame)
    model.fitted.summary()
    model.transform(frame).select("prediction", "probability")

The artefact is that of the same rows in memory, byte for byte, however they are divided. Everybody who may look at the cluster's
memory, disks and network may look at rows: ``docs/large.md`` has who sees what. It needs PySpark 4.1 or later, and this package on every
worker.
"""

from __future__ import annotations

from ._estimators import (
    PrivateLinearRegression,
    PrivateLogisticRegression,
    PrivateMean,
    PrivatePoissonRegressor,
    describe,
)
from ._models import MeanModel, PrivateClassificationModel, PrivateRegressionModel

__all__ = [
    "MeanModel",
    "PrivateClassificationModel",
    "PrivateLinearRegression",
    "PrivateLogisticRegression",
    "PrivateMean",
    "PrivatePoissonRegressor",
    "PrivateRegressionModel",
    "describe",
]
