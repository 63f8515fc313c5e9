"""Runs students' notebooks in sandboxes and gives back what they showed and answered.

Nothing is judged here. Student code sees its own files, ``lab_utils``, Python, and the
input of each question; what comes out of it is plain, checked data.

============  ===========================================================================
``host/``     on the grader's side: ``pool`` is the executor, with several workers;
              ``worker`` has a warm process for each kit, and makes one sandbox after the
              other from it; ``stems`` are what warm processes grow from, with the libraries
              that they share; ``warmth`` starts stems, and finds the level that works here;
              ``isolation`` has the levels and the command line of each; ``house`` is what
              a sandbox contains; ``job`` is what goes in and comes out; ``submission``
              runs one, with a second try without what was fatal; ``limits`` are a lab's,
              and ``speed`` is what they are multiplied by on a slow machine
``wire/``     ``talk`` with a notebook's process, ``orders`` to its supervisor, and the
              ``line`` below both
``clean/``    ``hostile`` and ``shown`` read what student code may have forged; ``markup``
              is HTML and pictures without anything that acts
``inside/``   all that enters the sandbox, and imports nothing else of these: the ``warm``
              process; the ``supervisor``, which sees the ``family`` of a notebook's
              processes, what they take (``usage``) and for how long (``clock``); the
              process of the ``notebook`` with its ``shell`` and ``outlet``
============  ===========================================================================

A second of a limit is a second of the processor, or of sleep: what a grade depends on is the
same on a busy machine. A cell whose time is up gets a signal from the supervisor; who does
not heed it is killed.
"""

from autograder.grading.sandbox.host.isolation import Isolation, NotIsolated, Reached, SandboxFailed
from autograder.grading.sandbox.host.job import (
    CellResult,
    Code,
    Job,
    Notebook,
    NotebookResult,
    Question,
    Remark,
    Result,
    Trouble,
)
from autograder.grading.sandbox.host.limits import Limits
from autograder.grading.sandbox.host.pool import Executor

__all__ = [
    "CellResult",
    "Code",
    "Executor",
    "Isolation",
    "Job",
    "Limits",
    "NotIsolated",
    "Notebook",
    "NotebookResult",
    "Question",
    "Reached",
    "Remark",
    "Result",
    "SandboxFailed",
    "Trouble",
]
