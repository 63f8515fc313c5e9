"""The pictures at the heads of Lab 2A's notebooks; the same bytes every time."""

from __future__ import annotations

from pathlib import Path

from autograder.labs.lab2a.oracle import front_by_comparing
from lab_utils.instruments.systolic import systolic_film
from lab_utils.instruments.systolic.designs import Design
from lab_utils.instruments.systolic.show.front import FrontFilm
from lab_utils.labs.lab2a.network import KB_AREA, PE_AREA

FOLDER = Path("solutions/lab2a/images")


def pictures(cycles: dict[Design, int]) -> dict[Path, str]:
    """The text of every picture, by its path in the repository; ``cycles`` are recorded ones."""
    film = systolic_film((6, 4, 5), 4, 4)
    assert film is not None
    points = [(float(one), area(design)) for design, one in cycles.items()]
    front = FrontFilm(list(cycles), points, front_by_comparing(points))
    return {
        FOLDER / "array.svg": film.static.svg,
        FOLDER / "front.svg": front.static.svg,
    }


def area(design: Design) -> float:
    """Square micrometres of all PEs and all memories."""
    memory = design.ifmap_kb + design.filter_kb + design.ofmap_kb
    return PE_AREA * design.height * design.width + KB_AREA * memory
