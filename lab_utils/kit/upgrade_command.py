"""``python -m lab_utils upgrade``: go on with one's answers in a newer release."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from lab_utils.kit.commands import as_path
from lab_utils.kit.errors import LabError
from lab_utils.kit.root import ROOT


def add_commands(commands: Any) -> None:
    """Add it to the command line."""
    upgrade = commands.add_parser(
        "upgrade",
        help="carry your answers from an older release into a newer one",
        description="Nothing is lost: the older folder stays as it is.",
    )
    upgrade.add_argument("--from", dest="old", type=as_path, help="default: where your work is")
    upgrade.add_argument("--to", dest="new", type=as_path, help="default: the newest one beside it")
    upgrade.set_defaults(run=_upgrade)


def _upgrade(options: argparse.Namespace) -> int:
    from lab_utils.kit.course import RELEASE_NAME
    from lab_utils.kit.course.releases import with_work
    from lab_utils.kit.upgrade import newest_beside, release_name, upgrade

    here = ROOT if release_name(ROOT) else None
    new = options.new or newest_beside(ROOT, RELEASE_NAME) or here
    if new is None:
        raise LabError(f"there is no newer release beside {ROOT}: unpack it there, or name --to")
    new = new.resolve()
    old = options.old or with_work(new.parent, new) or _only_other(new, RELEASE_NAME)
    if old is None:
        print(f"there is no work to carry over beside {new}; if there is, name it: --from FOLDER")
        return 0
    old = old.resolve()
    for folder in (old, new):
        if not (folder / "notebooks").is_dir():
            raise LabError(f"{folder} is no release: it has no folder notebooks")
    if old == new:
        raise LabError(f"{new} is the newest release already")
    done = upgrade(old, new)
    print(f"from {old}\nto   {new}\n")
    print("\n".join(map(str, done)) or "nothing had been changed there")
    print("\nYour older folder stays as it is. Run all cells of a notebook once in the newer one.")
    return 0


def _only_other(new: Path, name: str) -> Path | None:
    """The other release beside ``new``, if there is one alone that was unpacked by hand."""
    from lab_utils.kit.course.releases import MARK

    beside = [path for path in new.parent.glob(f"{name}-*") if (path / "notebooks").is_dir()]
    others = [path for path in beside if path != new and not (path / MARK).exists()]
    return others[0] if len(others) == 1 else None
