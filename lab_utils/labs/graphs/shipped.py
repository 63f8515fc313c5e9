"""Graphs that are shipped with a lab."""

from __future__ import annotations

from torch import fx

from lab_utils.kit.errors import LabError
from lab_utils.kit.lab import Lab
from lab_utils.steps.dot.read import read_dot


def shipped_graph(lab: Lab, name: str) -> fx.Graph:
    """The graph called ``name`` among the public cases of ``lab``.

    Raises:
        LabError: there is none; the message lists those that there are.
    """
    path = lab.folder / f"{name}.dot"
    if not path.is_file():
        known = sorted(p.name.removesuffix(".dot") for p in path.parent.glob("*.dot"))
        raise LabError(f"there is no graph {name!r}: choose {', '.join(known)}")
    return read_dot(path)
