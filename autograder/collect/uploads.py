"""Finds the hand-ins in a folder, or in an LMS' bulk download."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from autograder.collect.archive import Refused, is_junk, open_zip, parts_of
from autograder.collect.bulk import take_out
from autograder.collect.records import Bounds, CollectError, shown
from autograder.collect.zips import Wanted
from autograder.remark import Remark

# Canvas: the account's name, LATE, its number, the file's number, the file's name. With
# anonymous grading there is no name, and a code in place of the number.
CANVAS = re.compile(
    r"(?:(?P<name>[^\W\d].*?)_(?:(?P<late>LATE)_)?(?P<user>\d+)"
    r"|(?:(?P<anonymous_late>LATE)_)?(?P<code>anon_\w+?))"
    r"_(?P<file>\d+)_(?P<original>.+)",
    re.S,
)
ARCHIVES = {".zip", ".rar", ".7z", ".tar", ".gz", ".tgz", ".bz2", ".xz"}
ATTEMPT = re.compile(r"(?:-(\d{1,9})|\((\d{1,9})\))$")  # Canvas, browsers: "x-1.zip", "x (1).zip"


@dataclass(frozen=True)
class Upload:
    """One zip that was handed in, or the loose files of one student."""

    files: tuple[Path, ...]
    name: str
    """The name of the file, or of the first of them."""
    labels: tuple[str, ...]
    """What may name the student, the likeliest first."""
    uploaded: datetime
    user: str = ""
    """The LMS' number of the student."""
    number: int = 0
    """The LMS' number of the upload: a later one is larger."""
    attempt: int = 0
    late: bool = False
    loose: bool = False
    folder: str = ""
    """The folder of the source that it lies in; empty for the source itself."""
    owner: int = -1
    """The number of the user to whom it belongs on disk."""
    trouble: Remark | None = None
    """Why it could not even be taken out of the bulk download."""

    @property
    def title(self) -> str:
        """What it is called, for people to read."""
        more = f" and {len(self.files) - 1} more" if len(self.files) > 1 else ""
        return f"'{shown(self.name)}'{more}"


def name_before_upload(path: Path) -> str:
    """What a student called a file, before Canvas wrote something in front."""
    canvas = CANVAS.fullmatch(path.name)
    return canvas["original"] if canvas else path.name


def find_uploads(
    source: Path, hold: Path, into: Path, limits: Bounds, wanted: Wanted
) -> list[Upload]:
    """All hand-ins in ``source``: a folder, a zip of hand-ins, or a single hand-in.

    A zip of hand-ins is unpacked into the folder ``hold``. What lies below ``into`` is no
    hand-in.

    Raises:
        CollectError: there is no such file or folder.
    """
    if source.is_dir():
        paths = [path for path in _below(source, wanted) if into not in path.parents]
        return _uploads(source, paths, wanted)
    if not source.is_file():
        raise CollectError(f"{source} is not there: give a folder of zips, or a bulk download")
    if not _is_hand_in([source.name], wanted):
        raise CollectError(f"{source} is no hand-in: give a folder of zips, or a bulk download")
    try:
        with source.open("rb") as file, open_zip(file, limits) as archive:
            entries = [info for info in archive.infolist() if _is_hand_in(parts_of(info), wanted)]
            if any(_is_bulk(parts_of(info)[-1]) for info in entries):
                troubles = take_out(archive, entries, hold, limits)
                when = datetime.fromtimestamp(source.stat().st_mtime, UTC)
                return _uploads(hold, _below(hold, wanted), wanted) + [
                    Upload(
                        (source,), name, uploaded=when, trouble=trouble, **vars(_from_name(name))
                    )
                    for name, trouble in troubles
                ]
    except Refused:
        pass  # a hand-in that is broken: it is told when it is read
    return _uploads(source.parent, [source], wanted)


def has_accounts(uploads: Collection[Upload]) -> bool:
    """Whether an LMS wrote accounts in front of names: most have one, and few could be forged."""
    return 2 * sum(bool(upload.user) for upload in uploads) > len(uploads)


def newest_first(uploads: Iterable[Upload]) -> list[Upload]:
    """The order in which one student's uploads count; a zip before loose files."""
    found = sorted(uploads, key=lambda upload: upload.title)
    numbered = all(upload.number for upload in found)

    def age(upload: Upload) -> tuple[bool, int, datetime, int]:
        number = upload.number if numbered else 0
        return not upload.loose, number, upload.uploaded, upload.attempt

    return sorted(found, key=age, reverse=True)


def _below(folder: Path, wanted: Wanted) -> list[Path]:
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and _is_hand_in(list(path.relative_to(folder).parts), wanted)
    ]


def _is_hand_in(parts: list[str], wanted: Wanted) -> bool:
    if not parts or is_junk(parts[:-1]) or parts[-1].startswith("._"):
        return False
    name = parts[-1]
    return bool(_is_bulk(name) or wanted.match(name) or _suffix(name) in ARCHIVES)


def _is_bulk(name: str) -> bool:
    return name.casefold().endswith(".zip") or CANVAS.fullmatch(name) is not None


def _suffix(name: str) -> str:
    return os.path.splitext(name)[1].casefold()


def _uploads(folder: Path, paths: list[Path], wanted: Wanted) -> list[Upload]:
    """One for each archive; loose files of one account or in one folder belong together."""
    bundles: dict[object, list[Path]] = {}
    key: object
    found = []
    for path in paths:
        canvas = CANVAS.fullmatch(path.name)
        if not wanted.match(name_before_upload(path)):
            found.append(_upload((path,), folder))
        elif canvas:
            key = (path.parent, canvas["name"], canvas["user"], canvas["code"])
            bundles.setdefault(key, []).append(path)
        else:
            key = path if path.parent == folder else path.relative_to(folder).parts[0]
            bundles.setdefault(key, []).append(path)
    return found + [_upload(tuple(bundle), folder, loose=True) for bundle in bundles.values()]


def _upload(files: tuple[Path, ...], folder: Path, loose: bool = False) -> Upload:
    path = files[0]
    outer = path.relative_to(folder).parts[:-1]
    fields = _from_name(path.name)
    if outer and loose and not fields.user:
        fields = _from_name(outer[0])
    elif outer:
        fields = replace(fields, labels=(*fields.labels, outer[0]))
    stats = [file.stat() for file in files]
    when = datetime.fromtimestamp(max(stat.st_mtime for stat in stats), UTC)
    fields = replace(fields, folder=outer[0] if outer else "", owner=stats[0].st_uid)
    return Upload(files, path.name, uploaded=when, loose=loose, **vars(fields))


@dataclass(frozen=True)
class _Fields:
    """What the name of a file tells."""

    labels: tuple[str, ...]
    user: str = ""
    number: int = 0
    attempt: int = 0
    late: bool = False
    folder: str = ""
    owner: int = -1


def _from_name(name: str) -> _Fields:
    stem = os.path.splitext(name)[0] if _suffix(name) else name
    attempt = ATTEMPT.search(stem)
    again = int(attempt[1] or attempt[2]) if attempt else 0
    canvas = CANVAS.fullmatch(stem)
    if not canvas:
        return _Fields((stem,), attempt=again)
    labels = (canvas["name"], canvas["original"]) if canvas["name"] else (canvas["original"],)
    return _Fields(
        labels,
        user=canvas["user"] or canvas["code"],
        number=int(canvas["file"][:18]),
        attempt=again,
        late=bool(canvas["late"] or canvas["anonymous_late"]),
    )
