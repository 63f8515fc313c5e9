"""Which hand-ins are alike in what students wrote themselves: a hint, never a verdict.

Code is compared by its tokens: names that students chose, comments and layout make no difference.
Short runs of tokens are looked up across the class. Those that were released count nothing, and
neither do those that many students share: there is often one good way to write a thing.
"""

from __future__ import annotations

import builtins
import io
import keyword
import math
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise

from nbformat.notebooknode import NotebookNode

RUN = 10
"""Tokens of code that are looked up together."""
WORDS = 6
"""Words of a text that are."""
MANY_SHARE = 0.1
"""A run that more than this share of the class has tells nothing."""
ALWAYS_FEW = 4
"""So many students may share a run in a small class, too."""
LEAST = 12
"""Runs that two cells must share to be worth a look."""
ALIKE = 0.4
"""The least share of the shorter cell that the other one has too."""
_KEPT = frozenset(keyword.kwlist) | frozenset(keyword.softkwlist) | frozenset(dir(builtins))
_SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENCODING, tokenize.ENDMARKER}
_INDENTS = {tokenize.INDENT, tokenize.DEDENT}

Run = tuple[str, ...]
Place = tuple[str, str]
"""A notebook, and the ``grade_id`` of the cell that was filled in, or below which it was added."""


@dataclass(frozen=True)
class Piece:
    """What one student wrote in one place."""

    text: str
    runs: Mapping[Run, frozenset[int]]
    """Each with the lines in which it stands, from 0."""


@dataclass(frozen=True)
class Likeness:
    """Two pieces of two students for the same place."""

    place: Place
    share: float
    """Of the shorter piece's telling runs, the part that the other one has, too."""
    weight: float
    """The rarer the runs that they share, the more."""
    texts: tuple[str, str]
    lines: tuple[frozenset[int], frozenset[int]]
    """Lines of either that the other one has, from 0."""


@dataclass(frozen=True)
class Pair:
    """Two students whose hand-ins are alike."""

    students: tuple[str, str]
    alike: list[Likeness] = field(default_factory=list)

    @property
    def weight(self) -> float:
        """For ranking."""
        return sum(one.weight for one in self.alike)


def pieces_of(
    books: Mapping[str, NotebookNode], released: frozenset[str]
) -> dict[Place, list[tuple[str, str]]]:
    """What a student wrote: by place, the kind of each cell and its text."""
    found: dict[Place, list[tuple[str, str]]] = defaultdict(list)
    for notebook, book in books.items():
        at = ""
        for cell in book.cells:
            marks = cell.metadata.get("nbgrader", {})
            at = marks.get("grade_id") or at
            is_ours = (marks.get("locked") or marks.get("grade")) and not marks.get("solution")
            if not is_ours and cell.source.strip() and cell.source.strip() not in released:
                found[notebook, at].append((cell.cell_type, cell.source))
    return dict(found)


def similar(
    written: Mapping[str, Mapping[Place, Sequence[tuple[str, str]]]],
    released: Iterable[tuple[str, str]],
) -> list[Pair]:
    """The pairs of students who are alike, the most telling first.

    ``written`` is by student what ``pieces_of`` gives; ``released`` are the cells that all were
    given, by kind and text. Names in their code are known to all; a word of their prose is a name
    that a student has chosen.
    """
    given = list(released)
    code = [text for kind, text in given if kind == "code"]
    names = {word for text in code for word in re.findall(r"[^\W\d]\w*", text)}
    ours = {run for kind, text in given for run in _runs(kind, text, names)}
    pieces = {
        student: {place: _piece(cells, names, ours) for place, cells in places.items()}
        for student, places in written.items()
    }
    pairs: dict[tuple[str, str], Pair] = {}
    for place in sorted({place for places in pieces.values() for place in places}):
        here = {s: places[place] for s, places in sorted(pieces.items()) if place in places}
        for one, two, likeness in _alike(place, here, len(written)):
            pairs.setdefault((one, two), Pair((one, two))).alike.append(likeness)
    return sorted(pairs.values(), key=lambda pair: (-pair.weight, pair.students))


def _alike(
    place: Place, pieces: Mapping[str, Piece], students: int
) -> Iterator[tuple[str, str, Likeness]]:
    owners: dict[Run, list[str]] = defaultdict(list)
    for student, piece in pieces.items():
        for run in piece.runs:
            owners[run].append(student)
    many = max(ALWAYS_FEW, MANY_SHARE * students)
    telling = {run: who for run, who in owners.items() if len(who) <= many}
    own = Counter(student for who in telling.values() for student in who)
    shared: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for run, who in telling.items():
        for pair in combinations(who, 2):
            shared[pair].append(run)
    for (one, two), runs in shared.items():
        share = len(runs) / min(own[one], own[two])
        if len(runs) < LEAST or share < ALIKE:
            continue
        weight = sum(math.log((students + 1) / len(owners[run])) for run in runs)
        both = pieces[one], pieces[two]
        lines = tuple(frozenset().union(*(piece.runs[run] for run in runs)) for piece in both)
        texts = (both[0].text, both[1].text)
        yield one, two, Likeness(place, share, weight, texts, (lines[0], lines[1]))


def _piece(cells: Sequence[tuple[str, str]], names: set[str], ours: set[Run]) -> Piece:
    runs: dict[Run, frozenset[int]] = {}
    above = 0
    for kind, text in cells:
        for run, lines in _runs(kind, text, names).items():
            if run not in ours:
                runs[run] = runs.get(run, frozenset()) | {above + line for line in lines}
        above += len(text.splitlines()) + 1
    return Piece("\n\n".join(text for _, text in cells), runs)


def _runs(kind: str, text: str, names: set[str]) -> dict[Run, frozenset[int]]:
    tokens = list(_tokens(text, names)) if kind == "code" else list(_words(text))
    length = RUN if kind == "code" else WORDS
    found: dict[Run, frozenset[int]] = {}
    for at in range(len(tokens) - length + 1):
        run = tuple(token for token, _ in tokens[at : at + length])
        lines = frozenset(line for _, line in tokens[at : at + length])
        found[run] = found.get(run, frozenset()) | lines
    return found


def _words(text: str) -> Iterator[tuple[str, int]]:
    for number, line in enumerate(text.splitlines()):
        for word in re.findall(r"\w+", line.casefold()):
            yield word, number


def _tokens(text: str, names: set[str]) -> Iterator[tuple[str, int]]:
    """Tokens with their lines; names that nobody else knows are all the same."""
    try:
        found = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        yield from _words(text)
        return
    kept = [token for token in found if token.type not in {*_SKIPPED, *_INDENTS}]
    begins = {found[0].start} if found else set()
    begins |= {
        after.start
        for before, after in pairwise(token for token in found if token.type != tokenize.NL)
        if before.type in {tokenize.NEWLINE, tokenize.COMMENT, *_INDENTS}
    }
    for token in kept:
        line = token.start[0] - 1
        if token.type == tokenize.STRING and token.start in begins:
            continue  # documentation
        if token.type == tokenize.NAME and token.string not in _KEPT and token.string not in names:
            yield "‹name›", line
        elif token.type == tokenize.STRING:
            yield "‹text›", line
        else:
            yield token.string, line
