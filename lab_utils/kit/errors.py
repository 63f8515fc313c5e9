"""The error that a person can mend. It stands alone, so that it costs no import of torch."""

from __future__ import annotations


class LabError(Exception):
    """A mistake that a person can mend; its text says what, where and how.

    Notebooks show the text alone, without a traceback through our own code.
    """

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()
