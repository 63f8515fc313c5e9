"""Reads a notebook from a stranger: any version of the format, any front end, any damage."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.collect.records import Bounds


class BrokenNotebook(Exception):
    """Nothing can be read; the text says why, to go on after the file's name."""


@dataclass(frozen=True)
class ReadCell:
    """What counts of a cell. Outputs do not: every cell is run again."""

    cell_type: str
    """``code``, ``markdown`` or ``raw``."""
    source: str
    marks: Mapping[str, Any] = field(default_factory=dict)
    """Its metadata for nbgrader, as it was found."""
    attachments: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Pictures pasted into a text: content in base 64 by name and type."""

    @property
    def grade_id(self) -> str | None:
        """The name that nbgrader knows it by, if it still has one."""
        grade_id = self.marks.get("grade_id")
        return grade_id if isinstance(grade_id, str) else None


def read_cells(data: bytes, limits: Bounds) -> list[ReadCell]:
    """The cells of a notebook.

    Raises:
        BrokenNotebook: it is no notebook, or too big.
    """
    content = _parsed(data, limits)
    if not isinstance(content, dict):
        raise BrokenNotebook("is not a notebook")
    found = content.get("cells")
    if not isinstance(found, list):  # format 3 and older
        sheets = content.get("worksheets")
        sheets = sheets if isinstance(sheets, list) else []
        found = [cell for sheet in sheets if isinstance(sheet, dict) for cell in _cells_of(sheet)]
    if len(found) > limits.cells:
        raise BrokenNotebook(f"has {len(found):,} cells, {limits.cells:,} are the most")
    cells = [_cell(cell, limits) for cell in found if isinstance(cell, dict)]
    if not cells:
        raise BrokenNotebook("is not a notebook, or has no cells")
    if sum(len(cell.source) for cell in cells) > limits.source:
        raise BrokenNotebook(f"has more than {limits.source / 1e6:.0f} MB of text in its cells")
    return cells


def _parsed(data: bytes, limits: Bounds) -> Any:
    if not data.strip():
        raise BrokenNotebook("is empty")
    try:
        encoding = json.detect_encoding(data)
        if not encoding.startswith("utf-8"):
            data = data.decode(encoding).encode()
        _check_weight(data, limits)
        return json.loads(data.decode("utf-8-sig", errors="replace"))
    except RecursionError:
        raise BrokenNotebook("is not a notebook: it is nested without end") from None
    except ValueError:
        merge = " (it has the marks of a git conflict)" if b"\n<<<<<<< " in data else ""
        raise BrokenNotebook(f"is not a notebook: damaged, or another format{merge}") from None


def _check_weight(data: bytes, limits: Bounds) -> None:
    """Refuse JSON that would fill the memory: ``[[],[],[],…`` grows to twenty times its size."""
    bare = data.replace(rb"\\", b"").replace(rb"\"", b"")
    heavy = bare.count(b'"') // 2 > limits.json_values
    if not heavy:
        outside = bare.split(b'"')[::2]
        values = sum(piece.count(b",") for piece in outside)
        objects = sum(piece.count(b"[") + piece.count(b"{") for piece in outside)
        heavy = values > limits.json_values or objects > limits.json_objects
    if heavy:
        raise BrokenNotebook("is too big to be read")


def _cells_of(sheet: dict[str, Any]) -> list[Any]:
    cells = sheet.get("cells")
    return cells if isinstance(cells, list) else []


def _cell(content: dict[str, Any], limits: Bounds) -> ReadCell:
    cell_type = content.get("cell_type")
    source = _text(content.get("source", content.get("input")))
    if cell_type == "heading":  # format 3
        level = content.get("level")
        source = f"{'#' * (level if level in (1, 2, 3, 4, 5, 6) else 1)} {source}"
        cell_type = "markdown"
    metadata = content.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return ReadCell(
        cell_type if cell_type in ("code", "markdown") else "raw",
        source,
        marks if isinstance(marks, dict) else {},
        _attachments(content.get("attachments"), limits),
    )


def _text(value: Any) -> str:
    if isinstance(value, list):
        value = "".join(line for line in value if isinstance(line, str))
    # Half a surrogate pair is legal in JSON, and cannot be written to a file.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _attachments(value: Any, limits: Bounds) -> dict[str, dict[str, str]]:
    """Pictures alone: anything else has no business in an answer."""
    kept: dict[str, dict[str, str]] = {}
    room = limits.attachments
    for name, versions in value.items() if isinstance(value, dict) else ():
        for mime, content in versions.items() if isinstance(versions, dict) else ():
            text = _text(content)
            room -= len(text)
            if mime in ("image/png", "image/jpeg", "image/gif") and room >= 0:
                kept.setdefault(_text(name), {})[mime] = text
    return kept
