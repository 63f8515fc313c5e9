"""Mutants of our own solutions, made by machine, through the judge: how many it catches.

``BENCH_LAB`` names a lab (or several, with commas), ``BENCH_TASK`` tasks; without them all labs
are tried. A mutant is caught when it has lost points on some case; where several tasks judge one
function, each other thing of it, one that another of them catches is that task's. Survivors are in
``build/mutants.txt``, each beside why it is right as well (``EQUIVALENT`` in the catalogue of its
lab: part of the mutant's line, and the reason), or as one that the judge lets pass.
"""

from __future__ import annotations

import linecache
import os
import re
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from importlib import import_module
from io import StringIO
from typing import Any

from autograder.grading.hidden import hidden_of
from lab_utils.kit.course import read_course
from lab_utils.kit.lab import Lab, lab_of
from lab_utils.kit.root import ROOT
from lab_utils.kit.task import Task
from tests.benchmarks import Row, progress
from tests.support.judged import verdict_of
from tests.support.mutants import Mutant, mutants_of

SECONDS, TIMES = 2.0, 10
"""Of processor time, beside so many times that of the solution: who takes longer does not end."""
SURVIVORS = ROOT / "build" / "mutants.txt"
_CELL = re.compile(r"^# %%", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """The solved cells of a lab: what they import, and what each task's cell says."""

    lab: Lab
    imports: str
    cells: Mapping[str, str]

    def space(self, changed: str = "", text: str = "") -> dict[str, Any]:
        """What the cells define; that of the function ``changed`` reads ``text`` instead."""
        space: dict[str, Any] = {"__name__": "__main__"}
        exec(self.imports, space)
        for name, own in self.cells.items():
            source = text if name == changed else own
            file = f"<{name}>"
            linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
            exec(compile(source, file, "exec"), space)
        return space


def source_of(lab: Lab) -> Source:
    """The solutions of a lab that are functions or classes."""
    texts = sorted((ROOT / "solutions" / lab.id).glob("*.py"))
    cells = [c.partition("\n") for p in texts for c in _CELL.split(p.read_text(encoding="utf-8"))]
    imports, solved = [], {}
    for head, _, text in cells:
        if not head.strip():
            imports += re.findall(r"^(?:from|import) [^(\n]+(?:\([^)]*\))?$", text, re.MULTILINE)
        elif "solution=" in head:
            for task in lab.tasks:
                if re.search(rf"^(?:def|class) {task.asks}\b", text, re.MULTILINE):
                    solved[task.asks] = text
    return Source(lab, "\n".join(imports), solved)


def solution_lines(text: str) -> set[int]:
    """The lines that a student writes."""
    inside, found = False, set()
    for number, line in enumerate(text.splitlines(), 1):
        inside = "### BEGIN SOLUTION" in line or (inside and "### END SOLUTION" not in line)
        found |= {number} if inside else set()
    return found


def caught(source: Source, task: Task, mutant: Mutant, seconds: float) -> bool:
    """Whether the judge finds something wrong with it, or it does not end in time."""
    with suppress(_DoesNotEnd), _at_most(seconds), redirect_stdout(StringIO()):
        try:
            function = source.space(task.asks, mutant.text)[task.asks]
        except Exception:
            return True
        lab = source.lab.id
        cases = hidden_of(lab).graded_cases(task.id)
        return not all(verdict_of(lab, task.id, function, [case]).passed for case in cases)
    return True


class _DoesNotEnd(BaseException):
    pass


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    def ring(*_: object) -> None:
        raise _DoesNotEnd

    before = signal.signal(signal.SIGVTALRM, ring)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def why_equivalent(lab: Lab, task: Task, told: str) -> str:
    """The reason why a mutant is right as well, from the catalogue; empty where there is none."""
    try:
        known = import_module(f"tests.labs.{lab.id}.catalogue").EQUIVALENT
    except (ModuleNotFoundError, AttributeError):
        return ""
    return next((why for of, part, why in known if of == task.id and part in told), "")


def _told(own: str, mutant: Mutant) -> str:
    """The first line that a mutant changes, as it reads then."""
    import ast

    before = ast.unparse(ast.parse(own)).splitlines()
    after = mutant.text.splitlines()
    line = next((b for a, b in zip(before, after, strict=False) if a != b), "(a line is gone)")
    return f"{mutant.change}: {line.strip()}"


def benchmarks() -> Iterator[Row]:
    """A row for each task: mutants caught, of those that are wrong."""
    wanted = [name for name in os.environ.get("BENCH_LAB", "").split(",") if name]
    tasks = [name for name in os.environ.get("BENCH_TASK", "").split(",") if name]
    lines: list[str] = []
    for name in wanted or read_course().labs:
        lab = lab_of(name)
        if lab is None:
            continue
        source = source_of(lab)
        for task in lab.tasks:
            if task.asks not in source.cells or (tasks and task.id not in tasks):
                continue
            row, survivors = _task(source, task)
            lines += survivors
            SURVIVORS.parent.mkdir(exist_ok=True)
            SURVIVORS.write_text("\n".join(lines) + "\n", encoding="utf-8")
            if row is not None:
                yield row


def _task(source: Source, task: Task) -> tuple[Row | None, list[str]]:
    own = source.cells[task.asks]
    progress(f"{source.lab.id} {task.id}: mutants of {task.asks}")
    found = wrong = 0
    lines = []
    others = [one for one in source.lab.tasks if one.asks == task.asks and one is not task]
    started = time.process_time()
    assert not caught(source, task, Mutant(own, 0, "nothing"), 60), "the solution does not pass"
    seconds = SECONDS + TIMES * (time.process_time() - started)
    for mutant in mutants_of(own, solution_lines(own)):
        if caught(source, task, mutant, seconds):
            found, wrong = found + 1, wrong + 1
            continue
        if any(caught(source, other, mutant, seconds) for other in others):
            continue
        told = _told(own, mutant)
        why = why_equivalent(source.lab, task, told)
        wrong += not why
        lines.append(f"{source.lab.id} {task.id} {told}\n    {why or 'PASSES'}")
        progress(lines[-1])
    name = f"mutants, {source.lab.id} {task.id}: caught"
    row = Row(name, found, "all that are wrong", wrong, "mutants", 1, True) if wrong else None
    return row, lines
