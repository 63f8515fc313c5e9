"""What the executor is given, and what it gives back: plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from autograder.remark import Remark

Output = dict[str, Any]
"""An output of a cell, in the form of nbformat 4."""
Reply = dict[str, Any]
"""``{"answer": …}``, or ``{"error": …, "look": …}`` in words."""


@dataclass(frozen=True)
class Code:
    """A code cell to run."""

    id: str
    source: str


@dataclass(frozen=True)
class Question:
    """A task to try on one case, when the cells before it have run.

    ``lab`` is the one whose task it is. ``name`` is what the task asks for: a function of the
    notebook, or a file in the scratch folder (then it is no identifier). ``given`` goes to the
    student's code.
    Functions called as in ``lent`` are replaced while it answers: each call of them is
    sent to the lender of the job, and answered by it. ``case`` is a number for the grader.
    ``hidden`` ones are asked when all others of the notebook have been answered.
    """

    lab: str
    task: str
    name: str
    given: Mapping[str, Any] = field(default_factory=dict)
    lent: tuple[str, ...] = ()
    case: int = 0
    aid: tuple[str, ...] = ()
    """Functions that the ask half may call as what is given; the lender does their work."""
    hidden: bool = False


@dataclass(frozen=True)
class Notebook:
    """Cells to run and questions to ask, in order."""

    name: str
    steps: Sequence[Code | Question]

    @property
    def cells(self) -> list[Code]:
        """The cells alone."""
        return [step for step in self.steps if isinstance(step, Code)]

    @property
    def questions(self) -> list[Question]:
        """The questions alone."""
        return [step for step in self.steps if isinstance(step, Question)]


FollowUp = Callable[[Notebook, Sequence[Reply]], Sequence[Question]]
"""Given the replies to the questions of a notebook, what else to ask before it ends."""
PublicJudge = Callable[[str, str, Reply], list[dict[str, Any]]]
"""Findings on a reply to a task on its first public case: lab, task, reply."""
Waiting = Callable[[], AbstractContextManager[None]]
"""Opens what is open while a notebook waits for the grader: that is no time of its own."""
Lender = Callable[[Question, str, Any, Waiting], Any]
"""The answer to a call of a lent function: the question, its name, its arguments as JSON."""


@dataclass(frozen=True)
class Job:
    """One submission: its notebooks run in order, in one scratch folder.

    ``files`` are in the folder from the start.
    """

    id: str
    notebooks: Sequence[Notebook]
    files: Mapping[str, bytes] = field(default_factory=dict)
    follow_up: FollowUp | None = None
    lender: Lender | None = None
    judge: PublicJudge | None = None
    """Asked by cells that want to know whether a function of theirs is right."""


class Trouble(StrEnum):
    """What can go wrong with a submission."""

    INTERRUPTED = "interrupted"
    """A cell ran too long; the next one went on."""
    KILLED = "killed"
    """Code ran too long and ignored that it was interrupted."""
    TIME = "time"
    """A notebook ran too long; the rest of it was left out."""
    MEMORY = "memory"
    PROCESSES = "processes"
    DISK = "disk"
    ENDED = "ended"
    """The process of the notebook ended before its time."""
    OUTPUT = "output"
    """A cell showed too much; the rest was cut off."""
    SPOILED = "spoiled"
    """The line to the grader was used for something else."""
    TAMPERED = "tampered"
    """The notebook replaced functions of lab_utils, or brings files called like libraries."""
    SANDBOX = "sandbox"
    """The sandbox itself did not work."""


@dataclass
class CellResult:
    """What became of a cell."""

    id: str
    outputs: list[Output] = field(default_factory=list)
    execution_count: int | None = None
    """None: it did not run to its end."""
    failed: bool = False
    seconds: float = 0.0


@dataclass
class NotebookResult:
    """What became of a notebook: one result for each cell, one reply for each question.

    ``asked`` are its questions, and then those of the follow-up.
    """

    name: str
    cells: list[CellResult]
    replies: list[Reply]
    asked: list[Question] = field(default_factory=list)
    seconds: float = 0.0


@dataclass
class Result:
    """What became of a submission."""

    id: str
    notebooks: list[NotebookResult]
    remarks: list[Remark] = field(default_factory=list)
    seconds: float = 0.0
    isolation: str = ""
