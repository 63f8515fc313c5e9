"""The picture of Lab 3A's text: a line of Python, and its graph."""

from __future__ import annotations

from torch import fx

from lab_utils.kit.charts.svg import INK, OWN, document, rectangle, text

_FILL = {
    "placeholder": "lightblue",
    "call_method": "whitesmoke",
    "call_function": "lightyellow",
    "output": "lightpink",
}
_LEFT, _TOP, _WIDE, _HIGH, _GAP = 250, 16, 330, 34, 22


def pictures() -> dict[str, str]:
    """By the name of the file."""
    return {"graph.svg": _graph()}


def _forward(x):  # type: ignore[no-untyped-def]
    import torch

    return torch.add(x, x.relu())


def _graph() -> str:
    graph = fx.symbolic_trace(_forward).graph
    nodes = list(graph.nodes)
    top = {node: _TOP + place * (_HIGH + _GAP) for place, node in enumerate(nodes)}
    mono = {"font_family": "monospace", "font_size": 12, "fill": INK}
    body = [text(16, _TOP + 60, "def forward(self, x):", **mono)]
    body += [text(32, _TOP + 82, "return torch.add(", **mono)]
    body += [text(48, _TOP + 102, "x, x.relu())", **mono)]
    for node in nodes:
        y = top[node]
        look = {"fill": _FILL[node.op], "stroke": "#555", "rx": 5}
        body.append(rectangle(_LEFT, y, _WIDE, _HIGH, **look))
        body.append(text(_LEFT + 12, y + 21, node.name, **mono, font_weight="bold"))
        target = "" if node.op in ("placeholder", "output") else _target(node)
        body.append(text(_LEFT + 84, y + 21, f"{node.op} {target}", fill=INK))
        args = f"args {tuple(node.args)}" if node.args else ""
        body.append(text(_LEFT + _WIDE - 10, y + 21, args, text_anchor="end", fill=INK))
        for source in node.all_input_nodes:
            far = (y - top[source]) / (_HIGH + _GAP)
            body.append(_arrow(top[source] + _HIGH, y, far))
    words = "A line of Python, and its graph: " + ", ".join(f"{n.op} {n.name}" for n in nodes)
    high = _TOP + len(nodes) * (_HIGH + _GAP)
    return document(_LEFT + _WIDE + 90, high, words, body, True)


def _target(node: fx.Node) -> str:
    return f"torch.{node.name}" if node.op == "call_function" else f'"{node.target}"'


def _arrow(start: float, end: float, far: float) -> str:
    """Down to the next box, or around those between."""
    look = f'fill="none" stroke="#888" marker-end="url(#{OWN}tip)"'
    if far <= 1:
        x = _LEFT + 40
        return f'<path d="M{x:g} {start:g}V{end:g}" {look}/>'
    right = _LEFT + _WIDE
    middle, out = start - _HIGH / 2, 14 + 8 * far
    return f'<path d="M{right} {middle:g}h{out:g}V{end + _HIGH / 2:g}h-{out:g}" {look}/>'
