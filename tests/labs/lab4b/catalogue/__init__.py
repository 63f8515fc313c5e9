"""Cells that students might write in Lab 4B, a module for each notebook."""

from __future__ import annotations

from tests.labs.lab4b.catalogue import job, mesh

EQUIVALENT: tuple[tuple[str, str, str], ...] = (*mesh.EQUIVALENT, *job.EQUIVALENT)
"""Mutants of the solution that are right as well: the task, part of the line, and why."""
