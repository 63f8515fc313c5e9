"""Makes the cases and the pictures of Lab 4B; ``make notebooks`` writes them."""

from __future__ import annotations

from autograder.authoring.derived import Files, case_files
from autograder.labs.lab4b import mesh_pictures
from autograder.labs.lab4b.cases import mesh


def derived_files() -> Files:
    """The text of every derived file, by its path in the repository."""
    public = {**mesh.public()}
    hidden = {**mesh.hidden()}
    return {**case_files("lab4b", public, hidden), **mesh_pictures.pictures()}
