"""Parameters as Spark ML has them: the package's by their own names, columns by Spark's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from pyspark.ml.param import Param, Params, TypeConverters

from .._declare import _column
from .._ledger import Ledger
from .._table import Schema

__all__ = ["Columns", "Wishes"]


def _plain(value: Any) -> Any:
    """A value as JSON keeps it: models and estimators are saved so."""
    if isinstance(value, Schema):
        return value.to_json()
    if isinstance(value, Ledger):
        return [value.path, value.data, value.purpose]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    return value


def _bounds(value: Any) -> Any:
    """Bounds by column are written as a schema writes them: in a list, two bounds would look like two levels."""
    if isinstance(value, Mapping):
        return {str(name): _plain(_column(str(name), item)) for name, item in value.items()}
    return _plain(value)


def _param(name: str, doc: str, convert: Any = _plain) -> Any:
    return Param(Params._dummy(), name, doc, typeConverter=convert)


class Columns(Params):
    """Which columns are read and written."""

    featuresCol = _param("featuresCol", "the column of feature vectors")
    featuresCols = _param("featuresCols", "the columns of features, in place of a vector", TypeConverters.toListString)
    labelCol = _param("labelCol", "the column of the response")
    predictionCol = _param("predictionCol", "the column of predictions")
    probabilityCol = _param("probabilityCol", "the column of the probabilities of classes")
    rawPredictionCol = _param("rawPredictionCol", "the column of log odds")

    def _given(self, name: str) -> Any:
        """A parameter's value, or none."""
        return self.getOrDefault(name) if self.hasParam(name) and self.isDefined(name) else None


class Wishes(Columns):
    """What is asked of an estimator; as for those of the package."""

    epsilon = _param("epsilon", "the privacy loss; no default")
    delta = _param("delta", "the additional probability; no default")
    feature_bounds = _param("feature_bounds", "public bounds or levels of the features; no default", _bounds)
    schema = _param("schema", "a dpglm.Schema of all columns, in place of bounds, label and unit")
    unitCol = _param("unitCol", "the column that says whose row it is")
    magnitudes = _param("magnitudes", "largest sizes and smallest differences of features without bounds")
    bounds_share = _param("bounds_share", "the part of the budget that finds bounds")
    intervals = _param("intervals", "the level of confidence intervals")
    insecure_seed = _param("insecure_seed", "a fixed seed of the noise, for experiments: nothing is promised then")
    ledger = _param("ledger", "the dpglm.Ledger that pays")

    def _asked(self, names: list[str]) -> dict[str, Any]:
        """Those of these parameters that were given, for the package's own estimator."""
        return {name: self.getOrDefault(name) for name in names if self.isDefined(name)}
