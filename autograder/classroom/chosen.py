"""Finds the students whom an instructor means: by id, by name, or by a part of either."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Protocol

from autograder.collect.records import listed
from autograder.collect.words import words
from lab_utils.kit.errors import LabError


class Named(Protocol):
    """Somebody with an id and a name."""

    @property
    def student(self) -> str:
        """The id."""

    @property
    def name(self) -> str:
        """For people to read."""


def chosen(wanted: Iterable[str], people: Sequence[Named]) -> set[str]:
    """The ids of those who are wanted; of all, if nobody is named.

    Raises:
        LabError: nobody is called so, or several are.
    """
    asked = list(wanted)
    return {_one(name, people) for name in asked} if asked else {who.student for who in people}


def _one(name: str, people: Sequence[Named]) -> str:
    exact = {
        who.student
        for who in people
        if name.casefold() in (who.student.casefold(), who.name.casefold())
    }
    found = exact or {who.student for who in people if _has_part(name, who)}
    if len(found) == 1:
        return found.pop()
    if found:
        fitting = sorted(f"{who.name} ({who.student})" for who in people if who.student in found)
        raise LabError(f"{name!r} fits {listed(fitting)}: write more of the name, or the id")
    called = {text.casefold(): None for who in people for text in (who.name, who.student)}
    close = get_close_matches(name.casefold(), called, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise LabError(f"nobody called {name!r} handed anything in{hint}")


def _has_part(name: str, who: Named) -> bool:
    """Whether each word begins a word of the name, or all of it stands in the id."""
    wanted, called = words(name), [*words(who.name), *words(who.student)]
    begins = all(any(word.startswith(part) for word in called) for part in wanted)
    return bool(wanted) and (begins or name.casefold() in who.student.casefold())
