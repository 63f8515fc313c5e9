"""Makes the cases and the pictures of Lab 2B; ``make notebooks`` writes them.

What is right comes from things that run: Python's own LRU cache, a clock, arrays simulated
register by register whose products and convolutions must come out right, PyTorch's shapes.
"""

from __future__ import annotations

from autograder.authoring.derived import Files, case_files
from autograder.labs.lab2b import dataflow_cases, hierarchy_cases
from autograder.labs.lab2b.pictures import pictures


def derived_files() -> Files:
    """The text of every derived file, by its path in the repository."""
    public = hierarchy_cases.public() | dataflow_cases.public()
    hidden = hierarchy_cases.hidden() | dataflow_cases.hidden()
    return {**case_files("lab2b", public, hidden), **pictures()}
