"""What is said beside a result, as warnings that can be filtered by their kind."""

from __future__ import annotations

__all__ = ["CuratorNote", "PrivacyWarning", "UnpaidSelectionWarning"]


class PrivacyWarning(UserWarning):
    """The promise is weaker, or the result worse, than one might expect."""


class CuratorNote(UserWarning):
    """For the data's own curator, not for publication: it depends on private cells."""


class UnpaidSelectionWarning(PrivacyWarning):
    """Several fits on the same rows are compared, and no budget pays for the choice."""
