"""Numbers that count: run a definition on them, and see what it costs.

    tally = Tally()
    a, b = tally.array("a", 3), tally.array("b", 3)
    added_up(x * y for x, y in zip(a, b))
    tally                   # 3 multiplications, 2 additions

Nothing here knows a formula. Every ``+ - * /``, ``exp`` and ``sqrt`` counts itself when it
happens; every number of an array remembers whether anybody has read it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from functools import reduce
from operator import add
from typing import Any

LIGHT = ("add", "sub", "mul")
HEAVY = ("div", "exp", "sqrt")
_NAMES = {
    "add": "additions",
    "sub": "subtractions",
    "mul": "multiplications",
    "div": "divisions",
    "exp": "exponentials",
    "sqrt": "square roots",
}


class Tally:
    """What has been counted: operations by kind, and the elements of each array that were read."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._read: dict[str, set[int]] = {}

    def array(self, name: str, *shape: int) -> Any:
        """Nested lists of numbers that count, as in ``array("x", 2, 3)[1][2]``; all above 0."""
        read = self._read.setdefault(name, set())
        made = iter(range(math.prod(shape)))

        def filled(lengths: tuple[int, ...]) -> Any:
            if lengths:
                return [filled(lengths[1:]) for _ in range(lengths[0])]
            place = next(made)
            return Number(1 + place % 7 / 8, self, lambda: read.add(place))

        return filled(shape)

    def read(self, name: str) -> int:
        """How many elements of the array ``name`` have been read, each counted once."""
        return len(self._read.get(name, ()))

    @property
    def light(self) -> int:
        """Additions, subtractions and multiplications."""
        return sum(self.counts[kind] for kind in LIGHT)

    @property
    def heavy(self) -> int:
        """Divisions, exponentials and square roots."""
        return sum(self.counts[kind] for kind in HEAVY)

    def operations(self, w: int = 1) -> int:
        """All operations; each heavy one counts as ``w``."""
        return self.light + w * self.heavy

    def __repr__(self) -> str:
        told = [
            f"{self.counts[kind]:,} {name}" for kind, name in _NAMES.items() if self.counts[kind]
        ]
        return ", ".join(told) or "nothing counted"


class Number:
    """A number that notes in its tally what is done with it."""

    __slots__ = ("_seen", "tally", "value")

    def __init__(self, value: float, tally: Tally, seen: Any = None) -> None:
        self.value, self.tally, self._seen = value, tally, seen

    def _done(self, kind: str, value: float, *read: Any) -> Number:
        for number in (self, *read):
            if isinstance(number, Number) and number._seen:
                number._seen()
        self.tally.counts[kind] += 1
        return Number(value, self.tally)

    def __add__(self, other: Any) -> Number:
        return self._done("add", self.value + _value(other), other)

    def __radd__(self, other: Any) -> Number:
        return self._done("add", _value(other) + self.value)

    def __sub__(self, other: Any) -> Number:
        return self._done("sub", self.value - _value(other), other)

    def __rsub__(self, other: Any) -> Number:
        return self._done("sub", _value(other) - self.value)

    def __mul__(self, other: Any) -> Number:
        return self._done("mul", self.value * _value(other), other)

    def __rmul__(self, other: Any) -> Number:
        return self._done("mul", _value(other) * self.value)

    def __truediv__(self, other: Any) -> Number:
        return self._done("div", self.value / _value(other), other)

    def __rtruediv__(self, other: Any) -> Number:
        return self._done("div", _value(other) / self.value)

    def exp(self) -> Number:
        """e to this number."""
        return self._done("exp", math.exp(self.value))

    def sqrt(self) -> Number:
        """The square root."""
        return self._done("sqrt", math.sqrt(self.value))

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        return f"{self.value:g}"


def exp(x: Number) -> Number:
    """e to ``x``."""
    return x.exp()


def sqrt(x: Number) -> Number:
    """The square root of ``x``."""
    return x.sqrt()


def added_up(numbers: Iterable[Number]) -> Number:
    """Their sum. (``sum`` would begin with 0 + the first: one addition more.)"""
    return reduce(add, numbers)


def _value(number: Any) -> float:
    return number.value if isinstance(number, Number) else number
