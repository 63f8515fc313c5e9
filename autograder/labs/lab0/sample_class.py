"""A small class that hands in Lab 0: right, wrong, unfilled, and one zip that arrived in half."""

from __future__ import annotations

from pathlib import Path

from autograder.classroom.sample import Change, Example, student, write_class
from autograder.collect import Roster
from lab_utils.labs.lab0.model import tiny_model

_ROWS = [f"{name},{array.nbytes}" for name, array in tiny_model().items()]
FILES = {"bytes.csv": "".join(f"{line}\r\n" for line in ("tensor,bytes", *_ROWS)).encode()}

CLASS = (
    Example(student("Alan", "Turing")),
    Example(student("Grace", "Hopper"), (Change("t11", "bits // 8", "bits"),)),
    Example(student("Barbara", "Liskov"), (Change("t11", '8 if dtype == "bool"', "1 if 0"),)),
    Example(
        student("Donald", "Knuth"),
        (Change("t12", "array.nbytes", "array.size"),),
        leave_out=("bytes.csv",),
    ),
    Example(student("Edsger", "Dijkstra"), is_filled=False, leave_out=("bytes.csv",)),
    Example(student("Ken", "Thompson"), keep=0.5),
)
ABSENT = (student("Ada", "Lovelace"),)


def write_sample_class(folder: Path) -> Roster:
    """Make ``folder`` hold the class' hand-ins, its list and nothing else; gives the list."""
    return write_class(folder, "lab0", CLASS, ABSENT, FILES)
