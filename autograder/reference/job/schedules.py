"""Collectives as messages, and their time by going through them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import prod

from lab_utils.instruments.network.dims import FULLY_CONNECTED, RING, SWITCH, Dim
from lab_utils.instruments.network.schedule import (
    Send,
    ring_all_reduce,
    schedule_seconds,
    sent_by,
)

Steps = list[list[Send]]


def direct(ranks: int) -> Steps:
    """Rank r is responsible for chunk r: everybody sends it there, and r sends the sum back."""
    pairs = [(a, b) for a in range(ranks) for b in range(ranks) if a != b]
    return [[Send(a, b, (b,), True) for a, b in pairs], [Send(a, b, (a,), False) for a, b in pairs]]


def halving_doubling(ranks: int) -> Steps:
    """Partners at half the distance each time; each gives away the half that the other keeps."""
    halves: Steps = []
    own = {rank: set(range(ranks)) for rank in range(ranks)}
    distance = ranks // 2
    while distance:
        step = []
        kept = {}
        for rank in range(ranks):
            partner = rank ^ distance
            given = {
                chunk for chunk in own[rank] if bool(chunk & distance) != bool(rank & distance)
            }
            kept[rank] = own[rank] - given
            step.append(Send(rank, partner, tuple(sorted(given)), True))
        halves.append(step)
        own, distance = kept, distance // 2
    return halves + _backwards(halves)


def _backwards(steps: Iterable[Sequence[Send]]) -> Steps:
    """The same messages in the opposite direction and order, sums in place of parts."""
    turned = [[Send(m.dst, m.src, m.chunks, False) for m in step] for step in steps]
    return turned[::-1]


def hierarchical(sizes: Sequence[int]) -> Steps:
    """Direct along one dimension after the other, each with what it is responsible for."""
    ranks = prod(sizes)
    halves: Steps = []
    inner = 1
    own = {rank: list(range(ranks)) for rank in range(ranks)}
    for size in sizes:
        step, kept = [], {}
        for rank in range(ranks):
            place, base = rank // inner % size, rank - rank // inner % size * inner
            share = len(own[rank]) // size
            parts = [own[rank][share * at : share * (at + 1)] for at in range(size)]
            kept[rank] = parts[place]
            step += [
                Send(rank, base + at * inner, tuple(part), True)
                for at, part in enumerate(parts)
                if at != place
            ]
        halves.append(step)
        own, inner = kept, inner * size
    return halves + _backwards(halves)


def along(sizes: Sequence[int]) -> list[int]:
    """Chunks that a rank sends in each dimension of ``hierarchical``."""
    ranks = prod(sizes)
    steps = hierarchical(sizes)
    pairs = zip(steps, reversed(steps), strict=True)
    return [max(sent_by(ranks, pair)) for pair in list(pairs)[: len(sizes)]]


def seconds(collective: str, nbytes: float, dims: Sequence[Dim]) -> float:
    """The time of a collective, message by message, dimension by dimension."""
    spent = []
    for dim in dims:
        spent.append(_one_dimension(nbytes, dim))
        nbytes /= dim.size
    there, back = (sum(one) for one in zip(*spent, strict=True)) if spent else (0.0, 0.0)
    return {"all_reduce": there + back, "reduce_scatter": there, "all_gather": back}[collective]


def _one_dimension(nbytes: float, dim: Dim) -> tuple[float, float]:
    """Seconds to add up, and to hand out."""
    if dim.size == 1:
        return 0.0, 0.0
    nbytes /= dim.ways if dim.kind == RING else 1
    halves = _halves(dim.kind, dim.size)
    there, back = (schedule_seconds(nbytes, dim.size, part, dim) for part in halves)
    return there, back


@lru_cache(maxsize=128)
def _halves(kind: str, size: int) -> tuple[Steps, Steps]:
    """The steps in which ranks add up, and those in which they hand out."""
    make = {RING: ring_all_reduce, FULLY_CONNECTED: direct, SWITCH: halving_doubling}[kind]
    steps = make(size)
    first = [step for step in steps if step[0].add]
    return first, [step for step in steps if not step[0].add]
