"""The import contracts hold, and fail when one is broken."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lab_utils.kit.root import ROOT

LINT = Path(sys.executable).with_name("lint-imports")


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [str(LINT), "--no-cache", "--no-logo"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the code that the contracts are about."""
    folder = tmp_path_factory.mktemp("house")
    ignored = shutil.ignore_patterns("__pycache__", "*.json", "*.dot", "submitted", "autograded")
    for name in ("lab_utils", "autograder", "solutions"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def test_the_walls_stand(house: Path) -> None:
    done = lint(house)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("file", "line", "contract"),
    [
        ("lab_utils/kit/task.py", "import torch", "kit stands alone"),
        ("lab_utils/kit/words.py", "from lab_utils.steps import graph", "kit stands alone"),
        ("lab_utils/steps/graph.py", "from lab_utils.labs import lab4a", "know no lab"),
        (
            "lab_utils/instruments/shapes.py",
            "from lab_utils.steps import graph",
            "do not know each other",
        ),
        ("lab_utils/labs/lab0/ask.py", "from lab_utils.labs import lab4a", "no other lab"),
        ("autograder/labs/lab0/build.py", "from autograder.labs import lab4a", "instructors' side"),
        ("autograder/reference/pins.py", "from lab_utils.labs import project", "knows none"),
        ("autograder/cluster/work.py", "import solutions", "only authoring"),
        ("lab_utils/kit/lab.py", "import autograder", "knows nothing of the instructors'"),
        ("lab_utils/steps/memory.py", "from lab_utils.steps.draw import film", "drawing depends"),
        (
            "lab_utils/labs/lab4a/ask/profile.py",
            "def late() -> None:\n    from lab_utils.labs.lab4a import judge",
            "what asks knows nothing",
        ),
    ],
)
def test_a_wall_that_is_knocked_through_is_told(
    house: Path, file: str, line: str, contract: str
) -> None:
    path = house / file
    whole = path.read_text(encoding="utf-8")
    path.write_text(f"{whole}\n\n{line}\n", encoding="utf-8")
    try:
        done = lint(house)
    finally:
        path.write_text(whole, encoding="utf-8")
    assert done.returncode == 1
    broken = [row for row in done.stdout.splitlines() if "BROKEN" in row]
    assert any(contract in row for row in broken), done.stdout
