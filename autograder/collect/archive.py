"""Opens zips that may be damaged or hostile, without trusting what they say of themselves."""

from __future__ import annotations

import io
import stat
import zipfile
from typing import IO

from autograder.collect.records import Bounds, RemarkKind
from autograder.remark import Remark

OTHER_ARCHIVES = {
    b"Rar!": "a RAR archive",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"%PDF": "a PDF",
    b"\x89PNG": "a picture",
    b"<!DO": "a web page",
    b"<htm": "a web page",
}
JUNK = {"__macosx", "__pycache__", "thumbs.db", "desktop.ini", "node_modules"}
# bzip2 and LZMA can turn a few bytes into gigabytes at one go: zlib alone keeps to a limit.
METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


class Refused(Exception):
    """The whole zip cannot be used; ``remark`` says why."""

    def __init__(self, kind: RemarkKind, text: str) -> None:
        """The remark's parts."""
        super().__init__(text)
        self.remark = Remark(kind, text)


def is_junk(parts: list[str]) -> bool:
    """Whether a path is what operating systems, editors and browsers leave behind."""
    return any(
        part.casefold() in JUNK or (part.startswith(".") and part not in (".", ".."))
        for part in parts
    )


class CarefulFile(io.RawIOBase):
    """A file that refuses to read more than ``most`` bytes at once, as long as that is set.

    ``zipfile`` reads the whole table of contents, however long a zip says that it is.
    """

    def __init__(self, file: IO[bytes], most: int | None) -> None:
        """``file`` stays open when this is closed."""
        self._file = file
        self.most = most

    def read(self, size: int = -1) -> bytes:
        if self.most is not None and size > self.most:
            raise Refused(RemarkKind.ZIP_BOMB, "A zip bomb: its table of contents is enormous.")
        return self._file.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True


def open_zip(file: IO[bytes], limits: Bounds) -> zipfile.ZipFile:
    """The zip in ``file``.

    Raises:
        Refused: it is none, is damaged, or has too many entries.
    """
    careful = CarefulFile(file, limits.directory)
    try:
        archive = zipfile.ZipFile(careful)
    except Refused:
        raise
    except Exception:  # zipfile has no list of what it raises for garbage
        file.seek(0)
        raise _not_a_zip(file.read(8)) from None
    careful.most = None
    if len(archive.infolist()) > limits.entries:
        raise Refused(
            RemarkKind.ZIP_BOMB,
            f"A zip bomb: it has {len(archive.infolist()):,} entries, {limits.entries:,} are "
            "the most that is read.",
        )
    return archive


def parts_of(info: zipfile.ZipInfo) -> list[str]:
    """Folders and name of an entry, whichever separator the zip program wrote."""
    return [part for part in info.filename.replace("\\", "/").split("/") if part]


def obstacle(info: zipfile.ZipInfo) -> RemarkKind | None:
    """Why an entry cannot be read, as far as the table of contents tells."""
    mode = stat.S_IFMT(info.external_attr >> 16)
    if mode not in (0, stat.S_IFREG):
        return RemarkKind.NOT_A_FILE
    if info.flag_bits & 0x1:
        return RemarkKind.ENCRYPTED
    if info.compress_type not in METHODS:
        return RemarkKind.UNREADABLE
    return None


def read_at_most(size: int, stream: IO[bytes]) -> bytes:
    """All of the stream, but never more than ``size`` bytes; in small steps."""
    pieces = []
    while size > 0 and (piece := stream.read(min(size, 1 << 20))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def _not_a_zip(start: bytes) -> Refused:
    if not start:
        return Refused(RemarkKind.NOT_A_ZIP, "The file is empty: the upload went wrong.")
    if start.startswith(b"PK\3\4"):
        return Refused(
            RemarkKind.TRUNCATED, "The zip is cut off or damaged: the upload went wrong."
        )
    what = next((what for magic, what in OTHER_ARCHIVES.items() if start.startswith(magic)), None)
    return Refused(
        RemarkKind.NOT_A_ZIP, f"Not a zip, {f'but {what}' if what else 'whatever it is called'}."
    )
