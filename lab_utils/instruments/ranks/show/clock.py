"""The virtual clock: when each rank did what, from their diaries and what connects them.

A message leaves when it is sent and the way out of its rank and the way in of the other are free.
Both are busy while its bytes pass; it arrives a latency later. Who receives goes on when it has
arrived; who waits for a send goes on when the other side has it. Collectives have a channel of
their own, one after the other in each rank, and take as long as their ring: see ``ring_seconds``.
Numbers are fractions, so that the sums are exact.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from lab_utils.instruments.ranks.records import Diary, Link
from lab_utils.kit.errors import LabError

_LONGEST = 100_000  # entries of all diaries together


class Span(NamedTuple):
    """A stretch of time of a rank; ``label`` is what it does."""

    rank: int
    start: Fraction
    end: Fraction
    label: str


class Arrow(NamedTuple):
    """A message."""

    sender: int
    receiver: int
    left: Fraction
    arrived: Fraction
    nbytes: int


class Joint(NamedTuple):
    """A collective, from when all have joined to its end."""

    what: str
    members: tuple[int, ...]
    start: Fraction
    end: Fraction
    nbytes: int


@dataclass
class Times:
    """All that happened, over virtual seconds."""

    work: list[Span] = field(default_factory=list)
    waits: list[Span] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    memory: list[list[tuple[Fraction, int]]] = field(default_factory=list)
    """By rank, bytes held from each moment on."""
    ends: list[Fraction] = field(default_factory=list)

    @property
    def end(self) -> Fraction:
        """When the last rank is done."""
        return max(self.ends, default=Fraction(0))

    def busy(self, rank: int) -> Fraction:
        """How long a rank computes."""
        return sum((s.end - s.start for s in self.work if s.rank == rank), Fraction(0))

    def peak(self, rank: int) -> int:
        """The most bytes that a rank holds."""
        return max((nbytes for _, nbytes in self.memory[rank]), default=0)

    @property
    def idle_share(self) -> Fraction:
        """What share of all ranks' time is spent without work, from 0 to 1."""
        if not self.end:
            return Fraction(0)
        ranks = len(self.ends)
        return 1 - sum(map(self.busy, range(ranks)), Fraction(0)) / (ranks * self.end)


def exact(number: float) -> Fraction:
    """The number as it is written, without what binary digits add to it."""
    return Fraction(str(number))


def ring_seconds(what: str, ranks: int, nbytes: int, link: Link) -> Fraction:
    """How long a collective takes as a ring; ``nbytes`` are those of one rank's tensor."""
    latency, each = exact(link.latency), 1 / exact(link.bandwidth)
    steps = ranks - 1
    if what == "all_reduce":
        return 2 * steps * (latency + nbytes * each / ranks)
    if what == "reduce_scatter":
        return steps * (latency + nbytes * each / ranks)
    if what == "all_gather":
        return steps * (latency + nbytes * each)
    if what == "broadcast":  # cut small and passed on from rank to rank
        return steps * latency + nbytes * each * bool(steps)
    return 2 * steps * latency  # barrier


class _Request:
    """Something started: done at ``end``, once that is known."""

    def __init__(self, start: Fraction, nbytes: int) -> None:
        self.start, self.nbytes = start, nbytes
        self.arrival: Fraction | None = None
        self.end: Fraction | None = None


class _Replay:
    def __init__(self, diaries: Sequence[Diary], link: Link) -> None:
        if sum(map(len, diaries)) > _LONGEST:
            raise LabError("the ranks did more than can be replayed")
        many = len(diaries)
        self.link, self.diaries = link, diaries
        self.clock = [Fraction(0)] * many
        self.place = [0] * many
        self.requests: list[dict[int, _Request]] = [{} for _ in range(many)]
        self.out, self.into = [Fraction(0)] * many, [Fraction(0)] * many
        self.channel = [Fraction(0)] * many
        self.sent: dict[Any, deque[_Request]] = defaultdict(deque)
        self.asked: dict[Any, deque[_Request]] = defaultdict(deque)
        self.joined: dict[Any, deque[dict[int, _Request]]] = defaultdict(deque)
        self.held = [0] * many
        self.times = Times(memory=[[(Fraction(0), 0)] for _ in diaries])

    def run(self) -> Times:
        while runnable := [r for r in range(len(self.diaries)) if self._can_go_on(r)]:
            self._step(min(runnable, key=lambda rank: (self.clock[rank], rank)))
        if any(self.place[r] < len(diary) for r, diary in enumerate(self.diaries)):
            raise LabError("the diaries do not fit together: a rank waits for ever")
        for rank, now in enumerate(self.clock):  # what nobody waits for still takes its time
            known = [one.end for one in self.requests[rank].values() if one.end is not None]
            self.times.ends.append(max([now, *known]))
        return self.times

    def _can_go_on(self, rank: int) -> bool:
        if self.place[rank] >= len(self.diaries[rank]):
            return False
        entry = self.diaries[rank][self.place[rank]]
        if entry[0] != "wait":
            return True
        if entry[1] not in self.requests[rank]:
            raise LabError("a rank waits for what it never started")
        return self.requests[rank][entry[1]].end is not None

    def _step(self, rank: int) -> None:
        what, *details = self.diaries[rank][self.place[rank]]
        self.place[rank] += 1
        now = self.clock[rank]
        if what == "compute":
            end = now + exact(details[0])
            self.times.work.append(Span(rank, now, end, details[1]))
            self.clock[rank] = end
        elif what == "hold":
            self.held[rank] += details[0]
            self.times.memory[rank].append((now, self.held[rank]))
        elif what == "wait":
            until = self.requests[rank][details[0]].end
            assert until is not None
            if until > now:
                self.times.waits.append(Span(rank, now, until, "waits"))
                self.clock[rank] = until
        elif what == "send":
            self._send(rank, *details)
        elif what == "recv":
            self._recv(rank, *details)
        elif what == "collective":
            self._join(rank, *details)
        else:
            raise LabError("there is no such line in a diary")

    def _send(self, rank: int, request: int, to: int, nbytes: int, tag: int, *_: object) -> None:
        one = self.requests[rank][request] = _Request(self.clock[rank], nbytes)
        leaves = max(one.start, self.out[rank], self.into[to])
        passed = leaves + nbytes / exact(self.link.bandwidth)
        self.out[rank] = self.into[to] = passed
        one.arrival = passed + exact(self.link.latency)
        self.times.arrows.append(Arrow(rank, to, leaves, one.arrival, nbytes))
        self.sent[rank, to, tag].append(one)
        self._match((rank, to, tag))

    def _recv(self, rank: int, request: int, source: int, nbytes: int, tag: int, _: str) -> None:
        one = self.requests[rank][request] = _Request(self.clock[rank], nbytes)
        self.asked[source, rank, tag].append(one)
        self._match((source, rank, tag))

    def _match(self, key: Any) -> None:
        while self.sent[key] and self.asked[key]:
            sent, asked = self.sent[key].popleft(), self.asked[key].popleft()
            assert sent.arrival is not None
            sent.end = asked.end = max(sent.arrival, asked.start)

    def _join(
        self,
        rank: int,
        request: int,
        what: str,
        members: list[int],
        nbytes: int,
        name: str,
        *_: object,
    ) -> None:
        one = self.requests[rank][request] = _Request(self.clock[rank], nbytes)
        rounds = self.joined[tuple(members), name]
        for joined in rounds:
            if rank not in joined:
                break
        else:
            joined = {}
            rounds.append(joined)
        joined[rank] = one
        if len(joined) == len(members):
            rounds.remove(joined)
            start = max(*(r.start for r in joined.values()), *(self.channel[m] for m in members))
            end = start + ring_seconds(what, len(members), nbytes, self.link)
            for member in members:
                joined[member].end = self.channel[member] = end
            self.times.joints.append(Joint(what, tuple(members), start, end, nbytes))


def replay(diaries: Sequence[Diary], link: Link) -> Times:
    """When everything in the diaries happened.

    Raises:
        LabError: no run of ranks leaves such diaries.
    """
    return _Replay(diaries, link).run()
