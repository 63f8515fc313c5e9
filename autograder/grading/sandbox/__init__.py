"""Runs students' notebooks in sandboxes and gives back what they showed and answered.

Nothing is judged here. Student code sees its own files, ``lab_utils``, Python, and the
input of each question; what comes out of it is plain, checked data.

======================  ===============================================================
``pool``                the executor: several workers and jobs for them
``worker``              one warm process, and one sandbox after the other made from it
``submission``          one submission, with a second try without what was fatal
``talk``, ``orders``    the talk with a notebook's process, and orders to its supervisor
``line``                the socket below both
``hostile``, ``shown``  reading what student code may have forged
``markup``              HTML and pictures without anything that acts
``isolation``           levels, and the command line of each
``warmth``              starting warm processes; which level works on this machine
``house``               what a sandbox contains
``inside/``             all that enters the sandbox; imports nothing else of these
======================  ===============================================================
"""

from autograder.grading.sandbox.host.isolation import Isolation, NotIsolated, Reached, SandboxFailed
from autograder.grading.sandbox.host.job import (
    Cell,
    CellResult,
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
    "Cell",
    "CellResult",
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
