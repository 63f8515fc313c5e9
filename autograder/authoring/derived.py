"""Derived text files: cases and pictures, written, or with ``check`` only compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lab_utils.kit.parts import PARTS
from lab_utils.kit.root import ROOT

CaseData = dict[str, Any]
"""``name``, ``given`` and ``wanted`` of one case."""
Files = dict[Path, str]
"""Texts by path in the repository."""


def derived_files(labs: Iterable[str]) -> Files:
    """The text of every file that the labs derive: what their ``build`` modules say."""
    files: Files = {}
    for lab in labs:
        name = f"autograder.labs.{lab}"
        if find_spec(name) and find_spec(f"{name}.build"):
            files |= import_module(f"{name}.build").derived_files()
    return files


def write_or_check(files: Mapping[Path, str], check: bool, root: Path = ROOT) -> list[str]:
    """Write ``files``, unless it is only to be checked; what was stale, one line for each."""
    stale = []
    for path, text in files.items():
        file = root / path
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            continue
        stale.append(str(path))
        if not check:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    return stale


def case_files(
    lab: str,
    public: Mapping[str, list[CaseData]],
    hidden: Mapping[str, list[CaseData]],
    shared: Mapping[str, str] | None = None,
) -> Files:
    """The files that hold the cases of ``lab``, by task.

    ``shared`` are texts that several cases hold, by the name of the file that ships them.
    """
    folder = Path("lab_utils/labs") / lab / "cases"
    shared = shared or {}
    by_text = {text: {"file": name} for name, text in shared.items()}
    given, wanted = (
        {task: [part(case) for case in cases] for task, cases in public.items()}
        for part in (_without_wanted, _wanted)
    )
    return {
        **{folder / name: text for name, text in shared.items()},
        folder / "given.json": as_json(_with_files(given, by_text)),
        folder / "wanted.json": as_json(_with_files(wanted, by_text)),
        Path("autograder/labs") / lab / "hidden_cases.json": as_json(hidden),
    }


def in_parts(name: str, cases: Sequence[CaseData]) -> CaseData:
    """One case that is right if all of ``cases`` are."""
    given, wanted = ({PARTS: [case[half] for case in cases]} for half in ("given", "wanted"))
    return {"name": name, "given": given, "wanted": wanted}


def _without_wanted(case: CaseData) -> CaseData:
    return {"name": case["name"], "given": case["given"]}


def _wanted(case: CaseData) -> CaseData:
    wanted: CaseData = case["wanted"]
    return wanted


def as_json(value: Any) -> str:
    """JSON on one line, the same for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")) + "\n"


def _with_files(value: Any, shared: Mapping[str, Mapping[str, str]]) -> Any:
    """``value`` with the text of a shipped file replaced by ``{"file": NAME}``."""
    if isinstance(value, dict):
        return {key: _with_files(item, shared) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_files(item, shared) for item in value]
    return shared.get(value, value) if isinstance(value, str) else value
