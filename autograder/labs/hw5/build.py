"""Makes the cases and the pictures of Homework 5; ``make notebooks`` writes them."""

from __future__ import annotations

from autograder.authoring.derived import Files, case_files
from autograder.labs.hw5 import pictures, quantization_pictures
from autograder.labs.hw5.cases import batches, integers, ring, times, weights

_TOPICS = (times, ring, batches, weights, integers)


def derived_files() -> Files:
    """The text of every derived file, by its path in the repository."""
    public = {task: cases for topic in _TOPICS for task, cases in topic.public().items()}
    hidden = {task: cases for topic in _TOPICS for task, cases in topic.hidden().items()}
    drawn = pictures.pictures() | quantization_pictures.pictures()
    return {**case_files("hw5", public, hidden), **drawn}
