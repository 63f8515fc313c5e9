"""Programs as plain data: the graph of a traced module, and all that its arguments can hold.

A program is a dict: ``nodes`` (each a list of op, name, target, args, kwargs), ``modules`` and
``tensors`` by their dotted path, ``inputs`` of an example. A module may be a program itself.
Arguments that JSON does not know are dicts with one key: ``{"node": …}``, ``{"tuple": […]}``,
``{"slice": […]}`` and so on.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Mapping
from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional as F

from lab_utils.kit.answers import a_type
from lab_utils.kit.errors import BadAnswer
from lab_utils.labs.lab3a.layers import Ticket

#: Where functions are looked up, by the first word of their name.
HOMES: Mapping[str, Any] = {
    "torch": torch,
    "operator": operator,
    "F": F,
    "math": math,
    "builtins": builtins,
}
_PLAIN = (bool, int, str, type(None))
_LONGEST = 4000  # elements of a tensor that is told


def told(value: Any) -> Any:
    """A value, or an argument with nodes in it, as plain data.

    Raises:
        BadAnswer: it holds something that no program holds.
    """
    match value:
        case fx.Node():
            return {"node": value.name}
        case torch.Tensor():
            if value.numel() > _LONGEST:
                text = f"a tensor of {value.numel():,} elements"
                raise BadAnswer(text, "Something much smaller is wanted there.")
            numbers = value.detach().flatten().tolist()
            return {"tensor": [told(n) for n in numbers], **_form(value)}
        case torch.Size():
            return {"size": list(value)}
        case torch.dtype():
            return {"dtype": str(value).removeprefix("torch.")}
        case slice():
            return {"slice": [told(part) for part in (value.start, value.stop, value.step)]}
        case tuple():
            return {"tuple": [told(part) for part in value]}
        case list():
            return [told(part) for part in value]
        case dict():
            return {"dict": [[told(key), told(part)] for key, part in value.items()]}
        case float():
            return value if math.isfinite(value) else {"float": str(value)}
        case _ if value is ...:
            return {"dots": True}
        case _ if isinstance(value, _PLAIN):
            return value
    raise BadAnswer(f"what you return holds {a_type(value)}", "No such thing is in the graph.")


def _form(tensor: torch.Tensor) -> dict[str, Any]:
    return {"shape": list(tensor.shape), "type": str(tensor.dtype).removeprefix("torch.")}


def meant(data: Any, nodes: Mapping[str, fx.Node]) -> Any:
    """The other way round: what plain data stands for, with ``nodes`` by name."""
    if isinstance(data, list):
        return [meant(part, nodes) for part in data]
    if not isinstance(data, dict):
        return data
    if "tensor" in data:
        numbers = [meant(n, nodes) for n in data["tensor"]]
        return torch.tensor(numbers, dtype=getattr(torch, data["type"])).reshape(data["shape"])
    ((kind, part),) = data.items()
    match kind:
        case "node":
            return nodes[part]
        case "tuple":
            return tuple(meant(one, nodes) for one in part)
        case "slice":
            return slice(*(meant(one, nodes) for one in part))
        case "dict":
            return {meant(key, nodes): meant(one, nodes) for key, one in part}
        case "size":
            return torch.Size(part)
        case "dtype":
            return getattr(torch, part)
        case "float":
            return float(part)
        case "dots":
            return ...
    raise ValueError(f"a program has no {kind!r}")


def function_called(name: str) -> Any:
    """The function of a name such as ``torch.mul``, ``operator.add`` or ``F.gelu``."""
    home, _, rest = name.partition(".")
    return getattr(HOMES[home], rest)


def name_of(function: Any) -> str:
    """The name of a function by which ``function_called`` finds it; else its own."""
    for home, module in HOMES.items():
        name = getattr(function, "__name__", "")
        if getattr(module, name, None) is function:
            return f"{home}.{name}"
    return str(getattr(function, "__name__", function))


def module_of(program: Mapping[str, Any]) -> fx.GraphModule:
    """A fresh module that runs ``program``."""
    root = nn.Module()
    for path, form in program["modules"].items():
        _home(root, path).add_module(path.rpartition(".")[2], _made(form))
    for path, data in program["tensors"].items():
        fixed = nn.Parameter(meant(data, {}), requires_grad=False)  # fx traces parameters
        _home(root, path).register_parameter(path.rpartition(".")[2], fixed)
    graph, nodes = fx.Graph(), dict[str, fx.Node]()
    for op, name, target, args, kwargs in program["nodes"]:
        called = function_called(target) if op == "call_function" else target
        arguments = (tuple(meant(args, nodes)), {k: meant(v, nodes) for k, v in kwargs.items()})
        nodes[name] = graph.create_node(op, called, *arguments, name=name)
    return fx.GraphModule(root, graph).eval()


def _made(form: Mapping[str, Any]) -> nn.Module:
    """A module inside a program: a program of its own, or one of PyTorch's with its numbers."""
    if "nodes" in form:
        return module_of(form)
    kind = Ticket if form["class"] == "Ticket" else getattr(nn, form["class"])
    made: nn.Module = kind(*form["init"])
    if state := {name: meant(data, {}) for name, data in form["state"].items()}:
        made.load_state_dict(state)
    return made


def inputs_of(program: Mapping[str, Any]) -> list[Any]:
    """Fresh inputs of the example."""
    return [meant(data, {}) for data in program["inputs"]]


def _home(root: nn.Module, path: str) -> nn.Module:
    """The module in which something with a dotted ``path`` lies; made where it is missing."""
    for part in path.split(".")[:-1]:
        if not hasattr(root, part):
            root.add_module(part, nn.Module())
        root = getattr(root, part)
    return root
