"""What was measured, line by line: an interrupted run goes on where it stopped."""

import json
import pathlib
import zlib

import numpy as np


class Store:
    """Records by kind and key; the last one of a key counts. Records of a task that has changed since are not seen."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.records = {}
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                try:
                    record = json.loads(line)
                except ValueError:
                    continue  # a line cut short by the interruption
                self.records[self._key(record)] = record
        self._file = self.path.open("a")

    @staticmethod
    def _key(record):
        return (record["kind"], *record["key"], record.get("signature"))

    def get(self, kind, key, signature=None):
        return self.records.get((kind, *key, signature))

    def put(self, kind, key, signature=None, **values):
        record = dict(kind=kind, key=list(key), signature=signature, **values)
        self.records[self._key(record)] = record
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()
        return record


def signature(task):
    """Changes when the prepared task does."""
    code = 0
    for part in (task["Z"], task["y"], task["bounds"], *([] if task["exposure"] is None else [task["exposure"]])):
        code = zlib.crc32(np.ascontiguousarray(part).tobytes(), code)
    return f"{code:08x}"


def digits(numbers, count=7):
    """A list short enough to keep."""
    return [float(f"{x:.{count}g}") for x in np.asarray(numbers, dtype=float)]
