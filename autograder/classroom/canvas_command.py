"""``python -m autograder canvas``: fetch hand-ins from Canvas, and bring grades back."""

from __future__ import annotations

import argparse
import csv
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

from autograder.classroom.home import Home
from lab_utils.kit.commands import as_path
from lab_utils.kit.course import read_course
from lab_utils.kit.errors import LabError
from lab_utils.kit.root import ROOT


def add_canvas(commands: Any) -> None:
    """Add both commands to the subcommands of a parser."""
    canvas = commands.add_parser("canvas", help="fetch hand-ins from Canvas, bring grades back")
    ways = canvas.add_subparsers(required=True, metavar="WAY")
    fetch = ways.add_parser("fetch", help="hand-ins, class list and upload times into a folder")
    fetch.add_argument("lab")
    fetch.add_argument("folder", type=as_path)
    fetch.set_defaults(run=_fetch)
    send = ways.add_parser("send", help="points into Canvas' gradebook; says first what changes")
    send.add_argument("lab")
    send.add_argument("--yes", action="store_true", help="do it; otherwise only say what changes")
    send.add_argument("--feedback", action="store_true", help="also attach the feedback pages")
    send.add_argument("--roster", type=as_path, help="Canvas' class list, as `grade` was told")
    send.add_argument("--into", type=as_path, help="the folder that `grade --into` was told")
    send.set_defaults(run=_send)


def _fetch(options: argparse.Namespace) -> int:
    from autograder.classroom.canvas_api import CanvasLab

    got = CanvasLab(read_course(), options.lab).fetch(options.folder)
    print(f"{got.files} new files in {got.hand_ins}")
    for name in got.left_out:
        print(f"too large, and left out: {name}")
    print(f"now: python -m autograder grade {options.lab} --from '{got.hand_ins}'", end=" ")
    print(f"--roster '{got.students}' --times '{got.times}'")
    return 0


def _send(options: argparse.Namespace) -> int:
    home = Home((options.into or ROOT / "autograder").resolve())
    return send(home, options.lab, options.roster, options.yes, options.feedback)


def send(home: Home, lab: str, roster: Path | None, yes: bool, feedback: bool) -> int:
    """Bring the points of ``canvas.csv`` into Canvas; without ``yes`` only say what changes."""
    from autograder.classroom.canvas_api import CanvasLab

    course = read_course(home.root / "setup" / "course.toml")
    folder = home.grades(course.lab(lab).id)
    ours, unknown = _points(folder / "canvas.csv")
    canvas = CanvasLab(course, lab)
    theirs = canvas.points()
    changed = {user: value for user, value in ours.items() if theirs.get(user) != value}
    for user, value in changed.items():
        old = theirs.get(user)
        print(f"{user}: {'–' if old is None else f'{old:g}'} → {value:g}")
    for name in unknown:
        print(f"not sent, since Canvas' number is not known: {name}")
    pages = _pages(folder, roster, ours) if feedback else {}
    sent = folder / "canvas_sent.json"
    known = json.loads(sent.read_text()) if sent.is_file() else {}
    new = {user: page for user, page in pages.items() if known.get(str(user)) != _digest(page)}
    todo = f"{len(changed)} of {len(ours)} points" + (f", {len(new)} pages" if feedback else "")
    if not yes:
        print(f"would change {todo}; with --yes it does")
        return 0
    if changed:
        canvas.set_points(changed)
    for user, page in new.items():
        canvas.attach(user, page)
        known[str(user)] = _digest(page)
        _keep(sent, known)
    print(f"changed {todo}")
    return 0


def _points(path: Path) -> tuple[dict[int, float], list[str]]:
    """The points to send by Canvas' numbers, and the names of those whose number is not known."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            head, _possible, *rows = csv.reader(file)
    except (OSError, ValueError):
        raise LabError(f"there is no {path}: run grade first") from None
    at = head.index("ID")
    known = {int(row[at]): float(row[-1]) for row in rows if row[at].isdigit()}
    return known, [row[0] for row in rows if not row[at].isdigit()]


def _pages(folder: Path, roster: Path | None, ours: dict[int, float]) -> dict[int, Path]:
    from autograder.collect import read_roster

    if roster is None:
        raise LabError("name Canvas' class list for --feedback: --roster students.csv")
    students = {s.canvas.number: s.id for s in read_roster(roster) if s.canvas}
    pages = {
        n: folder / "feedback" / f"{students[str(n)]}.html" for n in ours if str(n) in students
    }
    return {number: page for number, page in pages.items() if page.is_file()}


def _digest(page: Path) -> str:
    return sha256(page.read_bytes()).hexdigest()


def _keep(path: Path, known: dict[str, str]) -> None:
    from autograder.grading.verdict import write_private

    write_private(path, json.dumps(known, indent=1))
