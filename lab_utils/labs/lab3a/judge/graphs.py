"""Tasks 1.1 and 1.2: a graph in which products became quotients; an argument without nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.lab3a.ask import TRACERS, calls_of
from lab_utils.labs.lab3a.programs import inputs_of, module_of, told

_MUL, _DIV = ["call_function", "torch.mul"], ["call_function", "torch.div"]
#: What a change of another node than torch.mul has misunderstood.
_LEAVE = {
    "operator.mul": "x * y is operator.mul, another function than torch.mul: it stays.",
    "torch.matmul": "torch.matmul only has a similar name: compare functions, not their names.",
    "mul": "x.mul(y) is a method, a node of the kind call_method: it stays.",
    "mul_": "x.mul_(y) is a method, a node of the kind call_method: it stays.",
}


def rewritten(program: Mapping[str, Any], tracer: str) -> dict[str, Any]:
    """The program with torch.div in place of torch.mul, changed where it is still plain data."""
    nodes = [
        [op, name, "torch.div" if [op, target] == _MUL else target, *rest]
        for op, name, target, *rest in program["nodes"]
    ]
    modules = {}
    for path, form in program["modules"].items():
        looked_into = "nodes" in form and (tracer == "fx.Tracer" or path != "whole")
        modules[path] = rewritten(form, tracer) if looked_into else form
    return {**program, "nodes": nodes, "modules": modules}


def judge_transform(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 1.1: torch.mul became torch.div, nothing else did, and the module computes that."""
    program, tracer = case.given["program"], case.given["tracer"]
    right = module_of(rewritten(program, tracer))
    wanted = calls_of(TRACERS[tracer]().trace(right))
    mine, theirs = (Counter(map(tuple, calls)) for calls in (answer["calls"], wanted))
    extra, missing = mine - theirs, theirs - mine
    if extra or missing:
        return [
            Finding(_counted(extra, "too much"), _counted(missing, "missing"), _why(extra, missing))
        ]
    output = told(right(*inputs_of(program)))
    if answer["output"] == output:
        return []
    look = (
        "The graph is right, but the module still computes something else: its code is made from "
        "the graph when the module is made, or by recompile()."
    )
    return [Finding("another result", "the result of dividing", look)]


def _counted(calls: Counter[tuple[str, str]], what: str) -> str:
    told_ = ", ".join(f"{n} times {kind} {target}" for (kind, target), n in calls.items())
    return f"{what}: {told_}" if told_ else f"nothing {what}"


def _why(extra: Counter[tuple[str, str]], missing: Counter[tuple[str, str]]) -> str:
    for _, target in missing:
        if target in _LEAVE:
            return _LEAVE[target]
    if tuple(_MUL) in extra and tuple(_DIV) not in missing:
        return "The new nodes are there, and the old ones too: erase what nobody reads any more."
    if tuple(_MUL) in extra:
        return "Some torch.mul is left: go through all nodes of the graph, to its end."
    if any(kind == "call_module" for kind, _ in missing):
        return "Trace with the tracer_class that you are given: it says what stays whole."
    if any(kind == "call_module" for kind, _ in extra):
        return "Trace with the tracer_class that you are given: it looks into other modules."
    return "Only nodes of the kind call_function whose target is torch.mul change."


def judge_argument(case: Case, answer: Any) -> list[Finding]:
    """Task 1.2: every node became its value, and everything else is as it was."""
    wanted = case.wanted["argument"]
    if answer == wanted:
        return []
    return [Finding(_text(answer), _text(wanted), _where(answer, wanted, case.given["argument"]))]


def _where(mine: Any, wanted: Any, argument: Any) -> str:
    """The first place in which the two differ, in words."""
    a, b = _kind(mine), _kind(wanted)
    if a == "node":
        return "A node is left: its value is values[node]."
    if a in _HOLD and mine == argument:
        return f"A node is left inside a {a}: look into everything that can hold nodes."
    if a != b and b in _HOLD and a in _HOLD:
        return f"A {b} has become a {a}: build again what you were given, of the same type."
    if a != b:
        return "Something became another thing: only nodes change, all else stays as it is."
    parts = [_parts(data) for data in (mine, wanted)]
    if len(parts[0]) != len(parts[1]):
        return "Some part is missing, or there is one too many."
    given = _parts(argument) if _kind(argument) == a else []
    for place, (one, other) in enumerate(zip(*parts, strict=True)):
        if one != other:
            return _where(one, other, given[place] if place < len(given) else None)
    return "Put the value of each node in its place: values[node]."


_HOLD = ("tuple", "slice", "dict", "list")


def _kind(data: Any) -> str:
    if isinstance(data, list):
        return "list"
    if isinstance(data, dict):
        return next(iter(data))
    return "plain"


def _parts(data: Any) -> list[Any]:
    if isinstance(data, list):
        return data
    kind = _kind(data)
    if kind == "dict":
        return [value for _, value in data["dict"]]
    return data[kind] if kind in _HOLD else []


def _text(data: Any) -> str:
    """An argument as Python writes it."""
    kind = _kind(data)
    if kind == "plain":
        return repr(data)
    inner = ", ".join(map(_text, _parts(data)))
    match kind:
        case "list":
            return f"[{inner}]"
        case "tuple":
            return f"({inner})"
        case "slice":
            return f"slice({inner})"
        case "dict":
            pairs = (f"{_text(key)}: {_text(value)}" for key, value in data["dict"])
            return f"{{{', '.join(pairs)}}}"
        case "dots":
            return "..."
        case "dtype":
            return f"torch.{data['dtype']}"
        case "size":
            return f"torch.Size({data['size']})"
    return str(data[kind])
