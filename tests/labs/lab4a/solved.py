"""The functions of the solved notebooks of Lab 4A and the project, taken from their sources."""

from __future__ import annotations

import ast
import linecache
import re
from functools import cache
from typing import Any

from lab_utils.kit.root import ROOT

SOLUTIONS = ROOT / "solutions"

#: The function or class that each task asks for.
FUNCTION_OF = {
    "1.1": "classify",
    "1.2": "activation_lifetimes",
    "1.3": "GraphProfiler",
    "1.4": "peak_breakdown",
    "2.1": "recompute_set",
    "2.2": "inject_recomputation",
    "3.1": "rewire_backward",
    "4.1": "add_control_dependencies",
}


#: The same for the project.
PROJECT_FUNCTION_OF = {
    "5.1": "candidates",
    "5.2": "rebuild",
    "5.3": "describe",
    "5.4": "update",
    "5.5": "simulate",
    "5.6": "choose",
    "6.1": "analyse",
    "6.3": "recompute",
}


@cache
def _cells(lab: str) -> tuple[tuple[str, str], ...]:
    """(header, text) of every cell of all sources of a lab."""
    return tuple(
        (cell.partition("\n")[0].strip(), cell.partition("\n")[2])
        for source in sorted((SOLUTIONS / lab).glob("0*.py"))
        for cell in re.split(r"^# %%", source.read_text(encoding="utf-8"), flags=re.MULTILINE)
    )


def _imports(lab: str = "lab4a") -> str:
    lines = []
    for header, text in _cells(lab):
        if not header:
            tree = ast.parse(text)
            lines += [
                ast.unparse(n) for n in tree.body if isinstance(n, (ast.Import, ast.ImportFrom))
            ]
    return "\n".join(lines)


def solution_text(function: str, lab: str = "lab4a") -> str:
    """The solved cell that defines ``function``."""
    (text,) = [
        text
        for header, text in _cells(lab)
        if header.startswith("solution=") and re.search(rf"^(def|class) {function}\b", text, re.M)
    ]
    return text


def functions(
    changes: dict[str, tuple[str, str]] | None = None, lab: str = "lab4a"
) -> dict[str, Any]:
    """All solution functions, with text of some of them replaced: name -> (old, new)."""
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(_imports(lab), space)
    for name in (FUNCTION_OF if lab == "lab4a" else PROJECT_FUNCTION_OF).values():
        text = solution_text(name, lab)
        if changes and name in changes:
            old, new = changes[name]
            assert old in text, f"{old!r} is not in the solution of {name}"
            text = text.replace(old, new)
        # A file name of its own, so that messages can show the line.
        file = f"<{name}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        exec(compile(text, file, "exec"), space)
    return space
