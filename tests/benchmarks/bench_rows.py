"""How fast Lab 2B searches its designs, and how fast its films answer a slider."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lab_utils.instruments.buffers import buffer_film
from lab_utils.instruments.buffers.show.fast import lru_missed
from lab_utils.instruments.buffers.show.walk import missed
from lab_utils.instruments.systolic.designs import Conv
from lab_utils.instruments.systolic.rows import row_film
from lab_utils.labs.lab2b.machine import LENET
from lab_utils.labs.lab2b.show.space import every_design
from lab_utils.labs.lab2b.show.trace import stages
from tests.benchmarks import Row, timed

SEARCH = 60.0  # seconds that a class waits for a search
SLIDER = 0.1  # seconds within which a slider's step feels immediate


def benchmarks() -> Iterator[Row]:
    """The search against a minute, a trace against the plain simulation, films against a slider."""
    yield Row("rows: 6,912 designs", timed(_search), "a minute", SEARCH, "CPU s", goal=1.0)
    lines = [line for stage in stages(LENET[0], "ws", 5, 4) for line in stage.ifmap]
    trace = np.array(lines)
    fast = timed(lambda: lru_missed(trace, 160))
    plain = timed(lambda: missed(lines, 160, "LRU"))
    yield Row("rows: misses of conv1", fast, "access by access", plain, "CPU s", goal=0.5)
    film = row_film(Conv("", 8, 8, 3, 3, 1, 1), 6, 6)
    assert film is not None
    yield Row(
        "rows: a cycle of the film", timed(lambda: film.at(9)), "a slider", SLIDER, "CPU s", 1
    )
    buffers = buffer_film(lines[:2000], {"both": (20, 40, "LRU")})
    assert buffers is not None
    yield Row("rows: an access", timed(lambda: buffers.at(999)), "a slider", SLIDER, "CPU s", 1)


def _search() -> int:
    return sum(len(points) for points in every_design())
