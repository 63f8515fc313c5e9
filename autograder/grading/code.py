"""Which of our files have a say in the grades of a lab.

All modules that the lab, its judge and the grader import, found by reading their imports; and
the data in the lab's own folders. A change elsewhere grades nobody anew.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from lab_utils.kit.root import ROOT

_OURS = ("lab_utils", "autograder")
# It loads what a name needs when it is asked for: who needs it says so itself.
_DOOR = ROOT / "lab_utils" / "__init__.py"
#: Where statements hold others.
_PARTS = ("body", "orelse", "finalbody", "handlers", "cases")
_DATA = (".json", ".dot", ".csv", ".npz", ".txt", ".yml", ".yaml", ".cfg")


@cache
def code_digest(labs: tuple[str, ...]) -> str:
    """Stands for the code and the data by which these labs are graded."""
    digest = hashlib.sha256()
    for path in sorted({*code_files(labs), *_data(labs)}):
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def code_files(labs: Iterable[str]) -> set[Path]:
    """Every module that grading these labs may load."""
    folders = [folder for lab in labs for folder in _folders(lab)]
    roots = [ROOT / "autograder/grading", *folders]
    waiting = [path for folder in roots for path in folder.rglob("*.py")]
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imported(path) if path != _DOOR else ()
    return found


def _folders(lab: str) -> tuple[Path, Path]:
    return ROOT / "lab_utils/labs" / lab, ROOT / "autograder/labs" / lab


def _data(labs: Iterable[str]) -> Iterator[Path]:
    for folder in (folder for lab in labs for folder in _folders(lab)):
        yield from (path for path in folder.rglob("*") if path.suffix in _DATA)


@cache
def _imported(path: Path) -> frozenset[Path]:
    """Our modules that a module names in its imports, wherever in it they stand."""
    names: set[str] = set()
    for node in _run(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    ours = {name for name in names if name.partition(".")[0] in _OURS}
    return frozenset(file for name in ours for file in _module_files(name))


def _run(tree: ast.Module) -> Iterator[ast.AST]:
    """All statements, but those that only a type checker reads."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        for part in _PARTS:
            waiting += getattr(node, part, ())


def _module_files(name: str) -> Iterator[Path]:
    """The file of a module, and those of the packages that it lies in."""
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        place = ROOT.joinpath(*parts[:length])
        yield from (f for f in (place.with_suffix(".py"), place / "__init__.py") if f.is_file())
