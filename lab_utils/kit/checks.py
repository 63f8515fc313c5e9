"""Checks that a student runs after each task, and that the judge runs again.

A check has two halves. ``ask`` calls the student's function on the given case and
turns what comes back into plain data (JSON). ``judge`` looks at that data alone.
In a notebook both halves run in one process; at grading time the first runs in a
sandbox and the second does not.
"""

from __future__ import annotations

import inspect
import json
import linecache
import re
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lab_utils.kit.errors import LabError


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: what came back, what was wanted, where to look."""

    yours: str
    wanted: str
    look: str

    def cut(self, most: int) -> Finding:
        """The same in at most so many characters a part."""
        return Finding(cut(self.yours, most), cut(self.wanted, most), cut(self.look, most))

    def __str__(self) -> str:
        return f"  yours : {self.yours}\n  wanted: {self.wanted}\n  look  : {self.look}"


def cut(text: str, most: int) -> str:
    """``text`` in at most so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


@dataclass(frozen=True)
class Case:
    """One graph on which a task is tried.

    ``given`` goes to the student's side, ``wanted`` only to the judge. Both are
    plain data, graphs as DOT text.
    """

    name: str
    given: Mapping[str, Any]
    wanted: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """A task of a lab: what the student writes, and how it is asked and judged.

    ``picture`` draws the answer beside what is wanted, or returns None.

    ``takes`` names what the function is called with, as in ``"graph, clones"``; it is empty
    for a task that asks for a file. ``returns`` says in words what is to come back.
    """

    id: str
    title: str
    points: float
    ask: Callable[[Any, Mapping[str, Any]], Any]
    judge: Callable[[Case, Any], list[Finding]]
    picture: Callable[[Case, Any], Any] | None = None
    takes: str = ""
    returns: str = "what the task's text asks for"


class BadAnswer(LabError):
    """The student's function returned something of another form than asked for.

    ``look`` says where to look; ``wanted`` what was wanted, unless it is what the task returns.
    """

    def __init__(
        self,
        yours: str,
        look: str = "Compare what you return with the task's text.",
        wanted: str = "",
    ) -> None:
        super().__init__(yours)
        self.look, self.wanted = look, wanted


class CheckFailed(LabError):
    """A check found something wrong."""


@dataclass(frozen=True)
class Verdict:
    """What a check found on all cases of one task."""

    task: Task
    found: tuple[tuple[str, tuple[Finding, ...]], ...]

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong on any case."""
        return not any(findings for _, findings in self.found)

    @property
    def points(self) -> float:
        """Points of the task, by the share of cases without a finding."""
        right = sum(not findings for _, findings in self.found)
        return round(self.task.points * right / len(self.found), 2) if self.found else 0.0

    def __str__(self) -> str:
        if self.passed:
            cases = f"{len(self.found)} graph{'s' * (len(self.found) > 1)}"
            return f"Task {self.task.id}  {self.task.title}: passed on {cases}."
        by_findings: dict[tuple[Finding, ...], list[str]] = {}
        for name, findings in self.found:
            if findings:
                by_findings.setdefault(findings, []).append(name)
        lines: list[str] = []
        for findings, names in by_findings.items():
            more = len(names) - 1
            others = f" (and on {more} more graph{'s' * (more > 1)})" if more else ""
            lines.append(f"Task {self.task.id}  {names[0]}{others}")
            lines += map(str, findings[:_SHOWN])
            if len(findings) > _SHOWN:
                lines.append(f"  … and {len(findings) - _SHOWN} more like this")
        return "\n".join(lines)


_SHOWN = 3


def attempt(task: Task, function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The student's half: ``{"answer": …}``, or ``{"error": …}`` in words."""
    try:
        if task.takes:
            _check_function(function, task.takes)
        answer = task.ask(function, given)
        return {"answer": json.loads(json.dumps(answer))}
    except NotImplementedError:
        return {"error": "nothing yet", "look": "The part marked for you is still to be written."}
    except BadAnswer as error:
        reply = {"error": str(error), "look": error.look, "wanted": error.wanted}
        return {part: words for part, words in reply.items() if words}
    except Exception as error:
        cause = _innermost(error)
        words = str(cause) if isinstance(cause, LabError) else _in_words(cause)
        return {"error": words, "look": _where(cause)}


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
        signature.bind(*takes.split(", "))
    except TypeError:
        parameters = ", ".join(signature.parameters)
        look = f"Your function must take ({takes}), as in the cell that you were given."
        raise BadAnswer(f"it takes ({parameters})", look, f"it takes ({takes})") from None


def outcome(task: Task, case: Case, reply: Mapping[str, Any]) -> tuple[Finding, ...]:
    """The judge's half: what is wrong with ``reply``; nothing if it is right."""
    if "error" in reply:
        words = (reply["error"], reply.get("wanted", task.returns), reply.get("look", ""))
        return (Finding(*map(str, words)),)
    try:
        return tuple(task.judge(case, reply.get("answer")))
    except LabError as error:
        text = _plain(error)
        if "circle" in text:
            return (Finding(text, "a graph without a circle", _CIRCLE),)
        return (Finding(text, "a graph that can be read and run", "The message names it."),)


_CIRCLE = "A node waits for one that needs it. Wait for what its reader reads beside it."


def _plain(error: LabError) -> str:
    """The message without the place in a text that no student has seen."""
    return re.sub(r"^<text>(, line \d+)?: ", "", str(error))


def judge_all(task: Task, cases: Iterable[Case], replies: Sequence[Mapping[str, Any]]) -> Verdict:
    """The verdict on the replies to all cases."""
    found = zip(cases, replies, strict=True)
    return Verdict(task, tuple((case.name, outcome(task, case, reply)) for case, reply in found))


def run_check(
    task: Task, function: Any, cases: Sequence[Case], drawn: int | None = None
) -> Verdict:
    """Both halves in this process, and a picture where there is a notebook to show it.

    Only the first ``drawn`` cases may be shown (all, unless given): no picture shows a
    hidden one.
    """
    replies = [attempt(task, function, case.given) for case in cases]
    verdict = judge_all(task, cases, replies)
    _show(task, cases[:drawn], replies[:drawn], verdict)
    return verdict


def _show(
    task: Task, cases: Sequence[Case], replies: Sequence[Mapping[str, Any]], verdict: Verdict
) -> None:
    """Draw the first case that went wrong, or else the first one."""
    if task.picture is None or not cases or not _in_notebook():
        return
    wrong = [place for place in range(len(cases)) if verdict.found[place][1]]
    place = wrong[0] if wrong else 0
    if "answer" not in replies[place]:
        return
    try:
        figure = task.picture(cases[place], replies[place]["answer"])
    except Exception:  # a wrong answer may be beyond drawing; the verdict tells it in words
        return
    if figure is not None:
        from IPython.display import display

        display(figure)


def _in_notebook() -> bool:
    try:
        from IPython import get_ipython
    except ImportError:
        return False
    shell = get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def _innermost(error: BaseException) -> BaseException:
    """What went wrong first: fx.Interpreter, for one, wraps the errors of its nodes."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _in_words(error: BaseException) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0]}" if text else type(error).__name__


#: How a line of the student's own code is told.
OWN_LINE = re.compile(r"line (\d{1,4})(?: of [\w<>]+)?: ")


def _where(error: BaseException) -> str:
    """The last line of the student's own code that the error went through."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if _is_students(f.filename)]
    if not own and isinstance(error, LabError):
        return "The message names the node; look at what you changed there."
    if not own:
        return "No line of yours raised it: did you give the check what the task asks for?"
    frame = own[-1]
    line = (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()
    return f"line {frame.lineno} of {frame.name}: {line}"


def _is_students(filename: str) -> bool:
    installed = ("site-packages", "lab_utils", "/lib/python")
    return not any(part in filename for part in installed)
