"""Where the outcomes of grading lie: one folder, and nbgrader's settings for it.

Usually it is ``autograder/`` itself. In any other folder lies an ``nbgrader_config.py``, so that
nbgrader's own commands work there.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograder.grading.verdict import write_private
from lab_utils.kit.root import ROOT

VARIABLE = "AUTOGRADER_HOME"
"""Tells nbgrader_config.py which folder it is."""
SETTINGS = '''"""nbgrader, told where things are; written by python -m autograder grade."""

import os

os.environ["{variable}"] = {home!r}
load_subconfig({config!r})
'''


@dataclass(frozen=True)
class Home:
    """The folder ``path``, for a course in ``root``."""

    path: Path
    root: Path = ROOT

    @property
    def submitted(self) -> Path:
        """What nbgrader grades."""
        return self.path / "submitted"

    @property
    def gradebook(self) -> Path:
        """nbgrader's database."""
        return self.path / "gradebook.db"

    @property
    def db_url(self) -> str:
        """The same, for nbgrader."""
        return f"sqlite:///{self.gradebook}"

    @property
    def locks(self) -> Path:
        """Where a run says that it is at work."""
        return self.path / "grades"

    def autograded(self, student: str, lab: str) -> Path:
        """Where nbgrader puts the notebooks that were run."""
        return self.path / "autograded" / student / lab

    def grades(self, lab: str) -> Path:
        """Tables, pages and the state of a lab."""
        return self.path / "grades" / lab

    def settings(self) -> Config:
        """nbgrader's settings for this folder."""
        os.environ[VARIABLE] = str(self.path)
        folder = self.root / "autograder"
        return PyFileConfigLoader("nbgrader_config.py", str(folder)).load_config()

    def prepare(self) -> None:
        """Make the folder one in which nbgrader's own commands work."""
        self.path.mkdir(parents=True, exist_ok=True)
        if self.path != self.root / "autograder":
            config = str(self.root / "autograder" / "nbgrader_config.py")
            text = SETTINGS.format(variable=VARIABLE, home=str(self.path), config=config)
            write_private(self.path / "nbgrader_config.py", text)
