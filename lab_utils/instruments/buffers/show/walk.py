"""Two levels of buffers, access by access: slow, plain, and the one that all others must equal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


class Buffer:
    """Some lines; the first of the list is the next to leave."""

    def __init__(self, size: int, policy: str) -> None:
        self.size, self.policy = size, policy
        self.held: list[int] = []

    def has(self, line: int) -> bool:
        """Ask for a line that may be there; LRU remembers that it was used."""
        if line not in self.held:
            return False
        if self.policy == "LRU":
            self.held.remove(line)
            self.held.append(line)
        return True

    def put(self, line: int) -> int | None:
        """Bring a line in; the one that had to leave for it."""
        if not self.size:
            return None
        gone = self.held.pop(0) if len(self.held) == self.size else None
        self.held.append(line)
        return gone


class Access(NamedTuple):
    """What happened at one access, and what both levels hold after it."""

    line: int
    found: int
    """1 or 2: the level that had it; 3: it came from memory."""
    first: tuple[int, ...]
    """Lines of the first level; the first of them is the next to leave."""
    second: tuple[int, ...]
    gone: int | None
    """The line that left the first level."""


class Misses(NamedTuple):
    """How many accesses found nothing in the first level, and how many nothing in both."""

    first: int
    second: int


def walk(trace: Iterable[int], first: int, second: int, policy: str) -> Iterator[Access]:
    """One access after the other; ``first`` and ``second`` are sizes in lines."""
    near, far = Buffer(first, policy), Buffer(second, policy)
    for line in trace:
        found, gone = 1, None
        if not near.has(line):
            found = 2
            if not far.has(line):
                found = 3
                far.put(line)
            gone = near.put(line)
        yield Access(line, found, tuple(near.held), tuple(far.held), gone)


def count(trace: Iterable[int], first: int, second: int, policy: str) -> Misses:
    """Misses of both levels over a whole trace."""
    found = [access.found for access in walk(trace, first, second, policy)]
    return Misses(sum(level > 1 for level in found), sum(level > 2 for level in found))


def missed(trace: Sequence[int], size: int, policy: str) -> list[int]:
    """The accesses of a trace, by their place in it, that miss in one buffer."""
    accesses = walk(trace, size, 0, policy)
    return [place for place, access in enumerate(accesses) if access.found > 1]
