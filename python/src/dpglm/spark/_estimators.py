"""Spark ML's estimators: the package's own, on rows that stay where Spark has them."""

from __future__ import annotations

import json
from typing import Any

from pyspark import keyword_only
from pyspark.ml import Estimator
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql import DataFrame

import dpglm

from .. import _native
from .._declare import share_for_bounds
from .._describe import Description
from .._layout import Layout
from .._ledger import Ledger, expect, paid_from
from .._table import Schema, ask
from .._warnings import tell
from ._models import MeanModel, PrivateClassificationModel, PrivateRegressionModel
from ._params import Wishes, _param
from ._rows import CachedRows
from ._table import features_of, of_schema, packed_rows

__all__ = ["PrivateLinearRegression", "PrivateLogisticRegression", "PrivateMean", "PrivatePoissonRegressor", "describe"]

COLUMNS = """
    Columns
    -------
    featuresCol, featuresCols : the column of feature vectors, or the names of the columns; without either, those that
        ``feature_bounds`` names.
    labelCol : the column of the response, ``"label"`` by default.
    unitCol : the column that says whose row it is. All rows of a person are then protected together.
    schema : a :class:`dpglm.Schema`, in place of bounds, names, label and unit: as for the command.

    The other parameters mean what they mean for :class:`dpglm.{name}`. ``ledger`` takes a :class:`dpglm.Ledger`, a file on the driver. The number of
    rows (or units) is counted, and is public.
"""


def _released(rows: CachedRows, release: Any) -> str:
    """The artefact of a release from these rows."""
    try:
        artefact, said = release(rows)
    except ValueError:
        if rows.failure is not None:
            # What was wrong with the cluster says more than that there is no result.
            raise rows.failure from None
        raise
    tell(said, rows.curator_notes, stacklevel=3)
    return str(artefact)


def _labels(target: dict[str, Any], columns: dict[str, Any]) -> list[Any] | None:
    """The labels of what was explained, as they are declared: numbers stay numbers, and of several spellings the first counts."""
    if target.get("levels") is None:
        return None
    levels = columns.get(target["name"], {}).get("levels") or target["levels"]
    return [level[0] if isinstance(level, list) else level for level in levels]


class _Private(Wishes, Estimator[Any], DefaultParamsReadable[Any], DefaultParamsWritable):
    """What all estimators share."""

    #: What ``keyword_only`` leaves here.
    _input_kwargs: dict[str, Any]

    def __init__(self, given: dict[str, Any]) -> None:
        super().__init__()
        self._set(**{name: value for name, value in given.items() if value is not None})

    def setParams(self, **given: Any) -> Any:
        """Sets parameters by name."""
        return self._set(**given)

    def fit(self, dataset: DataFrame, params: Any = None, *, ledger: Ledger | None = None) -> Any:
        """Fits the model to a data frame; ``ledger`` pays, as if it were given to the estimator."""
        paid = paid_from(ledger)
        asks = self if paid is None else self.copy({self.ledger: list(paid)})
        return Estimator.fit(asks, dataset, params)

    def _paid(self) -> tuple[str, str, str] | None:
        given = self._given("ledger")
        return None if given is None else paid_from(Ledger(given[0], data=given[1], purpose=given[2]))

    def _expect(self) -> None:
        """Refuses what the ledger has no room for, before a row is read."""
        schema = self._given("schema")
        unit = self._given("unitCol") if schema is None else json.loads(schema).get("unit")
        wishes: dict[str, Any] = {"epsilon": None, "delta": None, "insecure_seed": None}
        wishes.update(self._asked(list(wishes)))
        expect(self._paid(), wishes, unit)

    def _of_schema(self) -> bool:
        """Whether a schema declares everything; then nothing else may."""
        if self._given("schema") is None:
            return False
        for name in ("feature_bounds", "featuresCol", "featuresCols", "unitCol", "magnitudes", "classes", "target_bounds", "target_magnitude"):
            if self.hasParam(name) and self.isSet(name):
                raise ValueError(f"schema declares all columns: leave out {name}, or leave out schema")
        if self.isSet("labelCol"):
            raise ValueError("schema names its target: leave out labelCol, or leave out schema")
        return True


class _Regression(_Private):
    """A generalized linear model."""

    ridge = _param("ridge", "the penalty on the coefficients' l2 norm")
    radius = _param("radius", "the largest l2 norm of the coefficients")
    fit_intercept = _param("fit_intercept", "whether the model has an intercept")

    _names = ["epsilon", "delta", "feature_bounds", "magnitudes", "bounds_share", "intervals", "insecure_seed", "ridge", "radius", "fit_intercept"]
    _family: str | None = None
    _beside: Any
    _model_class: Any = PrivateRegressionModel

    def __init__(self, given: dict[str, Any]) -> None:
        super().__init__(given)
        self._setDefault(labelCol="label", predictionCol="prediction")

    def _fit(self, dataset: DataFrame) -> Any:
        self._expect()
        release = self._by_schema(dataset) if self._of_schema() else self._by_bounds(dataset)
        model = self._model_class(*release)
        return self._copyValues(model)

    def _by_bounds(self, dataset: DataFrame) -> tuple[str, bool, list[Any] | None]:
        wishes = self._asked(self._names)
        for name in ("epsilon", "delta", "feature_bounds", *self._beside.needed):
            wishes.setdefault(name, None)
        wishes["fit_intercept"] = bool(wishes.get("fit_intercept", True))
        plain = getattr(dpglm, type(self).__name__)(**wishes)
        features = features_of(dataset, self, plain.feature_bounds, plain.magnitudes)
        declared = plain._declared(features.names)
        asked = plain._asked(uniform=declared.uniform is not None)
        asked["bounds_share"] = plain._share(declared)
        _native.check_budget(asked["epsilon"], asked["delta"])
        label, unit = self.getOrDefault("labelCol"), self._given("unitCol")
        name = "y" if label in declared.columns else label
        layout = Layout(
            declared.schema(intercept=plain.fit_intercept),
            tuple(features.names),
            plain.fit_intercept,
            response=(name, plain._declare_target(name)),
            unit=unit,
            single=features.single,
        )
        frame = packed_rows(dataset, features, label, unit)
        classes = None if getattr(plain, "classes", None) is None else list(dpglm._declare.declare_classes(plain.classes, "y")[0].tolist())
        return self._release(CachedRows(frame, layout, features.vector, unit is not None), asked), features.vector, classes

    def _by_schema(self, dataset: DataFrame) -> tuple[str, bool, list[Any] | None]:
        schema = json.loads(self.getOrDefault("schema"))
        if self.isSet("fit_intercept"):
            schema["intercept"] = bool(self.getOrDefault("fit_intercept"))
        wishes = self._asked(["epsilon", "delta", "ridge", "radius", "intervals", "insecure_seed"])
        searched = any("magnitude" in column for column in schema["columns"].values())
        asked = ask(bounds_share=share_for_bounds(self._given("bounds_share"), searched), **{"epsilon": None, "delta": None, **wishes})
        _native.check_budget(asked["epsilon"], asked["delta"])
        frame, layout = of_schema(dataset, json.dumps(schema), constant=True)
        asked["family"] = self._family_of(layout.packing().levels)
        rows = CachedRows(frame, layout, False, layout.unit_name is not None)
        artefact = self._release(rows, asked)
        return artefact, False, _labels(json.loads(artefact)["target"], schema["columns"])

    def _family_of(self, levels: list[str] | None) -> str | None:
        return self._family

    def _release(self, rows: CachedRows, asked: dict[str, Any]) -> str:
        packing, paid = rows.layout.packing(), self._paid()
        with rows:
            return _released(rows, lambda rows: _native.fit_asked(packing, asked, rows.units, rows.ask, None, paid))


class _Beside:
    """Parameters that a family needs beside the shared ones."""

    def __init__(self, *needed: str) -> None:
        self.needed = needed


class PrivateLinearRegression(_Regression):
    __doc__ = "Private linear regression on a cluster.\n" + COLUMNS.format(name="PrivateLinearRegression")

    target_bounds = _param("target_bounds", "public bounds of the target; no default")
    target_magnitude = _param("target_magnitude", "in their place, the largest size and the smallest difference that matters")

    _names = [*_Regression._names, "target_bounds", "target_magnitude"]
    _beside = _Beside("target_bounds")
    _family = "gaussian"

    @keyword_only
    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        feature_bounds: Any = None,
        target_bounds: Any = None,
        target_magnitude: Any = None,
        schema: Any = None,
        featuresCol: str | None = None,
        featuresCols: list[str] | None = None,
        labelCol: str | None = None,
        unitCol: str | None = None,
        predictionCol: str | None = None,
        intervals: float | None = None,
        ridge: float | None = None,
        radius: float | None = None,
        magnitudes: Any = None,
        bounds_share: float | None = None,
        fit_intercept: bool | None = None,
        insecure_seed: int | None = None,
        ledger: Any = None,
    ) -> None:
        super().__init__(self._input_kwargs)


class PrivatePoissonRegressor(PrivateLinearRegression):
    __doc__ = "Private Poisson regression with a logarithmic link on a cluster.\n" + COLUMNS.format(name="PrivatePoissonRegressor")
    _family = "poisson"


class PrivateLogisticRegression(_Regression):
    __doc__ = "Private logistic regression on a cluster; softmax regression for more than two classes.\n" + COLUMNS.format(
        name="PrivateLogisticRegression"
    )

    classes = _param("classes", "the labels that the target can take, a public fact; no default")

    _names = [*_Regression._names, "classes"]
    _beside = _Beside("classes")
    _model_class = PrivateClassificationModel

    @keyword_only
    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        feature_bounds: Any = None,
        classes: Any = None,
        schema: Any = None,
        featuresCol: str | None = None,
        featuresCols: list[str] | None = None,
        labelCol: str | None = None,
        unitCol: str | None = None,
        predictionCol: str | None = None,
        probabilityCol: str | None = None,
        rawPredictionCol: str | None = None,
        intervals: float | None = None,
        ridge: float | None = None,
        radius: float | None = None,
        magnitudes: Any = None,
        bounds_share: float | None = None,
        fit_intercept: bool | None = None,
        insecure_seed: int | None = None,
        ledger: Any = None,
    ) -> None:
        super().__init__(self._input_kwargs)
        self._setDefault(probabilityCol="probability", rawPredictionCol="rawPrediction")

    def _family_of(self, levels: list[str] | None) -> str | None:
        return "multinomial" if len(levels or ()) > 2 else "logistic"


class PrivateMean(_Private):
    __doc__ = (
        "Private means of columns on a cluster, each with its own clip and noise (``method=\"columns\"``).\n"
        + COLUMNS.format(name="PrivateMean").replace("    labelCol : the column of the response, ``\"label\"`` by default.\n", "")
    )

    by = _param("by", "the column whose levels are taken apart")
    sample_weight = _param("sample_weight", "the column of survey weights")
    weights = _param("weights", "how precise columns are to be")
    missing = _param("missing", "fill or drop")

    _names = ["epsilon", "delta", "feature_bounds", "magnitudes", "bounds_share", "intervals", "insecure_seed", "by", "sample_weight", "weights", "missing"]

    @keyword_only
    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        feature_bounds: Any = None,
        by: str | None = None,
        sample_weight: str | None = None,
        weights: Any = None,
        missing: str | None = None,
        schema: Any = None,
        featuresCol: str | None = None,
        featuresCols: list[str] | None = None,
        unitCol: str | None = None,
        intervals: float | None = None,
        magnitudes: Any = None,
        bounds_share: float | None = None,
        insecure_seed: int | None = None,
        ledger: Any = None,
    ) -> None:
        super().__init__(self._input_kwargs)

    def _fit(self, dataset: DataFrame) -> MeanModel:
        wishes = {"epsilon": None, "delta": None, "feature_bounds": None, **self._asked(self._names), "method": "columns"}
        if self._given("schema") is not None:
            wishes.setdefault("sample_weight", json.loads(self.getOrDefault("schema")).get("weight"))
        plain = dpglm.PrivateMean(**wishes)
        asked = plain._asked(None)
        _native.check_budget(asked["epsilon"], asked["delta"])
        self._expect()
        unit = self._given("unitCol")
        if self._of_schema():
            if self.isSet("missing"):
                raise ValueError("schema says what a missing cell is: leave out missing, or leave out schema")
            schema = json.dumps({**json.loads(self.getOrDefault("schema")), "intercept": True})
            searched = any("magnitude" in column for column in json.loads(schema)["columns"].values())
            read = _native.schema_of_means(schema, plain.by, plain.sample_weight)
            frame, layout = of_schema(dataset, read, constant=False, for_means=True)
            vector = False
        else:
            features = features_of(dataset, self, plain.feature_bounds, plain.magnitudes)
            declared = plain._declared(features.names)
            searched, vector = declared.is_searched, features.vector
            asked["uniform"] = declared.uniform
            layout = Layout(
                plain._schema(declared), tuple(features.names), False, unit=unit, single=features.single, for_means=True
            )
            frame = packed_rows(dataset, features, None, unit)
        asked["bounds_share"] = share_for_bounds(plain.bounds_share, searched)
        packing, paid = layout.packing(), self._paid()
        with CachedRows(frame, layout, vector, layout.unit_name is not None) as rows:
            artefact = _released(rows, lambda rows: _native.mean_asked(packing, asked, rows.units, rows.ask, paid))
        return self._copyValues(MeanModel(artefact))


def describe(frame: DataFrame, schema: Schema, **wishes: Any) -> Description:
    """Describes a data frame under a schema with one budget, as :func:`dpglm.describe` does: the wishes are the same but for ``strict``."""
    from .._describe import asked_of_description

    if "strict" in wishes:
        raise TypeError("strict is not to be had on a cluster: workers would stop at one row. Leave it out")
    paid = paid_from(wishes.pop("ledger", None))
    asked, read = asked_of_description(schema, **wishes)
    expect(paid, asked, json.loads(read).get("unit"))
    columns, layout = of_schema(frame, read, constant=False, for_means=True)
    packing = layout.packing()
    with CachedRows(columns, layout, False, False) as rows:
        return Description(_released(rows, lambda rows: _native.describe_asked(packing, asked, rows.units, rows.ask, paid)))
