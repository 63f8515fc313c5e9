"""Which cells of a notebook a student wrote: those that were not released as they are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode


def released_cells(root: Path, lab: str) -> frozenset[tuple[str, str]]:
    """Every cell of a lab that students were given: its kind (code, markdown) and its text."""
    paths = sorted((root / "notebooks" / lab).glob("*.ipynb"))
    books = [nbformat.read(path, as_version=4) for path in paths]
    return frozenset((cell.cell_type, cell.source.strip()) for book in books for cell in book.cells)


def released_texts(root: Path, lab: str) -> frozenset[str]:
    """The texts of these cells."""
    return frozenset(text for _, text in released_cells(root, lab))


def read_books(folder: Path | None) -> Mapping[str, NotebookNode]:
    """The notebooks of a submission that can be read, by name."""
    found = {}
    for path in sorted(folder.glob("*.ipynb")) if folder else ():
        try:
            found[path.stem] = nbformat.read(path, as_version=4)
        except Exception:  # a notebook can be wrong in many ways, and the remarks say so
            continue
    return found
