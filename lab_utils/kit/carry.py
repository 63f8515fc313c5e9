"""Carry a student's functions from one notebook to the next, as plain Python text."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import linecache
import symtable
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from lab_utils.kit.course import CourseError, read_course
from lab_utils.kit.errors import LabError
from lab_utils.kit.files import write_whole
from lab_utils.kit.root import ROOT

FILE = Path("my_work.py")
_STUB = "raise NotImplementedError"  # what an unfilled cell holds
_HEADER = '"""Written by save_work: the functions of the earlier notebooks. Do not edit."""\n'


def save_work(*functions: Callable[..., Any], file: Path | str = FILE) -> None:
    """Write ``functions``, and what they use from the notebook, into ``file``.

    Functions that were saved before and are not given now stay as they are.
    """
    path = Path(file)
    parts = _parts(path.read_text(encoding="utf-8")) if path.is_file() else {}
    saved = []
    for function in functions:
        if not callable(function) or not hasattr(function, "__name__"):
            raise LabError(f"save_work takes functions and classes, not {function!r}")
        needed: dict[str, str] = {}
        _collect(function.__name__, function, needed)
        if _STUB in needed[function.__name__]:
            print(f"not saved, since it is still to be written: {function.__name__}")
            continue
        parts |= needed
        saved.append(function.__name__)
    body = "\n\n".join(f"# part: {name}\n{text}" for name, text in parts.items())
    write_whole(path, f"{_HEADER}\n{body}\n")
    if saved:
        print(f"saved for the next notebooks: {', '.join(saved)}")


def load_work(name: str, file: Path | str = FILE, instead: str = "what we ship") -> Any:
    """The saved function ``name``, or None with a word to the student if it is not there.

    It is looked for beside the notebook, then in the folders of the course's other labs (what
    lies in any other folder may be somebody else's, and is not run). ``instead`` says what the
    notebook uses where there is none.
    """
    path = _find(Path(file), name)
    if path is None:
        print(f"{name} has not been saved yet: this notebook goes on with {instead}.")
        return None
    spec = importlib.util.spec_from_file_location("my_work", path.resolve())
    if spec is None or spec.loader is None:
        raise LabError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules["my_work"] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        print(f"{path} cannot be used ({error}): this notebook goes on with {instead}.")
        return None
    if not hasattr(module, name):
        print(f"{name} is not in {path}: this notebook goes on with {instead}.")
    return getattr(module, name, None)


def _find(file: Path, name: str) -> Path | None:
    """The file that holds the function ``name``, or else any such file."""
    places = [file]
    if not file.is_absolute():
        places += [Path("..", lab, file.name) for lab in _labs()]
    there = [path for path in places if path.is_file()]
    holds = [path for path in there if name in _parts(path.read_text(encoding="utf-8"))]
    return next(iter(holds or there), None)


def _labs() -> list[str]:
    """The folders of the course's labs; without the course file, those that lab_utils knows."""
    try:
        return sorted(read_course().labs)
    except CourseError:
        return sorted(path.name for path in (ROOT / "lab_utils" / "labs").iterdir())


def _parts(text: str) -> dict[str, str]:
    parts: dict[str, str] = {}
    for chunk in text.split("# part: ")[1:]:
        name, _, body = chunk.partition("\n")
        parts[name.strip()] = body.strip("\n")
    return parts


def _collect(name: str, value: Any, parts: dict[str, str]) -> None:
    """Put the text of ``value`` into ``parts``, after the text of what it uses."""
    if name in parts:
        return
    parts[name] = ""  # a function may call itself
    text = _text(name, value)
    if _is_own(value):
        used = _used_names(value)
        space = _namespace(value)
        for other in used:
            if other in space and other != name:
                _collect(other, space[other], parts)
        del parts[name]
    parts[name] = text


def _text(name: str, value: Any) -> str:
    if isinstance(value, ModuleType):
        return f"import {value.__name__} as {name}"
    if _is_own(value):
        try:
            return _source(value)
        except (OSError, TypeError):
            raise LabError(
                f"the text of {name} cannot be found: run the cell that defines it again"
            ) from None
    home = getattr(value, "__module__", None)
    if home and getattr(value, "__qualname__", None):
        return f"from {home} import {value.__qualname__.split('.')[0]} as {name}"
    try:
        ast.literal_eval(repr(value))
    except (ValueError, SyntaxError):
        raise LabError(
            f"{name} cannot be carried over: define it inside the function that uses it"
        ) from None
    return f"{name} = {value!r}"


def _source(value: Any) -> str:
    """The text of a function or class; in a notebook, ``inspect`` finds no classes."""
    if not inspect.isclass(value):
        try:
            return textwrap.dedent(inspect.getsource(value)).strip()
        except OSError:
            return _typed(value.__name__)
    methods = [m for m in vars(value).values() if inspect.isfunction(m)]
    if not methods:
        return textwrap.dedent(inspect.getsource(value)).strip()
    text = "".join(linecache.getlines(methods[0].__code__.co_filename))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef) and node.name == value.__name__:
            return _segment(text, node)
    return _typed(value.__name__)


def _typed(name: str) -> str:
    """The text of a definition as it was typed into a cell: ``%%time`` hides it from Python.

    Raises:
        OSError: no cell that has run holds it.
    """
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    for cell in reversed(shell.history_manager.input_hist_raw if shell else []):
        lines = cell.splitlines()
        text = "\n".join("" if line.startswith(("%", "!")) else line for line in lines)
        try:
            body = ast.parse(text).body
        except SyntaxError:
            continue
        for node in body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
                return _segment(text, node)
    raise OSError(f"no cell defines {name}")


def _segment(text: str, node: ast.FunctionDef | ast.ClassDef) -> str:
    """The lines of a definition, decorators included."""
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    return textwrap.dedent("\n".join(text.splitlines()[first - 1 : node.end_lineno])).strip()


def _is_own(value: Any) -> bool:
    """Whether ``value`` is a function or class of the student's (or was loaded from them)."""
    home = getattr(value, "__module__", None)
    return home in ("__main__", "my_work") and (inspect.isfunction(value) or inspect.isclass(value))


def _namespace(value: Any) -> dict[str, Any]:
    if inspect.isfunction(value):
        return value.__globals__
    return vars(sys.modules[value.__module__])


def _used_names(value: Any) -> list[str]:
    """The global names that a function or class uses, in any of its scopes."""
    text = _source(value)
    module = symtable.symtable(text, "<work>", "exec")
    names = {s.get_name(): None for s in module.get_symbols() if not s.is_assigned()}
    scopes = list(module.get_children())
    while scopes:
        scope = scopes.pop()
        names |= {s.get_name(): None for s in scope.get_symbols() if s.is_global()}
        scopes += scope.get_children()
    return list(names)
