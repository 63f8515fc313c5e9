"""``python -m autograder release``: build, check for leaks, publish."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

BUILD = "build/release"


def add_release(commands: Any) -> None:
    """Add it to the command line."""
    release = commands.add_parser("release", help="publish what students get into the share")
    release.add_argument("--share", metavar="DIR", help="default: share in setup/course.toml")
    release.add_argument(
        "--lab",
        action="append",
        default=[],
        metavar="LAB",
        help="hold only this one; repeatable; default: all that are open",
    )
    release.add_argument("--check", action="store_true", help="only say what would change")
    release.add_argument(
        "--wheels",
        metavar="PYTHON",
        nargs="?",
        const="python3",
        help="also fill the wheelhouse, for this Python (that of the cluster's module)",
    )
    release.set_defaults(run=_release)


def _release(options: argparse.Namespace) -> int:
    from autograder.release.contents import ROOT, ReleaseError, make_release
    from autograder.release.leaks import leaks_in_release
    from autograder.release.publish import changes, publish
    from autograder.release.wheels import fill_wheelhouse
    from lab_utils.kit.course import read_course

    release = make_release(labs=options.lab)
    if found := leaks_in_release(release.files, ROOT):
        raise ReleaseError("not released, since students must not see this:\n" + "\n".join(found))
    print(f"{release.name}: {len(release.files)} files, {len(release.archive):,} bytes, no leak")
    named = options.share or read_course().share
    if not named:
        raise ReleaseError("setup/course.toml has no share: add it, or --share DIR")
    share = Path(named).absolute()
    if options.check:
        lines = changes(release, share)
        print(*(lines or [f"nothing would change in {share}"]), sep="\n")
        return 1 if lines else 0
    archive = ROOT / BUILD / f"{release.name}.zip"
    archive.parent.mkdir(parents=True, exist_ok=True)
    archive.write_bytes(release.archive)
    print(f"built     {archive.relative_to(ROOT)}")
    for remark in publish(release, share):
        print(f"remark    {remark}")
    print(f"published {share}/releases/{release.name}.zip")
    print(f"students  bash '{share}/lab_setup.sh'")
    if options.wheels:
        new = fill_wheelhouse(release, share, options.wheels)
        print(f"wheels    {len(new)} new in {share}/wheelhouse")
    return 0
