"""Derived text files: written, or with ``--check`` only compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab_utils.kit.root import ROOT


def write_or_check(files: Mapping[Path, str], arguments: list[str]) -> int:
    """Write ``files`` (by path in the repository), or name those that are stale.

    Returns the exit status: 1 if ``--check`` is given and something is stale.
    """
    check = "--check" in arguments
    stale = []
    for path, text in files.items():
        file = ROOT / path
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            continue
        stale.append(str(path))
        if not check:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"{'stale' if check else 'written'}: {name}")
    return int(bool(stale) and check)


def as_json(value: Any) -> str:
    """JSON on one line, the same for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")) + "\n"


def with_files(value: Any, shared: Mapping[str, Mapping[str, str]]) -> Any:
    """``value`` with the text of a shipped file replaced by ``{"file": NAME}``."""
    if isinstance(value, dict):
        return {key: with_files(item, shared) for key, item in value.items()}
    if isinstance(value, list):
        return [with_files(item, shared) for item in value]
    return shared.get(value, value) if isinstance(value, str) else value
