"""Errors that a person can mend."""

from __future__ import annotations


class LabError(Exception):
    """A mistake that a person can mend; its text says what, where and how.

    Notebooks show the text alone, without a traceback through our own code. Where an answer
    raises it while it is judged, ``wanted`` and ``look`` say what was wanted and where to look.
    """

    wanted = "an answer that can be read and used"
    look = "The message names it."

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


class BadAnswer(LabError):
    """The student's function returned something of another form than asked for.

    ``look`` says where to look; ``wanted`` what was wanted, unless it is what the task returns.
    """

    def __init__(
        self,
        yours: str,
        look: str = "Compare what you return with the task's text.",
        wanted: str = "",
    ) -> None:
        super().__init__(yours)
        self.look, self.wanted = look, wanted


class CheckFailed(LabError):
    """A check found something wrong."""
