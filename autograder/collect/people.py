"""Sorts hand-ins by student: one person for each, the newest upload first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from autograder.collect.names import Match, Names
from autograder.collect.records import RemarkKind, listed, shown
from autograder.collect.roster import NOBODY, Roster, Student
from autograder.collect.uploads import Upload, has_accounts, newest_first
from autograder.collect.words import slug, words
from autograder.remark import Remark


@dataclass(frozen=True)
class Person:
    """Who handed something in: a student of the class, or a name that is not in the list."""

    student: str
    """The id: safe as a folder's name, and nobody else's."""
    name: str
    uploads: tuple[Upload, ...]
    """The newest first."""
    remarks: tuple[Remark, ...] = ()
    perhaps: tuple[str, ...] = ()
    """Ids of students whose it may be, if that is not clear."""


@dataclass(frozen=True)
class _Group:
    """Uploads under one and the same name, or of one account of the LMS."""

    label: str
    uploads: tuple[Upload, ...]

    @property
    def user(self) -> str:
        return self.uploads[0].user

    def person(self, student: str, *remarks: Remark, name: str = "") -> Person:
        uploads = tuple(newest_first(self.uploads))
        return Person(student, name or shown(self.label).strip(" _-"), uploads, remarks)


def people(uploads: Sequence[Upload], names: Names, roster: Roster | None) -> list[Person]:
    """Who handed in what; each upload belongs to exactly one person."""
    groups = _groups(uploads, names)
    if roster is None:
        strangers = [group.person(slug(group.label)) for group in groups]
        return list(_with_ids_of_their_own(strangers, roster))
    return list(_with_ids_of_their_own(_by_roster(groups, names, has_accounts(uploads)), roster))


def _groups(uploads: Iterable[Upload], names: Names) -> list[_Group]:
    groups: defaultdict[tuple[str, ...], list[Upload]] = defaultdict(list)
    labels: dict[tuple[str, ...], str] = {}
    for upload in uploads:
        label, telling = next(
            ((label, told) for label in upload.labels if (told := names.telling(label))),
            (upload.labels[0], []),
        )
        beside = [student.id for student in _folder_match(upload, names).students]
        key = (upload.user, *(telling or words(label) or [label]), "/", *beside)
        labels[key] = _name_in(label, telling)
        groups[key].append(upload)
    return [_Group(labels[key], tuple(groups[key])) for key in sorted(groups)]


def _name_in(label: str, telling: list[str]) -> str:
    """The part of a label that names somebody, as it is written there."""
    parts = label.replace("_", " ").split()
    kept = [part for part in parts if set(words(part)) & set(telling)]
    return " ".join(kept) or label


def _by_roster(groups: list[_Group], names: Names, is_bulk: bool) -> Iterator[Person]:
    claims: defaultdict[Student, list[tuple[_Group, bool]]] = defaultdict(list)
    for group in groups:
        match = _match(group, names)
        if len(match.students) == 1:
            claims[match.students[0]].append((group, match.sure))
        elif match.students:
            yield from _unclear(group, match.students)
        else:
            text = (
                f"Nobody in the class list is called '{shown(group.label)}'; it is graded under a "
                "name of its own."
            )
            yield group.person(NOBODY + slug(group.label), Remark(RemarkKind.NOT_IN_ROSTER, text))
    for student, claimed in claims.items():
        sure = [group for group, is_sure in claimed if is_sure]
        guessed = [group for group, is_sure in claimed if not is_sure]
        # Two people of that name; in a plain folder anybody can write what looks like accounts.
        if is_bulk and len({group.user for group in sure if group.user}) > 1:
            guessed, sure = sure + guessed, []
        if sure:
            uploads = tuple(upload for group in sure for upload in group.uploads)
            yield replace(sure[0], uploads=uploads).person(student.id, name=student.name)
        elif len(guessed) == 1:
            called = shown(guessed[0].label)
            text = f"'{called}' was taken for {student.name} ({student.id}): the closest name."
            remark = Remark(RemarkKind.CLOSE_MATCH, text)
            yield guessed[0].person(student.id, remark, name=student.name)
            continue
        for group in guessed:  # others have a better or an equal claim
            yield from _unclear(group, (student,))


def _match(group: _Group, names: Names) -> Match:
    """By the first label that tells anything; if that names nobody, the others may be guesses."""
    first = True
    beside = _folder_match(group.uploads[0], names)
    for label in group.uploads[0].labels:
        match = names.match(label, group.user)
        if match.students:
            if beside.students and not set(beside.students) & set(match.students):
                return Match(match.students + beside.students)  # one's folder, another's name
            return replace(match, sure=match.sure and first)
        first = first and not names.telling(label)
    return match


def _folder_match(upload: Upload, names: Names) -> Match:
    """Whose the folder is, if it says so in full: an LMS may write the account there."""
    match = names.match(upload.folder) if upload.folder and not upload.user else Match(())
    return match if match.sure else Match(())


def _unclear(group: _Group, students: tuple[Student, ...]) -> Iterator[Person]:
    """Nothing is given to the wrong student: each upload gets a row of its own."""
    who = listed([f"{student.name} ({student.id})" for student in students])
    doubt = f"fits {who}"
    if len(students) == 1:
        doubt = f"nearly fits {who}, but another hand-in fits as well or better"
    rest = "it is graded under a name of its own: rename it if you know more"
    text = f"'{shown(group.label)}' {doubt}; {rest}."
    remark = Remark(RemarkKind.AMBIGUOUS, text)
    together = [group.uploads] if group.user else [(upload,) for upload in group.uploads]
    for uploads in together:
        person = replace(group, uploads=uploads).person(NOBODY + slug(group.label), remark)
        yield replace(person, perhaps=tuple(student.id for student in students))


def _with_ids_of_their_own(found: Iterable[Person], roster: Roster | None) -> Iterator[Person]:
    people = sorted(found, key=lambda person: (person.student, person.uploads[0].name))
    enrolled = {student.id for student in roster} if roster else set()
    wanted = [person.student for person in people]
    taken = {student.casefold() for student in (*enrolled, *wanted)}
    for person in people:
        if person.student in enrolled or wanted.count(person.student) == 1:
            yield person
            continue
        user = slug(person.uploads[0].user) if person.uploads[0].user else ""
        options = [f"{person.student}-{user}"] if user else []
        options += [f"{person.student}-{number}" for number in range(1, len(people) + 1)]
        student = next(option for option in options if option.casefold() not in taken)
        taken.add(student.casefold())
        yield replace(person, student=student)
