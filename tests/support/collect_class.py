"""A course with two small notebooks, its class, and the zips that are handed in: good and bad."""

from __future__ import annotations

import io
import json
import os
import stat
import struct
import zipfile
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.nbgraderformat import MetadataValidator

from autograder.authoring.build import build
from autograder.collect import Roster, Student
from autograder.collect.records import HandIn, RemarkKind
from autograder.remark import Remark
from tests.support.sample_course import COURSE, HEADER, LAB, make_course, write

Take = Callable[..., list[HandIn]]
"""Collects what is handed in, given by the name of each file."""
Files = dict[str, bytes]

FIRST, SECOND = "01_first", "02_second"
NOTEBOOKS = (FIRST, SECOND)
DOT = b"digraph { x -> y }"

SECOND_SOURCE = f"""{HEADER}\
# %% [markdown]
# # The second notebook
# Nothing of the first is needed.

# %%
numbers = [3, 1, 2]

# %% solution=t21
def smallest(numbers):
    \"\"\"The smallest of them.\"\"\"
    ### BEGIN SOLUTION
    return min(numbers)
    ### END SOLUTION

# %% test=t21_test points=1
assert smallest(numbers) == 1

# %% [markdown]
# ## The largest

# %% solution=t22
def largest(numbers):
    ### BEGIN SOLUTION
    return max(numbers)
    ### END SOLUTION

# %% test=t22_test points=1
assert largest(numbers) == 3
"""

ANSWERS = {
    "t11": "def doubled(x):\n    return 2 * x  # mine",
    "t12": "def root_of(square):\n    return round(square**0.5)",
    "q1": "Because it has *fewer gates*.",
    "t21": "def smallest(numbers):\n    return sorted(numbers)[0]",
    "t22": "def largest(numbers):\n    return sorted(numbers)[-1]",
}

JANE = Student("jdoe3", "Jane", "Doe", "jane.doe@school.edu")
ZOE = Student("zgarcia7", "Zoë Ana", "García Márquez", "zoe@school.edu")
LIAM = Student("loneil1", "Liam", "O'Neil")
WEI = Student("wzhang9", "Wei", "Zhang")
MICHAEL = Student("mstone2", "Michael", "Stone")
CLASS = Roster((JANE, ZOE, LIAM, WEI, MICHAEL))


def build_course(folder: Path) -> Path:
    """The course below ``folder``, with its notebooks built."""
    make_course(folder)
    entry = f'{{ name = "{FIRST}", points = 7 }}'
    both = f'{entry}, {{ name = "{SECOND}", points = 2 }}'
    write(folder / "setup" / "course.toml", COURSE.replace(entry, both))
    write(folder / "solutions" / LAB / f"{SECOND}.py", SECOND_SOURCE)
    build(folder)
    return folder


def zip_of(files: Mapping[str, bytes | str | NotebookNode], **options: Any) -> bytes:
    """A zip with these files, in this order."""
    return zip_of_pairs(files.items(), **options)


def zip_of_pairs(
    files: Iterable[tuple[str, bytes | str | NotebookNode]], mode: int = stat.S_IFREG | 0o644
) -> bytes:
    """A zip with these entries; a name may be there twice. ``mode`` is that of all of them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            info = zipfile.ZipInfo("x", (2025, 3, 1, 12, 0, 0))
            info.filename = name  # as it is: the constructor would mend some
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            with_warnings_off(archive, info, as_bytes(content))
    return buffer.getvalue()


def with_warnings_off(archive: zipfile.ZipFile, info: zipfile.ZipInfo, data: bytes) -> None:
    """Write an entry, even if there is one of that name."""
    archive.NameToInfo.pop(info.filename, None)
    archive.writestr(info, data)


def as_bytes(content: bytes | str | NotebookNode) -> bytes:
    """What a file with this content holds."""
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode()
    return nbformat.writes(content, version=nbformat.NO_CONVERT).encode()


def flagged(archive: bytes, flag: int) -> bytes:
    """The zip with a flag set in every entry (0x1: encrypted)."""
    changed = bytearray(archive)
    for signature, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        at = archive.find(signature)
        while at >= 0:
            (flags,) = struct.unpack_from("<H", archive, at + offset)
            struct.pack_into("<H", changed, at + offset, flags | flag)
            at = archive.find(signature, at + 1)
    return bytes(changed)


def put(folder: Path, files: Mapping[str, bytes], first_time: int = 1_700_000_000) -> Path:
    """Write files, each a minute after the one before."""
    for number, (name, data) in enumerate(files.items()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (first_time + 60 * number,) * 2)
    return folder


def kinds(remarks: HandIn | Iterable[Remark]) -> list[str]:
    """What the remarks are about."""
    found = remarks.remarks if isinstance(remarks, HandIn) else remarks
    return [remark.kind for remark in found]


def sources(notebook: NotebookNode) -> dict[str, str]:
    """The source of each cell that nbgrader knows, by grade_id."""
    return {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in notebook.cells
        if "nbgrader" in cell.metadata
    }


def edited(notebook: NotebookNode, change: Any) -> NotebookNode:
    """A copy of the notebook whose list of cells went through ``change``."""
    result = deepcopy(notebook)
    result.cells = change(result.cells)
    return result


def find(cells: list[NotebookNode], grade_id: str) -> int:
    """The place of the first cell with this grade_id."""
    ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in cells]
    return ids.index(grade_id)


def as_saved(notebook: NotebookNode) -> bytes:
    """In JSON, whether or not it is a legal notebook."""
    return json.dumps(notebook).encode()


def order(notebook: NotebookNode) -> list[str]:
    return list(sources(notebook))


def is_clean(path: Path) -> bool:
    """Whether a notebook satisfies nbformat and nbgrader, and has no output."""
    notebook = nbformat.read(path, as_version=nbformat.NO_CONVERT)
    check(notebook)
    return True


def check(notebook: NotebookNode) -> None:
    nbformat.validate(notebook)
    MetadataValidator().validate_nb(notebook)
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert not [cell for cell in notebook.cells if cell.get("outputs")]


def names_in(row: HandIn) -> set[str]:
    assert row.folder is not None
    return {path.name for path in row.folder.iterdir()}


def graded(row: HandIn, name: str) -> dict[str, str]:
    """Sources by grade_id in a collected notebook."""
    assert row.folder is not None
    path = row.folder / f"{name}.ipynb"
    return sources(nbformat.read(path, as_version=nbformat.NO_CONVERT))


def only(rows: list[HandIn]) -> HandIn:
    (row,) = rows
    return row


def text_of(row: HandIn, kind: RemarkKind) -> str:
    """The remark of this kind; there must be exactly one."""
    (text,) = [remark.text for remark in row.remarks if remark.kind == kind]
    return text


def below(folder: Path) -> dict[str, tuple[bytes, int]]:
    """All files below a folder: content, and when they were written."""
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }
