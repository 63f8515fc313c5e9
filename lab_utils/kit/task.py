"""What a task is, a case on which it is tried, and one thing that is wrong with an answer.

A task has two halves, and plain data (JSON) between them. ``ask`` calls the student's function
on what a case gives, and turns what comes back into plain data. ``judge`` looks at that data
alone. In a notebook both run in one process; at grading time the first runs in a sandbox, and
the second does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True)
class Task:
    """What a student is asked to write. How it is asked, judged and shown stands with its lab."""

    id: str
    """As in the heading, the check and the error: ``2.1``."""
    title: str
    points: float
    asks: str
    """What it asks for: a function (or class) of the notebook, or a file."""
    takes: str = ""
    """What the function is called with, as in ``graph, clones``; empty for a file."""
    returns: str = "what the task's text asks for"
    """What is to come back, in words."""

    @property
    def is_of_file(self) -> bool:
        """Whether it asks for a file."""
        return not self.asks.isidentifier()


@dataclass(frozen=True)
class Case:
    """One input on which a task is tried.

    ``given`` goes to the student's side, ``wanted`` only to the judge. Both are plain data.
    """

    name: str
    given: Mapping[str, Any]
    wanted: Mapping[str, Any] = field(default_factory=dict)


#: Stands in ``look`` between explanations of which one holds.
OR = " Or: "


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: what came back, what was wanted, where to look."""

    yours: str
    wanted: str
    look: str
    belongs: str = ""
    """The task whose mistake it is, where that is another one: it is paid for there.

    Several, with blanks between them, where it may be that of any of them.
    """
    in_public: bool = False
    """Whether that task's first public case shows it, too: who passes it has not paid for this."""

    def cut(self, most: int) -> Finding:
        """The same in at most so many characters a part."""
        yours, wanted, look = (cut(part, most) for part in (self.yours, self.wanted, self.look))
        return replace(self, yours=yours, wanted=wanted, look=look)

    def __str__(self) -> str:
        return f"  yours : {self.yours}\n  wanted: {self.wanted}\n  look  : {self.look}"


Ask = Callable[[Any, Mapping[str, Any]], Any]
"""Calls what the student wrote on what is given; returns plain data."""
Judge = Callable[[Case, Any], list[Finding]]
"""What is wrong with the plain data that came back; nothing if it is right."""
Show = Callable[[Case, Any], Any]
"""Draws the answer beside what is wanted; None where there is nothing to see."""
Call = Callable[[Any], Any]
"""Has a function's work done elsewhere: its arguments as plain data, its result as plain data."""
Borrow = Callable[[Call], Callable[..., Any]]
"""A function that behaves as an earlier task's should; ``Call`` does its work."""
Reply = dict[str, Any]
"""``{"answer": …}``, or ``{"error": …, "look": …}`` in words."""


def cut(text: str, most: int) -> str:
    """``text`` in at most so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def counted(number: int, noun: str) -> str:
    """``1 graph``, ``3 graphs``, ``2 meshes``."""
    return f"{number} {noun if number == 1 else plural(noun)}"


def plural(noun: str) -> str:
    """``graphs``, ``meshes``."""
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"
