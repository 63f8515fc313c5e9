"""Where the virtual clock and the film are, if they are there at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from lab_utils.instruments.ranks.records import DEFAULT, Link, Run

if TYPE_CHECKING:
    from lab_utils.instruments.ranks.show.film import RanksFilm
    from lab_utils.instruments.ranks.show.ring_film import RingFilm

_SHOW = "lab_utils.instruments.ranks.show"
_ELSEWHERE = "The film is shown in your own notebook."
Scheduler = Callable[[int, int], Any]


def run_times(run: Run, link: Link | None = None) -> list[float]:
    """When each rank is done, in seconds of the virtual clock.

    While a hand-in is graded the clock is not there, and all times are nan.
    """
    if find_spec(_SHOW) is None:
        return [float("nan") for _ in run.diaries]
    from lab_utils.instruments.ranks.show.clock import replay

    return [float(t) for t in replay(run.diaries, link or run.link).ends]


def ranks_film(runs: Run | Mapping[str, Run]) -> RanksFilm | None:
    """Show what the ranks did: a lane for each over virtual time, messages as arrows.

    Args:
        runs: a run, or several by title.

    Returns:
        The film; nothing where a hand-in is graded.
    """
    named = {"": runs} if isinstance(runs, Run) else dict(runs)
    if find_spec(_SHOW) is None:
        print(_ELSEWHERE)
        return None
    from lab_utils.instruments.ranks.show.film import RanksFilm

    return RanksFilm(lambda _: {title: run.diaries for title, run in named.items()}, named)


def schedule_film(schedules: Mapping[str, Scheduler], stages: int = 4) -> RanksFilm | None:
    """Show schedules of a pipeline; a slider chooses the number of micro-batches.

    Args:
        schedules: by title, functions of (stages, micros) that give each rank's steps.
        stages: how many ranks.

    Returns:
        The film; nothing where a hand-in is graded.
    """
    if find_spec(_SHOW) is None:
        print(_ELSEWHERE)
        return None
    from lab_utils.instruments.ranks.show.film import pipeline_film

    return pipeline_film(schedules, stages)


def ring_film(ranks: int = 4, nbytes: int = 44_695_848, link: Link = DEFAULT) -> RingFilm | None:
    """Show a ring all-reduce step by step: who holds which partial sum, and what it costs.

    Args:
        ranks: how many, from 2 to 8; a slider changes it.
        nbytes: bytes of the tensor that is summed.
        link: what connects the ranks.

    Returns:
        The film; nothing where a hand-in is graded.
    """
    if find_spec(_SHOW) is None:
        print(_ELSEWHERE)
        return None
    from lab_utils.instruments.ranks.show.ring_film import RingFilm

    return RingFilm(ranks, nbytes, link)
