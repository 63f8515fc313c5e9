"""The zip that is handed in: whole or not there at all, opened again, earlier ones kept."""

from __future__ import annotations

import errno
import io
import shutil
import zipfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from lab_utils.kit.errors import LabError
from lab_utils.kit.files import write_whole

EARLIER = "packed before"  # the folder for zips that a new one replaces

_CURES = {
    errno.ENAMETOOLONG: "give a shorter name",
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "make room on this disk, and pack again"),
    **dict.fromkeys(
        (errno.EACCES, errno.EPERM, errno.EROFS),
        "copy the folder to where you may write, and pack there",
    ),
}


class PackError(LabError):
    """It cannot be packed; the message says why, and what to do."""


def write_zip(target: Path, contents: Mapping[str, bytes], release: str = "") -> None:
    """Write ``contents`` to ``target`` and read it back; the zip notes its ``release``.

    An earlier zip with other contents is kept in the folder ``EARLIER``.

    Raises:
        PackError: it cannot be written; what was there before is unchanged.
    """
    packed = io.BytesIO()
    try:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, content in contents.items():
                archive.writestr(member, content)
            archive.comment = release.encode()
        if target.exists() and _read(target) != contents:
            _keep(target)
        write_whole(target, packed.getvalue())
        if _read(target) != contents:
            raise PackError(f"{target} does not hold what was packed: the disk may be full")
    except OSError as error:
        cure = _CURES.get(error.errno or 0, "see whether the disk is there, and pack again")
        raise PackError(f"cannot write {target} ({error.strerror}): {cure}") from None


def _read(path: Path) -> dict[str, bytes] | None:
    """What is in a zip; None if it is none."""
    try:
        with zipfile.ZipFile(path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except zipfile.BadZipFile:
        return None


def _keep(earlier: Path) -> None:
    packed = datetime.fromtimestamp(earlier.stat().st_mtime).strftime("%Y-%m-%d %H.%M.%S")
    folder = earlier.parent / EARLIER / packed
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy2(earlier, folder)


def contents(path: Path) -> str:
    """What is in the zip, one line for each file, and where earlier zips are."""
    with zipfile.ZipFile(path) as archive:
        lines = [f"  {info.filename:28} {info.file_size:>9,} bytes" for info in archive.infolist()]
    if (earlier := path.parent / EARLIER).is_dir():
        lines.append(f"What you packed earlier is kept in {earlier}")
    return "\n".join(lines)
