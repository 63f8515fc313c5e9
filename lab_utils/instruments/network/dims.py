"""A network as dimensions: rings, switches and fully connected groups, one inside the other.

Rank numbers count along the first dimension first. Units are plain: bytes, seconds, bytes a second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from lab_utils.instruments.roofline import Machine
from lab_utils.kit.errors import LabError

RING, FULLY_CONNECTED, SWITCH = "Ring", "FullyConnected", "Switch"
KINDS = (RING, FULLY_CONNECTED, SWITCH)
ALGORITHM = {RING: "ring", FULLY_CONNECTED: "direct", SWITCH: "halvingDoubling"}
"""What runs on each kind of dimension, unless something else is asked for (AstraSim's words)."""


@dataclass(frozen=True)
class Dim:
    """Ranks that are connected alike.

    Attributes:
        kind: ``"Ring"``, ``"FullyConnected"`` or ``"Switch"``.
        size: how many ranks it connects.
        bandwidth: bytes a second that a link carries in each direction.
        latency: seconds that a link takes before the first byte arrives.
        ways: 2 if a ring sends one half of the data clockwise and the other half back, else 1.
        algorithm: how ranks add up along it; "" is what its kind does best.
    """

    kind: str
    size: int
    bandwidth: float
    latency: float
    ways: int = 1
    algorithm: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise LabError(f"a dimension is one of {', '.join(KINDS)}, not {self.kind!r}")
        if self.algorithm and (self.kind, self.algorithm) not in _ALIKE:
            known = ", ".join(how for kind, how in _ALIKE if kind == self.kind)
            raise LabError(f"on {self.kind} there is {known}, and no {self.algorithm!r}")
        if self.size < 1 or self.bandwidth <= 0 or self.latency < 0 or self.ways not in (1, 2):
            raise LabError(
                "a dimension: size and bandwidth are above 0, latency is not below, ways is 1 or 2"
            )


def _as_ring(dim: Dim) -> Dim:
    """A ring through a switch (two links from rank to rank), or over some links of many."""
    through = dim.kind == SWITCH
    ways = 1 if through or dim.size <= 2 else dim.ways
    return Dim(RING, dim.size, dim.bandwidth, (2 if through else 1) * dim.latency, ways)


def _as_direct(dim: Dim) -> Dim:
    """Behind a switch all messages of a rank share its one link."""
    return Dim(FULLY_CONNECTED, dim.size, dim.bandwidth / max(dim.size - 1, 1), 2 * dim.latency)


def _as_halving(dim: Dim) -> Dim:
    """Partners have a link of their own: one, where a switch has two."""
    return Dim(SWITCH, dim.size, dim.bandwidth, dim.latency / 2)


#: What takes as long, on a dimension whose kind says the algorithm.
_ALIKE: dict[tuple[str, str], Callable[[Dim], Dim]] = {
    **{(kind, how): lambda dim: replace(dim, algorithm="") for kind, how in ALGORITHM.items()},
    (SWITCH, "ring"): _as_ring,
    (SWITCH, "direct"): _as_direct,
    (FULLY_CONNECTED, "ring"): _as_ring,
    (FULLY_CONNECTED, "halvingDoubling"): _as_halving,
}


@dataclass(frozen=True)
class System:
    """Equal devices, and the network between them.

    Attributes:
        name: as people call it.
        dims: the network; neighbours in the first dimension have neighbouring numbers.
        machine: one device: its rate, its memory.
    """

    name: str
    dims: tuple[Dim, ...]
    machine: Machine

    @property
    def ranks(self) -> int:
        """How many devices there are."""
        return prod(dim.size for dim in self.dims)

    def with_links(self, factor: float) -> System:
        """The same with links that carry ``factor`` times as much."""
        dims = (replace(dim, bandwidth=factor * dim.bandwidth) for dim in self.dims)
        return replace(self, dims=tuple(dims))


def divide(dims: Sequence[Dim], degrees: Mapping[str, int]) -> dict[str, tuple[Dim, ...]]:
    """Which part of the network each axis of a strategy has, the first one innermost.

    A ring that is cut is a line: what comes back takes the other direction of the same links, so
    that only a whole ring sends both ways. Members of a part that are not neighbours are as many
    links apart as there are ranks of the axes further in. Of several parts the fastest comes first:
    a collective has most to carry in the first one. Where another algorithm runs than the kind
    does best, the part is one that takes as long: a ring through a switch has longer links.

    Raises:
        LabError: the degrees do not cut the dimensions evenly, or take more ranks than there are.
    """
    found: dict[str, list[Dim]] = {axis: [] for axis in degrees}
    rest = [(dim, dim.size) for dim in dims]
    for axis, degree in degrees.items():
        while degree > 1:
            if not rest:
                raise LabError(f"{axis} takes more ranks than are left")
            dim, left = rest[0]
            share = min(degree, left)
            if degree % share or left % share:
                raise LabError(f"{axis} does not cut a dimension of {dim.size} evenly")
            found[axis].append(_part(dim, share, dim.size // left))
            degree //= share
            rest[0] = (dim, left // share)
            if left == share:
                rest.pop(0)
    return {axis: tuple(sorted(parts, key=_speed, reverse=True)) for axis, parts in found.items()}


def _speed(dim: Dim) -> float:
    """Bytes a second that one rank can send at once."""
    links = dim.size - 1 if dim.kind == FULLY_CONNECTED else dim.ways
    return links * dim.bandwidth


def _part(dim: Dim, size: int, stride: int) -> Dim:
    if dim.kind != RING:
        part = replace(dim, size=size)
        return _ALIKE[dim.kind, dim.algorithm](part) if dim.algorithm else part
    ways = dim.ways if size == dim.size > 2 else 1
    return replace(dim, size=size, latency=stride * dim.latency, ways=ways, algorithm="")
