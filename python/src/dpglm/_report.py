"""Results as one page for readers: who decides, who computes and who reviews."""

from __future__ import annotations

import html as _html
import json
import os
from pathlib import Path
from typing import Any

from . import _native
from ._ledger import Ledger

__all__ = ["Report", "report"]


class Report:
    """A page. It is one file that loads nothing; notebooks show it."""

    def __init__(self, html: str) -> None:
        #: The page itself.
        self.html = html

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page, whole or not at all."""
        _native.save_report(self.html, os.fspath(path))

    def _repr_html_(self) -> str:
        page = _html.escape(self.html, quote=True)
        return f'<iframe title="Report" style="width: 100%; height: 40rem; border: 0" srcdoc="{page}"></iframe>'

    def __repr__(self) -> str:
        return f"<Report: {len(self.html)} characters; save(path) writes it>"


def report(
    *results: Any, names: list[str] | None = None, ledger: Ledger | str | os.PathLike[str] | None = None
) -> Report:
    """Makes one page of results: ``dpglm report`` in memory.

    A result is a fitted estimator, a :class:`~dpglm.Description`, a :class:`~dpglm.StudyPlan`, an :class:`~dpglm.AuditReport`, or the path
    of a file that one of them or the command line wrote. Several are compared on one page, under ``names`` if given. A page of an audit
    is for the curator only, and says so. With ``ledger`` the page tells what it promises for all together, and which line paid for each.

    >>> import numpy as np
    >>> from dpglm import PrivateMean
    >>> mean = PrivateMean(epsilon=1.0, delta=1e-6, feature_bounds=(-1, 1)).fit(np.zeros((500, 2)))
    >>> "What the promise means" in report(mean).html
    True
    """
    if not results:
        raise ValueError("a report needs at least one result: give a fitted estimator, say")
    if names is not None and len(names) != len(results):
        raise ValueError(f"names has {len(names)} entries for {len(results)} results: give one for each")
    documents = [_document(result) for result in results]
    if names is not None:
        documents = [(str(name), text) for name, (_, text) in zip(names, documents)]
    elif len({name for name, _ in documents}) < len(documents):
        documents = [(f"{place}. {name}", text) for place, (name, text) in enumerate(documents, 1)]
    path = ledger.path if isinstance(ledger, Ledger) else ledger
    return Report(_native.report_html(documents, None if path is None else os.fspath(path)))


def _document(result: Any) -> tuple[str, str]:
    """What a result is called and its JSON."""
    if isinstance(result, (str, os.PathLike)):
        path = Path(os.fspath(result))
        return path.name, path.read_text(encoding="utf-8")
    if hasattr(result, "to_json"):
        return type(result).__name__, result.to_json()
    document = getattr(result, "document", None)
    if isinstance(document, dict):
        return type(result).__name__, json.dumps(document)
    raise TypeError(f"a result of this package is needed, got {type(result).__name__}: give a fitted estimator, say")
