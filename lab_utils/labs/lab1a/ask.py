"""How the tasks of Lab 1A are asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

from lab_utils.instruments.roofline import Machine
from lab_utils.instruments.shapes import Transformer
from lab_utils.kit.answers import a_type, collection, fields_told, mapping, number
from lab_utils.kit.errors import BadAnswer
from lab_utils.kit.task import Borrow, Call
from lab_utils.labs.lab1a.records import Times, layer_names
from lab_utils.labs.lab1a.tables import ROW


def whole(value: Any, what: str) -> float:
    """A number; one that is whole, whatever type it has, comes as an int."""
    try:
        return index(value)
    except TypeError:
        told = number(value, what)
    return int(told) if told.is_integer() else told


def ask_elements(function: Any, given: Mapping[str, Any]) -> list[float]:
    """Three numbers."""
    return _several(function(given["operator"], list(given["dims"])), ("input", "weight", "output"))


def _several(value: Any, names: tuple[str, ...]) -> list[float]:
    told = list(collection(value, "what you return"))
    if len(told) != len(names):
        look = f"Return {len(names)} numbers: {', '.join(names)}."
        raise BadAnswer(f"what you return has {len(told)} parts", look)
    return [whole(part, f"the number for {name}") for part, name in zip(told, names, strict=True)]


def ask_operations(function: Any, given: Mapping[str, Any]) -> float:
    """Operations, of dims and where the task has one, a weight ``w``."""
    more = [given["w"]] if "w" in given else []
    return whole(function(*given["dims"], *more), "what you return")


def ask_times(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of ``Times``."""
    efficiency = (given["compute_eff"], given["memory_eff"])
    work = (given["operations"], given["elements"], given["dtype"])
    told = function(*work, Machine(**given["machine"]), *efficiency)
    *seconds, bound = fields_told(told, "what you return", Times)
    names = Times._fields[:-1]
    values = {name: number(v, name) for name, v in zip(names, seconds, strict=True)}
    return {**values, "bound": bound if isinstance(bound, str) else a_type(bound)}


def ask_network(function: Any, given: Mapping[str, Any]) -> list[Any]:
    """Pairs of an operator's name and its dims."""
    told = function(*(given[name] for name in ("batch", "tokens", "d_in", "d_model", "d_ff")))
    made = []
    for place, pair in enumerate(collection(told, "what you return"), 1):
        parts = list(collection(pair, f"operator {place}"))
        if len(parts) != 2 or not isinstance(parts[0], str):
            look = 'Each operator is a pair: its name and its dims, as in ("softmax", (8, 16)).'
            raise BadAnswer(f"operator {place} is {a_type(pair)} of {len(parts)} parts", look)
        dims = collection(parts[1], f"the dims of operator {place}")
        made.append([parts[0], [whole(d, f"a length of operator {place}") for d in dims]])
    return made


def ask_row(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """A letter and twelve numbers, by the names of their columns."""
    took = Times(**given["times"])
    told = function(given["operations"], tuple(given["moved"]), took, given["clock"])
    told = _named(mapping(told, "what you return"), ROW, "ROW")
    bound, *numbers = ROW
    letter = told[bound] if isinstance(told[bound], str) else a_type(told[bound])
    return {bound: letter, **{name: number(told[name], name) for name in numbers}}


def _named(told: Mapping[Any, Any], names: Sequence[str], called: str) -> Mapping[Any, Any]:
    """``told`` if it has an entry for each of ``names``, and no other."""
    if odd := [str(name) for name in told if name not in names]:
        look = f"The names are those of {called}, and no others."
        raise BadAnswer(f"there is a number for {', '.join(odd)}", look)
    if missing := [name for name in names if name not in told]:
        look = f"Each name of {called} has a number."
        raise BadAnswer(f"there is no number for {', '.join(missing)}", look)
    return told


def ask_layer(function: Any, given: Mapping[str, Any]) -> dict[str, float]:
    """A number for each matrix product of a decoder layer."""
    model = Transformer(**given["model"])
    told = mapping(function(model, given["batch"], given["new"], given["past"]), "what you return")
    names = layer_names(model)
    told = _named(told, names, "layer_names(model)")
    return {name: whole(told[name], f"the number for {name}") for name in names}


def ask_memory(function: Any, given: Mapping[str, Any]) -> list[float]:
    """Two numbers of bytes."""
    model = Transformer(**given["model"])
    told = function(model, given["batch"], given["context"], given["dtype"])
    return _several(told, ("weights", "cache"))


def ask_ridge(function: Any, given: Mapping[str, Any]) -> float | None:
    """A batch, or None."""
    told = function(given["K"], given["N"], given["dtype"], Machine(**given["machine"]))
    return None if told is None else whole(told, "what you return")


ASK = {
    "1.1": ask_elements,
    "1.2": ask_operations,
    "1.3": ask_operations,
    "1.4": ask_operations,
    "1.5": ask_operations,
    "2.1": ask_times,
    "2.2": ask_network,
    "2.3": ask_row,
    "2.4": ask_layer,
    "2.5": ask_layer,
    "2.6": ask_memory,
    "2.7": ask_ridge,
}


def _gemm(call: Call) -> Any:
    def gemm_ops(B: int, M: int, N: int, K: int) -> Any:
        return call([index(n) for n in (B, M, N, K)])

    return gemm_ops


def _softmax(call: Call) -> Any:
    def softmax_ops(B: int, L: int, w: int) -> Any:
        return call([index(n) for n in (B, L, w)])

    return softmax_ops


BORROWED: dict[str, Borrow] = {"gemm_ops": _gemm, "softmax_ops": _softmax}
