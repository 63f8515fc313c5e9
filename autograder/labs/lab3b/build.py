"""Makes the cases and the pictures of Lab 3B; ``make notebooks`` writes them."""

from __future__ import annotations

from autograder.authoring.derived import Files, case_files
from autograder.labs.lab3b.cases import models, pipeline, ranks
from autograder.labs.lab3b.pictures import pictures


def derived_files() -> Files:
    """The text of every derived file, by its path in the repository."""
    public = ranks.public() | pipeline.public() | models.public()
    hidden = ranks.hidden() | pipeline.hidden() | models.hidden()
    return {**case_files("lab3b", public, hidden), **pictures()}
