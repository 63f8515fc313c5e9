"""Makes the cases and the pictures of Homework 5; ``make notebooks`` writes them."""

from __future__ import annotations

from autograder.authoring.derived import Files, case_files
from autograder.labs.hw5 import quantization_pictures
from autograder.labs.hw5.cases import integers, weights


def derived_files() -> Files:
    """The text of every derived file, by its path in the repository."""
    public = weights.public() | integers.public()
    hidden = weights.hidden() | integers.hidden()
    return {**case_files("hw5", public, hidden), **quantization_pictures.pictures()}
