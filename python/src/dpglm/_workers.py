"""What Spark's executors do: pack rows once, then answer questions about them. They know public facts alone, and write nothing.

This module stands apart from :mod:`dpglm.spark`, for workers have no use for what that imports.
Functions for ``mapInArrow``. What goes wrong is said without a word of what cells hold: Spark writes it into its logs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from . import _native
from ._data import column
from ._layout import PRINTS, Layout

#: Packed rows in blocks, with how many rows and units there are, the sum of their fingerprints, and what the public rule changed.
BLOCKS = "block binary, rows bigint, units bigint, print bigint, notes string"
#: Packed rows with the ids of their units.
ROWS = "id binary, row binary, notes string"
#: What the rows of a partition say, and the sum of their fingerprints; of one that has none, nothing.
ANSWERS = "part bigint, answer string, print bigint"


@contextmanager
def _quiet() -> Iterator[None]:
    """Faults of others may repeat cells: their kind is said alone."""
    try:
        yield
    except Exception as error:
        name = type(error).__name__
        message = f"dpglm could not read or answer for a batch of rows ({name}); what was wrong is not repeated here: it may hold cells"
        raise RuntimeError(message) from None


@dataclass(frozen=True)
class Pack:
    """Packs rows. The batches have the features' columns, or one list of numbers; then the response and the unit, where they are apart."""

    layout: Layout
    vector: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        packing = self.layout.packing()
        for batch in batches:
            if batch.num_rows == 0:
                continue
            with _quiet():
                table = self._table(batch)
                notes = _notes(table.touched)
                if self.layout.unit_name is None:
                    block = packing.block(table)
                    packed = _blocks([block], notes)
                else:
                    packed = self._by_row(packing, table, batch, notes)
            yield packed

    def _table(self, batch: pa.RecordBatch) -> Any:
        if self.vector:
            features: Any = _matrix(batch.column("features"), len(self.layout.names))
        else:
            features = {name: batch.column(f"x{place}") for place, name in enumerate(self.layout.names)}
        return self.layout.encode(features, None if self.layout.response is None else batch.column("response"))

    def _by_row(self, packing: Any, table: Any, batch: pa.RecordBatch, notes: str) -> pa.RecordBatch:
        ids, ends = packing.ids(column(batch.column("unit")))
        rows = packing.pack(table)
        ends = np.concatenate([[0], ends])
        places = np.arange(batch.num_rows + 1, dtype=np.int64) * packing.row_bytes
        first = [notes] + [""] * (batch.num_rows - 1)
        return pa.RecordBatch.from_arrays([_binary(ids, ends), _binary(rows, places), pa.array(first, pa.string())], ["id", "row", "notes"])


@dataclass(frozen=True)
class Gather:
    """Brings the rows of a unit together: those that have one id are in one partition."""

    layout: Layout

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        packing = self.layout.packing()
        ids: list[np.ndarray] = []
        rows: list[np.ndarray] = []
        ends = [np.zeros(0, dtype=np.int64)]
        notes: list[str] = []
        length = 0
        for batch in batches:
            id_bytes, id_ends = _bytes(batch.column("id"))
            row_bytes, _ = _bytes(batch.column("row"))
            ends.append(id_ends + length)
            length += len(id_bytes)
            ids.append(id_bytes)
            rows.append(row_bytes)
            notes.extend(note for note in batch.column("notes").to_pylist() if note)
        if not ids:
            return
        with _quiet():
            blocks = packing.gather(np.concatenate(ids), np.concatenate(ends), np.concatenate(rows))
        for place, block in enumerate(blocks):
            yield _blocks([block], "\n".join(notes) if place == 0 else "")


@dataclass(frozen=True)
class Answer:
    """Answers a question for the blocks of a partition."""

    layout: Layout
    question: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with _quiet():
            answering = _native.Answering(self.layout.packing(), self.question)
            for batch in batches:
                blocks = batch.column("block")
                data, ends = _bytes(blocks)
                start = 0
                for end in ends:
                    answering.add(data[start:end])
                    start = end
            answer, print_ = answering.answer()
        if answer is not None:
            yield _answers(_partition(), answer, print_)


def merge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Adds the answers of some partitions."""
    answers: list[str] = []
    print_ = 0
    for batch in batches:
        answers.extend(batch.column("answer").to_pylist())
        print_ += sum(batch.column("print").to_pylist())
    if answers:
        with _quiet():
            merged = _native.merge_answers(answers)
        yield _answers(_partition(), merged, print_ % PRINTS)


def _partition() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def _answers(part: int, answer: str, print_: int) -> pa.RecordBatch:
    arrays = [pa.array([part], pa.int64()), pa.array([answer], pa.string()), pa.array([print_], pa.int64())]
    return pa.RecordBatch.from_arrays(arrays, ["part", "answer", "print"])


def _blocks(blocks: list[tuple[bytes, int, int, int]], notes: str) -> pa.RecordBatch:
    data, rows, units, prints = zip(*blocks)
    numbers = [pa.array(list(values), pa.int64()) for values in (rows, units, prints)]
    return pa.RecordBatch.from_arrays(
        [pa.array(list(data), pa.binary()), *numbers, pa.array([notes] * len(blocks), pa.string())],
        ["block", "rows", "units", "print", "notes"],
    )


def _notes(touched: list[tuple[str, int, int, int]]) -> str:
    """What the public rule changed, for the driver: it goes the way of the rows, and no other."""
    changed = [of_column for of_column in touched if any(of_column[1:])]
    return json.dumps(changed) if changed else ""


def _matrix(vectors: Any, width: int) -> np.ndarray:
    """Lists of numbers as a matrix. What a list lacks is missing: an error would depend on one row."""
    if hasattr(vectors, "combine_chunks"):
        vectors = vectors.combine_chunks()
    lengths = vectors.value_lengths()
    values = vectors.flatten().to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
    lengths = np.asarray(lengths.fill_null(0))
    if np.all(lengths == width):
        return np.ascontiguousarray(values).reshape(len(vectors), width)
    matrix = np.full((len(vectors), width), np.nan)
    start = 0
    for row, length in enumerate(lengths):
        matrix[row, : min(length, width)] = values[start : start + min(length, width)]
        start += length
    return matrix


def _binary(data: bytes, ends: np.ndarray) -> pa.Array:
    """Pieces of bytes that begin and end at these places."""
    offsets = pa.py_buffer(np.ascontiguousarray(ends, dtype=np.int64))
    large = pa.Array.from_buffers(pa.large_binary(), len(ends) - 1, [None, offsets, pa.py_buffer(data)])
    return large.cast(pa.binary())


def _bytes(pieces: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Pieces of bytes where they stand, one after the other, and the end of each."""
    if not len(pieces):
        return np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.int64)
    wide = pa.types.is_large_binary(pieces.type)
    _, offsets, data = pieces.buffers()
    places = np.frombuffer(offsets, dtype=np.int64 if wide else np.int32)[pieces.offset : pieces.offset + len(pieces) + 1]
    first, last = int(places[0]), int(places[-1])
    found = np.frombuffer(data, dtype=np.uint8)[first:last] if last > first else np.zeros(0, dtype=np.uint8)
    return found, places[1:].astype(np.int64) - first
