"""A fit on a Spark cluster, seconds in all and for each pass, beside Spark ML's own logistic regression (which is not private) on the same cached
data in one application.

    python benchmarks/large/spark.py --rows 10000000

Prints lines of JSON. Each of the two is fitted twice, in turns: the first run starts workers and compiles. `--folder` is where Spark keeps what does not
fit in memory.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from typing import Any

import numpy as np

COLUMNS = 50


def say(**facts: object) -> None:
    print(json.dumps(facts), flush=True)


def spark(given: argparse.Namespace) -> None:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark import StorageLevel
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql import SparkSession, functions

    import dpglm
    from dpglm import spark as private
    from dpglm.spark._rows import CachedRows

    seconds: list[float] = []
    ask = CachedRows._ask

    def timed(self: CachedRows, question: str) -> list[str]:
        started = time.perf_counter()
        answers = ask(self, question)
        seconds.append(time.perf_counter() - started)
        return answers

    CachedRows._ask = timed  # type: ignore[method-assign]
    session: Any = (
        SparkSession.builder.master(given.master)
        .config("spark.ui.enabled", "false")
        .config("spark.executor.memory", "1536m")
        .config("spark.local.dir", str(given.folder))
        .config("spark.driver.memory", "1g")
        .config("spark.executorEnv.PYTHONPATH", os.path.dirname(os.path.dirname(dpglm.__file__)))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    names = [f"x{j}" for j in range(COLUMNS)]
    for count in given.rows:
        frame = session.range(0, count, 1, given.partitions)
        frame = frame.select(*[functions.floor(functions.rand(j) * 121).cast("byte").alias(name) for j, name in enumerate(names)], functions.rand(99).alias("u"))
        odds = functions.exp(functions.col("x0") * 0.03 - functions.col("x1") * 0.02 - functions.col("x2") * 0.01)
        frame = frame.withColumn("label", (functions.col("u") < odds / (1 + odds)).cast("double")).drop("u").persist(StorageLevel.MEMORY_AND_DISK)
        started = time.perf_counter()
        frame.count()
        say(rows=count, columns=COLUMNS, partitions=given.partitions, cached_after=round(time.perf_counter() - started, 2))
        bounds = {name: {"kind": "count", "bounds": [0, 120]} for name in names}
        for place in range(2):
            seconds.clear()
            started = time.perf_counter()
            model = private.PrivateLogisticRegression(feature_bounds=bounds, classes=[0, 1], epsilon=1.0, delta=1e-9, insecure_seed=7).fit(frame)
            total = time.perf_counter() - started
            coefficient = model.fitted.coefficients_["x0"]
            say(rows=count, ours=round(total, 2), passes=len(seconds), seconds_a_pass=round(float(np.mean(seconds)), 2), run=place, x0=coefficient)
            started = time.perf_counter()
            assembled = VectorAssembler(inputCols=names, outputCol="features").transform(frame)
            theirs = LogisticRegression(maxIter=100).fit(assembled)
            total = time.perf_counter() - started
            iterations = theirs.summary.totalIterations
            say(rows=count, theirs=round(total, 2), iterations=iterations, seconds_an_iteration=round(total / max(1, iterations), 2), run=place, x0=theirs.coefficients[0])
        frame.unpersist()
    session.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000_000])
    parser.add_argument("--master", default="local-cluster[2,1,2048]")
    parser.add_argument("--partitions", type=int, default=16)
    parser.add_argument("--folder", default=tempfile.gettempdir())
    spark(parser.parse_args())


if __name__ == "__main__":
    main()
