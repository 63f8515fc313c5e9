"""Reads what can be graded out of a zip from a stranger, and writes nothing.

Only notebooks, .dot files and the tables that a lab asks for are read, each up to its limit,
into memory. Where an entry says that it belongs has no effect: the caller chooses where its
bytes go.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from autograder.collect.archive import Refused, is_junk, obstacle, open_zip, parts_of, read_at_most
from autograder.collect.records import Limits, Notes, Remark, RemarkKind, shown
from autograder.collect.words import usual

# Browsers and mail programs append .txt or .json to what they do not know.
READABLE = re.compile(
    r"(?P<stem>.+)\.(?P<kind>ipynb|dot|csv)(?:\.txt|\.json)?", re.IGNORECASE | re.S
)
SENTENCES = {
    RemarkKind.ENCRYPTED: "Protected by a password, and not read: {things}.",
    RemarkKind.UNREADABLE: "Damaged inside the zip, and not read: {things}.",
    RemarkKind.TOO_BIG: "Too big, and not read: {things}.",
    RemarkKind.UNSAFE_PATH: "The zip asks to write outside its folder ({things}); it was not let.",
    RemarkKind.NOT_A_FILE: "Links or devices and no files, and left out: {things}.",
    RemarkKind.NESTED_ZIP: "A zip in a zip in the zip, and not opened: {things}.",
    RemarkKind.EXTRA_FILES: "Not asked for, and left out: {things}.",
}


@dataclass(frozen=True)
class Wanted:
    """Which files of a hand-in are read: all notebooks and .dot files, and some tables."""

    tables: tuple[str, ...] = ()
    """The CSV files that the lab asks for; others are none of a hand-in."""

    def match(self, name: str) -> re.Match[str] | None:
        """``stem`` and ``kind`` of a file that is read; None for any other."""
        found = READABLE.fullmatch(name)
        if found and found["kind"].casefold() == "csv" and not self.table(found["stem"]):
            return None
        return found

    def table(self, stem: str) -> str | None:
        """The table that a file is, whatever copying and downloading made of its name."""
        return next((t for t in self.tables if usual(stem) == usual(t.rpartition(".")[0])), None)


@dataclass(frozen=True)
class Member:
    """A notebook, a .dot file or a table, as it was handed in."""

    path: str
    """Where it lies in the zip, for people to read."""
    stem: str
    kind: str
    """``ipynb``, ``dot`` or ``csv``."""
    data: bytes
    saved: tuple[int, ...] = ()
    """Year, month, day, …: when it was last changed, as the zip says."""


@dataclass(frozen=True)
class Contents:
    """What a hand-in holds that can be graded."""

    members: tuple[Member, ...]
    remarks: tuple[Remark, ...]


def unpack(path: Path, limits: Limits, wanted: Wanted) -> Contents:
    """What can be graded in the zip at ``path``; nothing that is wrong with it raises."""
    reader = _Reader(limits, wanted)
    try:
        with path.open("rb") as file:
            reader.read_zip(file, path.stat().st_size)
    except Refused as refused:
        return Contents((), (refused.remark,))
    except OSError as error:
        return Contents((), (Remark(RemarkKind.UNREADABLE, f"Cannot be read: {error.strerror}."),))
    return Contents(tuple(reader.members), reader.remarks())


def loose_files(files: Iterable[tuple[str, Path]], limits: Limits, wanted: Wanted) -> Contents:
    """What can be graded in files that were handed in without a zip; each with its name."""
    reader = _Reader(limits, wanted)
    for name, path in files:
        try:
            with path.open("rb") as file:
                reader.keep(name, file, path.stat().st_size, ())
        except OSError:
            reader.notes.add(RemarkKind.UNREADABLE, shown(name))
    return Contents(tuple(reader.members), reader.remarks())


class _Reader:
    """Reads one hand-in, with one account of bytes for all that is in it."""

    def __init__(self, limits: Limits, wanted: Wanted) -> None:
        self.members: list[Member] = []
        self.notes = Notes()
        self._limits, self._wanted = limits, wanted
        self._left = limits.total
        self._bomb: Remark | None = None

    def remarks(self) -> tuple[Remark, ...]:
        return (*([self._bomb] if self._bomb else []), *self.notes.remarks(SENTENCES))

    def read_zip(self, file: IO[bytes], size: int, outer: str = "") -> None:
        """Keep what is wanted; ``outer`` is the name of the zip that this one lies in."""
        with open_zip(file, self._limits) as archive:
            unpacked = sum(info.file_size for info in archive.infolist())
            if unpacked > self._limits.total and unpacked > self._limits.ratio * size:
                self._bomb = Remark(
                    RemarkKind.ZIP_BOMB,
                    f"A zip bomb: it would unpack to {unpacked / 1e6:,.0f} MB, "
                    f"{unpacked // max(size, 1):,} times its size; only notebooks and .dot "
                    "files were read, within limits.",
                )
            for info in archive.infolist():
                self._read_entry(archive, info, outer)

    def _read_entry(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, outer: str) -> None:
        parts = parts_of(info)
        path = "/".join([*([outer] if outer else []), *parts])
        if ".." in parts or re.match(r"[/\\]|[A-Za-z]:", info.filename):
            self.notes.add(RemarkKind.UNSAFE_PATH, shown(info.filename))
        if not parts or info.filename[-1] in "/\\" or is_junk(parts):
            return
        inner_zip = parts[-1].casefold().endswith(".zip")
        if not self._wanted.match(parts[-1]) and not inner_zip:
            self.notes.add(RemarkKind.EXTRA_FILES, shown(path))
        elif kind := obstacle(info):
            self.notes.add(kind, shown(path))
        elif inner_zip and outer:
            self.notes.add(RemarkKind.NESTED_ZIP, shown(path))
        else:
            try:
                with archive.open(info) as stream:
                    self.keep(path, stream, info.file_size, info.date_time)
            except Exception:  # a damaged entry may raise anything
                self.notes.add(RemarkKind.UNREADABLE, shown(path))

    def keep(self, path: str, stream: IO[bytes], size: int, saved: tuple[int, ...]) -> None:
        """Read a member; a zip is opened in turn."""
        wanted = self._wanted.match(path.rpartition("/")[2])
        kind = wanted["kind"].casefold() if wanted else "zip"
        most = {"ipynb": self._limits.notebook, "zip": self._limits.nested}
        limit = min(most.get(kind, self._limits.dot), self._left)
        if size > limit:
            self.notes.add(RemarkKind.TOO_BIG, shown(path))
            return
        data = read_at_most(limit + 1, stream)  # what a zip says about sizes may be a lie
        self._left -= len(data)
        if len(data) > limit:
            self.notes.add(RemarkKind.TOO_BIG, shown(path))
        elif wanted:
            self.members.append(Member(path, wanted["stem"], kind, data, saved))
        else:
            try:
                self.read_zip(io.BytesIO(data), len(data), outer=path)
            except Refused:
                self.notes.add(RemarkKind.UNREADABLE, shown(path))
