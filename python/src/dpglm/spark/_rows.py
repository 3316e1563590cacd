"""The driver's side: rows packed and cached on the cluster, and asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark import StorageLevel
from pyspark.sql import DataFrame, functions

from .. import _native
from .._layout import PRINTS, Layout
from .._workers import ANSWERS, BLOCKS, ROWS, Answer, Gather, Pack, merge

__all__ = ["CachedRows"]

#: Answers of so many bytes together are merged on the cluster before they come to the driver.
AT_THE_DRIVER = 64 * 2**20
#: So many answers are merged by one worker.
FAN_IN = 16
_CONF = threading.Lock()


class CachedRows:
    """Packed rows of a data frame in Spark's cache, as long as the ``with`` block lasts.

    Each question is one job: a partition answers for its rows with exact sums, and these come to the driver. Spark counts the result of one
    attempt of each task, and the sums do not depend on how rows are divided: so tasks that are repeated do not change the result. Rows that a
    failed machine held are read and packed again. Were they others then, the sum of their fingerprints would differ, and nothing is released.
    """

    def __init__(self, frame: DataFrame, layout: Layout, vector: bool, unit: bool) -> None:
        self.layout = layout
        self._session = frame.sparkSession
        # Batches of rows come in as they are packed; blocks go out some at a time.
        self._rows = {"spark.sql.execution.arrow.maxRecordsPerBatch": str(layout.rows_of_a_block())}
        packed = frame.mapInArrow(Pack(layout, vector), ROWS if unit else BLOCKS)
        if unit:
            packed = packed.repartition(functions.col("id")).mapInArrow(Gather(layout), BLOCKS)
        self._packed = packed
        self.failure: BaseException | None = None
        self.passes = 0
        self._is_closed = False

    def __enter__(self) -> CachedRows:
        with _conf(self._session, self._rows):
            self._packed = self._packed.persist(StorageLevel.MEMORY_AND_DISK)
            try:
                counted = self._packed.select("rows", "units", "print", "notes").collect()
                self._partitions = self._packed.rdd.getNumPartitions() if counted else 0
            except BaseException:
                self._packed.unpersist()
                raise
        self.rows = sum(row["rows"] for row in counted)
        self.units = sum(row["units"] for row in counted)
        self._print = sum(row["print"] for row in counted) % PRINTS
        self._notes = [row["notes"] for row in counted if row["notes"]]
        return self

    def __exit__(self, *_: object) -> None:
        # Whoever still asks, after an interrupt, is refused: rows would be read and packed again.
        self._is_closed = True
        self._packed.unpersist()

    def ask(self, question: str) -> list[str]:
        """The rows' answers. They are exact sums, not noised: they stay in this process."""
        if self._is_closed:
            raise RuntimeError("the rows are no longer there: nothing is released")
        try:
            return self._ask(question)
        except BaseException as error:
            self.failure = error
            raise

    def _ask(self, question: str) -> list[str]:
        self.passes += 1
        with _conf(self._session, {"spark.sql.execution.arrow.maxRecordsPerBatch": "16"}):
            answers = self._packed.select("block").mapInArrow(Answer(self.layout, question), ANSWERS)
            partials = self._partitions
            while partials > FAN_IN and partials * self._bytes_of_an_answer() > AT_THE_DRIVER:
                partials = -(-partials // FAN_IN)
                # By partition, so that a repeated task finds the same answers.
                answers = answers.repartition(partials, "part").mapInArrow(merge, ANSWERS)
            found = answers.collect()
        if sum(row["print"] for row in found) % PRINTS != self._print:
            raise RuntimeError(
                "the rows are not those of the first pass: they have changed, or come out differently when they are computed again, and nothing "
                "is released. Write the data frame to a table first, and fit that"
            )
        return [row["answer"] for row in found]

    def _bytes_of_an_answer(self) -> int:
        """About: products of all columns, two numbers of text each."""
        return 20 * (len(self.layout.names) + 1) ** 2

    @property
    def curator_notes(self) -> str:
        """What the public rule changed, in words."""
        counts: dict[str, list[int]] = {}
        for note in self._notes:
            for part in note.splitlines():
                for name, *more in json.loads(part):
                    counts[name] = [a + b for a, b in zip(counts.get(name, [0, 0, 0]), more)]
        return str(_native.curator_text([(name, a, b, c) for name, (a, b, c) in counts.items()]))


@contextmanager
def _conf(session: Any, wanted: dict[str, str]) -> Iterator[None]:
    """Settings of the session while a job is planned and runs. Another thread's jobs wait, so that none runs under these."""
    with _CONF:
        before = {key: session.conf.get(key, None) for key in wanted}
        for key, value in wanted.items():
            session.conf.set(key, value)
        try:
            yield
        finally:
            for key, value in before.items():
                if value is None:
                    session.conf.unset(key)
                else:
                    session.conf.set(key, value)
