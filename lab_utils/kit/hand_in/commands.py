"""``python -m lab_utils check-env`` and ``python -m lab_utils pack``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from lab_utils.kit.errors import LabError
from lab_utils.kit.machine.terminal import typed


def add_commands(commands: Any) -> None:
    """Add both to the command line."""
    check = commands.add_parser("check-env", help="is this machine ready for the lab?")
    check.set_defaults(run=_check_environment)

    pack = commands.add_parser("pack", help="check a lab and pack it into one zip to hand in")
    pack.add_argument("lab", nargs="?", help="default: the lab of this folder")
    pack.add_argument("--first", metavar="NAME", help="your first name, in place of the last one")
    pack.add_argument("--last", metavar="NAME")
    pack.add_argument("--anyway", action="store_true", help="pack even if something says FAIL")
    pack.add_argument("--no-run", action="store_true", help="do not run the notebooks")
    pack.set_defaults(run=_pack)


def _check_environment(_options: argparse.Namespace) -> int:
    from lab_utils.kit.machine.environment import environment

    facts = environment(_here())
    print(*facts, sep="\n")
    return 0 if all(fact.ok for fact in facts) else 1


def _pack(options: argparse.Namespace) -> int:
    from lab_utils.kit import hand_in
    from lab_utils.kit.course import read_course
    from lab_utils.kit.hand_in.inspection import inspect
    from lab_utils.kit.hand_in.owner import owner_called

    here = _here()
    course = read_course()
    lab = hand_in.chosen_lab(course, options.lab, here)
    folder = hand_in.work_folder(lab, here)
    if not options.no_run:
        _check_packages(lab.id)
    owner = (
        owner_called(options.first or "", options.last or "")
        if options.first or options.last
        else hand_in.ask_owner()
    )
    print(f"{lab.label} of {owner.first} {owner.last}, in {folder}")
    if not folder.is_relative_to(here):
        print(f"(there is no notebook of {lab.label} in {here})")
    report = inspect(lab, folder, _progress, run=not options.no_run)
    _progress("")
    print(report)
    path = hand_in.pack(lab, folder, owner, report, course=course, anyway=options.anyway)
    print(f"\nWritten, opened again and compared: {path}\n{hand_in.contents(path)}")
    print("Upload this one file.")
    return 0


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError:
        raise LabError("the folder in which you are is gone: cd to the lab's folder") from None


def _check_packages(lab: str) -> None:
    """Better one line than one for each cell that fails for want of a package."""
    from lab_utils.kit.machine.environment import name_in, needed_packages

    missing = [name_in(package) for package, found in needed_packages(lab).items() if not found]
    if missing:
        raise LabError(
            f"{sys.executable} cannot run the notebooks, since it lacks {', '.join(missing)}: pack "
            "with the lab's own Python, as make pack and the button in the last notebook do "
            f"({typed('check-env')} says more; --no-run packs without running)"
        )


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
