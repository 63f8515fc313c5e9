"""Canvas' API: fetches what a class handed in, and brings points and feedback back.

It stands on ``canvasapi``, which only those need who use it. The token comes from the variable
CANVAS_TOKEN of the environment and is never written anywhere.
"""

from __future__ import annotations

import csv
import io
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab_utils.kit.course import Course
from lab_utils.kit.errors import LabError
from lab_utils.kit.files import write_whole

TOKEN = "CANVAS_TOKEN"
LARGEST = 300_000_000
"""Bytes of a file that is fetched."""
_ODD = re.compile(r"[^\w.() -]")


@dataclass(frozen=True)
class Fetched:
    """What was fetched: hand-ins as in Canvas' bulk download, the class list, the upload times."""

    hand_ins: Path
    students: Path
    times: Path
    files: int
    left_out: tuple[str, ...] = ()
    """Files that are too large, by name."""


class CanvasLab:
    """One assignment in Canvas."""

    def __init__(self, course: Course, lab: str) -> None:
        """Asks Canvas for it.

        Raises:
            LabError: the course file does not say where it is, there is no token, or Canvas
                refuses.
        """
        number = re.search(r"\((\d+)\)$", course.lab(lab).canvas)
        if not course.canvas_url or not number:
            raise LabError(
                "setup/course.toml must say where the assignment is in Canvas: [canvas] with url "
                f'and course, and canvas = "Title (number)" in [labs.{lab}]'
            )
        token = os.environ.get(TOKEN, "").strip()
        if not token:
            raise LabError(
                f"set {TOKEN} to a token of yours (Canvas: Account, Settings, New Token)"
            )
        try:
            from canvasapi import Canvas
        except ModuleNotFoundError:
            raise LabError("canvasapi is not installed: .venv/bin/pip install canvasapi") from None
        with _told(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about http, which only a test uses
            self._course: Any = Canvas(course.canvas_url, token).get_course(course.canvas_course)
            self._lab: Any = self._course.get_assignment(int(number[1]))

    def fetch(self, folder: Path) -> Fetched:
        """Write what was handed in, the class list and the upload times below ``folder``."""
        hand_ins = folder / "hand_ins"
        hand_ins.mkdir(parents=True, exist_ok=True)
        with _told():
            users = {user.id: user for user in self._course.get_users(enrollment_type=["student"])}
            times, files, left_out = [["id", "submitted_at"]], 0, []
            for one in self._lab.get_submissions():
                user = users.get(one.user_id)
                if user is None or not getattr(one, "submitted_at", None):
                    continue
                times.append([_student(user), str(one.submitted_at)])
                for file in one.attachments:
                    name = _file_name(user, bool(getattr(one, "late", False)), file)
                    if getattr(file, "size", 0) > LARGEST:
                        left_out.append(name)
                    elif not (hand_ins / name).is_file():
                        write_whole(hand_ins / name, file.get_contents(binary=True))
                        files += 1
        rows = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]]
        rows += [
            [u.sortable_name, str(u.id), _part(u, "sis_user_id"), _part(u, "login_id"), ""]
            for u in users.values()
        ]
        for name, table in (("students.csv", rows), ("times.csv", times)):
            write_whole(folder / name, _csv(table), mode=0o600)
        return Fetched(
            hand_ins, folder / "students.csv", folder / "times.csv", files, tuple(left_out)
        )

    def points(self) -> dict[int, float | None]:
        """The points that Canvas has now, by its number of the student."""
        with _told():
            return {one.user_id: getattr(one, "score", None) for one in self._lab.get_submissions()}

    def set_points(self, points: Mapping[int, float]) -> None:
        """Set points, all in one request; Canvas goes on with it by itself."""
        with _told():
            grades = {user: {"posted_grade": f"{value:g}"} for user, value in points.items()}
            self._lab.submissions_bulk_update(grade_data=grades)

    def attach(self, user: int, page: Path) -> None:
        """Attach a page to a student's submission, as a comment."""
        with _told():
            done, answer = self._lab.get_submission(user).upload_comment(str(page))
        if not done:
            raise LabError(f"Canvas did not take {page.name}: {answer}")


@contextmanager
def _told() -> Iterator[None]:
    """What goes wrong on the way, in one line."""
    from canvasapi.exceptions import CanvasException
    from requests.exceptions import RequestException

    try:
        yield
    except CanvasException as error:
        raise LabError(f"Canvas refuses: {type(error).__name__}: {error}") from None
    except RequestException as error:
        raise LabError(f"Canvas cannot be reached: {type(error).__name__}") from None


def _student(user: Any) -> str:
    """What ``read_roster`` makes of the same person."""
    return _part(user, "login_id") or _part(user, "sis_user_id") or str(user.id)


def _part(user: Any, name: str) -> str:
    return str(getattr(user, name, None) or "")


def _file_name(user: Any, late: bool, file: Any) -> str:
    """As in Canvas' bulk download; what a student called a file cannot lead elsewhere."""
    name = re.sub(r"[\W\d_]", "", user.sortable_name.casefold()) or "student"
    original = _ODD.sub("_", Path(str(file.filename).replace("\\", "/")).name)[-120:]
    return f"{name}_{'LATE_' if late else ''}{user.id}_{file.id}_{original}"


def _csv(rows: list[list[str]]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue()
