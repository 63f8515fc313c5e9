"""Tasks 1.3 to 1.5: what a run gives, the shape of every value, and how long every node took."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import fx
from torch.fx.passes.shape_prop import ShapeProp

from lab_utils.kit.task import Case, Finding, counted
from lab_utils.labs.lab3a.nodes import changes_its_input
from lab_utils.labs.lab3a.programs import inputs_of, module_of, told
from lab_utils.labs.lab3a.ticking import MORNING, REPEATS, Ticking, unit

_FREE = ("placeholder", "get_attr", "output")
_MEAN = (REPEATS + 1) / 2  # of the times of the second to the eleventh call, in units
_FIRST = 1000  # the time of the first call, in units


def judge_timed(case: Case, answer: Mapping[str, float]) -> list[Finding]:
    """Task 1.3: the value of the first run, and the mean of the ten after it."""
    once, calls = case.given["once"], answer["calls"]
    runs = 1 if once else 1 + REPEATS
    each = unit("run", _pace(case))
    right = 1e3 * each * (_FIRST if once else _MEAN)
    found = []
    if answer["value"] != 1:
        look = "The value is that of the first run: others may have changed something since."
        found.append(Finding(f"the value of run {answer['value']:g}", "that of run 1", look))
    if calls != runs:
        look = "What changes its input runs once." if once else _RUNS
        found.append(Finding(counted(int(calls), "run"), counted(runs, "run"), look))
    elif not _same(answer["milliseconds"], right):
        mine = answer["milliseconds"]
        found.append(Finding(f"{mine:g} ms", f"{right:g} ms (pretended)", _why(mine, each, once)))
    return found


_RUNS = "One run makes the value, and ten more are timed: eleven in all."


def _why(mine: float, each: float, once: bool) -> str:
    """What a wrong time was probably thinking; ``each`` is the case's unit of time in seconds."""
    mean, first = each * _MEAN, each * _FIRST
    if once and _same(mine, 0):
        return "Who runs once has a latency too: the time of that one run."
    if _same(mine, 0) or mine < 1e-3 * mean:
        return "The check runs on a pretended clock: read the time with clock()."
    at_end = MORNING + first + (0 if once else REPEATS * mean)
    if any(_same(mine, 1e3 * at_end / n) for n in (1, REPEATS)):
        return "clock() is a time of day: the latency is what passed between two of its answers."
    if _same(mine, first if once else mean):
        return "These are seconds: a latency is in milliseconds."
    if any(_same(mine, factor * REPEATS * mean) for factor in (1, 1e3)):
        return "That is the sum of the ten runs: divide by their number."
    if any(_same(mine, 1e3 * (first + n * mean) / (n + 1)) for n in (REPEATS - 1, REPEATS)):
        return "The run that makes the value is far slower than the others: leave it out."
    if mine > 1e4 * mean:
        return "The run that makes the value is far slower than the others: leave it out."
    return "The mean of the ten runs after the first: (clock() - start) / 10, in milliseconds."


def judge_values(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 1.4: the module's own output, bit for bit, and the shapes that ShapeProp finds."""
    module, found = module_of(case.given["program"]), []
    values = _values(case)
    fresh = module_of(case.given["program"])
    with torch.no_grad():
        output = told(fresh(*inputs_of(case.given["program"])))
    wrapped = _is_wrapped(answer["output"], output)
    ShapeProp(module).propagate(*inputs_of(case.given["program"]))
    for node in module.graph.nodes:
        meta = node.meta.get("tensor_meta")
        right = list(meta.shape) if hasattr(meta, "shape") else None
        mine = answer["shapes"].get(node.name)
        if mine != right and not (wrapped and node.op == "output"):  # it is told below
            look = _why_shape(values[node.name], mine)
            found.append(Finding(f"{node.name}: {mine}", f"{node.name}: {right}", look))
    if answer["output"] != output:
        look = _why_output(case, answer["output"], output)
        found.append(Finding("another output", "what the module itself returns", look))
    return found


def _why_shape(value: Any, mine: Any) -> str:
    if mine is None:
        return "The value is a tensor, and has a shape: list(value.shape)."
    if isinstance(value, torch.Size):
        return "This value is a torch.Size: a shape, but no tensor. It has none itself."
    if isinstance(value, (tuple, list)):
        return "This value is a tuple of tensors: it has no shape of its own, so None."
    if not isinstance(value, torch.Tensor):
        return "This value is no tensor: its shape is None."
    return "list(value.shape), of the value that this node gives."


def _is_wrapped(mine: Any, right: Any) -> bool:
    """Whether all arguments of the node output came back, in place of the first."""
    return mine in ({"tuple": [right]}, [right])


def _why_output(case: Case, mine: Any, right: Any) -> str:
    """What would give such an output: everything run eleven times, or the last run's value."""
    if mine is None:
        return "propagate returns the value of the node output: its first argument."
    if _is_wrapped(mine, right):
        return "What the node output gives is its first argument, node.args[0], without a tuple."
    for look, run in _MISTAKES.items():
        with torch.no_grad():
            if told(run(case)) == mine:
                return look
    return "Run each node on the values of its own arguments, in the order of the graph."


class _Repeats(fx.Interpreter):
    """Runs every node eleven times, and goes on with the first or the last value."""

    def __init__(self, module: fx.GraphModule, keep: int) -> None:
        super().__init__(module)
        self._keep = keep

    def run_node(self, n: fx.Node) -> Any:
        if n.op in _FREE:
            return super().run_node(n)
        return [super(_Repeats, self).run_node(n) for _ in range(1 + REPEATS)][self._keep]


class _LastOfMost(_Repeats):
    """The same, but what changes its input runs once."""

    def run_node(self, n: fx.Node) -> Any:
        assert isinstance(self.module, fx.GraphModule)
        if changes_its_input(n, self.module):
            return fx.Interpreter.run_node(self, n)
        return super().run_node(n)


def _run(kind: type[_Repeats], keep: int) -> Callable[[Case], Any]:
    def run(case: Case) -> Any:
        program = case.given["program"]
        return kind(module_of(program), keep).run(*inputs_of(program))

    return run


_MISTAKES: dict[str, Callable[[Case], Any]] = {
    "Operators that change their input ran several times: they run once.": _run(_Repeats, 0),
    "The value of a node is that of its first run, not of the last.": _run(_LastOfMost, -1),
    "Operators that change their input run once, and of the others the first value counts.": _run(
        _Repeats, -1
    ),
}


def _values(case: Case) -> dict[str, Any]:
    """What each node gives."""
    found: dict[str, Any] = {}

    class Noting(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            found[n.name] = super().run_node(n)
            return found[n.name]

    with torch.no_grad():
        Noting(module_of(case.given["program"])).run(*inputs_of(case.given["program"]))
    return found


def judge_latencies(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 1.5: by node, from what its own operators take on the pretended clock.

    Who runs again what changes its input is told so in task 1.4, by the values that this spoils,
    and does not pay here a second time.
    """
    module, found = module_of(case.given["program"]), []
    operators, pace, right = operators_of(case), _pace(case), right_latencies(case)
    for node in module.graph.nodes:
        mine, wanted = answer["latencies"].get(node.name, 0.0), right[node.name]
        once = changes_its_input(node, module)
        each = sum(unit(key, pace) for key in operators[node.name])
        if _same(mine, wanted) or (once and _same(mine, 1e3 * each * _MEAN)):
            continue
        if node.op in _FREE:
            look = "placeholder, get_attr and output compute nothing: their latency is 0."
        else:
            look = _why(mine, each, once)
        words = (f"{node.name}: {mine:g} ms", f"{node.name}: {wanted:g} ms (pretended)")
        found.append(Finding(*words, look))
    return found


def right_latencies(case: Case) -> dict[str, float]:
    """By node, milliseconds: of one run for what changes its input, else the mean of ten."""
    module, operators, pace = module_of(case.given["program"]), operators_of(case), _pace(case)
    right = {}
    for node in module.graph.nodes:
        units = _FIRST if changes_its_input(node, module) else _MEAN
        each = sum(unit(key, pace) for key in operators[node.name])
        right[node.name] = 0.0 if node.op in _FREE else 1e3 * each * units
    return right


def operators_of(case: Case) -> dict[str, list[str]]:
    """The operators of PyTorch that each node calls when it runs, by their keys."""
    ticking = Ticking(lambda _key, _number: 0.0)
    found: dict[str, list[str]] = {}

    class Noting(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            ticking.calls.clear()
            value = super().run_node(n)
            found[n.name] = list(ticking.calls.elements())
            return value

    module, inputs = module_of(case.given["program"]), inputs_of(case.given["program"])
    with torch.no_grad(), ticking:
        Noting(module).run(*inputs)
    return found


def _pace(case: Case) -> int:
    return int(case.given.get("pace", case.wanted.get("pace", 0)))


def _same(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-9 * max(abs(one), abs(other))
