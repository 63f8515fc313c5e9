"""Collects a class: from a folder of zips, or an LMS' bulk download, to what nbgrader grades.

One bad hand-in never stops the class. What is handed in is only read: notebooks are mended
and written anew, the files that the lab asks for are copied, everything else is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, replace
from hashlib import file_digest
from pathlib import Path

from autograder.collect.claims import Claim, Claims, source_of
from autograder.collect.gradable import gradable
from autograder.collect.names import Names
from autograder.collect.people import Person, people
from autograder.collect.records import Bounds, CollectError, HandIn, RemarkKind, listed, shown
from autograder.collect.released import Released, read_released
from autograder.collect.roster import Roster, RosterError, Student, read_roster
from autograder.collect.shelf import Card, Shelf, digest
from autograder.collect.uploads import Upload, find_uploads, name_before_upload
from autograder.collect.zips import Contents, Wanted, loose_files, unpack
from autograder.remark import Remark
from lab_utils.kit.course import read_course
from lab_utils.kit.lab import handed_in
from lab_utils.kit.root import ROOT

LIMITS = Bounds()
VERSION = "5"  # raise it when the same hand-in gives other files or remarks than before


def collect(
    source: Path,
    lab: str,
    into: Path,
    roster: Roster | None = None,
    *,
    root: Path = ROOT,
    limits: Bounds = LIMITS,
    accept: Collection[str] = (),
) -> list[HandIn]:
    """Put what a class handed in where nbgrader grades it: ``into/<student>/<lab>/``.

    Each file in ``source`` belongs to one row of the result, which is sorted by student. What
    was collected before and has not changed is left alone.

    Args:
        source: a folder of zips, an LMS' bulk download (a folder, or one zip), or one zip.
        lab: its id in ``setup/course.toml``.
        into: nbgrader's folder of submissions. Nothing else is written.
        roster: the class; without it, students are called what their files are called.
        root: the course, with ``setup/`` and the released ``notebooks/``.
        limits: how much is read of a hand-in.
        accept: names of uploads that count, whatever else there is for the same student.

    Raises:
        CollectError: ``source`` is not there, or the notebooks of the lab are not built; or
            there is no upload of a name in ``accept``.
        CourseError: there is no such lab.
    """
    source, into = source.resolve(), into.resolve()
    if into == source or into in source.parents:
        raise CollectError(f"{source} lies in {into}, where submissions go: move it elsewhere")
    course = read_course(root / "setup" / "course.toml")
    notebooks = course.lab(lab).notebooks
    wanted = Wanted(tuple(file.name for file in handed_in(lab)))
    folder = root / "notebooks" / lab
    release = {
        notebook.name: read_released(folder / f"{notebook.name}.ipynb") for notebook in notebooks
    }
    released = [digest((folder / f"{name}.ipynb").read_bytes()) for name in release]
    shelf = Shelf(into, lab)
    uploads = find_uploads(source, shelf.uploads, into, limits, wanted)
    origins = {upload: _origin(upload) for upload in uploads}
    if strange := set(accept) - {upload.name for upload in uploads}:
        raise CollectError(f"no upload is called {listed(sorted(map(repr, strange)))}")
    claims = Claims(origins, accept)
    names = Names(roster, (course.name, course.term, course.lab(lab).label, lab))
    rows = []
    for person in people(uploads, names, roster):
        facts = [VERSION, *released, *wanted.files, str(asdict(limits))]
        claim = claims.settle(person.uploads, shelf.before(person.student))
        parts = (claim.counting, claim.held, claim.same, claim.decided)
        person = replace(person, uploads=tuple(upload for part in parts for upload in part))
        facts += [origins[upload] for upload in person.uploads]
        facts += [f"{sum(map(len, parts[:end]))}" for end in range(1, len(parts))]
        key = digest("\n".join(facts).encode("utf-8", "replace"))
        card = shelf.card(person.student, key)
        if card is None:
            card, files = _collected(person, claim, key, origins, release, limits, wanted)
            shelf.put(person.student, card, files)
        rows.append(_row(person, card, shelf))
    shelf.remove_moved((row.student for row in rows), origins.values())
    return rows


def _origin(upload: Upload) -> str:
    """Name and digest of what was handed in."""
    found = [upload.name]
    for path in upload.files:
        try:
            with path.open("rb") as file:
                found.append(file_digest(file, "sha256").hexdigest())
        except OSError as error:
            found.append(str(error.strerror))
    return " ".join(found)


def _collected(
    person: Person,
    claim: Claim,
    key: str,
    origins: Mapping[Upload, str],
    release: Mapping[str, Released],
    limits: Bounds,
    wanted: Wanted,
) -> tuple[Card, dict[str, bytes]]:
    """What can be graded of the newest upload of which anything can be graded, if it counts."""
    tried = []
    for number, upload in enumerate(claim.counting):
        files, remarks, made_from = _files(upload, release, limits, wanted)
        tried.append((number, files, remarks, made_from))
        if files:
            break
    number, files, remarks, made_from = tried[-1] if tried[-1][1] else tried[0]
    if len(person.uploads) > 1:
        remarks = (*_about_others(person, claim, number), *remarks)
    if claim.replaces:
        text = f"'{shown(claim.replaces)}', which counted before, is no longer there."
        remarks = (*remarks, Remark(RemarkKind.OTHER_ORIGIN, text))
    if not files:
        text = "There is nothing in it that can be graded."
        remarks = (*remarks, Remark(RemarkKind.NOTHING_TO_GRADE, text))
    digests = {name: digest(data) for name, data in files.items()}
    upload = claim.counting[number]
    passed = tuple(origins[other] for other in claim.decided)
    about = (source_of(upload), upload.owner, passed, made_from)
    return Card(key, number, origins[upload], digests, remarks, *about), files


def _files(
    upload: Upload, release: Mapping[str, Released], limits: Bounds, wanted: Wanted
) -> tuple[dict[str, bytes], tuple[Remark, ...], str]:
    """What can be graded, what there is to say, and the release that it was made from."""
    if upload.trouble:
        return {}, (upload.trouble,), ""
    try:
        read = _read(upload, limits, wanted)
        if not read.members:
            return {}, read.remarks, read.release
        files, remarks = gradable(read.members, release, limits, wanted)
        return files, (*read.remarks, *remarks), read.release
    except Exception as error:  # a mistake of ours must not stop the class either
        what = shown(f"{type(error).__name__}: {error}", 200)
        text = f"The collector failed ({what}); please look at it."
        return {}, (Remark(RemarkKind.FAILED, text),), ""


def _read(upload: Upload, limits: Bounds, wanted: Wanted) -> Contents:
    if upload.loose:
        named = ((name_before_upload(path), path) for path in upload.files)
        return loose_files(named, limits, wanted)
    return unpack(upload.files[0], limits, wanted)


def _about_others(person: Person, claim: Claim, chosen: int) -> Iterator[Remark]:
    others = [upload.title for at, upload in enumerate(person.uploads) if at != chosen]
    which = "the newest" if chosen == 0 else "the newest that can be graded"
    if claim.held:
        which += " of its origin"
    elif claim.decided:
        which = "as was decided"
    elif claim.same and len(claim.counting) == 1:
        which = "others have the same content"
    text = f"{len(person.uploads)} uploads; {person.uploads[chosen].title} counts, {which}"
    text = f"{text}. Not graded: {listed(others, most=20)}."
    yield Remark(RemarkKind.SEVERAL_UPLOADS, text)
    if claim.held:
        held = listed([upload.title for upload in claim.held], most=20)
        text = (
            f"Held back: {held}, named after {person.name} but of another origin than what counts. "
            "Move away what is not theirs, or choose with --accept FILE."
        )
        yield Remark(RemarkKind.HELD_BACK, text)


def _row(person: Person, card: Card, shelf: Shelf) -> HandIn:
    upload = person.uploads[card.chosen]
    return HandIn(
        student=person.student,
        name=person.name,
        late=upload.late,
        uploaded=upload.uploaded,
        original=upload.files[0],
        folder=shelf.folder(person.student) if card.files else None,
        remarks=(*person.remarks, *card.remarks, *shelf.edited(person.student, card)),
        perhaps=person.perhaps,
        release=card.release,
    )
