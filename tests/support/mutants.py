"""Small changes of a Python text, made by machine: what a slip of the hand might give.

Each mutant differs from the text in one place: a branch that is dropped, a constant that is
another, ``all`` for ``any``, a missing ``list``, another order, another neighbour.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from copy import deepcopy
from typing import NamedTuple


class Mutant(NamedTuple):
    """A changed text, and what was changed in it."""

    text: str
    line: int
    change: str


Change = tuple[str, Callable[[ast.AST], ast.AST | None]]
"""What is done, and how; None takes the node out (a statement becomes ``pass``)."""

_COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_BINARY: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.Pow: ast.Mult,
}
_NAMES = {"all": "any", "any": "all", "min": "max", "max": "min"}
_WRAPPERS = {"list", "tuple", "sorted", "reversed", "set", "dict", "int", "float", "round", "abs"}
_NEIGHBOURS = {
    "next": "prev",
    "prev": "next",
    "all_input_nodes": "users",
    "users": "all_input_nodes",
    "first": "last",
    "last": "first",
    "rows": "columns",
    "columns": "rows",
    "append": "insert",
    "add": "discard",
    "setdefault": "get",
}


def mutants_of(text: str, lines: Collection[int] = ()) -> Iterator[Mutant]:
    """All mutants of ``text``, or those that change one of its ``lines``, counted from 1."""
    tree = ast.parse(text)
    seen = {ast.unparse(tree)}
    types = {id(n) for node in ast.walk(tree) for t in _types(node) for n in ast.walk(t)}
    for place, node in enumerate(ast.walk(tree)):
        line = getattr(node, "lineno", 0)
        if (lines and line not in lines) or id(node) in types:
            continue
        for what, change in _changes(node):
            copy = deepcopy(tree)
            target = next(n for at, n in enumerate(ast.walk(copy)) if at == place)
            changed = ast.fix_missing_locations(_Replace(target, change).visit(copy))
            mutant = ast.unparse(changed)
            if mutant not in seen:
                seen.add(mutant)
                yield Mutant(mutant, line, what)


def _types(node: ast.AST) -> Iterator[ast.AST]:
    """What only type checkers read."""
    for name in ("annotation", "returns"):
        if isinstance(found := getattr(node, name, None), ast.AST):
            yield found


class _Replace(ast.NodeTransformer):
    def __init__(self, target: ast.AST, change: Callable[[ast.AST], ast.AST | None]) -> None:
        self._target, self._change = target, change

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self._target:
            return self._change(node) or ast.Pass()
        return self.generic_visit(node)


def _changes(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.If() | ast.IfExp() | ast.While():
            for value in (True, False):
                if not isinstance(node, ast.While) or not value:
                    yield f"the condition is always {value}", _with(test=ast.Constant(value))
        case ast.comprehension(ifs=[_, *_]):
            yield "a condition is left out", _with(ifs=[])
        case ast.Compare(ops=[operator, *_]) if type(operator) in _COMPARE:
            other = _COMPARE[type(operator)]()
            yield "another comparison", _with(ops=[other, *node.ops[1:]])
        case ast.BoolOp(values=values):
            other_op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield "and for or", _with(op=other_op)
            for left in range(len(values)):
                rest = [v for at, v in enumerate(values) if at != left]
                one = rest[0] if len(rest) == 1 else None
                yield (
                    "a part of a condition is left out",
                    _becomes(one) if one else _with(values=rest),
                )
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "a not is left out", _becomes(operand)
        case ast.BinOp(op=operator) if type(operator) in _BINARY:
            yield "another operation", _with(op=_BINARY[type(operator)]())
            yield "only the left side", _becomes(node.left)
        case ast.AugAssign() | ast.Expr(value=ast.Call()) | ast.Continue() | ast.Break():
            yield "a statement is left out", lambda _: None
        case ast.For():
            reverse = ast.Call(ast.Name("reversed"), [_listed(node.iter)], [])
            yield "the other way round", _with(iter=reverse)
            yield "not the first", _with(iter=_sliced(node.iter, 1, None))
            yield "not the last", _with(iter=_sliced(node.iter, None, -1))
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in _WRAPPERS:
            yield f"without {name}", _becomes(first)
        case ast.Constant(value=bool() as value):
            yield "the other truth", _becomes(ast.Constant(not value))
        case ast.Constant(value=int() | float() as value):
            yield "another number", _becomes(ast.Constant(value + 1))
            if value:
                yield "another number", _becomes(ast.Constant(value - 1))
        case ast.Name(id=name) if name in _NAMES:
            yield f"{_NAMES[name]} for {name}", _becomes(ast.Name(_NAMES[name]))
        case ast.Attribute(attr=name) if name in _NEIGHBOURS:
            yield f"{_NEIGHBOURS[name]} for {name}", _with(attr=_NEIGHBOURS[name])
        case ast.Return(value=ast.expr() as value):
            yield "nothing is returned", _with(value=ast.Constant(None))


def _with(**fields: object) -> Callable[[ast.AST], ast.AST]:
    def changed(node: ast.AST) -> ast.AST:
        for name, value in fields.items():
            setattr(node, name, deepcopy(value))
        return node

    return changed


def _becomes(other: ast.AST) -> Callable[[ast.AST], ast.AST]:
    return lambda _: deepcopy(other)


def _listed(value: ast.expr) -> ast.expr:
    return ast.Call(ast.Name("list"), [value], [])


def _sliced(value: ast.expr, start: int | None, stop: int | None) -> ast.expr:
    ends = [None if end is None else ast.Constant(end) for end in (start, stop)]
    return ast.Subscript(_listed(value), ast.Slice(*ends))
