"""Arguments with nodes in them, as plain data; see ``lab_utils.labs.lab3a.programs``."""

from __future__ import annotations

from typing import Any

Given = dict[str, tuple[Any, dict[str, Any]]]


def _node(name: str) -> dict[str, str]:
    return {"node": name}


def _slice(*parts: Any) -> dict[str, list[Any]]:
    return {"slice": list(parts)}


def _tuple(*parts: Any) -> dict[str, list[Any]]:
    return {"tuple": list(parts)}


def _dict(**parts: Any) -> dict[str, list[Any]]:
    return {"dict": [[key, value] for key, value in parts.items()]}


_A, _B = _node("a"), _node("b")

PUBLIC_ARGUMENTS: Given = {
    "a": (_A, {"a": 5}),
    "(a, 3, 'tanh')": (_tuple(_A, 3, "tanh"), {"a": 5}),
    "[a, [b, None]]": ([_A, [_B, None]], {"a": 5, "b": 7}),
    "{'size': (a, 2)}": (_dict(size=_tuple(_A, 2)), {"a": 5}),
    "slice(None, a, None)": (_slice(None, _A, None), {"a": 5}),
    "slice(0, None, a)": (_slice(0, None, _A), {"a": 2}),
}

HIDDEN_ARGUMENTS: Given = {
    "one node among others": (
        _tuple(1, "b", [2.5, {"dots": True}, [_A]], {"dtype": "int64"}, _dict(dim=_A)),
        {"a": 4},
    ),
    "slices in a tuple": (
        _tuple(_slice(None, None, None), _slice(_A, _B, None), _slice(None, None, _B), 0),
        {"a": 2, "b": 9},
    ),
    "a slice alone": (_slice(_B, _A, _node("c")), {"a": 11, "b": 1, "c": 2}),
    "a list of tuples": ([_tuple(_A, 1), _tuple(_slice(_B, None, _A)), _tuple()], {"a": 3, "b": 8}),
    "a dict in a list": ([_dict(left=_A, right=[_B, _dict(deep=_A)])], {"a": 6, "b": 4}),
    "a tuple as a value": (
        _tuple(_A, [_A, _dict(of=_B)]),
        {"a": _tuple(1, 2), "b": {"size": [3, 4]}},
    ),
    "None and nought": (_tuple(_A, _slice(_B, _A, None), 0, None, False), {"a": None, "b": 0}),
    "slices in a dict": (_dict(at=_tuple({"dots": True}, _slice(0, _A, _B))), {"a": 13, "b": 3}),
}
