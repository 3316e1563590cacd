"""Fits of rows that come in batches, and need not fit in memory."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import Any, TypeVar

import numpy as np

from . import _native
from ._data import Rows, adapt
from ._declare import declare_magnitude, share_for_bounds
from ._layout import PRINTS, Layout
from ._ledger import Ledger, expect, paid_from
from ._table import FittedModel, Schema, ask

__all__ = ["fit_batches"]

_T = TypeVar("_T")


def fit_batches(
    batches: Any,
    schema: Schema,
    *,
    epsilon: float,
    delta: float | None,
    fit_intercept: bool | None = None,
    magnitudes: Mapping[str, tuple[float, float]] | None = None,
    bounds_share: float | None = None,
    scratch: str | os.PathLike[str] | None = None,
    read_again: bool = False,
    ledger: Ledger | None = None,
    **wishes: Any,
) -> FittedModel:
    """Fits a model to rows that come in batches, as :func:`dpglm.fit_table` fits a data frame: the same rows and the same noise give the
    same artefact, byte for byte.

    ``batches`` is a function without arguments that gives an iterator of batches, each time it is called the same rows: Arrow, pandas or
    Polars frames, or NumPy matrices whose columns are those of the schema in its order. A ``pyarrow.dataset``, a Polars ``LazyFrame``, a DuckDB
    relation and a list of frames are taken as they are. A batch at a time is in memory.

    The rows wait between passes in a file without a name in the folder ``scratch`` (the system's for temporary files), which nobody else can
    open and which is gone when the process ends; it holds private rows in the clear. With ``read_again=True`` no row is written: the
    batches are asked for in each pass, and must be the same rows; if they are not, nothing is released. Where the schema names a unit,
    all rows are packed in memory once, some bytes each, to bring those of a unit together; ``read_again`` is refused then.

    The wishes are ``family``, ``power``, ``dispersion``, ``intervals``, ``ridge``, ``radius`` and ``insecure_seed``.

    >>> import numpy as np
    >>> import pandas as pd
    >>> import dpglm
    >>> schema = dpglm.Schema('''
    ... target = "y"
    ... [columns]
    ... x = { kind = "real", bounds = [0, 1] }
    ... y = { kind = "real", bounds = [0, 3] }
    ... ''')
    >>> def batches():
    ...     for seed in range(5):
    ...         x = np.random.default_rng(seed).uniform(0, 1, 1000)
    ...         yield pd.DataFrame({"x": x, "y": 1 + x})
    >>> model = dpglm.fit_batches(batches, schema, epsilon=1.0, delta=1e-6)
    >>> bool(abs(model.coefficients_["x"] - 1) < 0.5)
    True
    """
    paid = paid_from(ledger)
    document = json.loads(schema.to_json(intercept=fit_intercept))
    for name, magnitude in (magnitudes or {}).items():
        if name not in document["columns"]:
            raise ValueError(f"magnitudes: `{name}` is not declared in the schema: give the names of declared numbers")
        known = {key: value for key, value in document["columns"][name].items() if key not in ("bounds", "fill")}
        document["columns"][name] = {**known, **declare_magnitude(name, magnitude, known["kind"])}
    searched = any("magnitude" in column for column in document["columns"].values())
    asked = ask(epsilon=epsilon, delta=delta, bounds_share=share_for_bounds(bounds_share, searched), **wishes)
    _native.check_budget(asked["epsilon"], asked["delta"])
    expect(paid, asked, document.get("unit"))
    layout = Layout.of_schema(json.dumps(document), constant=True)
    with PackedBatches(_started_again(batches), layout, scratch, read_again) as rows:
        try:
            artefact, said = rows.during(lambda ask: _native.fit_asked(layout.packing(), asked, rows.units, ask, None, paid))
        except ValueError:
            if rows.failure is not None:
                # What was wrong with the batches says more than that there is no result.
                raise rows.failure from None
            raise
    fitted = FittedModel(artefact)
    fitted._tell(None, said, rows.curator_notes)
    return fitted


def _started_again(batches: Any) -> Callable[[], Iterable[Any]]:
    """What gives the batches, once more each time."""
    if hasattr(batches, "to_batches"):
        return lambda: batches.to_batches()
    if hasattr(batches, "collect_batches"):
        return lambda: batches.collect_batches(maintain_order=True)
    for reader in ("to_arrow_reader", "fetch_record_batch", "fetch_arrow_reader"):
        if hasattr(batches, reader):
            return lambda: getattr(batches, reader)(100_000)
    if callable(batches):
        return batches  # type: ignore[no-any-return]
    if isinstance(batches, (list, tuple)):
        return lambda: batches
    raise TypeError(
        f"batches must be a function that gives an iterator of batches each time it is called, got {type(batches).__name__}: an iterator alone "
        "cannot be started again. Write lambda: ..., or give a dataset"
    )


class PackedBatches:
    """The rows of batches, packed; as long as the ``with`` block lasts."""

    def __init__(self, start: Callable[[], Iterable[Any]], layout: Layout, scratch: Any, read_again: bool) -> None:
        if read_again and layout.unit_name is not None:
            raise ValueError("read_again keeps no row, and rows of a unit have to be brought together: leave out read_again")
        if read_again and scratch is not None:
            raise ValueError("read_again writes no scratch file: leave out scratch, or read_again")
        self._start, self._layout, self._read_again = start, layout, read_again
        self._packing = layout.packing()
        self._folder = None if scratch is None else os.fspath(scratch)
        self._file: Any = None
        self._blocks: list[tuple[int, int]] = []
        self._touched: dict[str, list[int]] = {}
        self.failure: BaseException | None = None
        self.rows = self.units = self._print = 0
        self._is_closed = False

    def __enter__(self) -> PackedBatches:
        if not self._read_again:
            self._file = tempfile.TemporaryFile(dir=self._folder)
        try:
            for block, rows, units, print_ in self._gathered() if self._layout.unit_name else self._packed(count=True):
                self.rows, self.units, self._print = self.rows + rows, self.units + units, self._print + print_
                if self._file is not None:
                    self._blocks.append((self._file.tell(), len(block)))
                    self._file.write(block)
            if self._file is not None:
                # A full disk is found before a budget is spent.
                self._file.flush()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        # Whoever still asks, after an interrupt, is refused.
        self._is_closed = True
        if self._file is not None:
            self._file.close()

    def during(self, work: Callable[[Callable[[str], list[str]]], _T]) -> _T:
        """Does work that asks. Batches that are read again are read in this thread: what gives them may be bound to it, as the connections of
        some databases are."""
        if not self._read_again:
            return work(self.ask)
        wanted: SimpleQueue[tuple[str, Future[list[str]]] | None] = SimpleQueue()

        def ask(question: str) -> list[str]:
            answer: Future[list[str]] = Future()
            wanted.put((question, answer))
            while not wait([answer], timeout=0.2).done:
                self._require_open()
            return answer.result()

        with ThreadPoolExecutor(1) as pool:
            working = pool.submit(work, ask)
            working.add_done_callback(lambda _: wanted.put(None))
            try:
                while (asked := wanted.get()) is not None:
                    question, answer = asked
                    try:
                        answer.set_result(self.ask(question))
                    except Exception as error:
                        answer.set_exception(error)
            finally:
                self._is_closed = True
            return working.result()

    def _require_open(self) -> None:
        if self._is_closed:
            raise RuntimeError("the rows are no longer there: nothing is released")

    def ask(self, question: str) -> list[str]:
        """The rows' answers, of each thread. They are exact sums, not noised: they stay in this process."""
        self._require_open()
        try:
            return self._ask(question)
        except BaseException as error:
            self.failure = error
            raise

    def _ask(self, question: str) -> list[str]:
        threads = os.cpu_count() or 1
        answerings = [_native.Answering(self._packing, question) for _ in range(threads)]
        idle: SimpleQueue[Any] = SimpleQueue()
        for answering in answerings:
            idle.put(answering)

        def add(answering: Any, block: bytes) -> None:
            try:
                answering.add(np.frombuffer(block, dtype=np.uint8))
            finally:
                idle.put(answering)

        added: list[Future[None]] = []
        with ThreadPoolExecutor(threads) as pool:
            for block in self._again():
                # As many blocks are in memory as there are threads.
                answering = idle.get()
                added = [adding for adding in added if not adding.done() or adding.exception() is not None]
                added.append(pool.submit(add, answering, block))
        for adding in added:
            adding.result()
        found = [answering.answer() for answering in answerings]
        if sum(print_ for _, print_ in found) % PRINTS != self._print % PRINTS:
            raise RuntimeError("the batches are not those of the first time: nothing is released; give the same rows each time")
        return [answer for answer, _ in found if answer is not None]

    @property
    def curator_notes(self) -> str:
        """What the public rule changed, in words."""
        return str(_native.curator_text([(name, a, b, c) for name, (a, b, c) in self._touched.items()]))

    def _again(self) -> Iterator[bytes]:
        if self._read_again:
            for block, *_ in self._packed(count=False):
                yield block
            return
        for start, size in self._blocks:
            self._file.seek(start)
            yield self._file.read(size)

    def _packed(self, *, count: bool) -> Iterator[tuple[bytes, int, int, int]]:
        for table, _ in self._tables(count=count):
            yield self._packing.block(table)

    def _gathered(self) -> Iterator[tuple[bytes, int, int, int]]:
        ids, ends, rows, length = [], [np.zeros(0, dtype=np.int64)], [], 0
        for table, cells in self._tables(count=True):
            id_bytes, id_ends = self._packing.ids(cells[str(self._layout.unit_name)])
            ids.append(np.frombuffer(id_bytes, dtype=np.uint8))
            ends.append(id_ends + length)
            length += len(id_bytes)
            rows.append(np.frombuffer(self._packing.pack(table), dtype=np.uint8))
        if ids:
            yield from self._packing.gather(np.concatenate(ids), np.concatenate(ends), np.concatenate(rows))

    def _tables(self, *, count: bool) -> Iterator[tuple[Any, dict[str, Any]]]:
        """The rows in tables of a block each, and their cells by column."""
        names, size = self._layout.names, self._layout.rows_of_a_block()
        for batch in self._start():
            rows = adapt(batch)
            cells = dict(zip(_called(rows, names), rows.by_column()))
            for start in range(0, rows.rows, size):
                piece = {name: _slice(cells[name], start, start + size) for name in names if name in cells}
                table = _native.encode_columns(self._layout.how(), list(piece.items()), None)
                if count:
                    for name, *more in table.touched:
                        self._touched[name] = [a + b for a, b in zip(self._touched.get(name, [0, 0, 0]), more)]
                yield table, piece


def _called(rows: Rows, names: tuple[str, ...]) -> list[str]:
    """The columns' names; those of the schema in its order if they have none."""
    if rows.names is not None:
        return rows.names
    if rows.width != len(names):
        raise ValueError(f"a batch has {rows.width} columns without names, and the schema declares {len(names)}: give frames with names")
    return list(names)


def _slice(cells: Any, start: int, end: int) -> Any:
    if isinstance(cells, tuple):
        codes, meanings = cells
        return codes[start:end], meanings
    return cells[start:end]
