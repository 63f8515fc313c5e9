"""What a student is asked to write is not to be had from us meanwhile.

Some functions of ours do what a task asks for: notebooks and checks need them. While the
student's function is asked, they refuse, so that a student hears of it at home. Nothing is kept
safe by this: where a hand-in is graded, these functions are not there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lab_utils.kit.errors import LabError

#: What refuses now, and who is to do its work. One for all threads and contexts.
_asked: dict[str, str] = {}


@contextmanager
def to_be_written(theirs: str, ours: str) -> Iterator[None]:
    """While this is open, our function ``ours`` refuses: ``theirs`` has to do its work."""
    before = dict(_asked)
    _asked[ours] = theirs
    try:
        yield
    finally:
        _asked.clear()
        _asked.update(before)


def refuse_while_asked(ours: str) -> None:
    """The first line of ``ours``.

    Raises:
        LabError: the student's function that does the same is being asked.
    """
    if theirs := _asked.get(ours):
        raise LabError(f"{theirs} is to do this itself: {ours} cannot be called from it")
