"""Runs traces in virtual time.

Each rank has a queue for its compute, and one for each group that it meets (as NCCL has streams).
A queue runs its nodes in program order, one at a time; queues run beside each other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from lab_utils.instruments.network.dims import Dim, System
from lab_utils.instruments.network.traces import COLL, COMP, RECV, Trace
from lab_utils.kit.errors import LabError

CollectiveSeconds = Callable[[str, float, Sequence[Dim]], float]


class Step(NamedTuple):
    """Seconds of a training step, of the rank that is done last.

    ``gpu`` is the time in which it computes, ``comm`` the time in which any of its collectives or
    messages is under way (each counted), ``exposed`` the time in which it does not compute.
    """

    wall: float
    gpu: float
    comm: float

    @property
    def exposed(self) -> float:
        """Seconds in which nothing is computed."""
        return self.wall - self.gpu


def run_traces(
    traces: Sequence[Trace],
    system: System,
    dtype: str,
    groups: Mapping[str, Sequence[Dim]],
    seconds: CollectiveSeconds,
    link: Dim | None = None,
) -> Step:
    """How long the ranks take.

    Args:
        traces: one for each rank that differs from the others.
        system: whose devices compute: the roofline of ``system.machine``.
        dtype: of the numbers.
        groups: by name, the part of the network that a group has.
        seconds: what a collective takes, from its name, its bytes and that part.
        link: what messages from rank to rank travel on.

    Raises:
        LabError: ranks wait for messages that nobody sends.
    """
    ranks = [_Rank(trace, _Prices(system, dtype, groups, seconds, link)) for trace in traces]
    arrived: dict[str, float] = {}
    while any(not rank.is_done for rank in ranks):
        if not sum(rank.go_on(arrived) for rank in ranks):
            raise LabError("the ranks wait for messages that nobody sends")
    return max((Step(rank.wall, rank.gpu, rank.comm) for rank in ranks), key=lambda s: s.wall)


class _Prices:
    """Seconds of a node, each kind computed once."""

    def __init__(
        self,
        system: System,
        dtype: str,
        groups: Mapping[str, Sequence[Dim]],
        seconds: CollectiveSeconds,
        link: Dim | None,
    ) -> None:
        self.rate, self.bandwidth = system.machine.rate(dtype), system.machine.bandwidth
        self.groups, self.seconds, self.link = groups, seconds, link
        self.known: dict[tuple[str, float, str], float] = {}

    def collective(self, kind: str, nbytes: float, group: str) -> float:
        """Seconds of a collective."""
        key = (kind, nbytes, group)
        if key not in self.known:
            self.known[key] = self.seconds(kind, nbytes, self.groups[group])
        return self.known[key]

    def message(self, nbytes: float) -> float:
        """Seconds of a message between two ranks."""
        return self.link.latency + nbytes / self.link.bandwidth if self.link else 0.0


class _Rank:
    """One rank on its way through its trace."""

    def __init__(self, trace: Trace, prices: _Prices) -> None:
        self.trace, self.prices = trace, prices
        self.done: list[float] = []
        self.free: dict[str, float] = {}
        self.wall = self.gpu = self.comm = 0.0

    @property
    def is_done(self) -> bool:
        """Whether every node has run."""
        return len(self.done) == len(self.trace)

    def go_on(self, arrived: dict[str, float]) -> int:
        """Run nodes until one waits for a message that is not sent yet; how many have run."""
        done, free, prices = self.done, self.free, self.prices
        before = len(done)
        for node in self.trace[before:]:
            kind, ready = node.type, 0.0
            for one in node.data_deps:
                if done[one] > ready:
                    ready = done[one]
            if kind == COMP:
                queue = ""
                spent = max(node.num_ops / prices.rate, node.tensor_size / prices.bandwidth)
                self.gpu += spent
            elif kind == COLL:
                queue = node.group
                spent = prices.collective(node.comm_type, node.comm_size, queue)
                self.comm += spent
            elif kind == RECV:
                if node.tag not in arrived:
                    break
                queue, spent, ready = node.tag, 0.0, max(ready, arrived[node.tag])
            else:
                queue, spent = f"to {node.peer}", prices.message(node.comm_size)
                self.comm += spent
                arrived[node.tag] = max(ready, free.get(queue, 0.0)) + spent
            end = max(ready, free.get(queue, 0.0)) + spent
            free[queue] = end
            done.append(end)
            self.wall = max(self.wall, end)
        return len(done) - before
