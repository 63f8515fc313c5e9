"""Swapping in the simulator: activations go to the host after forward and come back in time.

One link carries one tensor at a time, in each direction, while operators run. A tensor
leaves after its last use in forward, and its memory is free when the copy is done. It
comes back as late as it can without delay; where the link is too slow for that, the
step waits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import fx

from lab_utils.steps.candidate import Candidate
from lab_utils.steps.memory import live_bytes
from lab_utils.steps.schedule import program_order


@dataclass(frozen=True)
class Swapped:
    """A step with swapping: what it holds over time, and how long it waits."""

    times: list[float]
    """When each operator begins, in seconds."""
    held: list[int]
    """Bytes on the device while each operator runs."""
    waiting: float
    """Seconds that operators wait for the link."""

    @property
    def peak(self) -> int:
        """The most bytes held."""
        return max(self.held)


def swap(
    graph: fx.Graph,
    records: Sequence[Candidate],
    seconds: Mapping[fx.Node, float],
    bandwidth: float,
) -> Swapped:
    """Send all ``records`` to the host and back over a link of ``bandwidth`` bytes a second."""
    line = live_bytes(graph, program_order(graph))
    order = line.schedule.order
    place = {node: index for index, node in enumerate(order)}
    starts = [0.0]
    for node in order:
        starts.append(starts[-1] + seconds[node])
    free = 0.0
    gone: dict[fx.Node, float] = {}
    for c in sorted(records, key=lambda c: place[c.last_forward]):
        free = max(free, starts[place[c.last_forward] + 1]) + c.nbytes / bandwidth
        gone[c.node] = free
    # Backwards in time: each copy ends when it is needed, or when the next one begins.
    back: dict[fx.Node, float] = {}
    next_begins = starts[-1]
    for c in sorted(records, key=lambda c: -place[c.first_backward]):
        next_begins = min(starts[place[c.first_backward]], next_begins) - c.nbytes / bandwidth
        back[c.node] = next_begins
    delay, waits = 0.0, dict.fromkeys(order, 0.0)
    free = 0.0
    for c in sorted(records, key=lambda c: place[c.first_backward]):
        begin = max(free, gone[c.node], back[c.node])
        free = begin + c.nbytes / bandwidth
        late = free - (starts[place[c.first_backward]] + delay)
        if late > 1e-12:
            waits[c.first_backward] += late
            delay += late
        back[c.node] = begin
    times, shift = [], 0.0
    for index, node in enumerate(order):
        shift += waits[node]
        times.append(starts[index] + shift)
    held = list(line.total)
    for c in records:
        for index in range(place[c.last_forward] + 1, place[c.first_backward]):
            if gone[c.node] <= times[index] and times[index] < back[c.node]:
                held[index] -= c.nbytes
    return Swapped(times, held, delay)
