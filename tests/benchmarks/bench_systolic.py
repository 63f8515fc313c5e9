"""How fast the model goes through the whole design space, and how far it is from SCALE-Sim."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.labs.lab2a.record import recorded, rows_of
from lab_utils.instruments.systolic.designs import DATAFLOWS, design_space
from lab_utils.instruments.systolic.show.film import SystolicFilm
from lab_utils.instruments.systolic.show.peer import installed
from lab_utils.instruments.systolic.show.space import explore
from lab_utils.labs.lab2a import BANDWIDTH, CONVS, GEMMS, model_rows
from tests.benchmarks import Row, progress, timed

SPACE, SLIDER = 60.0, 0.1  # seconds: of the whole space, and of a slider's step
LAYERS = (*CONVS, *GEMMS)


def benchmarks() -> Iterator[Row]:
    """The whole space, one design against SCALE-Sim, the deviation, a step of the film."""
    space = design_space()
    progress("all 12,288 designs")
    whole = timed(lambda: explore(LAYERS, space, BANDWIDTH), repeat=1)
    yield Row("systolic: all 12,288 designs", whole, "a minute", SPACE, "CPU s", goal=1.0)
    known = recorded()
    if installed():
        progress("one design by SCALE-Sim")
        design = next(iter(known))
        peer = timed(lambda: list(rows_of(design)), repeat=1)
        yield Row(
            "systolic: one design of many",
            whole / len(space),
            "SCALE-Sim",
            peer,
            "CPU s",
            goal=0.01,
        )
    progress(f"{len(known)} recorded designs")
    ours = model_rows(list(known))
    pairs = [
        (mine.total, int(row["total"]))
        for design, rows in known.items()
        for mine, row in zip(ours[design], rows, strict=True)
    ]
    off = sum(mine != theirs for mine, theirs in pairs)
    name = f"systolic: of {len(pairs)} recorded layer runs, not equal to the cycle"
    yield Row(name, off, "all of them", len(pairs), "runs", goal=0.0)
    film = SystolicFilm(DATAFLOWS, (12, 10, 9), 8, 8)
    step = timed(lambda: film.at(30))
    yield Row("systolic: a picture of the film", step, "a slider's step", SLIDER, "CPU s", goal=1.0)
