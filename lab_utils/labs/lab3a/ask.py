"""How the tasks of Lab 3A are asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import fx
from torch.fx.node import map_arg

from lab_utils.kit.answers import a_type, ask_file, collection, described, number
from lab_utils.kit.errors import BadAnswer
from lab_utils.kit.task import Ask, Borrow, Call
from lab_utils.labs.lab3a.programs import inputs_of, meant, module_of, name_of, told
from lab_utils.labs.lab3a.ticking import MORNING, Seconds, Ticking, paced
from lab_utils.steps.clock import clock, pretended


class WholeBlocks(fx.Tracer):
    """Does not look into modules that are called ``whole``: each of them is one node."""

    def is_leaf_module(self, m: torch.nn.Module, module_qualified_name: str) -> bool:
        """Whether a module becomes one node."""
        is_whole = module_qualified_name.rpartition(".")[2] == "whole"
        return is_whole or super().is_leaf_module(m, module_qualified_name)


TRACERS = {"fx.Tracer": fx.Tracer, "WholeBlocks": WholeBlocks}


def ask_transform(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Task 1.1: what is in the new graph, and what the new module computes."""
    module = module_of(given["program"])
    try:
        made = function(module, TRACERS[given["tracer"]])
    except AssertionError as error:
        if "node.target" not in str(error):
            raise
        look = (
            "A node may be called mul and be something else: ask for its kind first, node.op, and "
            "then whether node.target is torch.mul."
        )
        raise BadAnswer("a node that calls no function has torch.div as its target", look) from None
    if not isinstance(made, fx.GraphModule):
        look = "fx.GraphModule(module, graph) makes a module of a graph. Return that."
        raise BadAnswer(f"what you return is {a_type(made)}", look)
    if "lint" in given:
        made.graph.lint()
    return {"calls": calls_of(made.graph), "output": told(made(*inputs_of(given["program"])))}


def calls_of(graph: fx.Graph) -> list[list[str]]:
    """Kind and target of each node that calls something, sorted."""
    calls = [node for node in graph.nodes if node.op.startswith("call_")]
    return sorted(
        [n.op, name_of(n.target) if n.op == "call_function" else str(n.target)] for n in calls
    )


def ask_argument(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 1.2: an argument in which values stand in place of nodes."""
    argument, values = argument_of(given)
    return told(function(argument, values))


def argument_of(given: Mapping[str, Any]) -> tuple[Any, dict[fx.Node, Any]]:
    """An argument of a node, and the values of the nodes in it."""
    graph = fx.Graph()
    nodes = {name: graph.placeholder(name) for name in given["values"]}
    values = {nodes[name]: meant(data, {}) for name, data in given["values"].items()}
    call = graph.call_function(print, (meant(given["argument"], nodes),))
    return call.args[0], values  # as fx keeps it: lists and dicts that cannot be changed


def ask_timed(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Task 1.3: the value and the milliseconds of something that runs on a pretended clock."""
    seconds, now, calls = _seconds(given), [MORNING], [0]

    def run() -> int:
        now[0] += seconds("run", calls[0])
        calls[0] += 1
        return calls[0]

    with pretended(lambda: now[0]):
        parts = list(collection(function(run, given["once"]), "what you return"))
    if len(parts) != 2:
        text = f"what you return has {len(parts)} parts"
        raise BadAnswer(text, "Return two: the value, and the milliseconds.")
    value, milliseconds = (number(part, "what you return") for part in parts)
    return {"value": value, "milliseconds": milliseconds, "calls": calls[0]}


def _seconds(given: Mapping[str, Any]) -> Seconds:
    """The times of a case; of one that nobody has seen the grader tells them, one by one."""
    if "seconds" not in given:
        return paced(given["pace"])
    known: dict[str, int] = {}

    def told_by_the_grader(key: str, call: int) -> float:
        if key not in known:
            known[key] = int(given["seconds"]({"key": key}))
        return known[key] * (call or 1000)

    return told_by_the_grader


def ask_values(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Task 1.4: the output, and the shape that is noted in each node."""
    module, program = module_of(given["program"]), given["program"]
    with _by_hand():
        output = _propagate(function, module, inputs_of(program))
    shapes = {node.name: _shape(node) for node in module.graph.nodes}
    return {"output": told(output), "shapes": shapes}


def _propagate(function: Any, module: fx.GraphModule, inputs: list[Any]) -> Any:
    made = function(module)
    if isinstance(made, fx.Interpreter):
        raise BadAnswer("your class is an fx.Interpreter", "class NodeProp: … stands alone.")
    if not hasattr(made, "propagate"):
        look = "class NodeProp: … def propagate(self, *args): …"
        raise BadAnswer(f"what you give makes {a_type(made)} without propagate", look)
    try:
        with torch.no_grad():
            return made.propagate(*inputs)
    except KeyError as error:
        node = error.args[0] if error.args else None
        if not isinstance(node, fx.Node):
            raise
        look = f"It is a {node.op}: each of the six kinds gives a value, kept for later nodes."
        raise BadAnswer(f"node {node.name} has no value when it is read", look) from None
    except TypeError as error:
        methods = [str(node.target) for node in module.graph.nodes if node.op == "call_method"]
        if not any(f"{method}()" in str(error) for method in methods):
            raise
        look = "The first argument of a call_method is the object: its method gets the others."
        raise BadAnswer(f"a method was called in another way: {error}", look) from None
    except AttributeError as error:
        paths = [str(n.target) for n in module.graph.nodes if n.op in ("get_attr", "call_module")]
        path = next((one for one in paths if "." in one and f"'{one}'" in str(error)), None)
        if path is None:
            raise
        look = "A target with dots is a path: go down part by part, or ask for the module in it."
        raise BadAnswer(f"nothing is called {path!r}", look) from None


def _shape(node: fx.Node) -> list[int] | None:
    if "shape" not in node.meta:
        look = 'node.meta["shape"] = …, for each node of self.module.graph.'
        raise BadAnswer(f"node {node.name} has no shape noted", look)
    shape = node.meta["shape"]
    if shape is None:
        return None
    if not isinstance(shape, (list, tuple)) or not all(isinstance(n, int) for n in shape):
        look = "A shape is a list of whole numbers, or None for what is no tensor."
        raise BadAnswer(f"the shape of {node.name} is {described(shape)}", look)
    return [int(n) for n in shape]


def ask_latencies(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Task 1.5: the latency that is noted in each node, on a pretended clock."""
    module, ticking = module_of(given["program"]), Ticking(_seconds(given))
    inputs = inputs_of(given["program"])
    with _by_hand(), pretended(lambda: ticking.now), ticking:
        _propagate(function, module, inputs)
    latencies = {}
    for node in module.graph.nodes:
        if "latency" not in node.meta:
            look = 'node.meta["latency"] = …, for each node of self.module.graph.'
            raise BadAnswer(f"node {node.name} has no latency noted", look)
        if node.meta["latency"] is None:
            look = "A latency is a number of milliseconds: 0 for what computes nothing."
            raise BadAnswer(f"the latency of {node.name} is None", look)
        latencies[node.name] = number(node.meta["latency"], f"the latency of {node.name}")
    return {"latencies": latencies, "calls": dict(ticking.calls)}


_PARTS = (
    *("run", "run_node", "placeholder", "get_attr", "call_function", "call_method", "call_module"),
    *("output", "fetch_attr", "fetch_args_kwargs_from_env", "map_nodes_to_values"),
)
_INTERPRETER: list[Any] = [vars(fx.Interpreter)[name] for name in _PARTS]


@contextmanager
def _by_hand() -> Iterator[None]:
    """While this is open, PyTorch's own interpreter runs nothing: writing one is the task.

    Its functions get another code, so that they refuse under whatever name a class has them.
    """

    def refuse(*_: Any, **__: Any) -> Any:  # it runs with PyTorch's globals in place of ours
        from lab_utils.labs.lab3a.ask import not_by_hand

        raise not_by_hand()

    codes = [function.__code__ for function in _INTERPRETER]
    for function in _INTERPRETER:
        function.__code__ = refuse.__code__
    try:
        yield
    finally:
        for function, code in zip(_INTERPRETER, codes, strict=True):
            function.__code__ = code


def not_by_hand() -> BadAnswer:
    """What is told to whoever lets PyTorch's interpreter run."""
    look = "for node in self.module.graph.nodes: … is the loop that fx.Interpreter has inside."
    return BadAnswer("fx.Interpreter is at work", look, "an interpreter that you wrote")


def ask_heavy(function: Any, given: Mapping[str, Any]) -> list[list[Any]]:
    """Task 1.6: names and latencies."""
    graph = fx.Graph()
    for op, name, latency in given["nodes"]:
        before = (node for node in reversed(graph.nodes))
        args = () if op in ("placeholder", "get_attr") else (next(before),)
        target = torch.relu if op == "call_function" else name
        node = graph.create_node(op, target, args, name=name)
        node.meta |= {"latency": latency, "shape": [1]}
    root = torch.nn.Module()
    for op, name, _ in given["nodes"]:
        if op == "call_module":
            root.add_module(name, torch.nn.ReLU())
        elif op == "get_attr":
            root.register_buffer(name, torch.ones(1))
    pairs = []
    for pair in collection(function(fx.GraphModule(root, graph)), "what you return"):
        parts = list(collection(pair, "each operator"))
        if len(parts) != 2 or not isinstance(parts[0], (str, fx.Node)):
            look = "Each is a pair: the name of the node, and its latency."
            raise BadAnswer(f"one of them is {described(pair)}", look)
        pairs.append([str(parts[0]), number(parts[1], "each latency")])
    return pairs


ASK: dict[str, Ask] = {
    "1.1": ask_transform,
    "1.2": ask_argument,
    "1.3": ask_timed,
    "1.4": ask_values,
    "1.5": ask_latencies,
    "1.6": ask_heavy,
    "1.7": ask_file,
}


def _with_values(_call: Call) -> Any:
    def with_values(argument: Any, values: Mapping[fx.Node, Any]) -> Any:
        return map_arg(argument, lambda node: values[node])

    return with_values


def _timed(call: Call) -> Any:
    """The first run is done and timed here; what follows from its time, the grader knows."""

    def timed(run: Any, once: Any) -> Any:
        start = clock()
        value = run()
        took = clock() - start
        if not once:
            run()  # what changes its input and was not said to is seen
        return value, call({"took": took, "once": bool(once)})

    return timed


BORROWED: dict[str, Borrow] = {"with_values": _with_values, "timed": _timed}
