"""How the tasks of Lab 4A are asked."""

from __future__ import annotations

from collections.abc import Callable

from torch import fx

from lab_utils.kit.answers import ask_file
from lab_utils.kit.task import Ask, Borrow, Call
from lab_utils.labs.graphs.nodes import by_name
from lab_utils.labs.lab4a.ask.profile import ask_classify, ask_lifetimes, ask_peak
from lab_utils.labs.lab4a.ask.profiler import ask_profiler
from lab_utils.labs.lab4a.ask.rewrite import (
    ask_inject,
    ask_recompute_set,
    ask_rewire,
    ask_wait,
)

ASK: dict[str, Ask] = {
    "1.1": ask_classify,
    "1.2": ask_lifetimes,
    "1.3": ask_profiler,
    "1.4": ask_peak,
    "1.5": ask_file,
    "2.1": ask_recompute_set,
    "2.2": ask_inject,
    "3.1": ask_rewire,
    "4.1": ask_wait,
    "4.2": ask_file,
}


def _recompute_set(call: Call) -> Callable[..., list[fx.Node]]:
    def recompute_set(target: fx.Node, kept: set[fx.Node]) -> list[fx.Node]:
        told = call({"target": target.name, "kept": sorted(node.name for node in kept)})
        nodes = by_name(target.graph)
        return [nodes[wanted] for wanted in told]

    return recompute_set


BORROWED: dict[str, Borrow] = {"recompute_set": _recompute_set}
