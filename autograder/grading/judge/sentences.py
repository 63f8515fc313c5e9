"""What may be said of a hidden case: sentences that stand in the judges' own code, and no others.

A finding is made of text in which names and numbers are filled in: "a_1 still reads b_2".
Of a hidden case the text is told without what was filled in. Nothing that student code chose, and
nothing of the case itself, can be part of it; what fits no text of ours is not told at all.

Nor may an answer choose what is told by bringing words of ours. Whichever text the judge has
filled in, it fits. So where another one fits better, its further words came with the answer: a
text is told only if it has a word that neither the answer brought nor any other text that fits.
Numbers, signs and spaces never count as ours, as the answer may bring any of them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

HOLE = "…"
_TELLING = 8  # letters without which a sentence with holes says nothing
_LONGEST = 20_000  # characters; what is longer is mostly filled in
_WORD = re.compile(r"[^\W\d_]+")
_EDGE = re.compile(rf"[^\W\d_]*(?:{HOLE}[^\W\d_]*)+")  # holes, and letters that touch them
_PIECES = 5  # words side by side that may be read as one
_LITERALS = "list dict str int float bool NoneType None True False nan inf"  # of any answer


@dataclass(frozen=True)
class Sentence:
    """A text of ours: its fixed parts, with something filled in between any two of them."""

    parts: tuple[str, ...]

    @property
    def told(self) -> str:
        """The text with its holes left open."""
        return HOLE.join(self.parts)

    @property
    def weight(self) -> int:
        """How much of it is fixed."""
        return sum(map(len, self.parts))

    def fits(self, text: str) -> bool:
        """Whether ``text`` is this sentence with something filled in; in linear time."""
        first, *between = self.parts
        if not between:
            return text == first
        last = between.pop()
        end = len(text) - len(last)
        if not text.startswith(first) or not text.endswith(last) or end < len(first):
            return False
        at = len(first)
        for part in between:
            at = text.find(part, at, end)
            if at < 0:
                return False
            at += len(part)
        return True

    @cached_property
    def is_telling(self) -> bool:
        """Whether it says anything with its holes left open."""
        return sum(map(str.isalpha, self.told)) >= _TELLING or HOLE not in self.told

    @cached_property
    def words(self) -> frozenset[str]:
        """Its own words: those that are whole, whatever is filled in."""
        return frozenset(_words(_EDGE.sub(HOLE, self.told)))

    @cached_property
    def edges(self) -> frozenset[str]:
        """Letters that become a word only with what is filled in beside them."""
        return frozenset(word for edge in _EDGE.findall(self.told) for word in _words(edge))

    @cached_property
    def tokens(self) -> tuple[str, ...]:
        """All but signs and holes, in its order."""
        return tuple(re.findall(r"\w+", self.told.casefold()))


class Brought:
    """The words that an answer brings."""

    def __init__(self, answer: Any) -> None:
        texts = (_LITERALS, *texts_in(answer))
        self._words = {word for text in texts for word in _words(text)}

    def spell(self, words: Iterable[str], edges: Iterable[str] = ()) -> bool:
        """Whether these make all of ``words``, put side by side if need be, between ``edges``."""
        pieces = self._words.union(edges)
        return all(_is_spelled(word, pieces, _PIECES) for word in words)


def _is_spelled(word: str, pieces: Set[str], most: int) -> bool:
    return word in pieces or (
        most > 1
        and any(
            word[:end] in pieces and _is_spelled(word[end:], pieces, most - 1)
            for end in range(1, len(word))
        )
    )


class Sentences:
    """All texts in some modules, the most telling first."""

    def __init__(self, files: Iterable[Path]) -> None:
        found = {one for file in files for one in _in_file(file)}
        self._sentences = sorted(found, key=lambda one: (-one.weight, one.parts))
        # Those that differ in signs alone are told as one: the signs may be filled in.
        self._plainest = {one.tokens: one for one in self._sentences}
        self._rank = {one: rank for rank, one in enumerate(self._sentences)}
        self._by_start: dict[str, list[Sentence]] = {}
        for one in self._sentences:
            self._by_start.setdefault(one.parts[0][:1], []).append(one)

    def told(self, text: str, instead: str, brought: Brought) -> str:
        """``text`` without what was filled in.

        ``instead`` where it is none of ours, or may be one by the words that the answer brought.
        """
        fitting = self._fitting(text) if len(text) <= _LONGEST else []
        best = next((one for one in fitting if one.is_telling), None)
        if best is None or brought.spell(best.words):
            return instead
        others = (one for one in fitting if one.tokens != best.tokens)
        if any(brought.spell(best.words - other.words, other.edges) for other in others):
            return instead
        return self._plainest[best.tokens].told

    def _fitting(self, text: str) -> list[Sentence]:
        """Those that ``text`` may be, the most telling first."""
        starts = {text[:1], ""}
        found = [s for start in starts for s in self._by_start.get(start, ()) if s.fits(text)]
        return sorted(found, key=self._rank.__getitem__)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def texts_in(value: Any) -> Iterator[str]:
    """All texts in plain data, keys too."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping):
            waiting += [*part, *part.values()]
        elif isinstance(part, Sequence):
            waiting += part


def _in_file(file: Path) -> Iterator[Sentence]:
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    filled = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    fragments = {id(part) for node in filled for part in node.values}
    for joined in filled:
        parts = [""]
        for value in joined.values:
            if isinstance(value, ast.Constant):
                parts[-1] += str(value.value)
            else:
                parts.append("")
        yield Sentence(tuple(parts))
    for node in nodes:
        match node:
            # One word alone may be a value of the case.
            case ast.Constant(value=str() as text) if len(_words(text)) > 1:
                if id(node) not in fragments:
                    yield Sentence((text,))
