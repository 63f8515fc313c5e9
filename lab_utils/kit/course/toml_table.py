"""Reads TOML values and names the line of one that is wrong, which ``tomllib`` does not tell."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

Path = tuple[str | int, ...]
"""Where a value stands, as in ``("labs", "mine", "notebooks", 0)``."""
NUMBER = (int, float)
_EXAMPLES: dict[type | tuple[type, ...], str] = {
    str: 'a text, as in {key} = "…"',
    list: "a list, as in {key} = [ … ]",
    dict: "a table, as in [{key}]",
    datetime: "a moment, as in {key} = 2025-04-11T23:59:00-04:00",
    NUMBER: "a number, as in {key} = 4",
    int: "a whole number, as in {key} = 90",
}


class BadValue(Exception):
    """A value is missing, or is not what it must be; the text says so in words."""

    def __init__(self, path: Path, text: str) -> None:
        """``path``: where the value stands, or should."""
        super().__init__(text)
        self.path = path


class Table:
    """A table of a TOML file that knows where it stands in it."""

    def __init__(self, content: Mapping[str, Any], path: Path = ()) -> None:
        """The ``content`` as ``tomllib`` reads it."""
        self._content, self.path = content, path

    @property
    def names(self) -> list[str]:
        """Its keys."""
        return list(self._content)

    def allow(self, *names: str) -> None:
        """Nothing else may stand in it: a misspelt key is found, not overlooked.

        Raises:
            BadValue: something else does.
        """
        for unknown in sorted(set(self._content) - set(names)):
            raise self.bad(unknown, f"has {unknown}, but may hold only {', '.join(names)}")

    def get(self, key: str, kind: type | tuple[type, ...], default: Any = None) -> Any:
        """The value of ``key``.

        Raises:
            BadValue: it is of another kind, or missing without a default.
        """
        value = self._content.get(key, default)
        if not isinstance(value, kind) or isinstance(value, bool):
            what = "lacks" if value is None else f"has {key} = {value!r}, but needs"
            raise self.bad(key, f"{what} {_EXAMPLES[kind].format(key=key)}")
        return value

    def table(self, key: str, default: Any = None) -> Table:
        """The table inside this one that is called ``key``."""
        return Table(self.get(key, dict, default), (*self.path, key))

    def bad(self, key: str | None, text: str) -> BadValue:
        """What to raise about the value of ``key``; without a key, about the table itself."""
        name = ".".join(part for part in self.path if isinstance(part, str))
        path = self.path if key is None else (*self.path, key)
        return BadValue(path, f"[{name}] {text}" if name else text)


def line_of(text: str, path: Sequence[str | int]) -> int:
    """The line of a TOML text in which the value at ``path`` stands.

    Where there is no such value, the line of the closest table around it; 1 if there is none.
    """
    lines = text.splitlines()
    for depth in range(len(path), 0, -1):
        for end in range(1, len(lines) + 1):
            if _has("\n".join(lines[:end]), path[:depth]):
                return end
    return 1


def _has(beginning: str, path: Sequence[str | int]) -> bool:
    """Whether the beginning of a text has the value; it may end inside a list."""
    for closed in (beginning, f"{beginning}\n]"):
        try:
            value: Any = tomllib.loads(closed)
            for key in path:
                value = value[key]
        except (tomllib.TOMLDecodeError, LookupError, TypeError):
            continue
        return True
    return False
