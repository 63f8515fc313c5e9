"""Finds values of hidden cases, and reference graphs, in files that students get.

A text, a number or a structure counts if it is too large to be a coincidence. What stands in
public cases as well is no secret, unless it is a graph. Blanks, quotes and ``1_000`` make no
difference. The names of hidden cases may be known: feedback tells them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

LONG = 12  # characters that are no coincidence
DIFFERENT = 4  # parts of a structure that are no coincidence
SECRET = ("labs", "reference")  # folders of autograder/; a graded class fills others
_GRAPH = "digraph"
_BLANK = re.compile(r"(?<=\d)_(?=\d)|\s")


def hidden_values_in(files: Mapping[str, bytes], root: Path) -> Iterator[str]:
    """What of our hidden cases and references can be read in ``files``, one line for each file."""
    by_start: dict[str, list[str]] = {}
    secrets = _secrets(root)
    for secret in secrets:
        by_start.setdefault(secret[:LONG], []).append(secret)
    for name, content in files.items():
        text = _squeezed(_readable(name, content))
        found = {
            secret
            for at in range(len(text) - LONG + 1)
            for secret in by_start.get(text[at : at + LONG], ())
            if text.startswith(secret, at)
        }
        told = {f"{name}: has {secrets[secret]}" for secret in found}
        yield from sorted(told)


def _readable(name: str, content: bytes) -> str:
    """All that can be read in a file; in JSON a text stands with its escapes."""
    text = content.decode(errors="replace")
    if not name.endswith((".json", ".ipynb")):
        return text
    return "\n".join([text, *_texts(json.loads(text))])


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for part in _parts(value):
        yield from _texts(part)


def _secrets(root: Path) -> Mapping[str, str]:
    """What must not be told, squeezed, and what it is in words."""
    stats = [(path, path.stat()) for path in (*_public(root), *_ours(root))]
    return _found(root, tuple((path, stat.st_mtime_ns, stat.st_size) for path, stat in stats))


@lru_cache(maxsize=4)  # it takes seconds, and is asked for again and again
def _found(root: Path, _state: tuple[tuple[Path, int, int], ...]) -> Mapping[str, str]:
    """The same while no file of it has changed."""
    public = "".join(_squeezed(_readable(path.name, path.read_bytes())) for path in _public(root))
    given = {
        _squeezed(path.read_text(encoding="utf-8"))
        for path in _public(root)
        if path.suffix == ".dot"
    }
    secrets: dict[str, str] = {}
    for path in _ours(root):
        if path.suffix == ".dot":
            graph = _squeezed(path.read_text(encoding="utf-8"))
            if graph not in given:  # a reference may be what students begin with
                secrets[graph] = f"a graph of {path.name}"
        elif path.name.startswith("hidden") and path.suffix == ".json":
            origin = f"{path.name} ({path.parent.name})"
            for case in _cases(json.loads(path.read_text(encoding="utf-8"))):
                for secret in _values([case.get("given"), case.get("wanted")]):
                    if len(secret) >= LONG and (_GRAPH in secret or secret not in public):
                        secrets[secret] = _described(secret, origin)
    return secrets


def _public(root: Path) -> list[Path]:
    """Cases that students have."""
    return sorted((root / "lab_utils").glob("labs/*/cases/*"))


def _ours(root: Path) -> Iterator[Path]:
    """Files that may hold a secret of ours; beside them lies what students handed in."""
    for folder in SECRET:
        yield from sorted((root / "autograder" / folder).rglob("*"))


def _described(secret: str, origin: str) -> str:
    if _GRAPH in secret:
        return f"a graph of {origin}"
    return f"a value of {origin}: {secret if len(secret) < 60 else f'{secret[:57]}...'}"


def _cases(data: Mapping[str, list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    for cases in data.values():
        yield from cases


def _values(value: Any) -> Iterator[str]:
    """Texts, numbers, and lists and dicts with enough in them, squeezed."""
    if isinstance(value, str):
        yield _squeezed(value)
    elif isinstance(value, float | int):
        yield repr(value)
    elif len(set(map(str, _leaves(value)))) >= DIFFERENT:
        yield _squeezed(json.dumps(value, ensure_ascii=False))[1:-1]
    for part in _parts(value):
        yield from _values(part)


def _leaves(value: Any) -> Iterator[Any]:
    if not isinstance(value, dict | list):
        yield value
    for part in _parts(value):
        yield from _leaves(part)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        yield from value.values() if isinstance(value, dict) else value


def _squeezed(text: str) -> str:
    return _BLANK.sub("", text).replace("'", '"')
