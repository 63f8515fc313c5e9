"""Which cells of a notebook need not run where it is graded: those that only show something.

The author says which of the released cells those are (``shows`` in the source). One that nobody
has edited is left out, unless another cell may read what it defines.
"""

from __future__ import annotations

import re
import symtable
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

#: Who uses these may read any name, so that nothing is left out.
_ANY_NAME = frozenset(
    {
        *("globals", "locals", "vars", "dir", "eval", "exec", "compile", "get_ipython"),
        *("inspect", "gc", "sys", "builtins", "importlib", "__import__", "__builtins__"),
        *("In", "Out", "_ih", "_oh", "_", "__", "___", "_i", "_ii", "_iii"),
    }
)
_NUMBERED = re.compile(r"_i?\d+")  # _12 is what the cell 12 has shown, _i12 its text
_AT_ONCE = ("listcomp", "setcomp", "dictcomp", "genexpr")


@dataclass
class _Names:
    """The names of the notebook that a cell uses."""

    binds: set[str] = field(default_factory=set)
    reads: set[str] = field(default_factory=set)
    """When it runs."""
    may_read: set[str] = field(default_factory=set)
    """In its functions, whenever these are called."""

    @property
    def may_be_any(self) -> bool:
        used = self.reads | self.may_read
        return bool(used & _ANY_NAME) or any(map(_NUMBERED.fullmatch, used))


def left_out(cells: Sequence[str], showing: frozenset[str], given: frozenset[str]) -> set[int]:
    """The places of those code cells that need not run.

    Args:
        cells: what stands in all of them, in order.
        showing: the text of released cells that only show something.
        given: the text of all released cells that are ours, which use names by their names.
    """
    out = {place for place, text in enumerate(cells) if text in showing}
    names = [_names(text) for text in cells] if out else []
    if any(one.may_be_any for text, one in zip(cells, names, strict=False) if text not in given):
        return set()

    def is_read(place: int) -> bool:
        return any(
            names[place].binds & (one.may_read | (one.reads if other > place else set()))
            for other, one in enumerate(names)
            if other not in out
        )

    while needed := {place for place in out if is_read(place)}:
        out -= needed
    return out


def _names(text: str) -> _Names:
    try:
        table = symtable.symtable(text, "cell", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # a % of IPython, or worse
        words = set(re.findall(r"\w+", text))
        return _Names(reads=words, may_read=words)
    found = _Names()
    for symbol in table.get_symbols():
        if symbol.is_assigned() or symbol.is_imported():
            found.binds.add(symbol.get_name())
        if symbol.is_referenced():
            found.reads.add(symbol.get_name())
    for is_later, inner in _inside(table, False):
        used = {symbol.get_name() for symbol in inner.get_symbols() if symbol.is_global()}
        (found.may_read if is_later else found.reads).update(used)
        if is_later:  # what a function says is ``global``
            assigned = {s.get_name() for s in inner.get_symbols() if s.is_assigned()}
            found.binds |= used & assigned
    return found


def _inside(
    table: symtable.SymbolTable, is_later: bool
) -> Iterator[tuple[bool, symtable.SymbolTable]]:
    """All scopes in one, and whether they run later than the cell."""
    for inner in table.get_children():
        runs_later = is_later or (
            inner.get_type() == "function" and inner.get_name() not in _AT_ONCE
        )
        yield runs_later, inner
        yield from _inside(inner, runs_later)
