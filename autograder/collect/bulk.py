"""Takes the hand-ins out of an LMS' bulk download."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from time import mktime
from zipfile import ZipFile, ZipInfo

from autograder.collect.archive import Refused, obstacle, parts_of, read_at_most
from autograder.collect.records import Bounds, RemarkKind, shown
from autograder.collect.zips import SENTENCES
from autograder.remark import Remark


def take_out(
    archive: ZipFile, entries: list[ZipInfo], folder: Path, limits: Bounds
) -> list[tuple[str, Remark]]:
    """Write hand-ins below ``folder``, in place of what is there.

    Returns:
        The names of those that cannot be read, and why.
    """
    shutil.rmtree(folder, ignore_errors=True)
    troubles = []
    for info in entries:
        try:
            data, moment = _read(archive, info, limits)
        except Refused as refused:
            troubles.append((parts_of(info)[-1], refused.remark))
        else:
            path = _free_path(folder, parts_of(info))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            os.utime(path, (moment, moment))
    return troubles


def _read(archive: ZipFile, info: ZipInfo, limits: Bounds) -> tuple[bytes, float]:
    """Content and time of one hand-in.

    Raises:
        Refused: it cannot be read.
    """
    kind = obstacle(info) or (RemarkKind.TOO_BIG if info.file_size > limits.upload else None)
    if kind is None:
        try:
            with archive.open(info) as stream:
                data = read_at_most(limits.upload, stream)
        except Exception:  # a damaged entry may raise anything
            kind = RemarkKind.UNREADABLE
    if kind is not None:
        raise Refused(kind, SENTENCES[kind].format(things=shown(parts_of(info)[-1])))
    try:
        return data, mktime((*info.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return data, 0.0


def _free_path(folder: Path, parts: list[str]) -> Path:
    """A path below ``folder`` that is not taken yet, however absurd the names are."""
    safe = [
        re.sub(r'[\x00-\x1f<>:"|?*\ud800-\udfff]', "_", part).strip(" .") or "_"
        for part in parts
        if part not in (".", "..")
    ]
    stem, suffix = os.path.splitext(safe[-1])
    stem = stem.encode()[:150].decode(errors="ignore")
    parent = folder.joinpath(*(p.encode()[:100].decode(errors="ignore") for p in safe[:-1][:3]))
    if any(above.is_file() for above in (parent, *parent.parents)):
        parent = folder
    names = _numbered(stem, suffix[:20])
    return next(path for name in names if not (path := parent / name).exists())


def _numbered(stem: str, suffix: str) -> Iterator[str]:
    yield f"{stem}{suffix}"
    yield from (f"{stem} ({number}){suffix}" for number in count(1))
