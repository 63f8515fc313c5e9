"""The switch between the ranks: it matches messages, joins collectives, and sees who waits.

It runs in the process that started the ranks. All that a rank starts passes here, so the switch
knows without any clock when nobody can go on: every rank has ended or waits for what cannot come.
What it says does not depend on which rank was faster: it speaks when all have come to a halt.
"""

from __future__ import annotations

import selectors
import socket
from collections import defaultdict, deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from zlib import crc32

from lab_utils.instruments.ranks.errors import RanksFailed
from lab_utils.instruments.ranks.records import Diary
from lab_utils.instruments.ranks.reduce import combined
from lab_utils.instruments.ranks.waiting import Waiting, halted
from lab_utils.instruments.ranks.wire import HungUp, put, take


@dataclass
class Request:
    """Something that a rank has started."""

    rank: int
    what: str
    """``send``, ``recv``, or the name of a collective."""
    others: tuple[int, ...]
    """On whom it depends."""
    kind: str
    data: bytes
    nbytes: int
    how: str = ""
    arrived: list[bytes] | None = None
    """What it brought, once it is done."""

    def told(self) -> str:
        """What it moves, in words."""
        return f"{self.nbytes:,} bytes of {self.kind}"


@dataclass
class Station:
    """A rank as the switch knows it."""

    line: socket.socket
    diary: Diary = field(default_factory=list)
    requests: dict[int, Request] = field(default_factory=dict)
    waits: Request | None = None
    ended: bool = False
    result: Any = None
    groups: int = 0
    """How often it has called ``new_group``."""
    printed: str = ""


class Stopped(NamedTuple):
    """Why a rank stopped: an error of its own code."""

    rank: int
    kind: str
    words: str
    look: str


class Switch:
    """Serves ranks until all have ended, or none can go on."""

    def __init__(self, lines: Sequence[socket.socket]) -> None:
        self.stations = [Station(line) for line in lines]
        self._sends: dict[Any, deque[Request]] = defaultdict(deque)
        self._recvs: dict[Any, deque[Request]] = defaultdict(deque)
        self._joined: dict[Any, list[dict[int, Request]]] = defaultdict(list)
        self._stopped: list[Stopped] = []
        self._mismatches: list[tuple[int, int, str]] = []

    def serve(self) -> None:
        """Let the ranks run.

        Raises:
            RanksFailed: they did not come to a good end; the message says who and why.
            NotImplementedError: what they run is still to be written.
        """
        with selectors.DefaultSelector() as ready:
            for rank, station in enumerate(self.stations):
                ready.register(station.line, selectors.EVENT_READ, rank)
            while any(not s.ended and s.waits is None for s in self.stations):
                for key, _ in ready.select():
                    rank = key.data
                    if not self.stations[rank].ended:
                        self._hear(rank)
                        if self.stations[rank].ended:
                            ready.unregister(key.fileobj)
        self._conclude()

    def _hear(self, rank: int) -> None:
        station = self.stations[rank]
        try:
            what, *details = take(station.line)
        except HungUp:
            station.ended = True
            words = f"the process of rank {rank} ended before its function returned"
            self._stopped.append(Stopped(rank, "died", words, ""))
            return
        if what == "ended":
            station.ended = True
            station.result, station.groups, station.printed = details
        elif what == "raised":
            station.ended = True
            kind, words, look, station.printed = details
            self._stopped.append(Stopped(rank, kind, words, look))
        elif what in ("wait", "fetch"):
            if what == "wait":
                station.diary.append(["wait", details[0]])
            station.waits = station.requests[details[0]]
            self._release(rank)
        elif what in ("send", "recv"):
            self._message(rank, what, *details)
        elif what == "collective":
            self._collective(rank, *details)
        else:
            station.diary.append([what, *details])

    def _message(
        self, rank: int, what: str, request: int, other: int, tag: int, kind: str, data: Any
    ) -> None:
        is_send = what == "send"
        nbytes = len(data) if is_send else data
        one = Request(rank, what, (other,), kind, data if is_send else b"", nbytes)
        station = self.stations[rank]
        station.requests[request] = one
        checksum = [crc32(data)] if is_send else []
        station.diary.append([what, request, other, nbytes, tag, kind, *checksum])
        key = (rank, other, tag) if is_send else (other, rank, tag)
        (self._sends if is_send else self._recvs)[key].append(one)
        while self._sends[key] and self._recvs[key]:
            sent, asked = self._sends[key].popleft(), self._recvs[key].popleft()
            if (sent.kind, sent.nbytes) != (asked.kind, asked.nbytes):
                words = (
                    f"rank {sent.rank} sends {sent.told()} to rank {asked.rank}, which has room "
                    f"for {asked.told()}"
                )
                self._mismatches.append((asked.rank, request, words))
                continue
            sent.arrived, asked.arrived = [], [sent.data]
            self._release(sent.rank)
            self._release(asked.rank)

    def _collective(
        self,
        rank: int,
        request: int,
        what: str,
        how: str,
        members: tuple[int, ...],
        name: str,
        kind: str,
        data: bytes,
    ) -> None:
        others = tuple(m for m in members if m != rank)
        one = Request(rank, what, others, kind, data, len(data), how)
        station = self.stations[rank]
        station.requests[request] = one
        station.diary.append(["collective", request, what, list(members), len(data), name, kind])
        rounds = self._joined[members, name]
        place = next((i for i, joined in enumerate(rounds) if rank not in joined), len(rounds))
        if place == len(rounds):
            rounds.append({})
        joined = rounds[place]
        joined[rank] = one
        if len(joined) < len(members):
            return
        parts = [joined[member] for member in members]
        first = parts[0]
        for other in parts[1:]:
            if (other.what, other.kind, other.nbytes) != (first.what, first.kind, first.nbytes):
                words = (
                    f"rank {first.rank} joins {first.what} with {first.told()}, rank "
                    f"{other.rank} joins {other.what} with {other.told()}"
                )
                self._mismatches.append((other.rank, request, words))
                return
        results = combined(what, how, kind, [part.data for part in parts])
        for member, arrived in zip(members, results, strict=True):
            joined[member].arrived = arrived
            self._release(member)

    def _release(self, rank: int) -> None:
        """Let a rank go on if what it waits for is done."""
        station = self.stations[rank]
        if station.waits is not None and station.waits.arrived is not None:
            arrived, station.waits = station.waits.arrived, None
            with suppress(HungUp):  # it has ended meanwhile, and is heard next
                put(station.line, ("done", arrived))

    def _conclude(self) -> None:
        if self._stopped:
            first = min(self._stopped)
            if first.kind == "unwritten":
                raise NotImplementedError
            raise RanksFailed(first.kind, first.words, first.look)
        if self._mismatches:
            raise RanksFailed("mismatch", min(self._mismatches)[2])
        waiting = [
            Waiting(rank, s.waits.what, self._lacking(s.waits))
            for rank, s in enumerate(self.stations)
            if s.waits is not None
        ]
        if waiting:
            raise halted(waiting)
        for (sender, receiver, _), left in sorted(self._sends.items()):
            if left:
                words = f"rank {sender} sends {left[0].told()} to rank {receiver}, which ends "
                raise RanksFailed("unread", f"{words}without taking them")
        for (members, _), rounds in sorted(self._joined.items()):
            for joined in rounds:
                missing = [m for m in members if m not in joined]
                if missing:
                    who, what = min(joined), joined[min(joined)].what
                    words = f"rank {who} joins {what}, and rank {missing[0]} never does"
                    raise RanksFailed("ended", words)
        self._compare_groups()

    def _compare_groups(self) -> None:
        """Every rank must have called ``new_group`` as often as any other."""
        made = [station.groups for station in self.stations]
        if min(made) == max(made):
            return
        most, least = made.index(max(made)), made.index(min(made))
        fewer = _times(min(made))
        words = f"rank {most} calls new_group {_times(max(made))}, rank {least} {fewer}"
        raise RanksFailed("group", words)

    def _lacking(self, request: Request) -> tuple[int, ...]:
        """Of those on whom a request depends, who has not done their part."""
        for (members, _), rounds in self._joined.items():
            for joined in rounds:
                if joined.get(request.rank) is request:
                    return tuple(m for m in members if m not in joined)
        return request.others


def _times(many: int) -> str:
    """As in: never, once, 3 times."""
    return {0: "never", 1: "once"}.get(many, f"{many} times")
