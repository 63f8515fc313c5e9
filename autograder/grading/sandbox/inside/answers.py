"""The student's half of a check: call what the notebook defines on what is given."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

from lab_utils.kit.ask import attempt
from lab_utils.kit.lab import lab_called

from .protocol import Message, frame

_LONGEST_WORDS = 1000
_OURS = ("lab_utils", __package__)

Marks = list[tuple[Mapping[str, Any], str, object, object]]
"""A space of names, one of them, what it stands for (a module, a class, a function), its code."""


Call = Callable[[str, Any], Any]
"""Has a lent function called by the grader: its name, its arguments, what it returns."""


def answer_to(question: Message, space: dict[str, Any], most: int, call: Call) -> Message:
    """``{"answer": …}`` or ``{"error": …, "look": …}``; ``most`` is in bytes.

    A name that is no identifier is that of a file in the scratch folder.
    """
    name = question["name"]
    if name.isidentifier() and name not in space:
        look = "Its cell is missing, was renamed, or did not run to its end."
        return {"error": f"there is no {name} in this notebook", "look": look, "kind": "absent"}
    if not name.isidentifier() and not os.path.isfile(name):
        look = "Run the cell that writes it."
        return {"error": f"there is no file {name}", "look": look, "kind": "absent"}
    lab = lab_called(question["lab"])
    task, ask = lab.task_called(question["task"]), lab.ask(question["task"])
    own = {name: space[name] for name in question["lent"] if name in space}
    space |= {name: lab.borrowed(name)(partial(call, name)) for name in own}
    try:
        asked = space[name] if name.isidentifier() else name
        aid = {name: partial(call, name) for name in question["aid"]}
        reply = attempt(task, ask, asked, {**question["given"], **aid})
    finally:
        space |= own
    if "error" in reply:
        return {part: str(words)[:_LONGEST_WORDS] for part, words in reply.items()}
    try:
        size = len(frame(reply))
    except (ValueError, RecursionError):
        look = "Compare what you return with the task's text."
        return {"error": "the answer holds NaN or infinity, or is nested too deeply", "look": look}
    if size > most:
        look = "Return only what the task asks for."
        return {"error": f"the answer is longer than {most:,} bytes", "look": look}
    return reply


def marks() -> Marks:
    """What each function of ours is now, and where it stands; to be compared later."""
    found: Marks = []
    for home, module in list(sys.modules.items()):
        if isinstance(module, ModuleType) and home.partition(".")[0] in _OURS:
            found.append((sys.modules, home, module, None))
            for name, value in vars(module).items():
                found += _marks_of(vars(module), name, value)
                if isinstance(value, type) and value.__module__ == home:
                    for part, inner in vars(value).items():
                        found += _marks_of(vars(value), part, inner)
    return found


_first: Marks = []


def note_marks() -> None:
    """Remember in a warm process what our functions are, so that no notebook has to look."""
    _first[:] = marks()


def first_marks() -> Marks:
    """What was remembered: a copy that student code does not have by the name of the module."""
    return list(_first)


def _marks_of(space: Mapping[str, Any], name: str, value: object) -> Marks:
    is_code = isinstance(value, (FunctionType, type))
    return [(space, name, value, getattr(value, "__code__", None))] if is_code else []


def have_changed(before: Marks) -> bool:
    """Whether the notebook has replaced functions of ours."""
    return any(
        space.get(name) is not value or getattr(value, "__code__", None) is not code
        for space, name, value, code in before
    )
