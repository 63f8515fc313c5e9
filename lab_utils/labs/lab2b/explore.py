"""What notebooks ask of the machine of Lab 2B: stages of a layer, all designs, a picture of them.

What simulates it lies in ``show``, a folder that no sandbox has: where a hand-in is graded there
are no stages and no designs, and the cells that ask for them go on with none.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from lab_utils.instruments.systolic.designs import Conv, Gemm
from lab_utils.kit.progress import Bar
from lab_utils.labs.lab2b.machine import Point, Stage

if TYPE_CHECKING:
    from lab_utils.kit.charts.drawn import Drawing


def layer_stages(layer: Conv | Gemm, dataflow: str, height: int, width: int) -> list[Stage]:
    """The stages of a layer on an array, in the order in which they run."""
    if not _is_here():
        return []
    from lab_utils.labs.lab2b.show.trace import stages

    return list(stages(layer, dataflow, height, width))


def stalls_behind(
    layer: Conv | Gemm, dataflow: str, height: int, width: int, kilobytes: int, times: int
) -> int | None:
    """Stalls of a layer with Lab 2A's double buffers and a second level behind them.

    Args:
        layer: as in ``LENET``; a word is one byte here, as in Lab 2A.
        dataflow: ``os``, ``ws`` or ``is``.
        height: rows of the array.
        width: columns of the array.
        kilobytes: first level for inputs, and for weights.
        times: how many times as large the second level is; 0: there is none.

    Returns:
        Cycles, with 10 words a cycle from memory and 40 from the second level; nothing where a
        hand-in is graded.
    """
    if not _is_here():
        return None
    from lab_utils.instruments.systolic.show.levels import BackedLayer

    behind = BackedLayer(layer, dataflow, height, width)
    return behind.stalls_behind(kilobytes, kilobytes, bandwidth=10, near=40, times=times)


def design_space() -> list[Point]:
    """All 6,912 designs: 3 dataflows, arrays of 3 to 10 by 3 to 10, buffers of 5 to 10 kB."""
    if not _is_here():
        return []
    from lab_utils.labs.lab2b.show.space import ARRAYS, every_design

    bar, points = Bar("designs", total=len(ARRAYS)), []
    for found in every_design():
        points += found
        bar.advance()
    return points


def design_chart(points: Iterable[Point], best: Iterable[Point]) -> Drawing | None:
    """Area against cycles of all points, with the best of them marked."""
    if not _is_here():
        return None
    from lab_utils.labs.lab2b.show.chart import draw_designs

    return draw_designs(list(points), list(best))


def _is_here() -> bool:
    if find_spec("lab_utils.labs.lab2b.show") is None:
        print("This is computed in your own notebook.")
        return False
    return True
