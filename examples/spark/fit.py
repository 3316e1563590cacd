"""A private fit on a cluster, for spark-submit:

    spark-submit examples/spark/fit.py hdfs:///people.parquet --schema schema.toml --epsilon 1 --delta 1e-8 --output fit.json

The schema, the ledger and the artefact are files on the driver. The artefact is that of `dpglm fit` on the same rows, which `dpglm show`,
`dpglm predict` and `dpglm report` read.
"""

from __future__ import annotations

import argparse
import os
import sys

from pyspark.sql import SparkSession

import dpglm
from dpglm import spark as private

FAMILIES = {
    "gaussian": private.PrivateLinearRegression,
    "logistic": private.PrivateLogisticRegression,
    "poisson": private.PrivatePoissonRegressor,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Private regression of a table that Spark can read.")
    parser.add_argument("table", help="what spark.read loads: a Parquet folder, unless --format says otherwise")
    parser.add_argument("--format", default="parquet", help="of the table: parquet, csv, orc, delta, ...")
    parser.add_argument("--schema", required=True, help="the public schema, TOML: target, unit, columns with their bounds or levels")
    parser.add_argument("--family", required=True, choices=FAMILIES, help="logistic serves for more than two classes, too")
    parser.add_argument("--epsilon", required=True, type=float)
    parser.add_argument("--delta", required=True, type=float)
    parser.add_argument("--intervals", type=float, help="also give confidence intervals of this level (0.95)")
    parser.add_argument("--ledger", help="the ledger that pays")
    parser.add_argument("--purpose", default="", help="what for, as the ledger enters it")
    parser.add_argument("--output", required=True, help="where the artefact goes: it must not exist, for what it holds was paid for")
    given = parser.parse_args()
    if os.path.exists(given.output):
        sys.exit(f"{given.output} exists: what it holds may have been paid from a budget; name another file")
    folder = os.path.dirname(os.path.abspath(given.output))
    if not os.path.isdir(folder):
        sys.exit(f"{folder} is no folder: make it, or name a file in another, before a budget is spent")
    # Refused before a cluster is asked for anything.
    schema = dpglm.Schema.load(given.schema)
    ledger = dpglm.Ledger(given.ledger, data=given.table, purpose=given.purpose) if given.ledger else None
    asks = FAMILIES[given.family](
        schema=schema, epsilon=given.epsilon, delta=given.delta, intervals=given.intervals, ledger=ledger
    )
    session = SparkSession.builder.appName("dpglm").getOrCreate()
    options = {"header": "true"} if given.format == "csv" else {}
    model = asks.fit(session.read.format(given.format).options(**options).load(given.table))
    model.fitted.save(given.output)
    print(model.fitted.summary())
    session.stop()


if __name__ == "__main__":
    main()
