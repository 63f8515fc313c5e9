"""What may be said of a hidden case: sentences that stand in the judges' own code, and no others.

A finding is made of text in which names and numbers are filled in: "a_1 still reads b_2".
Of a hidden case the text is told without what was filled in. Nothing that student code chose, and
nothing of the case itself, can be part of it; what fits no text of ours is not told at all. Nor is
a text of ours that the answer itself holds: else an answer could choose what is told of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HOLE = "…"
_TELLING = 8  # letters without which a sentence with holes says nothing
_LONGEST = 600  # characters of a finding that are looked at


class Chosen(Exception):
    """An answer is made of our own words."""


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

    def stands_in(self, texts: Iterable[str]) -> bool:
        """Whether one of ``texts`` is this, or holds a fixed part of it of more than one word.

        The spaces around a part do not count: what an answer is filled in between may bring them.
        """
        parts = [part.strip() for part in self.parts if " " in part.strip()]
        return any(self.told == text or any(part in text for part in parts) for text in texts)


class Sentences:
    """All texts in some modules, the most telling first."""

    def __init__(self, files: Iterable[Path]) -> None:
        found = {one for file in files for one in _in_file(file)}
        self._sentences = sorted(found, key=lambda one: (-one.weight, one.parts))

    def told(self, text: str, instead: str, answered: Sequence[str] = ()) -> str:
        """``text`` without what was filled in; ``instead`` where it is none of ours.

        ``answered`` are the texts of the answer that it is about.

        Raises:
            Chosen: they hold words of what would be told.
        """
        if len(text) > _LONGEST:  # what was filled in, most likely
            text = text[: _LONGEST // 2] + text[-_LONGEST // 2 :]
        found = next((one for one in self._sentences if one.fits(text)), None)
        if found is None:
            return instead
        if found.stands_in(answered):
            raise Chosen
        return found.told


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
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            parts = [""]
            for value in node.values:
                if isinstance(value, ast.Constant):
                    parts[-1] += str(value.value)
                else:
                    parts.append("")
            if sum(letter.isalpha() for part in parts for letter in part) >= _TELLING:
                yield Sentence(tuple(parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value:
            yield Sentence((node.value,))
