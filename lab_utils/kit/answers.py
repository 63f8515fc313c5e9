"""From what a student's function returns to plain data, with a clear word if it does not fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lab_utils.kit.errors import BadAnswer

FORGOTTEN = "Does your function end with a return? Without one it returns None."


def mapping(value: Any, what: str) -> Mapping[Any, Any]:
    """``value`` if it is a dict."""
    if not isinstance(value, Mapping):
        raise BadAnswer(f"{what} is {described(value)}", _hint(value, "A dict is wanted there."))
    return value


def collection(value: Any, what: str) -> Iterable[Any]:
    """``value`` if it is a collection: a list, a set, a generator."""
    if isinstance(value, (str, Mapping)) or not hasattr(value, "__iter__"):
        look = "A collection of them is wanted there: a list, or a set where the task says so."
        raise BadAnswer(f"{what} is {a_type(value)}", _hint(value, look))
    return value


def _hint(value: Any, look: str) -> str:
    """Where to look: for a ``return`` first, where there is nothing."""
    return FORGOTTEN if value is None else look


def fields_told(value: Any, what: str, record: Any) -> list[Any]:
    """The fields of ``value``, which is to be a ``record`` (a NamedTuple)."""
    names = record._fields
    if not all(hasattr(value, name) for name in names):
        form = f"{record.__name__}({', '.join(names)})"
        look = f"Return {form}, not {type(value).__name__}: the cells below read it by these names."
        raise BadAnswer(f"{what} is {a_type(value)}", _hint(value, look))
    return [getattr(value, name) for name in names]


def number(value: Any, what: str) -> float:
    """``value`` if it is a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        text = f"{what} is {described(value)}"
        raise BadAnswer(text, _hint(value, "A number is wanted there.")) from None


def numbers(value: Any, what: str, many: int) -> list[float]:
    """``value`` if it is a collection of so many numbers; whole ones are ints."""
    told = [number(one, what) for one in collection(value, what)]
    if len(told) != many:
        raise BadAnswer(f"{what} has {len(told)} numbers", f"There must be {many} of them.")
    return [int(one) if one.is_integer() else one for one in told]


def ask_file(path: Any, _given: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Name and text of a file that a task asks for; None for its text where there is none."""
    if not isinstance(path, (str, Path)):
        raise BadAnswer(f"what you give is {a_type(path)}", "Give the file's name, in quotes.")
    file = Path(path)
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else None
    return {"file": file.name, "text": text}


def a_type(value: Any) -> str:
    """What sort of thing ``value`` is: ``a list``, ``an int``, ``None``."""
    name = type(value).__name__
    return "None" if value is None else f"a{'n' * (name[0] in 'aeiouAEIOU')} {name}"


def described(value: Any) -> str:
    """The same, with what it holds."""
    text = repr(value)
    shown = f" ({text if len(text) < 60 else text[:57] + '...'})"
    return a_type(value) + shown * (value is not None)
