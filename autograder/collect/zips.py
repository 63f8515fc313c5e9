"""Reads what can be graded out of a zip from a stranger, and writes nothing.

Only notebooks and the files that a lab asks for are read, each up to its limit, into memory.
Where an entry says that it belongs has no effect: the caller chooses where its bytes go.
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
from autograder.collect.records import Bounds, Notes, RemarkKind, shown
from autograder.collect.words import usual
from autograder.remark import Remark
from lab_utils.kit.course import RELEASE_NAME

# Browsers and mail programs append .txt or .json to what they do not know.
APPENDED = re.compile(r"\.(?:txt|json)\Z", re.IGNORECASE)
NOTEBOOK = "ipynb"
RELEASE = re.compile(rf"{re.escape(RELEASE_NAME)}-[\w.]{{1,40}}-[0-9a-f]{{8}}")
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
    """Which files of a hand-in are read: all notebooks, and the files that the lab asks for."""

    files: tuple[str, ...] = ()

    def match(self, name: str) -> str | None:
        """``ipynb`` for a notebook, the wanted file for another that is read, None for the rest.

        Copying and downloading may have changed a name: ``memory (1).csv.txt``.
        """
        for given in dict.fromkeys((name, APPENDED.sub("", name))):
            stem, _, ending = given.rpartition(".")
            if stem and ending.casefold() == NOTEBOOK:
                return NOTEBOOK
            if given in self.files:
                return given
            alike = [file for file in self.files if _is_copy(stem, ending, file)]
            if len(alike) == 1:
                return alike[0]
        return None


def _is_copy(stem: str, ending: str, file: str) -> bool:
    wanted, _, kind = file.rpartition(".")
    return ending.casefold() == kind.casefold() and usual(stem) == usual(wanted)


@dataclass(frozen=True)
class Member:
    """A notebook, or a file that the lab asks for, as it was handed in."""

    path: str
    """Where it lies in the zip, for people to read."""
    wanted: str
    """``ipynb``, or the file of the lab that it is."""
    data: bytes
    saved: tuple[int, ...] = ()
    """Year, month, day, …: when it was last changed, as the zip says."""

    @property
    def name(self) -> str:
        """What it is called, without what programs append."""
        return APPENDED.sub("", self.path.rpartition("/")[2])

    @property
    def stem(self) -> str:
        """The same without its ending."""
        return self.name.rpartition(".")[0]


@dataclass(frozen=True)
class Contents:
    """What a hand-in holds that can be graded."""

    members: tuple[Member, ...]
    remarks: tuple[Remark, ...]
    release: str = ""
    """The release that it was made from, as the packer noted it; empty: nobody knows."""


def unpack(path: Path, limits: Bounds, wanted: Wanted) -> Contents:
    """What can be graded in the zip at ``path``; nothing that is wrong with it raises."""
    reader = _Reader(limits, wanted)
    try:
        with path.open("rb") as file:
            reader.read_zip(file, path.stat().st_size)
    except Refused as refused:
        return Contents((), (refused.remark,))
    except OSError as error:
        return Contents((), (Remark(RemarkKind.UNREADABLE, f"Cannot be read: {error.strerror}."),))
    return Contents(tuple(reader.members), reader.remarks(), reader.release)


def loose_files(files: Iterable[tuple[str, Path]], limits: Bounds, wanted: Wanted) -> Contents:
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

    def __init__(self, limits: Bounds, wanted: Wanted) -> None:
        self.members: list[Member] = []
        self.notes = Notes()
        self._limits, self._wanted = limits, wanted
        self._left = limits.total
        self._bomb: Remark | None = None
        self.release = ""

    def remarks(self) -> tuple[Remark, ...]:
        return (*([self._bomb] if self._bomb else []), *self.notes.remarks(SENTENCES))

    def read_zip(self, file: IO[bytes], size: int, outer: str = "") -> None:
        """Keep what is wanted; ``outer`` is the name of the zip that this one lies in."""
        with open_zip(file, self._limits) as archive:
            if noted := RELEASE.fullmatch(archive.comment[:200].decode("ascii", "replace")):
                self.release = noted[0]
            unpacked = sum(info.file_size for info in archive.infolist())
            if unpacked > self._limits.total and unpacked > self._limits.ratio * size:
                self._bomb = Remark(
                    RemarkKind.ZIP_BOMB,
                    f"A zip bomb: it would unpack to {unpacked / 1e6:,.0f} MB, "
                    f"{unpacked // max(size, 1):,} times its size; only what the lab "
                    "asks for was read, within limits.",
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
        most = {NOTEBOOK: self._limits.notebook, None: self._limits.nested}
        limit = min(most.get(wanted, self._limits.file), self._left)
        if size > limit:
            self.notes.add(RemarkKind.TOO_BIG, shown(path))
            return
        data = read_at_most(limit + 1, stream)  # what a zip says about sizes may be a lie
        self._left -= len(data)
        if len(data) > limit:
            self.notes.add(RemarkKind.TOO_BIG, shown(path))
        elif wanted:
            self.members.append(Member(path, wanted, data, saved))
        else:
            try:
                self.read_zip(io.BytesIO(data), len(data), outer=path)
            except Refused:
                self.notes.add(RemarkKind.UNREADABLE, shown(path))
