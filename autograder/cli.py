"""The instructors' command line: ``python -m autograder grade | release | notebooks | …``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from autograder.authoring.command import add_new_lab, add_notebooks
from autograder.classroom.canvas_command import add_canvas
from autograder.classroom.command import add_grade
from autograder.classroom.formgrade import add_formgrade
from autograder.classroom.override_command import add_override
from autograder.classroom.similar_command import add_similar
from autograder.cluster.commands import add_phases
from autograder.release.commands import add_release
from lab_utils.kit.commands import AddCommands, run
from lab_utils.kit.course import CourseError, read_course

ROOMS: tuple[AddCommands, ...] = (
    *(add_grade, add_phases, add_formgrade, add_override, add_similar, add_canvas),
    *(add_release, add_new_lab, add_notebooks),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code. A user's mistake is one line on stderr."""
    return run("autograder", __doc__, (*ROOMS, *_of_labs()), arguments)


def _of_labs() -> list[AddCommands]:
    """Commands that a lab brings along: ``add_commands`` in its ``commands`` module."""
    try:
        labs = read_course().labs
    except CourseError:  # which the command that needs it will tell
        return []
    names = [f"autograder.labs.{lab}" for lab in labs]
    modules = [f"{name}.commands" for name in names if find_spec(name)]
    return [import_module(name).add_commands for name in modules if find_spec(name)]
