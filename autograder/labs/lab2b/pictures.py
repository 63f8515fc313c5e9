"""The pictures at the heads of Lab 2B's notebooks; the same bytes every time."""

from __future__ import annotations

from pathlib import Path

from lab_utils.instruments.buffers import miss_curve
from lab_utils.instruments.systolic.designs import Conv
from lab_utils.instruments.systolic.rows import row_film

FOLDER = Path("solutions/lab2b/images")
BELADY = [1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5]
"""The trace that is in every book."""


def pictures() -> dict[Path, str]:
    """The text of every picture, by its path in the repository."""
    curve = miss_curve(BELADY, range(1, 7))
    film = row_film(Conv("small", 6, 7, 3, 3, 1, 1), 3, 3)
    assert curve is not None
    assert film is not None
    return {FOLDER / "anomaly.svg": curve.svg, FOLDER / "rows.svg": film.static.svg}
