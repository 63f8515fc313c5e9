"""A .dot file back to a graph.

Files that ``write_dot`` made, laid out again by Graphviz or edited by hand, become
programs (``program``); files of the older form, without operators, become
drawings (``thin``).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from torch import fx

from lab_utils.steps.dot.drawing import DotError, DotNode, Drawing, short
from lab_utils.steps.dot.limits import MAX_BYTES
from lab_utils.steps.dot.plain import FORM
from lab_utils.steps.dot.program import own_program, program_graph
from lab_utils.steps.dot.syntax import parse_dot
from lab_utils.steps.dot.thin import thin_graph
from lab_utils.steps.garbage import no_garbage_collection


@no_garbage_collection()
def read_dot(source: str | Path, circles: bool = False) -> fx.Graph:
    """The graph of a .dot file or text.

    Args:
        source: a path; or text, which a ``str`` is if it holds a newline or a ``{``.
        circles: read it even if its control edges form a circle with others, so that what
            else is wrong can be told; the nodes then stand in the order of the data edges.
            In a drawing, a solid edge from backward into a clone that closes a circle counts
            as a control edge.

    Nodes stand in the order of the file, but for those that must wait for a later one.

    Raises:
        DotError: the file is missing, malformed, unsafe or contradicts itself; the
            message tells file, line, node and cure in one line.
    """
    drawing = parse_dot(*_load(source))
    if not drawing.nodes:
        raise drawing.error("the digraph has no nodes")
    without = [node for node in drawing.nodes.values() if not node.get("op")]
    if len(without) == len(drawing.nodes):
        return thin_graph(drawing, circles)
    if without:
        raise _no_operator(drawing, without[0])
    if drawing.attributes.get("form", FORM) != FORM:
        raise drawing.error(
            f"its form is {short(drawing.attributes['form'])}, but this version reads {FORM}"
        )
    return program_graph(drawing, circles)


@no_garbage_collection()
def read_own(text: str) -> Callable[[], fx.Graph]:
    """What makes the graph of a text, a fresh one at each call; the text is read once.

    ``write_dot`` wrote it, and nobody could change it since: that PyTorch agrees with the values
    in it need not be found out again.
    """
    return no_garbage_collection()(own_program(parse_dot(*_load(text))))


def _load(source: str | Path) -> tuple[str, str]:
    """The text, and what to call it in messages."""
    if isinstance(source, str) and ("\n" in source or "{" in source):
        if len(source) > MAX_BYTES:
            raise DotError(f"it is larger than {MAX_BYTES // 2**20} MB", "<text>")
        return source, "<text>"
    try:
        path = Path(source)
        if not path.is_file():
            raise DotError(f"{str(source)!r}: there is no such file")
        if path.stat().st_size > MAX_BYTES:
            raise DotError(f"{path}: it is larger than {MAX_BYTES // 2**20} MB")
        return path.read_bytes().decode("utf-8-sig"), str(path)
    except UnicodeDecodeError:
        raise DotError(f"{source}: it is no text in UTF-8, so no DOT file") from None
    except (OSError, TypeError, ValueError) as error:
        raise DotError(f"{short(str(source))}: it cannot be read ({short(str(error))})") from None


def _no_operator(drawing: Drawing, node: DotNode) -> DotError:
    if not node.defined:
        for edge in drawing.edges:
            if node.name in (edge.tail, edge.head):
                return drawing.edge_error(
                    edge, f"node {short(node.name)} is not defined: add its statement, or rename"
                )
    return drawing.node_error(
        node, "it has no op, but others have one: add op, args, value, phase and kind"
    )
