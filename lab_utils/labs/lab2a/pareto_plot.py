"""The Pareto plot of notebook 2: choosing a design plays its film."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from lab_utils.instruments.systolic.designs import Design

if TYPE_CHECKING:
    from lab_utils.instruments.systolic.show.front import FrontFilm


def pareto_film(
    designs: Sequence[Design], points: Sequence[tuple[float, float]], front: Sequence[int]
) -> FrontFilm | None:
    """All designs by cycles and area, and a film of the one chosen on the front.

    Returns:
        The film; nothing where a hand-in is graded.
    """
    if find_spec("lab_utils.instruments.systolic.show") is None:
        print("The plot is shown in your own notebook.")
        return None
    from lab_utils.instruments.systolic.show.front import FrontFilm

    return FrontFilm(designs, points, front)
