"""A mesh as plain data: its links, the messages on it, and well-known patterns of traffic.

What simulates and draws lies in ``show``, a folder that no sandbox has: while a hand-in is graded
nobody can ask our simulation for the times that a task asks for, and films are not shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lab_utils.instruments.network.show.film import TrafficFilm

MIB = 2**20
_SHOW = "lab_utils.instruments.network.show"


class Link(NamedTuple):
    """A link in one direction; every link of a mesh is alike."""

    latency: int
    """Nanoseconds."""
    bandwidth: float
    """GB a second; a GB has 2**30 bytes."""

    def busy(self, nbytes: int) -> int:
        """Whole nanoseconds for which a message keeps the link to itself."""
        return nbytes * 10**9 // int(self.bandwidth * 2**30)

    def hop(self, nbytes: int) -> int:
        """Whole nanoseconds from the moment the link takes a message to its arrival."""
        return self.latency + self.busy(nbytes)


class Message(NamedTuple):
    """Bytes that travel together, and the way that they take."""

    start: int
    """When it is ready at the first node of its route, in nanoseconds."""
    nbytes: int
    route: Sequence[int]
    """Numbers of nodes, both ends included."""


LINK = Link(latency=500, bandwidth=50)
Pairs = list[tuple[int, int]]
"""Messages as (from, to)."""


def transpose(side: int) -> Pairs:
    """Node (x, y) of a square mesh sends to (y, x), as when a matrix is transposed."""
    places = [(x, y) for y in range(side) for x in range(side) if x != y]
    return [(y * side + x, x * side + y) for x, y in places]


def hot_spot(nodes: int, spot: int) -> Pairs:
    """Every node sends to one, as to a server that hands out data."""
    return [(node, spot) for node in range(nodes) if node != spot]


def all_to_all(nodes: int) -> Pairs:
    """Every node sends to every other one, as experts do with tokens."""
    return [(src, dst) for src in range(nodes) for dst in range(nodes) if src != dst]


def ring(nodes: int) -> Pairs:
    """Every node sends to the next number, as in a step of a ring all-reduce."""
    return [(node, (node + 1) % nodes) for node in range(nodes)]


def traffic_film(
    width: int, height: int, runs: Mapping[str, Sequence[Message]], link: Link = LINK
) -> TrafficFilm | None:
    """Watch messages on a mesh over virtual time: links glow as queues grow before them.

    Args:
        width: nodes in a row.
        height: rows.
        runs: by title, the messages of a run.
        link: what connects two neighbours.

    Returns:
        The film; nothing where a hand-in is graded.
    """
    if find_spec(_SHOW) is None:
        print("The film is shown in your own notebook.")
        return None
    from lab_utils.instruments.network.show.film import TrafficFilm

    return TrafficFilm(width, height, runs, link)
