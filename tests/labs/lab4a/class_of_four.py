"""Hand-ins of Lab 4A as notebooks: the solved ones with a change of the catalogue in them."""

from __future__ import annotations

import re
from copy import deepcopy
from functools import cache

import nbformat
from nbformat.notebooknode import NotebookNode

from lab_utils.kit.root import ROOT
from tests.labs.lab4a.catalogue import Change

LAB = "lab4a"

STOCK = """
from nbgrader.converters import Autograde as _Autograde

c.Autograde.autograde_preprocessors = _Autograde.autograde_preprocessors.default()
"""
"""Put below our settings: nbgrader runs notebooks in kernels of its own again."""


@cache
def _solved(lab: str) -> dict[str, NotebookNode]:
    paths = sorted((ROOT / "solutions" / lab).glob("*.ipynb"))
    return {path.stem: nbformat.read(path, as_version=4) for path in paths}


def solved(lab: str = LAB) -> dict[str, NotebookNode]:
    """The solved notebooks by name."""
    return deepcopy(_solved(lab))


def with_change(change: Change, lab: str = LAB) -> dict[str, NotebookNode]:
    """The notebooks of somebody who wrote one function differently."""
    books = solved(lab)
    for book in books.values():
        for cell in book.cells:
            grading = cell.metadata.get("nbgrader", {})
            defines = re.search(rf"^(def|class) {change.function}\b", cell.source, re.M)
            if grading.get("solution") and defines:
                assert change.old in cell.source, change.name
                cell.source = cell.source.replace(change.old, change.new)
                return books
    raise AssertionError(f"no cell defines {change.function}")


def with_cell(source: str, notebook: str = "02_recomputation", first: bool = True) -> dict:
    """The solved notebooks with one more cell, at the beginning or the end of one of them."""
    books = solved()
    cell = nbformat.v4.new_code_cell(source)
    books[notebook].cells.insert(0 if first else len(books[notebook].cells), cell)
    return books
