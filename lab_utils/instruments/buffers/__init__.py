"""On-chip buffers over a trace of addresses: what misses, level by level.

A buffer holds a number of lines, any line in any place. Who asks for a line that is there has it
(a hit); else it is fetched from the level below (a miss), and if the buffer is full another line
leaves: the one that was used longest ago (LRU) or the one that came first (FIFO). A second level
is asked for what misses in the first, and for nothing else.

What counts lies in ``show``, a folder that no sandbox has: while a hand-in is graded nobody can
ask for the numbers that a task asks for, and pictures are not shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lab_utils.instruments.buffers.show.film import BufferFilm
    from lab_utils.kit.charts.drawn import Drawing


def miss_curve(trace: Iterable[int], sizes: Sequence[int]) -> Drawing | None:
    """Misses of one buffer against its size, for both policies.

    Args:
        trace: numbers of lines, in the order in which they are asked for.
        sizes: lines that the buffer holds.

    Returns:
        The picture; nothing where a hand-in is graded.
    """
    if not _is_here():
        return None
    from lab_utils.instruments.buffers.show.curve import draw_curve

    return draw_curve(list(trace), sizes)


def buffer_film(
    trace: Iterable[int], buffers: Mapping[str, tuple[int, int, str]]
) -> BufferFilm | None:
    """Walk through a trace with several buffers side by side.

    Args:
        trace: numbers of lines, in the order in which they are asked for.
        buffers: by title, lines in the first level, in the second (0: there is none), and
            the policy of both.

    Returns:
        The film; nothing where a hand-in is graded.
    """
    if not _is_here():
        return None
    from lab_utils.instruments.buffers.show.film import BufferFilm

    return BufferFilm(list(trace), buffers)


def _is_here() -> bool:
    if find_spec(f"{__name__}.show") is None:
        print("The picture is shown in your own notebook.")
        return False
    return True
