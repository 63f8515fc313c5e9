"""Finds whose a hand-in is: a name in a file's name, against the class list.

There are steps from sure to doubtful. The first step at which any student fits decides: one
fits, it is theirs; several fit, it is nobody's, and a person has to look.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from autograder.collect.roster import Roster, Student
from autograder.collect.words import squashed, words

# Words of file names that name nobody (unless somebody in the class is called so).
GENERIC = frozenset(
    words(
        "lab labs hw homework assignment assignsubmission file submission submissions submit final "
        "project notebook notebooks solution solutions copy of version latest updated zip handin "
        "new newer resubmission resubmitted corrected fixed again attempt"
    )
)
NUMBER = re.compile(r"(?:v|lab|hw)?\d+[a-z]?")  # 8803, 4a, v2, lab4
CLOSE = 0.85  # how alike first and last name must each be
LONGEST_NAME = 80


@dataclass(frozen=True)
class Match:
    """Who may have handed something in."""

    students: tuple[Student, ...]
    """One: it is theirs. Several: it cannot be told. None: nobody in the class fits."""
    sure: bool = False
    """Whether the name says it in full; otherwise it is a good guess."""


class Names:
    """Reads names of files; knows the class (if there is a list) and the words of the course."""

    def __init__(self, roster: Roster | None, course_words: Iterable[str]) -> None:
        """``course_words``: the course's name, the term, the lab's label, …"""
        self._students = roster.students if roster else ()
        called = {
            word for student in self._students for word in words(f"{student.first} {student.last}")
        }
        course = {piece for text in course_words for piece in _pieces(words(text))}
        self._noise = (GENERIC | course) - called
        self._called = called

    def telling(self, label: str) -> list[str]:
        """The words of a file's name that may be a student's name."""
        return [word for word in words(label[:500]) if not self._is_noise(word)]

    def match(self, label: str, user: str = "") -> Match:
        """Whose the file called ``label`` is; ``user`` is the LMS' number of who handed it in."""
        found = self.telling(label)
        # An id of letters alone may be somebody's name: then it counts only if it stands alone.
        logins = {w for w in words(label) if len(w) > 3} - self._noise - self._called
        ids = {squashed(user), *logins} - {""}
        known = tuple(student for student in self._students if ids & student.ids)
        told = {word for student in known for word in student.ids & ids}
        match = self._by_name([word for word in found if word not in told])
        if known and match.sure and not set(known) & set(match.students):
            return Match(known + match.students)  # the id of one, the name of another
        return Match(known, sure=True) if known else match

    def _by_name(self, found: list[str]) -> Match:
        for sure, fits in STEPS:
            if fitting := tuple(student for student in self._students if fits(found, student)):
                return Match(fitting, sure)
        return Match(_closest(found, self._students))

    def _is_noise(self, word: str) -> bool:
        return word in self._noise or NUMBER.fullmatch(word) is not None


def _pieces(parts: list[str]) -> Iterator[str]:
    """All ways to write neighbouring words in one: ece, ece8803, ece8803hml, 8803hml, …"""
    for start in range(len(parts)):
        for end in range(start, len(parts)):
            yield "".join(parts[start : end + 1])


def _is_full_name(found: list[str], student: Student) -> bool:
    first, last = squashed(student.first), squashed(student.last)
    is_login = len(found) == 1 and found[0] in student.ids
    return is_login or "".join(found) in {first + last, last + first} - {""}


def _is_short_name(found: list[str], student: Student) -> bool:
    """The class list has middle names that the file has not."""
    first, last = words(student.first), words(student.last)
    wanted = {*last, *first[:1]}
    return bool(first and last) and (
        wanted <= set(found) <= {*first, *last} or "".join(found) in _forms(student)
    )


def _has_more_words(found: list[str], student: Student) -> bool:
    """A middle name that the class list does not have."""
    first, last = words(student.first), words(student.last)
    if not first or not last:
        return False
    longer = any(
        "".join(found).startswith(form) and len("".join(found)) >= len(form) + 4
        for form in _forms(student)
    )
    return {*last, *first[:1]} <= set(found) or longer


def _has_part(found: list[str], student: Student) -> bool:
    """One of two last names, an initial, or the last name and nothing that contradicts it."""
    first, last = words(student.first), words(student.last)
    initials = {word[0] for word in first}
    rest = [word for word in found if word not in last]
    return len(rest) < len(found) and all(word in first or word in initials for word in rest)


STEPS: tuple[tuple[bool, Callable[[list[str], Student], bool]], ...] = (
    (True, _is_full_name),
    (True, _is_short_name),
    (False, _has_more_words),
    (False, _has_part),
)


def _forms(student: Student) -> set[str]:
    """The name in one piece, without middle names, either name in front."""
    first, last = words(student.first)[:1], squashed(student.last)
    return {last + first[0], first[0] + last} if first and last else set()


def _closest(found: list[str], students: Iterable[Student]) -> tuple[Student, ...]:
    """Who is meant by a misspelt name; several if that is not clear."""
    name = "".join(found)[:LONGEST_NAME]
    scores = {student: _closeness(name, student) for student in students} if name else {}
    best = max(scores.values(), default=0.0)
    if best < CLOSE:
        return ()
    return tuple(student for student, score in scores.items() if score >= min(CLOSE, best - 0.1))


def _closeness(name: str, student: Student) -> float:
    """How alike the two names are, each for itself: ``Wen Zhang`` is not ``Wei Zhang``."""
    first, last = squashed(student.first), squashed(student.last)
    if not first or not last:
        return 0.0
    best = 0.0
    for left, right in ((first, last), (last, first)):
        # A split elsewhere cannot be close: the parts would differ too much in length.
        for at in range(max(1, len(left) - 3), min(len(name), len(left) + 4)):
            best = max(best, min(_ratio(name[:at], left), _ratio(name[at:], right)))
    return best


def _ratio(one: str, other: str) -> float:
    if one != other and (one.startswith(other) or other.startswith(one)):
        return 0.0  # Jan, Jane and Janet are three people
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return matcher.ratio() if matcher.real_quick_ratio() >= CLOSE else 0.0
