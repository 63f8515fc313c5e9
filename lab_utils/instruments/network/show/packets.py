"""Messages on links, played by an event queue: store and forward, first come, first served.

A message joins the queue of its next link when all of it is at a node. A link takes one message
after the other; of two that come in the same nanosecond, the one with the lower number first.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import NamedTuple

from lab_utils.instruments.network.mesh import Link, Message
from lab_utils.kit.errors import LabError

Pair = tuple[int, int]
"""A link, as (from, to)."""


class Hop(NamedTuple):
    """One message on one link; times in nanoseconds."""

    message: int
    link: Pair
    asked: int
    """When the message joined the queue of the link."""
    began: int
    """When the link took it."""
    freed: int
    """When the link could take the next one."""
    arrived: int
    """When all of the message was at the other end."""


def arrivals(messages: Sequence[Message], link: Link) -> list[int]:
    """When each message is at the end of its route, in nanoseconds."""
    return _play(messages, link, None)[0]


def hops(messages: Sequence[Message], link: Link) -> list[Hop]:
    """What every link did, in the order of time in which it was asked."""
    diary: list[tuple[int, int, int, int]] = []
    _, links, costs = _play(messages, link, diary)
    told = []
    for number, place, asked, began in diary:
        busy, hop = costs[number]
        told.append(Hop(number, links[place], asked, began, began + busy, began + hop))
    return told


def _play(
    messages: Sequence[Message], link: Link, diary: list[tuple[int, int, int, int]] | None
) -> tuple[list[int], list[Pair], list[tuple[int, int]]]:
    """Times of arrival; the links by number; (busy, hop) of each message in nanoseconds.

    Events of one nanosecond lie together, and only their times are in the heap; messages that are
    not ready yet are not in it at all. So it stays small, with many messages too.
    """
    if link.latency < 1:
        raise LabError("a link needs a latency of at least 1 ns: else time stands still")
    numbers: dict[Pair, int] = {}
    ways: list[list[int]] = []  # what is left of each route, the next link last
    for message in messages:
        way = [numbers.setdefault(pair, len(numbers)) for pair in pairwise(message.route)]
        way.reverse()
        ways.append(way)
    cost = {n: (link.busy(n), link.hop(n)) for n in {message.nbytes for message in messages}}
    costs = [cost[message.nbytes] for message in messages]
    ends = [message.start for message in messages]
    ready: defaultdict[int, list[int]] = defaultdict(list)
    for number, message in enumerate(messages):
        if ways[number]:
            ready[message.start].append(number)
    due: dict[int, list[int]] = {}
    times: list[int] = []
    free = [0] * len(numbers)
    for start in [*sorted(ready), sys.maxsize]:
        while times and times[0] < start:
            now = heappop(times)
            for number in sorted(due.pop(now)):
                way = ways[number]
                place = way.pop()
                began = free[place]
                if began < now:
                    began = now
                busy, hop = costs[number]
                free[place] = began + busy
                if diary is not None:
                    diary.append((number, place, now, began))
                then = began + hop
                if not way:
                    ends[number] = then
                elif then in due:
                    due[then].append(number)
                else:
                    due[then] = [number]
                    heappush(times, then)
        if start in due:
            due[start] += ready[start]
        elif start in ready:
            due[start] = ready[start]
            heappush(times, start)
    return ends, list(numbers), costs
