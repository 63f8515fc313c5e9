"""A student's way from release to zip, on whatever PyTorch there is.

tests/torch_versions.sh runs this; the suite has test_end_to_end.py, which goes on to grades.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.authoring.derived import derived_files
from lab_utils.steps.compare.diff import diff
from lab_utils.steps.dot.read import read_dot
from tests.support.sample_course import ROOT
from tests.whole.test_end_to_end import pack, solve, unpacked


@pytest.mark.parametrize("lab", ["lab4a", "project"])
def test_graphs_are_those_of_the_pinned_version(lab: str) -> None:
    graphs = {path: text for path, text in derived_files([lab]).items() if path.suffix == ".dot"}
    assert graphs
    for path, text in graphs.items():
        assert not diff(read_dot(ROOT / path), read_dot(text)), path


def test_a_solved_lab_is_packed_with_full_marks(tmp_path: Path) -> None:
    """The .dot files that it hands in were written by the pinned version."""
    work = unpacked(tmp_path)
    solve(work)
    pack(work, "Ada", "Lovelace")
