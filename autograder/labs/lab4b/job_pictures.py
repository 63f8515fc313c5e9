"""The picture of notebook 2, drawn from what the oracles count."""

from __future__ import annotations

from pathlib import Path

from autograder.reference.job.search import priced
from lab_utils.labs.lab4b.rows import Row
from lab_utils.labs.lab4b.show.triangles import map_svg
from lab_utils.labs.lab4b.systems import JOB, LLAMA_70B, SYSTEM_1

FOLDER = Path("solutions/lab4b/images")


def pictures() -> dict[Path, str]:
    """The text of every picture, by its path in the repository."""
    found = priced(LLAMA_70B, JOB, SYSTEM_1, 16)
    rows = [Row(strategy, *price) for strategy, price in found.items()]
    return {FOLDER / "strategies.svg": map_svg(SYSTEM_1.name, rows, 80, alone=True)}
