"""Pictures of the notebooks of Lab 3B that code can draw."""

from __future__ import annotations

from pathlib import Path

from autograder.labs.lab3b.model_pictures import reality
from autograder.labs.lab3b.schedules import gpipe, one_f_one_b
from lab_utils.instruments.ranks.records import Link
from lab_utils.instruments.ranks.show.clock import replay
from lab_utils.instruments.ranks.show.film import pipeline_film
from lab_utils.instruments.ranks.show.lanes import draw
from lab_utils.instruments.ranks.show.ring import ring_diaries

FOLDER = Path("solutions/lab3b/images")


def pictures() -> dict[Path, str]:
    """The text of every picture, by its path in the repository."""
    film = pipeline_film({"GPipe": gpipe, "1F1B": one_f_one_b}, 4)
    ring = replay(ring_diaries(4, 840), Link())
    return {
        FOLDER / "ring.svg": draw({"a ring of four": ring}).svg,
        FOLDER / "pipeline.svg": film.static.svg,
        FOLDER / "reality.svg": reality(),
    }
