"""A notebook as students got it: what a mended one is measured by."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.collect.records import CollectError

DEFINITION = re.compile(
    r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE
)


@dataclass(frozen=True)
class Released:
    """A notebook as students got it."""

    name: str
    cells: tuple[NotebookNode, ...]
    notebook: NotebookNode

    @cached_property
    def marked(self) -> dict[int, str]:
        """The ``grade_id`` of each cell that nbgrader knows, by its index."""
        return {
            at: cell.metadata["nbgrader"]["grade_id"]
            for at, cell in enumerate(self.cells)
            if "nbgrader" in cell.metadata
        }

    def is_solution(self, at: int) -> bool:
        """Whether students write this cell."""
        return bool(self.cells[at].metadata.get("nbgrader", {}).get("solution"))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The plain source of each cell."""
        return tuple(plain(cell.source) for cell in self.cells)

    @cached_property
    def names(self) -> dict[int, frozenset[str]]:
        """What each solution defines and no other cell does."""
        defined = [definitions(text) for text in self.texts]
        often = Counter(name for names in defined for name in names)
        return {
            at: frozenset(name for name in defined[at] if often[name] == 1)
            for at in self.marked
            if self.is_solution(at)
        }


def read_released(path: Path) -> Released:
    """Read a released notebook.

    Raises:
        CollectError: it is not there.
    """
    try:
        notebook = nbformat.read(path, as_version=4)
    except OSError as error:
        raise CollectError(
            f"cannot read {path}: {error.strerror}; make notebooks makes it"
        ) from None
    return Released(path.stem, tuple(notebook.cells), notebook)


def definitions(source: str) -> frozenset[str]:
    """Names that a source defines at its top level, even if it is no Python as a whole."""
    return frozenset(one or other for one, other in DEFINITION.findall(source))


def plain(source: str) -> str:
    """A source without what nobody sees: spaces at the ends of lines, empty lines around."""
    return "\n".join(line.rstrip() for line in source.strip().splitlines())
