"""``python -m autograder formgrade``: nbgrader's formgrader in a browser, on a graded class.

There a person reads essays and gives points; the next ``grade`` takes them into all tables.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from autograder.classroom.home import VARIABLE, Home
from lab_utils.kit.commands import as_path
from lab_utils.kit.errors import LabError
from lab_utils.kit.root import ROOT


def add_formgrade(commands: Any) -> None:
    """Add the command to the subcommands of a parser."""
    formgrade = commands.add_parser(
        "formgrade",
        help="read and grade by hand what a class wrote",
        description="Opens nbgrader's formgrader on a class that was graded by `grade`.",
    )
    formgrade.add_argument("lab", nargs="?", default="", help="open this one")
    formgrade.add_argument("--into", type=as_path, help="the folder that `grade --into` was told")
    formgrade.add_argument("--no-browser", action="store_true", help="only tell the address")
    formgrade.add_argument(
        *("--jupyter", "-j"),
        action="append",
        default=[],
        metavar="OPTION",
        help="an option for JupyterLab, as in --jupyter=--port=9000; repeatable",
    )
    formgrade.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Become JupyterLab; it ends with Ctrl-C."""
    home = Home((options.into or ROOT / "autograder").resolve())
    command = server_command(home, options.lab)
    command += ["--no-browser"] * options.no_browser + options.jupyter
    print("starting formgrader; press Ctrl-C twice to end it, then run grade again: it takes over")
    print("the points that you gave", flush=True)
    os.chdir(folder_of(home))
    environment = {key: value for key, value in os.environ.items() if key != VARIABLE}
    os.execve(command[0], command, {**environment, "PYTHONPATH": _with_root()})
    return 0  # for the type checker: nothing comes back


def folder_of(home: Home) -> Path:
    """Where nbgrader_config.py lies: Jupyter must be started there."""
    return home.root if home.path == home.root / "autograder" else home.path


def server_command(home: Home, lab: str = "") -> list[str]:
    """The program that serves formgrader, and its options.

    Raises:
        LabError: no class was graded there, or not in this lab.
    """
    if not home.gradebook.is_file():
        raise LabError(
            f"no class has been graded in {home.path}: run grade first, or name the folder of "
            "its outcomes (--into DIR; make formgrade INTO=DIR)"
        )
    known = sorted(path.name for path in home.locks.iterdir() if path.is_dir())
    if lab and lab not in known:
        raise LabError(f"{lab} has not been graded in {home.path}; there is: {', '.join(known)}")
    page = f"/formgrader/gradebook/{lab}" if lab else "/formgrader/gradebook"
    return [
        *(sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder_of(home)}"),
        f"--LabApp.default_url={page}",
        "--ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': True}",
        "--log-level=WARN",
    ]


def _with_root() -> str:
    """nbgrader's settings name classes of ours."""
    return os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
