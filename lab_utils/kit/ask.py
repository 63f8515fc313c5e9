"""The student's half of a check: call what the student wrote, and tell what came back.

It knows nothing of right and wrong, so that it may run beside any code.
"""

from __future__ import annotations

import inspect
import json
import linecache
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from lab_utils.kit.errors import BadAnswer, LabError
from lab_utils.kit.task import Ask, Reply, Task

#: What a reply to a task that nobody has begun says.
UNWRITTEN = "nothing yet"


def attempt(task: Task, ask: Ask, function: Any, given: Mapping[str, Any]) -> Reply:
    """``{"answer": …}``, or ``{"error": …, "look": …}`` in words; ``kind`` is a word for programs.

    ``kind`` is ``unwritten``, ``form`` (of another form than asked for) or the error's class.
    """
    try:
        if not task.is_of_file:
            _check_function(function, task.takes)
        answer = ask(function, given)
        return {"answer": json.loads(json.dumps(answer))}
    except NotImplementedError:
        look = "The part marked for you is still to be written."
        return {"error": UNWRITTEN, "look": look, "kind": "unwritten"}
    except BadAnswer as error:
        reply = {"error": str(error), "look": error.look, "wanted": error.wanted, "kind": "form"}
        return {part: words for part, words in reply.items() if words}
    except Exception as error:
        chain = _chain(error)
        cause = chain[-1]
        words = str(cause) if isinstance(cause, LabError) else _in_words(cause)
        return {"error": words, "look": _where(chain), "kind": type(cause).__name__}


def _check_function(function: Any, takes: str) -> None:
    """Make sure that ``function`` can be called with what it ``takes``."""
    if not callable(function):
        look = "Give the function (or class) itself: its name, without parentheses after it."
        text = f"what you give is of type {type(function).__name__}, and cannot be called"
        raise BadAnswer(text, look, f"a function (or class) that takes ({takes})")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # as some functions that are not written in Python
        return
    try:
        signature.bind(*filter(None, takes.split(", ")))
    except TypeError:
        parameters = ", ".join(signature.parameters)
        look = f"Your function must take ({takes}), as in the cell that you were given."
        raise BadAnswer(f"it takes ({parameters})", look, f"it takes ({takes})") from None


def _chain(error: BaseException) -> list[BaseException]:
    """The error and what caused it, what went wrong first last.

    An interpreter, for one, wraps the errors of what it runs.
    """
    chain = [error]
    while (cause := chain[-1].__cause__) is not None:
        chain.append(cause)
    return chain


def _in_words(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


def where(error: BaseException) -> str:
    """The last line of the student's own code that an error went through, in words."""
    return _where(_chain(error))


def _where(chain: Sequence[BaseException]) -> str:
    """The last line of the student's own code that the error, or what it caused, went through."""
    error = chain[-1]
    traces = [traceback.extract_tb(one.__traceback__) for one in reversed(chain)]
    lines = ([f for f in frames if _is_students(f.filename)] for frames in traces)
    own = next(filter(None, lines), [])
    if not own and isinstance(error, LabError):
        return "The message names the place; look at what you changed there."
    if not own:
        return "No line of yours raised it: did you give the check what the task asks for?"
    frame = own[-1]
    line = (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()
    return f"line {frame.lineno} of {frame.name}: {line}"


def _is_students(filename: str) -> bool:
    installed = ("site-packages", "lab_utils", "/lib/python")
    compiled = (".pyx", ".pxi")  # told without a folder, as pandas/_libs/index.pyx
    return not filename.endswith(compiled) and not any(part in filename for part in installed)
