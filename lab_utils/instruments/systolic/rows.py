"""Row-stationary convolution, to look at; what simulates it is not there in a sandbox."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from lab_utils.instruments.systolic.designs import Conv

if TYPE_CHECKING:
    from lab_utils.instruments.systolic.show.row_film import RowFilm


def row_film(conv: Conv, height: int, width: int) -> RowFilm | None:
    """Watch a small convolution on an array, cycle by cycle, with all registers.

    Args:
        conv: the layer; its numbers are made up, small and always the same.
        height: rows of the array.
        width: columns of the array.

    Returns:
        The film; nothing where a hand-in is graded.
    """
    if find_spec("lab_utils.instruments.systolic.show") is None:
        print("The film is shown in your own notebook.")
        return None
    from lab_utils.instruments.systolic.show.row_film import RowFilm

    return RowFilm(conv, height, width)
