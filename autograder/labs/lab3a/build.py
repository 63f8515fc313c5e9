"""Makes the cases and the pictures of Lab 3A; ``make notebooks`` writes them.

What is right, PyTorch says: ``map_arg`` for arguments here; its interpreter, ``ShapeProp`` and
the modules themselves in the judge, on the machine that grades, so that bits can be compared.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import nn
from torch.fx.node import map_arg

from autograder.authoring.derived import CaseData, Files, case_files
from autograder.labs.lab3a import models as m
from autograder.labs.lab3a.arguments import HIDDEN_ARGUMENTS, PUBLIC_ARGUMENTS
from autograder.labs.lab3a.encode import program_of, whole_numbers
from autograder.labs.lab3a.pictures import pictures
from lab_utils.labs.lab3a.ask import argument_of
from lab_utils.labs.lab3a.programs import told


def derived_files() -> Files:
    """The text of every derived file, by its path in the repository."""
    public = {
        "1.1": _transforms(_PUBLIC_PRODUCTS),
        "1.2": [_argument(name, *one) for name, one in PUBLIC_ARGUMENTS.items()],
        "1.3": [_timed(name, once, pace, False) for name, once, pace in _PUBLIC_RUNS],
        "1.4": [_runs(name, *one) for name, one in _public_modules().items()],
        "1.5": [_latencies(n, *one, pace=7) for n, one in _public_modules().items()],
        "1.6": [_heavy(name, nodes) for name, nodes in _PUBLIC_TIMES.items()],
        "1.7": [{"name": "nodes.csv", "given": {}, "wanted": {}}],
    }
    hidden = {
        "1.1": _transforms(_HIDDEN_PRODUCTS),
        "1.2": [_argument(name, *one) for name, one in HIDDEN_ARGUMENTS.items()],
        "1.3": [_timed(name, once, pace, True) for name, once, pace in _HIDDEN_RUNS],
        "1.4": [_runs(name, *one) for name, one in _hidden_modules().items()],
        "1.5": [
            _latencies(name, *one, pace=1009 + 31 * place, hidden=True)
            for place, (name, one) in enumerate(_hidden_modules().items())
        ],
        "1.6": [_heavy(name, nodes) for name, nodes in _HIDDEN_TIMES.items()],
    }
    images = Path("solutions/lab3a/images")
    return {
        **case_files("lab3a", public, hidden),
        **{images / name: svg for name, svg in pictures().items()},
    }


def _numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    """Small whole numbers without zero, as floats."""
    random = torch.Generator().manual_seed(seed + 17 * len(shape))
    return torch.randint(1, 6, shape, generator=random).float()


_SQUARE = ((2, 2), (2, 2))
Products = dict[str, tuple[type[nn.Module], tuple[tuple[int, ...], ...], str]]
_PUBLIC_PRODUCTS: Products = {
    "two parameters": (m.Scaled, ((2, 3),), "fx.Tracer"),
    "four products": (m.FourProducts, _SQUARE, "fx.Tracer"),
    "a block that is looked into": (m.WithBlock, _SQUARE, "fx.Tracer"),
    "a block that stays whole": (m.WithBlock, _SQUARE, "WholeBlocks"),
}
_HIDDEN_PRODUCTS: Products = {
    "other products": (m.FourProducts, ((3, 3), (3, 3)), "fx.Tracer"),
    "odd names": (m.OddNames, _SQUARE, "fx.Tracer"),
    "arguments by name": (m.NamedBlock, _SQUARE, "WholeBlocks"),
    "in place": (m.InPlaceBlock, _SQUARE, "WholeBlocks"),
    "blocks that are looked into": (m.TwoBlocks, _SQUARE, "fx.Tracer"),
    "blocks that stay whole": (m.TwoBlocks, _SQUARE, "WholeBlocks"),
}


def _transforms(products: Products) -> list[CaseData]:
    made = []
    for place, (name, (kind, shapes, tracer)) in enumerate(products.items()):
        module = whole_numbers(kind(), seed=place)
        inputs = [_numbers(*shape, seed=place + n) for n, shape in enumerate(shapes)]
        program = program_of(module, *inputs, whole=hasattr(module, "whole"))
        given = {"program": program, "tracer": tracer, "lint": True}
        made.append({"name": name, "given": given, "wanted": {}})
    return made


def _argument(name: str, argument: Any, values: dict[str, Any]) -> CaseData:
    """The right answer is that of fx's own ``map_arg``."""
    given = {"argument": argument, "values": values}
    node, known = argument_of(given)
    right = told(map_arg(node, lambda n: known[n]))
    return {"name": name, "given": given, "wanted": {"argument": right}}


_PUBLIC_RUNS = [("an operator", False, 3), ("one that changes its input", True, 4)]
_HIDDEN_RUNS = [
    ("a fast operator", False, 10021),
    ("a slow one", False, 10037),
    ("another one", False, 10103),
    ("in place", True, 10133),
    ("in place, at once", True, 10139),
    ("in place, slowly", True, 10151),
]


def _timed(name: str, once: bool, pace: int, hidden: bool) -> CaseData:
    paced = {"pace": pace}
    given = {"once": once} | ({} if hidden else paced)
    return {"name": name, "given": given, "wanted": paced if hidden else {}}


Modules = dict[str, tuple[nn.Module, tuple[torch.Tensor, ...]]]


def _public_modules() -> Modules:
    return {
        "a linear layer, a sum, a reshape": (m.Small(), (_numbers(2, 3),)),
        "slices with sizes in them": (m.Cut(), (_numbers(2, 2),)),
        "a tensor in two parts": (m.Parts(), (_numbers(2, 4),)),
        "in place, and a ticket": (m.Changes(), (_numbers(3),)),
    }


def _hidden_modules() -> Modules:
    tokens = torch.tensor([[3, 1, 6, 2]])
    return {
        "attention": (m.Attend(), (_numbers(1, 5, 4),)),
        "values that are no tensors": (m.Sizes(), (_numbers(3, 4), _numbers(4, 6, seed=2))),
        "words, and a module in place": (m.WordsInPlace(), (tokens,)),
        "parts that are written": (m.Written(), (_numbers(5, 4), torch.tensor([4, 0, 2]))),
        "branches": (m.Branches(), (_numbers(3, 2, seed=5),)),
        "in place, and a ticket, again": (m.Changes(), (_numbers(2, 5, seed=9),)),
    }


def _runs(name: str, module: nn.Module, inputs: tuple[torch.Tensor, ...]) -> CaseData:
    program = program_of(whole_numbers(module, seed=len(name)), *inputs)
    return {"name": name, "given": {"program": program}, "wanted": {}}


def _latencies(
    name: str,
    module: nn.Module,
    inputs: tuple[torch.Tensor, ...],
    pace: int,
    hidden: bool = False,
) -> CaseData:
    case = _runs(name, module, inputs)
    case["wanted" if hidden else "given"]["pace"] = pace
    return case


Times = list[tuple[str, str, float]]
_CALLS = ("call_module", "call_function", "call_method")
_PUBLIC_TIMES: dict[str, Times] = {
    "five nodes": [
        ("placeholder", "x", 0.0),
        ("call_module", "up", 4.5),
        ("call_function", "gelu", 1.25),
        ("call_module", "down", 5.0),
        ("call_method", "view", 0.01),
        ("output", "output", 0.0),
    ],
    "nine, ten and eleven": [
        ("placeholder", "x", 0.0),
        ("call_module", "a", 9.5),
        ("call_module", "b", 10.25),
        ("call_module", "c", 11.0),
        ("call_function", "d", 100.0),
        ("output", "output", 200.0),
    ],
}
_HIDDEN_TIMES: dict[str, Times] = {
    "an output that was timed": [
        ("placeholder", "x", 0.0),
        *((_CALLS[n % 3], f"n{n}", float(37 * n % 11) + 0.125) for n in range(11)),
        ("output", "output", 999.0),
    ],
    "more digits": [
        ("placeholder", "x", 0.0),
        ("get_attr", "w", 0.0),
        *((_CALLS[n % 3], f"v{n}", t) for n, t in enumerate((8.75, 70.5, 600.25, 9.125, 61.0))),
        ("output", "output", 0.0),
    ],
    "equally slow": [
        ("placeholder", "x", 0.0),
        *(("call_function", f"e{n}", t) for n, t in enumerate((2.0, 7.5, 3.0, 7.5, 3.0, 1.0))),
        ("output", "output", 0.0),
    ],
    "two alone": [
        ("placeholder", "x", 0.0),
        ("call_method", "short", 0.375),
        ("output", "output", 4.0),
    ],
}


def _heavy(name: str, nodes: Times) -> CaseData:
    """The right answer is that of pandas' ``nlargest``."""
    table = pd.DataFrame(nodes, columns=["op", "name", "latency"])
    slowest = table[table.op != "output"].nlargest(3, "latency", keep="first")
    right = [[row.name_, float(row.latency)] for row in _rows(slowest)]
    given = {"nodes": [list(node) for node in nodes]}
    return {"name": name, "given": given, "wanted": {"heavy": right}}


def _rows(table: pd.DataFrame) -> Any:
    return table.rename(columns={"name": "name_"}).itertuples(index=False)
