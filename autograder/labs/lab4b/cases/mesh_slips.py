"""What usual mistakes of task 1.4 would answer, so that the judge can name them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any

from lab_utils.instruments.network.mesh import Link, Message

Pair = tuple[int, int]


def slips(messages: Sequence[Message], link: Link, right: Sequence[int]) -> dict[str, list[int]]:
    """By the name of the mistake, its answers; only those that differ from what is right."""
    found = {
        "alone": [m.start + (len(m.route) - 1) * link.hop(m.nbytes) for m in messages],
        "whole hop": _played(messages, link, busy=link.hop),
        "two-way": _played(messages, link, key=lambda pair: (min(pair), max(pair))),
        "list order": _in_list_order(messages, link),
        "from zero": _played([m._replace(start=0) for m in messages], link),
        "no waiting time": _played(messages, link, forgets=True),
        "last come": _played(messages, link, sign=-1),
    }
    return {name: times for name, times in found.items() if times != list(right)}


def _played(
    messages: Sequence[Message],
    link: Link,
    busy: Callable[[int], int] | None = None,
    key: Callable[[Pair], Pair] = lambda pair: pair,
    forgets: bool = False,
    sign: int = 1,
) -> list[int]:
    """An event queue with one thing wrong in it."""
    free: dict[Pair, int] = {}
    ends = [message.start for message in messages]
    events: list[Any] = [(m.start, sign * n, 0) for n, m in enumerate(messages)]
    heapify(events)
    while events:
        now, signed, place = heappop(events)
        number = sign * signed
        message = messages[number]
        way = list(pairwise(message.route))
        if place == len(way):
            ends[number] = now
            continue
        pair = key(way[place])
        began = max(now, free.get(pair, 0))
        taken = (busy or link.busy)(message.nbytes)
        free[pair] = (now if forgets else began) + taken
        heappush(events, (began + link.hop(message.nbytes), signed, place + 1))
    return ends


def _in_list_order(messages: Sequence[Message], link: Link) -> list[int]:
    """One message after the other, each over its whole route."""
    free: dict[Pair, int] = {}
    ends = []
    for message in messages:
        now = message.start
        for pair in pairwise(message.route):
            began = max(now, free.get(pair, 0))
            free[pair] = began + link.busy(message.nbytes)
            now = began + link.hop(message.nbytes)
        ends.append(now)
    return ends
