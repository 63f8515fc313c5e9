"""Cases of notebook 2, collectives and a training job.

What is right, a run says: messages gone through one by one, a layer run on all ranks at once,
autograd on tensors without data, a search through all strategies, a scan of all factors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import lru_cache
from random import Random
from typing import Any

import numpy as np

from autograder.authoring.derived import CaseData, in_parts
from autograder.labs.lab4b.cases import job_slips
from autograder.labs.lab4b.cases.job_settings import HIDDEN, PUBLIC, SYSTEMS, Files, Settings
from autograder.reference.job import held, schedules, search, sharded, stages
from lab_utils.instruments.network.astrasim import read_system
from lab_utils.instruments.network.dims import Dim
from lab_utils.instruments.network.schedule import sent_by
from lab_utils.instruments.network.strategy import Strategy
from lab_utils.instruments.parallel import Job
from lab_utils.instruments.shapes import Transformer

_FACTORS = np.geomspace(2.0**-10, 2.0**10, 400_001)


def public() -> dict[str, list[CaseData]]:
    """By task, what students have."""
    return _cases(PUBLIC)


def hidden() -> dict[str, list[CaseData]]:
    """By task, what decides."""
    return _cases(HIDDEN)


def _cases(settings: Settings) -> dict[str, list[CaseData]]:
    return {
        task: [_case(task, name, parts) for name, parts in cases.items()]
        for task, cases in settings.items()
    }


def _case(task: str, name: str, parts: Sequence[tuple[Any, ...]]) -> CaseData:
    if task == "2.11":  # a machine with several rooms is several parts
        pairs = [pair for arguments in parts for pair in _winner(*arguments)]
    else:
        pairs = [_MAKE[task](*arguments) for arguments in parts]
    made = [{"name": name, "given": given, "wanted": wanted} for given, wanted in pairs]
    return made[0] if len(made) == 1 else in_parts(name, made)


def _schedule(steps: schedules.Steps, ranks: int, at_once: int) -> Any:
    longest = sum(max(len(message.chunks) for message in step) for step in steps)
    counted = {"steps": len(steps), "sent": max(sent_by(ranks, steps)), "longest": longest}
    return {"ranks": ranks}, {**counted, "at_once": at_once}


def _direct(ranks: int) -> Any:
    return _schedule(schedules.direct(ranks), ranks, max(ranks - 1, 2))


def _halving(ranks: int) -> Any:
    return _schedule(schedules.halving_doubling(ranks), ranks, 1)


def _hierarchical(*sizes: int) -> Any:
    return {"sizes": list(sizes)}, {"sent": schedules.along(sizes)}


def _seconds(collective: str, nbytes: int, *dims: Dim) -> Any:
    right = schedules.seconds(collective, nbytes, dims)
    given = {"collective": collective, "nbytes": nbytes, "dims": [asdict(dim) for dim in dims]}
    return given, {"right": right, "slips": job_slips.of_seconds(collective, nbytes, dims, right)}


def _setting(model: Transformer, job: Job, strategy: Strategy) -> dict[str, Any]:
    return {"model": asdict(model), "job": asdict(job), "strategy": asdict(strategy)}


def _traffic(model: Transformer, job: Job, strategy: Strategy) -> Any:
    return _setting(model, job, strategy), {"totals": sharded.layer_totals(model, job, strategy)}


def _memory(model: Transformer, job: Job, strategy: Strategy, state: int) -> Any:
    right = held.device_memory(model, job, strategy, state)
    slips = job_slips.of_memory(model, job, strategy, state, right)
    given = {**_setting(model, job, strategy), "state": state}
    return given, {"parts": list(right), "slips": slips}


def _key(strategy: Strategy) -> list[int]:
    return [strategy.dp, strategy.tp, strategy.sp, strategy.pp, int(strategy.recompute)]


def _strategies(ranks: int) -> Any:
    return {"ranks": ranks}, {"strategies": [_key(one) for one in search.strategies(ranks)]}


@lru_cache
def _rows(name: str, model: Transformer, job: Job, state: int) -> list[list[Any]]:
    priced = search.priced(model, job, SYSTEMS[name], state)
    rows = [[_key(one), seconds, nbytes] for one, (seconds, nbytes) in priced.items()]
    Random(name).shuffle(rows)  # the order tells nothing
    return rows


def _best(system: str, model: Transformer, job: Job, state: int, room: float | str | None) -> Any:
    """``room`` is in GB, or says how it lies to the bytes of a strategy that would win."""
    rows = _rows(system, model, job, state)
    given = _room(rows, room) if isinstance(room, str) else room
    best = _fastest(rows, float("inf") if given is None else given * 1e9)
    return {"rows": rows, "room": given}, {"best": best and best[0]}


def _room(rows: list[list[Any]], how: str) -> float:
    levels = sorted({row[2] for row in rows})
    full = next(n for n in levels[2:] if _fastest(rows, n)[2] == n and n / 1e9 * 1e9 == n)
    return float({"to the last byte": full / 1e9, "three per cent less": full / 1e9 / 1.03}[how])


def _fastest(rows: list[list[Any]], most: float) -> Any:
    fits = [row for row in rows if row[2] <= most]
    return min(fits, key=lambda row: row[1]) if fits else None


def _turning(one: dict[str, float], other: dict[str, float]) -> Any:
    """By trying hundreds of thousands of factors: where the faster of the two changes."""

    def seconds(job: dict[str, float]) -> Any:
        hidden = np.maximum(0, job["behind"] / _FACTORS - job["cover"])
        return job["compute"] + job["waits"] / _FACTORS + hidden

    is_faster = seconds(one) < seconds(other)
    changes = np.flatnonzero(is_faster[1:] != is_faster[:-1])
    assert len(changes) <= 1, "the two cross more than once"
    factor = float(_FACTORS[changes[0]]) if len(changes) else None
    return {"one": one, "other": other}, {"factor": factor}


def _yml(*dims: Dim) -> Any:
    return {"dims": [asdict(dim) for dim in dims]}, {}


def _winner(machine: Files, model: Transformer, job: Job, *rooms: float | None) -> list[Any]:
    """One part for each room: the best of all strategies, by trying every one."""
    system = read_system("a machine", machine.network, machine.system, 80e9)
    priced = search.priced(model, job, system, 16)
    rows = [[_key(one), seconds, nbytes] for one, (seconds, nbytes) in priced.items()]
    files = {"network": machine.network, "system": machine.system}
    given = {**files, "model": asdict(model), "job": asdict(job)}
    found = []
    for room in rooms:
        best = _fastest(rows, float("inf") if room is None else room * 1e9)
        found.append(({**given, "room": room}, {"rows": rows, "best": best and best[0]}))
    return found


def _stage(model: Transformer, job: Job, strategy: Strategy, stage: int, state: int) -> Any:
    right = stages.stage_load(model, job, strategy, stage, state)
    slips = job_slips.of_stage(model, job, strategy, stage, state, right)
    given = {**_setting(model, job, strategy), "stage": stage, "state": state}
    return given, {"parts": list(right), "slips": slips}


_MAKE: dict[str, Callable[..., Any]] = {
    "2.1": _direct,
    "2.2": _halving,
    "2.3": _hierarchical,
    "2.4": _seconds,
    "2.5": _traffic,
    "2.6": _memory,
    "2.7": _strategies,
    "2.8": _best,
    "2.9": _turning,
    "2.10": _yml,
    "2.12": _stage,
}
