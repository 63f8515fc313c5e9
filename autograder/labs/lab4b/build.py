"""Makes the cases and the pictures of Lab 4B; ``make notebooks`` writes them."""

from __future__ import annotations

from autograder.authoring.derived import Files, case_files
from autograder.labs.lab4b import job_pictures, mesh_pictures
from autograder.labs.lab4b.cases import job, mesh


def derived_files() -> Files:
    """The text of every derived file, by its path in the repository."""
    public = mesh.public() | job.public()
    hidden = mesh.hidden() | job.hidden()
    pictures = mesh_pictures.pictures() | job_pictures.pictures()
    return {**case_files("lab4b", public, hidden), **pictures}
