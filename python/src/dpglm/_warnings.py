"""What is said beside a result, as warnings that can be filtered by their kind."""

from __future__ import annotations

import contextlib
import sys
import warnings

__all__ = ["CuratorNote", "PrivacyWarning", "UnpaidSelectionWarning"]


class PrivacyWarning(UserWarning):
    """The promise is weaker, or the result worse, than one might expect."""


class CuratorNote(UserWarning):
    """For the data's own curator, not for publication: it depends on private cells."""


class UnpaidSelectionWarning(PrivacyWarning):
    """Several fits on the same rows are compared, and no budget pays for the choice."""


def tell(said: list[str], notes: str, stacklevel: int = 2) -> None:
    """Says what a release had to say, and to the curator what the public rule changed. It never ends in an error: that there is one would tell of
    private cells, and what a ledger has paid for would be lost. Where warnings are errors, they are written to the error stream."""
    for note in said:
        if note.startswith("warning: "):
            _deliver(note.removeprefix("warning: "), PrivacyWarning, stacklevel + 2)
    if notes.strip():
        listed = notes.strip().replace("\n", "\n  ")
        _deliver(f"note for the curator, not for publication: cells mapped by the public rule\n  {listed}", CuratorNote, stacklevel + 2)


def _deliver(message: str, kind: type[Warning], stacklevel: int) -> None:
    try:
        warnings.warn(message, kind, stacklevel=stacklevel)
    except Exception:
        with contextlib.suppress(Exception):
            sys.stderr.write(f"{kind.__name__}: {message}\n")
