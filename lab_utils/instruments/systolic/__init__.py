"""Systolic arrays: designs as plain data, a register-level simulation, films.

``designs`` is for everybody. What simulates lies in ``show``, a folder that no sandbox has: while
a hand-in is graded nobody can ask our simulation for the cycles that a task asks for, and films
are not shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from lab_utils.instruments.systolic.designs import DATAFLOWS

if TYPE_CHECKING:
    from lab_utils.instruments.systolic.show.film import SystolicFilm


def systolic_film(
    gemm: Sequence[int], height: int, width: int, dataflows: Sequence[str] = DATAFLOWS
) -> SystolicFilm | None:
    """Watch an array compute one product, a panel for each dataflow.

    Args:
        gemm: (M, N, K), small numbers: an M x K matrix times a K x N matrix.
        height: rows of PEs.
        width: columns of PEs.
        dataflows: what stays in the array.

    Returns:
        The film; nothing where a hand-in is graded.
    """
    if find_spec(f"{__name__}.show") is None:
        print("The film is shown in your own notebook.")
        return None
    from lab_utils.instruments.systolic.show.film import SystolicFilm

    return SystolicFilm(dataflows, gemm, height, width)
