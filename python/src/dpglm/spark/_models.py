"""Fitted models as transformers, which are saved with their artefact."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.ml import Model
from pyspark.ml.functions import array_to_vector
from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReadable, MLReader, MLWritable, MLWriter
from pyspark.sql import DataFrame, functions
from pyspark.sql.pandas.functions import arrow_udf

from .. import _native
from .._base import Estimator
from .._data import column
from .._table import FittedModel
from .._workers import _matrix, _quiet
from ._params import Columns
from ._table import _quoted, numbers_of

__all__ = ["MeanModel", "PrivateClassificationModel", "PrivateRegressionModel"]


class FittedMeans(Estimator):
    """Means that were taken: by name, with intervals and certificate."""

    def __init__(self, artefact: str) -> None:
        document = self._keep(artefact)
        self.artefact = artefact
        self.means_: dict[str, float] = dict(document["means"])

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"<{str(self.summary()).splitlines()[0]}>"


class _Writer(MLWriter):
    """Writes parameters and artefact as Spark writes metadata."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self._model = model

    def saveImpl(self, path: str) -> None:
        model = self._model
        extra = {"artefact": model._artefact, "vector": model._vector, "classes": model._classes}
        DefaultParamsWriter.saveMetadata(model, path, self.sc, extraMetadata=extra)


class _Reader(MLReader[Any]):
    def __init__(self, kind: Any) -> None:
        super().__init__()
        self._kind = kind

    def load(self, path: str) -> Any:
        metadata = DefaultParamsReader.loadMetadata(path, self.sc)
        model = self._kind(metadata["artefact"], metadata["vector"], metadata["classes"])
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


class _Fitted(Columns, Model, MLWritable, MLReadable[Any]):
    """What all models share. The certificate of a loaded artefact is computed again."""

    def __init__(self, artefact: str, vector: bool = False, classes: list[Any] | None = None) -> None:
        super().__init__()
        self._artefact = artefact
        self._vector = vector
        self._classes = classes
        self.fitted: Any = self._read(artefact)

    def _read(self, artefact: str) -> Any:
        return FittedModel(artefact)

    @property
    def certificate_(self) -> Any:
        """What left, and what it cost."""
        return self.fitted.certificate_

    def to_json(self) -> str:
        """The artefact, as the command writes it; ``model.fitted`` has what it says: ``summary()``, ``tidy()``, ``save(path)``."""
        return str(self.fitted.to_json())

    def write(self) -> _Writer:
        """What saves it."""
        return _Writer(self)

    @classmethod
    def read(cls) -> _Reader:
        """What loads it."""
        return _Reader(cls)

    def _predictions(self, dataset: DataFrame) -> Any:
        """The predicted numbers of each row, a list."""
        names = _declared(json.loads(self._artefact))
        if self._vector:
            columns = [numbers_of(self.getOrDefault("featuresCol"))]
        else:
            names = [name for name in names if _has(dataset, name)]
            # What is needed and not there is named here, by a row of missing cells: workers repeat nothing.
            _predict(self._artefact, False, names, tuple(pa.nulls(1, pa.float64()) for _ in names))
            columns = [functions.col(_quoted(name)) for name in names]
        artefact, vector = self._artefact, self._vector

        def predicted(*cells: pa.Array) -> pa.Array:
            with _quiet():
                return _predict(artefact, vector, names, cells)

        # Spark looks at the annotations to tell the kinds of functions apart.
        predicted.__annotations__ = {"cells": pa.Array, "return": pa.Array}
        make: Any = arrow_udf
        return make(predicted, "array<double>")(*columns)


class PrivateRegressionModel(_Fitted):
    """A fitted linear or Poisson model: ``transform`` adds the mean response of each row. Predictions are as private as the rows."""

    def _transform(self, dataset: DataFrame) -> DataFrame:
        return dataset.withColumn(self.getOrDefault("predictionCol"), self._predictions(dataset)[0])


class PrivateClassificationModel(_Fitted):
    """A fitted logistic or softmax model: ``transform`` adds the probabilities of the classes, their log odds, and the most probable
    class. Predictions are as private as the rows."""

    def _transform(self, dataset: DataFrame) -> DataFrame:
        probabilities = "probabilities of " + self.uid
        found = dataset.withColumn(probabilities, self._predictions(dataset))
        column = functions.col(_quoted(probabilities))
        logs = functions.transform(column, lambda p: functions.log(functions.greatest(p, functions.lit(1e-300))))
        raw = logs
        if len(self._classes or ()) == 2:
            raw = functions.array(logs[0] - logs[1], logs[1] - logs[0])
        # The first of the largest, as elsewhere.
        place = functions.array_position(column, functions.array_max(column)).cast("int")
        classes = [functions.lit(self._plain(label)) for label in self._classes or ()]
        return (
            found.withColumn(self.getOrDefault("rawPredictionCol"), array_to_vector(raw))
            .withColumn(self.getOrDefault("probabilityCol"), array_to_vector(column))
            .withColumn(self.getOrDefault("predictionCol"), functions.get(functions.array(*classes), place - 1))
            .drop(probabilities)
        )

    @staticmethod
    def _plain(label: Any) -> Any:
        """Labels that are numbers are doubles, as Spark's own are."""
        return float(label) if isinstance(label, (bool, int, float)) else str(label)


class MeanModel(_Fitted):
    """Means that were taken. ``transform`` leaves rows as they are."""

    def _read(self, artefact: str) -> FittedMeans:
        return FittedMeans(artefact)

    @property
    def means(self) -> dict[str, float]:
        """The means by name."""
        return dict(self.fitted.means_)

    def _transform(self, dataset: DataFrame) -> DataFrame:
        return dataset


def _has(dataset: DataFrame, name: str) -> bool:
    """Whether a frame has such a column, by the rule of its session for capitals."""
    if str(dataset.sparkSession.conf.get("spark.sql.caseSensitive", "false")).lower() == "true":
        return name in dataset.columns
    return name.lower() in {column.lower() for column in dataset.columns}


def _declared(document: dict[str, Any]) -> list[str]:
    """The columns that predictions may be made from, in the order of the encoding."""
    encoding = document["encoding"]
    apart = {encoding.get("target"), encoding.get("unit"), encoding.get("weight")}
    return [name for name, declared in encoding["columns"].items() if declared.get("kind") != "ignore" and name not in apart]


@lru_cache(maxsize=8)
def _model(artefact: str) -> tuple[Any, dict[str, Any]]:
    document = json.loads(artefact)
    how = {
        "schema": json.dumps(document["encoding"]),
        "name": "the rows",
        "strict": False,
        "constant_column": False,
        "for_means": False,
        "needs_target": False,
        "single": False,
    }
    return _native.Artefact(artefact), how


def _predict(artefact: str, vector: bool, names: list[str], cells: tuple[pa.Array, ...]) -> pa.Array:
    native, how = _model(artefact)
    if cells and not len(cells[0]):
        return pa.array([], pa.list_(pa.float64()))
    if vector:
        matrix = _matrix(cells[0], len(names))
        columns = [(name, np.ascontiguousarray(matrix[:, place])) for place, name in enumerate(names)]
    else:
        columns = [(name, column(values)) for name, values in zip(names, cells)]
    found = np.asarray(native.predict(_native.encode_columns(how, columns, None)))
    ends = np.arange(len(found) + 1, dtype=np.int32) * found.shape[1]
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(found.ravel()))
