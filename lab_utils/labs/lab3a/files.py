"""The files that are handed in: a table of the nodes, and a picture of the graph."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from lab_utils.kit.files import HandedIn

COLUMNS = ("", "op", "target", "args", "kwargs", "shape", "latency")
_PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class NodeTable(HandedIn):
    """``nodes.csv``: its times were measured, all else the notebook makes again."""

    def difference(self, made: bytes, handed_in: bytes) -> str:
        """How the two differ in anything but the times."""
        mine, theirs = (_without_times(content) for content in (made, handed_in))
        return "" if mine == theirs else "it is the table of another graph"

    def problem(self, content: bytes) -> str:
        """Whether it is the table of a graph at all."""
        rows = list(csv.reader(io.StringIO(content.decode("utf-8", "replace"))))
        if not rows or tuple(rows[0]) != COLUMNS:
            return f"its first line is not {','.join(COLUMNS)}: run the cell that writes it"
        return "" if len(rows) > 1 else "it has no rows: run the cell that writes it"


def _without_times(content: bytes) -> list[list[str]]:
    rows = csv.reader(io.StringIO(content.decode("utf-8", "replace")))
    return [row[: len(COLUMNS) - 1] for row in rows]


@dataclass(frozen=True)
class Picture(HandedIn):
    """``graph.png``: whoever draws it, with Graphviz or without, hands in a picture."""

    def difference(self, made: bytes, handed_in: bytes) -> str:
        """Pictures differ from machine to machine, and with the times in them."""
        return ""

    def problem(self, content: bytes) -> str:
        """Whether it is a picture."""
        return "" if content.startswith(_PNG) else "it is no PNG: run the cell that draws it"


FILES = (NodeTable("nodes.csv"), Picture("graph.png"))
