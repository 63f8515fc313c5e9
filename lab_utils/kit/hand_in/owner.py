"""Whose hand-in it is: asked once, and remembered in the home folder."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from lab_utils.kit.errors import LabError


@dataclass(frozen=True)
class Owner:
    """First and last name, as they stand in the course's list."""

    first: str
    last: str


def owner_called(first: str, last: str) -> Owner:
    """An owner whose name can be part of a file's name.

    Raises:
        LabError: one of the two is empty, or holds nothing but signs.
    """
    names = [tidy(name) for name in (first, last)]
    for what, name in zip(("first", "last"), names, strict=True):
        if not name:
            raise LabError(f"please give your {what} name, as it stands in the course's list")
    return Owner(*names)


def tidy(name: str) -> str:
    """A name without what no file's name should hold; a dot in front would hide the file."""
    words = re.sub(r"[^\w\s.'-]|_", " ", name).split()
    return " ".join(word for word in words if re.search(r"\w", word)).lstrip(".")


def remembered() -> Owner | None:
    """Who packed on this machine before."""
    try:
        return owner_called(**json.loads(_file().read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, LabError):
        return None


def remember(owner: Owner) -> None:
    """Keep the name for the next time; where that is impossible, it is asked again."""
    try:
        _file().parent.mkdir(parents=True, exist_ok=True)
        _file().write_text(json.dumps(asdict(owner)), encoding="utf-8")
    except OSError:
        pass


def _file() -> Path:
    home = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(home) / "recompute-lab" / "name.json"
