"""What is right on a mesh, by networkx and by a clock that goes from nanosecond to nanosecond.

Nothing here knows our event queue or a formula of a solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import networkx as nx

from lab_utils.instruments.network.mesh import Link, Message

Pair = tuple[int, int]


def grid(width: int, height: int) -> nx.Graph:
    """networkx' own grid, with our numbers of nodes."""
    places = nx.grid_2d_graph(width, height)
    return nx.relabel_nodes(places, {(x, y): y * width + x for x, y in places})


def links(width: int, height: int) -> list[Pair]:
    """All links, each direction by itself."""
    return sorted(grid(width, height).to_directed().edges)


def row_first(src: int, dst: int, width: int, height: int) -> list[int]:
    """The shortest way within the row, then the shortest within the column."""
    graph = grid(width, height)
    corner = src // width * width + dst % width
    row = graph.subgraph(node for node in graph if node // width == src // width)
    column = graph.subgraph(node for node in graph if node % width == dst % width)
    found = nx.shortest_path(row, src, corner) + nx.shortest_path(column, corner, dst)[1:]
    return [int(node) for node in found]


def can_stand_still(routes: Sequence[Sequence[int]]) -> bool:
    """Whether the graph of who waits for whom (links as nodes) has a circle."""
    waits = nx.DiGraph()
    for route in routes:
        waits.add_edges_from(pairwise(pairwise(route)))
    return not nx.is_directed_acyclic_graph(waits)


def arrivals_by_clock(messages: Sequence[Message], link: Link) -> list[int]:
    """Times of arrival, found by looking at all queues in every single nanosecond."""
    ends: dict[int, int] = {}
    queues: dict[Pair, list[int]] = {}
    free: dict[Pair, int] = {}
    place = [0] * len(messages)
    due = {number: message.start for number, message in enumerate(messages)}
    now = 0
    while len(ends) < len(messages):
        for number in sorted(number for number, time in due.items() if time == now):
            del due[number]
            route = messages[number].route
            if place[number] == len(route) - 1:
                ends[number] = now
            else:
                next_link = (route[place[number]], route[place[number] + 1])
                queues.setdefault(next_link, []).append(number)
        for pair, queue in queues.items():
            while queue and free.get(pair, 0) <= now:
                number = queue.pop(0)
                place[number] += 1
                free[pair] = now + link.busy(messages[number].nbytes)
                due[number] = now + link.hop(messages[number].nbytes)
        now += 1
    return [ends[number] for number in range(len(messages))]
