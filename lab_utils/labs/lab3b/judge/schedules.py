"""Tasks 2.1 to 2.3: schedules of a pipeline, run step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from lab_utils.kit.task import Case, Finding

Schedule = Sequence[Sequence[Sequence[Any]]]


class Outcome(NamedTuple):
    """What comes of a schedule."""

    end: float | None
    """When the last step is done; None where the ranks wait for each other."""
    stuck: str
    """Who cannot go on, in words."""
    most: list[int]
    """By rank, the most micro-batches between their forward and their backward."""


def simulate(schedule: Schedule, forward: float = 1, backward: float = 2) -> Outcome:
    """Run the steps as soon as what they need is there; messages take no time."""
    last, place = len(schedule) - 1, [0] * len(schedule)
    done: dict[tuple[str, int, int], float] = {}
    clock: list[float] = [0.0] * len(schedule)
    flying, most = [0] * len(schedule), [0] * len(schedule)
    moved = True
    while moved:
        moved = False
        for rank, steps in enumerate(schedule):
            while place[rank] < len(steps):
                kind, micro = steps[place[rank]]
                needs = _needs(kind, micro, rank, last)
                if any(need not in done for need in needs):
                    break
                start = max([clock[rank], *(done[need] for need in needs)])
                clock[rank] = start + (forward if kind == "F" else backward)
                done[kind, micro, rank] = clock[rank]
                flying[rank] += 1 if kind == "F" else -1
                most[rank] = max(most[rank], flying[rank])
                place[rank] += 1
                moved = True
    for rank, steps in enumerate(schedule):
        if place[rank] < len(steps):
            kind, micro = steps[place[rank]]
            need = next(n for n in _needs(kind, micro, rank, last) if n not in done)
            words = f"rank {rank} stands before {kind}{micro}: it needs {need[0]}{need[1]}"
            return Outcome(None, f"{words} of rank {need[2]}", most)
    return Outcome(max(clock, default=0.0), "", most)


def _needs(kind: str, micro: int, rank: int, last: int) -> list[tuple[str, int, int]]:
    if kind == "F":
        return [("F", micro, rank - 1)] if rank else []
    return [("F", micro, rank), *([("B", micro, rank + 1)] if rank < last else [])]


def judge_gpipe(case: Case, answer: Schedule) -> list[Finding]:
    """Task 2.1: all forward before all backward, and no time lost."""
    if found := _no_schedule(case, answer):
        return found
    for rank, steps in enumerate(answer):
        kinds = "".join(kind for kind, _ in steps)
        if "BF" in kinds:
            look = "In GPipe a rank does all its forward steps before its first backward step."
            return [Finding(f"rank {rank}: {_told(steps)}", "all F, then all B", look)]
    return _slow(case, answer)


def judge_one_f_one_b(case: Case, answer: Schedule) -> list[Finding]:
    """Task 2.2: as fast as GPipe, with at most stages - rank micro-batches in flight."""
    if found := _no_schedule(case, answer):
        return found
    stages, micros = case.given["stages"], case.given["micros"]
    outcome = simulate(answer)
    for rank, (most, steps) in enumerate(zip(outcome.most, answer, strict=True)):
        allowed = min(micros, stages - rank)
        if most > allowed:
            look = _flight_look(most, allowed, steps, case)
            if _warm_up(answer[0]) == _warm_up(answer[-1]) < micros:
                look = "The warm-up is shorter the later the stage: the last one has none at all."
            yours = f"rank {rank} holds {most} micro-batches: {_told(steps)}"
            return [Finding(yours, f"at most {allowed} of them at once", look)]
    return _slow(case, answer)


def _flight_look(most: int, allowed: int, steps: Sequence[Sequence[Any]], case: Case) -> str:
    if "BF" not in "".join(kind for kind, _ in steps) and most == case.given["micros"]:
        return (
            "All forward steps come first: that is GPipe. After the warm-up each forward step is "
            "followed by a backward step, which gives memory back."
        )
    if most == allowed + 1:
        return (
            "One forward step too many before the first backward: the warm-up of rank r has "
            "stages - 1 - r of them, and then forward and backward take turns."
        )
    return "Fewer micro-batches may be in flight: their backward has to begin earlier."


def _warm_up(steps: Sequence[Sequence[Any]]) -> int:
    """Forward steps before the first backward step."""
    return "".join(kind for kind, _ in steps).index("B")


def _slow(case: Case, answer: Schedule) -> list[Finding]:
    outcome = simulate(answer)
    best = case.wanted["end"]
    assert outcome.end is not None
    if outcome.end <= best:
        return []
    look = (
        "Every step comes once and nobody is stuck, but ranks wait longer than they must: the "
        "order of the steps holds the next stage up."
    )
    told = "with 1 for a forward step and 2 for a backward step"
    return [Finding(f"done at {outcome.end:g}, {told}", f"done at {best:g}", look)]


def _no_schedule(case: Case, answer: Schedule) -> list[Finding]:
    """What is wrong with the steps themselves."""
    stages, micros = case.given["stages"], case.given["micros"]
    if len(answer) != stages:
        look = "There is one list of steps for each stage, the first stage first."
        return [Finding(f"{len(answer)} lists", f"{stages} lists", look)]
    wanted = f"F and B of each of {micros} micro-batches once"
    every = {(kind, micro) for kind in "FB" for micro in range(micros)}
    for rank, steps in enumerate(answer):
        there = [(kind, micro) for kind, micro in steps]
        if missing := sorted(every - set(there), reverse=True):
            told = f"rank {rank} never does {missing[0][0]}{missing[0][1]}"
            look = "A step is missing. After the last forward the rest of the backwards follows."
            if len(missing) == len(every) // 2 and len({kind for kind, _ in missing}) == 1:
                look = "Every micro-batch goes forward and backward through every stage."
            return [Finding(told, wanted, look)]
        if len(there) > len(every):
            look = "A step comes twice."
            if set(there) - every:
                look = (
                    "There is a step of a micro-batch that does not exist: where the warm-up is "
                    "longer than the list of micro-batches, it ends with the last of them."
                )
            return [Finding(f"rank {rank} has {len(there)} steps", wanted, look)]
    outcome = simulate(answer)
    if outcome.end is None:
        look = (
            "The ranks wait for each other for ever. Forward needs the stage before, backward "
            "needs the next stage and one's own forward."
        )
        return [Finding(outcome.stuck, "a schedule that comes to its end", look)]
    return []


def _told(steps: Sequence[Sequence[Any]]) -> str:
    told = " ".join(f"{kind}{micro}" for kind, micro in steps)
    return told if len(told) < 70 else f"{told[:67]}…"


def judge_micros(case: Case, answer: int) -> list[Finding]:
    """Task 2.3: the fewest micro-batches with a bubble that is small enough."""
    wanted, stages, percent = (
        case.wanted["micros"],
        case.given["stages"],
        case.given["percent"],
    )
    if answer == wanted:
        return []
    look = "A rank idles (stages - 1) of the (micros + stages - 1) turns that all takes."
    if answer == max(1, -(-(stages - 1) * 100 // percent)):
        look = (
            "This compares idle time with work. The share is that of the whole time: work and "
            "idle together."
        )
    elif answer == wanted - 1:
        look = "One less is not enough: the share must be at most that, so round up."
    elif answer == wanted + 1:
        look = "One less is enough: the share may be just as large as that."
    elif answer == -(-stages * (100 - percent) // percent):
        look = "Of p stages a micro-batch has to pass p - 1 before the last one starts."
    return [Finding(f"{answer:,} micro-batches", f"{wanted:,} micro-batches", look)]
