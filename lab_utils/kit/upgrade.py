"""Carries a student's answers from one release into a newer one, cell by cell; loses nothing.

The older folder stays as it is. Notebooks are read and written as plain JSON: nothing need be
installed for it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab_utils.kit.course.releases import MARK, OURS, UPGRADED
from lab_utils.kit.files import write_whole
from lab_utils.kit.task import counted

Cell = dict[str, Any]
NOTE = Path("setup", "release.json")
BACKUP = " before the upgrade"


@dataclass
class Carried:
    """What became of one notebook or file, in words; ``name`` is its path below notebooks/."""

    name: str
    answers: list[str] = field(default_factory=list)
    """``grade_id`` of the answers that were carried over."""
    changed: list[str] = field(default_factory=list)
    """Those of them whose given text is another one now."""
    own_cells: int = 0
    """Cells that the student had added, or changed though nothing was asked there."""
    kept_apart: list[str] = field(default_factory=list)
    """Answers to tasks that are no more: they stand in the notebook as plain text."""
    new: list[str] = field(default_factory=list)
    """Tasks that are new."""
    backup: str = ""
    """Where the newer notebook is kept as it was, if the student had begun in it."""
    skipped: str = ""
    """Why nothing was done."""

    def __str__(self) -> str:
        said = [counted(len(self.answers), "answer")] if self.answers else []
        said += [f"{counted(self.own_cells, 'cell')} of your own"] if self.own_cells else []
        lines = [f"{self.name}: {self.skipped or ' and '.join(said) or 'a file'}"]
        if self.changed:
            lines.append(
                f"  the text that you were given is another one now: {_list(self.changed)}"
            )
        if self.kept_apart:
            lines.append(f"  asked no more, your answer is kept as text: {_list(self.kept_apart)}")
        if self.new:
            lines.append(f"  new: {_list(self.new)}")
        if self.backup:
            lines.append(f"  what you had begun in the newer one is kept: {self.backup}")
        return "\n".join(lines)


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)


def upgrade(old: Path, new: Path) -> list[Carried]:
    """Carry all work in the release ``old`` into the release ``new``."""
    was_released = _released_cells(old)
    done: list[Carried] = []
    for folder in sorted(path for path in (old / "notebooks").iterdir() if path.is_dir()):
        target = new / "notebooks" / folder.name
        for path in sorted(folder.iterdir()):
            name = f"{folder.name}/{path.name}"
            if not path.is_file() or path.name in OURS or path.name.startswith("."):
                continue
            if path.suffix != ".ipynb":
                done += _carry_file(path, target / path.name, name)
            elif (target / path.name).is_file():
                done += _carry_notebook(path, target / path.name, name, was_released)
            else:
                target.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, target / path.name)
                done.append(Carried(name, skipped="not part of the newer release; copied as it is"))
    (old / UPGRADED).write_text(f"{new.name}\n", encoding="utf-8")
    return done


def _carry_file(path: Path, target: Path, name: str) -> Iterator[Carried]:
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
        yield Carried(name)
    elif target.read_bytes() != path.read_bytes():
        text = f"another one is there already, and stays; yours stays where it is: {path}"
        yield Carried(name, skipped=text)


def _carry_notebook(
    path: Path, target: Path, name: str, was_released: dict[str, set[str]]
) -> Iterator[Carried]:
    try:
        old = json.loads(path.read_text(encoding="utf-8"))
        new = json.loads(target.read_text(encoding="utf-8"))
        ours = was_released.get(name.removesuffix(".ipynb"), set())
        book, told = carry(old, new, ours, name)
    except (ValueError, KeyError, TypeError, AttributeError):
        yield Carried(name, skipped=f"cannot be read; your file stays where it is: {path}")
        return
    if not (told.answers or told.own_cells or told.kept_apart):
        return
    if any(_is_touched(cell) for cell in new["cells"]):
        backup = target.with_name(f"{target.stem}{BACKUP}.ipynb")
        if backup.exists():
            yield Carried(name, skipped=f"done before: {backup.name} is there; delete it to redo")
            return
        shutil.copy2(target, backup)
        told.backup = backup.name
    write_whole(target, json.dumps(book, indent=1, ensure_ascii=False) + "\n")
    yield told


def carry(
    old: dict[str, Any], new: dict[str, Any], ours: set[str], name: str = ""
) -> tuple[dict[str, Any], Carried]:
    """The notebook ``new`` with the answers of ``old`` in it, and what was done.

    ``ours`` are digests of the cells that students were given in ``old``; empty: not known.
    """
    told, book = Carried(name), deepcopy(new)
    cells: list[Cell] = book["cells"]
    holes = {_grade_id(cell): cell for cell in cells if _is_solution(cell)}
    marked = {_grade_id(cell) for cell in cells} - {""}
    given = {_text(cell) for cell in cells}
    below: dict[int, list[Cell]] = {}
    at = -1
    for cell in old["cells"]:
        grade_id, text = _grade_id(cell), _text(cell)
        at = next((n for n, c in enumerate(cells) if _same(c, cell)), at)
        if grade_id in holes:
            if _is_touched(cell) and text != _text(holes[grade_id]):
                if _given_digest(cell) != _given_digest(holes[grade_id]):
                    told.changed.append(grade_id)
                holes[grade_id]["source"] = cell["source"]
                told.answers.append(grade_id)
        elif grade_id and grade_id not in marked:
            if _is_solution(cell) and _is_touched(cell):
                below.setdefault(at, []).append(_as_text(cell, grade_id))
                told.kept_apart.append(grade_id)
        elif not grade_id and text.strip() and text not in given and digest(text) not in ours:
            below.setdefault(at, []).append(_own(cell))
            told.own_cells += 1
    before = {_grade_id(cell) for cell in old["cells"]}
    told.new = [grade_id for grade_id in holes if grade_id not in before]
    book["cells"] = [*below.get(-1, []), *_mixed(cells, below)]
    return book, told


def _mixed(cells: list[Cell], below: dict[int, list[Cell]]) -> Iterator[Cell]:
    for at, cell in enumerate(cells):
        yield cell
        yield from below.get(at, [])


def _same(one: Cell, other: Cell) -> bool:
    if _grade_id(one) or _grade_id(other):
        return _grade_id(one) == _grade_id(other)
    return _text(one) == _text(other)


def _own(cell: Cell) -> Cell:
    own: Cell = {"cell_type": cell["cell_type"], "metadata": {}, "source": cell["source"]}
    own["id"] = digest(_text(cell))[:12]
    for part in ("attachments",):
        own |= {part: cell[part]} if part in cell else {}
    return own | ({"outputs": [], "execution_count": None} if own["cell_type"] == "code" else {})


def _as_text(cell: Cell, grade_id: str) -> Cell:
    text = f"Your answer to {grade_id}, which is asked no more:\n\n{_text(cell)}"
    return {"cell_type": "raw", "metadata": {}, "source": text, "id": digest(text)[:12]}


def _marks(cell: Cell) -> dict[str, Any]:
    marks = cell.get("metadata", {}).get("nbgrader", {})
    return marks if isinstance(marks, dict) else {}


def _grade_id(cell: Cell) -> str:
    return str(_marks(cell).get("grade_id", ""))


def _is_solution(cell: Cell) -> bool:
    return bool(_marks(cell).get("solution"))


def _text(cell: Cell) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def _given_digest(cell: Cell) -> str:
    """nbgrader's digest of the cell as students were given it; empty if it is not there."""
    return str(_marks(cell).get("checksum", ""))


def _is_touched(cell: Cell) -> bool:
    """Whether a cell that students write is another one than they were given."""
    now = checksum(_text(cell), cell["cell_type"], _marks(cell))
    return _is_solution(cell) and now != _given_digest(cell)


def checksum(text: str, cell_type: str, marks: Mapping[str, Any]) -> str:
    """nbgrader's digest of a cell, which a released cell has in its metadata.

    Raises:
        ValueError, TypeError: its points are no number.
    """
    is_grade, is_solution = bool(marks.get("grade")), bool(marks.get("solution"))
    is_locked = not is_solution and (is_grade or bool(marks.get("locked")))
    parts = [text, cell_type, *map(str, (is_grade, is_solution, is_locked))]
    parts.append(str(marks.get("grade_id", "")))
    if is_grade:
        parts.append(str(float(marks.get("points", 0))))
    joined = "".join(parts).encode("utf-8", "replace")
    return hashlib.md5(joined, usedforsecurity=False).hexdigest()


def digest(text: str) -> str:
    """What tells one cell of a release from another."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def cell_digests(notebook: bytes) -> list[str]:
    """The digests of all cells of a notebook that is released."""
    return [digest(_text(cell)) for cell in json.loads(notebook)["cells"]]


def _released_cells(folder: Path) -> dict[str, set[str]]:
    try:
        note = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        return {name: set(cells) for name, cells in note.get("cells", {}).items()}
    except (OSError, ValueError, AttributeError):
        return {}


def release_name(folder: Path) -> str:
    """What the release in ``folder`` is called; empty for a checkout of the repository."""
    try:
        return str(json.loads((folder / NOTE).read_text(encoding="utf-8"))["name"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def newest_beside(folder: Path, name: str) -> Path | None:
    """The release that was unpacked last beside ``folder``, or ``folder`` itself."""
    found = [path.parent for path in folder.parent.glob(f"{name}-*/{MARK}")]
    return max(found, key=lambda path: (path / MARK).stat().st_mtime, default=None)
