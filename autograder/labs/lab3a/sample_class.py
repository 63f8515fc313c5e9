"""A small class that hands in Lab 3A: right, with typical mistakes, unfilled."""

from __future__ import annotations

import tempfile
from pathlib import Path

from autograder.classroom.sample import Change, Example, student, write_class
from autograder.collect import Roster
from autograder.labs.lab3a.noted import note_by_pytorch
from lab_utils.labs.lab3a.drawing import draw_nodes
from lab_utils.labs.lab3a.files import FILES
from lab_utils.labs.lab3a.layers import gpt_layer
from lab_utils.labs.lab3a.nodes import write_nodes

CLASS = (
    Example(student("Horace", "He")),
    Example(
        student("Grace", "Hopper"),
        (
            Change("t11", "node.target is torch.mul", '"mul" in node.name'),
            Change("t13", "(clock() - start) / 10 * 1e3", "(clock() - start) / 10"),
        ),
    ),
    Example(
        student("James", "Reed"),
        (
            Change("t12", "isinstance(argument, slice)", "argument is slice"),
            Change("t16", ' if node.op != "output"', ""),
        ),
    ),
    Example(
        student("Jason", "Ansel"),
        (Change("t14", "changes_its_input(node, self.module)", "False"),),
    ),
    Example(
        student("Edsger", "Dijkstra"),
        is_filled=False,
        leave_out=tuple(file.name for file in FILES),
    ),
)
ABSENT = (student("Ada", "Lovelace"),)


def _files() -> dict[str, bytes]:
    """What a right hand-in has beside its notebook; PyTorch notes the shapes."""
    layer, tokens = gpt_layer()
    note_by_pytorch(layer, tokens)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        table = write_nodes(layer, str(home / FILES[0].name))
        picture = draw_nodes(layer, str(home / FILES[1].name))
        return {Path(file).name: Path(file).read_bytes() for file in (table, picture)}


def write_sample_class(folder: Path) -> Roster:
    """Make ``folder`` hold the class' hand-ins, its list and nothing else; gives the list."""
    return write_class(folder, "lab3a", CLASS, ABSENT, _files())
