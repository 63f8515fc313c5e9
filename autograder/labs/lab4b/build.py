"""Makes the cases and the pictures of Lab 4B; ``make notebooks`` writes them."""

from __future__ import annotations

from autograder.authoring.derived import Files, case_files
from autograder.labs.lab4b import job_pictures
from autograder.labs.lab4b.cases import job


def derived_files() -> Files:
    """The text of every derived file, by its path in the repository."""
    public = {**job.public()}
    hidden = {**job.hidden()}
    return {**case_files("lab4b", public, hidden), **job_pictures.pictures()}
