"""Makes the cases and the pictures of Homework 5; ``make notebooks`` writes them."""

from __future__ import annotations

from autograder.authoring.derived import Files, case_files
from autograder.labs.hw5.cases import batches, ring, times
from autograder.labs.hw5.pictures import pictures


def derived_files() -> Files:
    """The text of every derived file, by its path in the repository."""
    public = times.public() | ring.public() | batches.public()
    hidden = times.hidden() | ring.hidden() | batches.hidden()
    return {**case_files("hw5", public, hidden), **pictures()}
