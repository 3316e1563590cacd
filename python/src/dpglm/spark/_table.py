"""From a data frame and what is declared of it to the columns that workers read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.ml.functions import vector_to_array
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import Column, DataFrame, functions
from pyspark.sql.types import FloatType

from .._layout import Layout
from ._params import Columns

__all__ = ["features_of", "of_schema", "packed_rows"]


class Features:
    """The features' columns: their names, and how they are read."""

    def __init__(self, names: list[str], columns: list[Column], *, vector: bool, single: bool) -> None:
        self.names = names
        self.columns = columns
        self.vector = vector
        self.single = single


def features_of(frame: DataFrame, asks: Columns, bounds: Any = None, magnitudes: Any = None) -> Features:
    """The features: a vector column, named columns, or those that are declared."""
    vector, named = asks._given("featuresCol"), asks._given("featuresCols")
    if vector is not None and named is not None:
        raise ValueError("featuresCol and featuresCols are two ways to name the features: give one of them")
    if vector is not None:
        if not isinstance(frame.schema[vector].dataType, VectorUDT):
            raise ValueError(
                f"featuresCol: `{vector}` is no column of vectors: name single columns with featuresCols=[...], or assemble them first"
            )
        names = _names_of_vector(frame, vector, bounds)
        return Features(names, [numbers_of(vector).alias("features")], vector=True, single=False)
    if named is None:
        if not isinstance(bounds, Mapping):
            raise ValueError(
                "the features are needed: give featuresCol=VECTOR or featuresCols=[NAMES], or feature_bounds as a dictionary by column"
            )
        named = [*bounds, *(name for name in magnitudes or () if name not in bounds)]
    names = [str(name) for name in named]
    single = all(isinstance(frame.schema[name].dataType, FloatType) for name in names)
    return Features(names, _numbered(names), vector=False, single=single)


def numbers_of(vector: str) -> Column:
    """A column of vectors as lists of numbers. Spark's function fails at a null, which one row may hold."""
    found = functions.col(_quoted(vector))
    return functions.when(found.isNotNull(), vector_to_array(found))


def _numbered(names: list[str]) -> list[Column]:
    """Columns by their place: names may be anything."""
    return [functions.col(_quoted(name)).alias(f"x{place}") for place, name in enumerate(names)]


def _quoted(name: str) -> str:
    """A column's name, whatever it holds."""
    return "`" + name.replace("`", "``") + "`"


def _names_of_vector(frame: DataFrame, vector: str, bounds: Any) -> list[str]:
    """The names that an assembler wrote beside the vectors; else x0, x1, ..., as many as it says or as there are bounds."""
    attributes = frame.schema[vector].metadata.get("ml_attr", {})
    listed = [attribute for kind in attributes.get("attrs", {}).values() for attribute in kind]
    if listed and all("name" in attribute for attribute in listed):
        return [str(attribute["name"]) for attribute in sorted(listed, key=lambda attribute: attribute["idx"])]
    width = attributes.get("num_attrs") or (len(listed) or None)
    if width is None and isinstance(bounds, Mapping):
        return [str(name) for name in bounds]
    if width is None and isinstance(bounds, list) and bounds and isinstance(bounds[0], list):
        width = len(bounds)
    if width is None:
        raise ValueError(
            f"how many numbers `{vector}` holds is not written beside it: give one pair of bounds for each in feature_bounds, or assemble the "
            "vectors with VectorAssembler, or set the size with VectorSizeHint"
        )
    return [f"x{place}" for place in range(int(width))]


def of_schema(frame: DataFrame, schema: str, *, constant: bool, for_means: bool = False) -> tuple[DataFrame, Layout]:
    """The columns that a schema declares, and how they are packed."""
    layout = Layout.of_schema(schema, constant=constant, for_means=for_means)
    columns = _numbered(list(layout.names))
    if layout.unit_name is not None:
        columns.append(functions.col(_quoted(layout.unit_name)).alias("unit"))
    return frame.select(*columns), layout


def packed_rows(frame: DataFrame, features: Features, response: str | None, unit: str | None) -> DataFrame:
    """The columns that workers read, where bounds are given column by column."""
    columns = list(features.columns)
    if response is not None:
        columns.append(functions.col(_quoted(response)).alias("response"))
    if unit is not None:
        columns.append(functions.col(_quoted(unit)).alias("unit"))
    return frame.select(*columns)
