"""Drawings as ``write_dot`` writes them, read line by line: several times as fast.

Most files that are read are as we wrote them: a head that we know, then one statement a line.
Whatever else is in a file, the parser of the whole language reads it (``syntax``); both give
the same drawing.
"""

from __future__ import annotations

import re

from lab_utils.steps.dot.drawing import DotEdge, DotNode, Drawing
from lab_utils.steps.dot.limits import MAX_EDGES, MAX_NODES

_NAME = r'[A-Za-z_][A-Za-z0-9_]*+|"[^"\\\n]*+"'
_STATEMENT = re.compile(rf"  ({_NAME})(?: -> ({_NAME}))? \[([^\n]*)\];\n")
_PAIR = re.compile(r'([A-Za-z_][A-Za-z0-9_]*+)=(?:"([^"\\]*+)"|([A-Za-z_][A-Za-z0-9_]*+))(, |\Z)')
_WORDS = ("strict", "graph", "digraph", "subgraph", "node", "edge")

FORM = "training-step 1"
#: How a file begins.
HEAD = f"""digraph training_step {{
  graph [form="{FORM}", rankdir=TB, nslimit=2];
  node [shape=box, style="filled,rounded", fontname="Helvetica"];
  edge [color=gray30];
"""
# What that says of the graph, of all nodes and of all edges.
_GRAPH = {"form": FORM, "rankdir": "TB", "nslimit": "2"}
_NODES = {"shape": "box", "style": "filled,rounded", "fontname": "Helvetica"}
_EDGES = {"color": "gray30"}


def read_plain(drawing: Drawing) -> bool:
    """Fill in a drawing from its text; False, and nothing is filled in, if it has another form."""
    text, place = drawing.text, len(HEAD)
    if not text.startswith(HEAD):
        return False
    nodes: dict[str, DotNode] = {}
    edges: list[DotEdge] = []
    lists: dict[str, dict[str, str]] = {}  # edges have few different ones
    while statement := _STATEMENT.match(text, place):
        place = statement.end()
        tail, head, told = statement.groups()
        attributes = lists.get(told) if head else None
        if attributes is None:
            attributes = _attributes(told)
            if attributes is None:
                return False
        tail_name = tail[1:-1] if tail[0] == '"' else tail
        if head:
            lists[told] = attributes
            head_name = head[1:-1] if head[0] == '"' else head
            if tail_name not in nodes or head_name not in nodes:
                return False
            edges.append(DotEdge(tail_name, head_name, statement.start(2), _EDGES, attributes))
        elif tail_name in nodes or (tail[0] != '"' and tail.lower() in _WORDS):
            return False
        else:
            at = statement.start(1)
            nodes[tail_name] = DotNode(tail_name, at, _NODES, attributes, True)
    if text[place:] != "}\n" or len(nodes) > MAX_NODES or len(edges) > MAX_EDGES:
        return False
    drawing.attributes, drawing.nodes, drawing.edges = dict(_GRAPH), nodes, edges
    return True


def _attributes(text: str) -> dict[str, str] | None:
    """``name=value, …`` by name; None if it is something else."""
    found: dict[str, str] = {}
    place, end = 0, len(text)
    while place < end:
        pair = _PAIR.match(text, place)
        if pair is None:
            return None
        key, quoted, word, comma = pair.groups()
        found[key] = word if quoted is None else quoted
        place = pair.end()
        if place == end and comma:
            return None
    return found
