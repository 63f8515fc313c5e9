"""One submission from its first cell to its last answer, whatever it does meanwhile."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Protocol

from autograder.grading.sandbox.clean.hostile import weight
from autograder.grading.sandbox.clean.shown import Full, Quota
from autograder.grading.sandbox.host.job import (
    CellResult,
    Code,
    Job,
    Notebook,
    NotebookResult,
    Question,
    Remark,
    Reply,
    Result,
    Trouble,
)
from autograder.grading.sandbox.host.limits import Limits
from autograder.grading.sandbox.inside.clock import in_words
from autograder.grading.sandbox.wire.line import Line
from autograder.grading.sandbox.wire.orders import Over, Spent, Supervisor
from autograder.grading.sandbox.wire.talk import Talk

_MOST_RUNS = 4
"""How often a notebook is run, each time without what was fatal before."""

_NO_WORDS = {
    "error": "your code ended with an error",
    "look": "Run it with functions of earlier tasks that are right.",
}
_TOO_LONG = "the answers of this submission are too long together"
_WHILE_ASKED = {
    Trouble.ENDED: "its process ended",
    Trouble.SPOILED: "sent the grader something else than an answer",
}
"""In place of words that code could choose which has met a hidden case."""

Account = tuple[str, bool]
"""A task, and whether functions are lent to it: slow ones of an earlier task are paid for there."""


class Rooms(Protocol):
    """Where a submission runs: see ``worker``."""

    def fill(self, files: Mapping[str, bytes]) -> None:
        """Let these be in the scratch folder at the start."""

    def turn(self) -> None:
        """Let the next notebook find what was kept of this one."""

    def open(self, notebook: str) -> AbstractContextManager[Line]:
        """A line to a fresh supervisor for a notebook."""


def run_submission(job: Job, rooms: Rooms, limits: Limits, libraries: frozenset[str]) -> Result:
    """Run a job, each run of a notebook in a sandbox of its own. It never raises for what it does.

    Raises:
        SandboxFailed: no sandbox can be had any more.
    """
    started = time.monotonic()
    result = Result(job.id, [])
    shares = Shares(Quota(limits.submission_output), Quota(limits.replies_memory))
    try:
        rooms.fill(_files(job, result.remarks, limits, libraries))
        for notebook in job.notebooks:
            run = NotebookRun(notebook, job, rooms, limits, shares)
            result.notebooks.append(run.result)
            try:
                run.go()
            finally:
                run.finish()
                result.remarks += run.remarks
    except Over as over:
        result.remarks.append(Remark(over.trouble, str(over)))
    for notebook in job.notebooks[len(result.notebooks) :]:
        rest = NotebookRun(notebook, job, rooms, limits, shares)
        rest.finish()
        result.notebooks.append(rest.result)
    result.seconds = time.monotonic() - started
    return result


def _files(
    job: Job, remarks: list[Remark], limits: Limits, libraries: frozenset[str]
) -> dict[str, bytes]:
    """What is in the scratch folder from the start, and remarks on what is odd about it."""
    files: dict[str, bytes] = {}
    room, entries = limits.disk_bytes // 2, limits.disk_files // 2
    for name, content in job.files.items():
        path = PurePosixPath(name)
        if path.is_absolute() or not path.parts or ".." in path.parts or "\0" in name:
            remarks.append(Remark(Trouble.TAMPERED, f"the file {name!r} was left out"))
            continue
        if path.parts[0].removesuffix(".py") in libraries | sys.stdlib_module_names:
            text = f"{path.parts[0]} is called like a library; the library was used"
            remarks.append(Remark(Trouble.TAMPERED, text))
        room, entries = room - len(content), entries - len(path.parts)
        if room >= 0 and entries >= 0:
            files[str(path)] = content
    if room < 0 or entries < 0:
        remarks.append(Remark(Trouble.DISK, "not all files fit into the scratch folder"))
    return files


@dataclass(frozen=True)
class Shares:
    """What all notebooks of a submission may take of the grader's memory together."""

    output: Quota
    replies: Quota


class NotebookRun:
    """The runs of one notebook: usually one, more if something in it kills the process.

    A cell or a task that was fatal is left out of the next run, so that it spoils
    nothing but itself.

    Functions are asked about when all cells have run and the files are kept for the next
    notebook: no code that is shown, or that comes later, ever meets what they were asked.
    """

    def __init__(
        self,
        notebook: Notebook,
        job: Job,
        rooms: Rooms,
        limits: Limits,
        shares: Shares,
    ) -> None:
        self.remarks: list[Remark] = []
        cells = [CellResult(cell.id) for cell in notebook.cells]
        self.result = NotebookResult(notebook.name, cells, [], notebook.questions)
        self._notebook, self._job = notebook, job
        self._rooms, self._limits, self._shares = rooms, limits, shares
        self._supervisor: Supervisor
        self._replies: dict[int, Reply] = {}
        self._fatal_cells: set[str] = set()
        self._fatal: dict[Account, str] = {}
        self._busy: Code | Question | None = None
        self._end: Code | None = None
        self._states: dict[int, int] = {}
        self._kept = self._followed_up = self._met_hidden = False
        self._cell_time = limits.notebook_seconds
        self._time: dict[Account, float] = {}

    def go(self) -> None:
        """Run the cells and ask the questions.

        Raises:
            Over: the sandbox itself is no more.
        """
        started = time.monotonic()
        try:
            for _ in range(_MOST_RUNS):
                if self._survives_a_run() or self._cell_time <= 0:
                    break
            if isinstance(self._busy, Code) and self._states:
                # All before the last fatal cell has run to its end: it can be asked about.
                self._end, self._cell_time = self._busy, self._limits.notebook_seconds
                self._survives_a_run()
            self._rooms.turn()
        finally:
            self.result.seconds = time.monotonic() - started

    def finish(self) -> None:
        """Give every question a reply."""
        self.result.replies = [
            self._reply_to(place, question) for place, question in enumerate(self.result.asked)
        ]

    def _reply_to(self, place: int, question: Question) -> Reply:
        why = self._fatal.get(_account(question), "the notebook did not get that far")
        lost = {"error": f"no answer: {why}", "look": "See the remarks on this notebook."}
        return self._replies.get(place, lost)

    def _survives_a_run(self) -> bool:
        with self._rooms.open(self._notebook.name) as line:
            self._supervisor = Supervisor(line, self._limits)
            quota = Quota(self._limits.notebook_output, self._shares.output)
            first = self._supervisor.start()
            talk = Talk(first, self._supervisor, self._limits, self._job, quota)
            self._kept = self._met_hidden = False
            try:
                self._take_steps(talk)
                self._keep()
                self._compare(talk)
                self._ask_all(talk)
                self._ask_further(talk)
            except Over as over:
                if over.trouble is Trouble.SANDBOX:
                    raise
                self._note_fatal(over)
                return False
            finally:
                talk.close()
                if self._supervisor.stop()["left"]:
                    self._remark(Trouble.PROCESSES, "left processes behind that cannot be killed")
                if not self._kept:
                    self._keep()
            return True

    def _take_steps(self, talk: Talk) -> None:
        """Run the cells, and note what is defined where a function is to be tested."""
        self._states = {}
        cells = questions = 0
        before: Code | Question | None = None
        for step in self._notebook.steps:
            if step is self._end:
                return
            self._busy = step
            if isinstance(step, Code):
                self._run(talk, cells, step)
                cells += 1
            else:
                if not step.name.isidentifier():  # a file: nothing is told, and it may change
                    self._ask(talk, questions, step)
                elif isinstance(before, Question) and questions - 1 in self._states:
                    self._states[questions] = self._states[questions - 1]
                else:
                    with self._housekeeping():
                        self._states[questions] = talk.remember()
                questions += 1
            before = step

    def _ask_all(self, talk: Talk) -> None:
        """Public cases first: what is told of them must hold nothing of hidden ones.

        Else in the order of the tasks: what a later one is given may answer an earlier one.
        """
        asked = self._notebook.questions

        def order(place: int) -> tuple[bool, str]:
            return asked[place].hidden, asked[place].task

        for place in sorted(self._states, key=order):
            self._busy = asked[place]
            self._ask(talk, place, asked[place], self._states[place])

    def _ask_further(self, talk: Talk) -> None:
        asked = self.result.asked
        first = len(self._notebook.questions)
        if self._job.follow_up and not self._followed_up:
            self._followed_up = True
            replies = [self._reply_to(place, question) for place, question in enumerate(asked)]
            asked += self._job.follow_up(self._notebook, replies)
        states = {asked[place].task: state for place, state in self._states.items()}
        for place, question in enumerate(asked[first:], start=first):
            self._busy = question
            self._ask(talk, place, question, states.get(question.task))

    def _run(self, talk: Talk, place: int, cell: Code) -> None:
        if cell.id in self._fatal_cells:
            return
        if self._cell_time <= 0:
            text = f"the cells took more than {self._limits.notebook_seconds:.3g} seconds together"
            self._remark(Trouble.TIME, f"{text}; those that were left did not run")
            return
        result = self.result.cells[place] = CellResult(cell.id)
        seconds = min(self._limits.cell_seconds, self._cell_time)
        spent, read = Spent(), talk.work
        try:
            with self._supervisor.timed(seconds, spent):
                troubles = talk.run(cell, result, seconds)
        finally:
            self._cell_time -= spent.seconds + talk.work - read
        if Trouble.OUTPUT in troubles:
            self._remark(Trouble.OUTPUT, "showed too much; the rest was cut off", cell)
        if spent.late:
            text = f"{in_words(spent.late, self._limits.allowance(seconds))} and was interrupted"
            if seconds < self._limits.cell_seconds:
                text = "was interrupted when the time for the notebook was up"
            self._remark(Trouble.INTERRUPTED, text, cell)

    def _ask(self, talk: Talk, place: int, question: Question, state: int | None = None) -> None:
        account = _account(question)
        if place in self._replies or account in self._fatal:
            return
        left = self._time.setdefault(account, 2 * self._limits.question_seconds)
        if left <= 0:
            self._fatal[account] = "earlier answers of this task took all its time"
            return
        seconds = min(self._limits.question_seconds, left)
        spent = Spent()
        self._met_hidden |= question.hidden
        try:
            with self._supervisor.timed(seconds, spent):
                reply = talk.ask(question, seconds, state)
        finally:
            self._time[account] -= spent.seconds
        try:
            self._shares.replies.take(weight(reply))
        except Full:
            reply = {"error": _TOO_LONG, "look": "Return only what the task asks for."}
        if "error" in reply and self._met_hidden and not question.hidden:
            # Its words would be shown, and may tell of a hidden case.
            reply = {part: word for part, word in reply.items() if part == "kind"} | _NO_WORDS
        self._replies[place] = reply

    def _housekeeping(self) -> AbstractContextManager[None]:
        """For what is ours, but runs in the notebook's process: it may be kept from it there."""
        return self._supervisor.timed(self._limits.question_seconds, Spent())

    def _compare(self, talk: Talk) -> None:
        self._busy = None
        with self._housekeeping():
            has_changed = talk.has_changed()
        if has_changed:
            self._remark(Trouble.TAMPERED, "replaced functions of lab_utils")

    def _note_fatal(self, over: Over) -> None:
        text = str(over)
        if not isinstance(self._busy, Code):
            text = _WHILE_ASKED.get(over.trouble, text)
        self._remark(over.trouble, text, self._busy)
        if isinstance(self._busy, Question):
            self._fatal[_account(self._busy)] = text
        elif isinstance(self._busy, Code):
            self._fatal_cells.add(self._busy.id)

    def _keep(self) -> None:
        self._kept = True
        if not self._supervisor.keep():
            text = "wrote too many files: not all of them are there for the next notebook"
            self._remark(Trouble.DISK, text)

    def _remark(self, trouble: Trouble, text: str, where: Code | Question | None = None) -> None:
        place = f"task {where.task}" if isinstance(where, Question) else where.id if where else ""
        remark = Remark(trouble, text, self._notebook.name, place)
        if remark not in self.remarks:
            self.remarks.append(remark)


def _account(question: Question) -> Account:
    return question.task, bool(question.lent)
