"""What students get: notebooks, ``lab_utils``, their set-up, requirements and a README.

The same sources give the same files, and the same archive to the byte.
"""

from __future__ import annotations

import io
import json
import re
import tomllib
import zipfile
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory

from autograder.authoring.build import Files, derive
from autograder.release.held import held_labs, homes_of, only_labs
from lab_utils.kit.course import RELEASE_NAME, START, Assignment, Course, read_course
from lab_utils.kit.errors import LabError
from lab_utils.kit.root import ROOT
from lab_utils.kit.start import start_notebook
from lab_utils.kit.upgrade import cell_digests

STUDENT = "setup/student"  # templates of files that only a release has
#: What lab_utils may consist of; anything else is somebody's forgotten file.
KINDS = {".py", ".dot", ".json", ".csv", ".svg", ".css", ".js", ".html", ".md", ".npz"}
COPIED = ("LICENSE", "requirements.lock", "setup/venv.sh", "setup/lab_setup.sh")
# A release has no need of what is only for authors, graders and developers.
REQUIREMENTS_END = "# authoring and grading"
PROJECT_END = "[tool.ruff]"


class ReleaseError(LabError):
    """A release cannot be made; the message says what to mend."""


@dataclass(frozen=True)
class Release:
    """Files by their path in the release, and what it is called."""

    version: str
    date: str
    """The day of the newest entry in the changelog."""
    files: Files

    @cached_property
    def name(self) -> str:
        """Name, version and a digest of all that is in it: other contents, other name."""
        digest = sha256()
        for path, content in sorted(self.files.items()):
            digest.update(f"{path}\0{len(content)}\0".encode() + content)
        return f"{RELEASE_NAME}-{self.version}-{digest.hexdigest()[:8]}"

    def _cells(self) -> dict[str, list[str]]:
        """Digests of all cells by notebook: by these an upgrade knows what a student changed."""
        return {
            path.removeprefix("notebooks/").removesuffix(".ipynb"): cell_digests(content)
            for path, content in sorted(self.files.items())
            if path.startswith("notebooks/") and path.endswith(".ipynb") and "/" in path[10:]
        }

    @cached_property
    def archive(self) -> bytes:
        """The zip, with one folder in it that has the release's name."""
        about = {"name": self.name, "version": self.version, "date": self.date}
        note = json.dumps({**about, "cells": self._cells()}, indent=2)
        files = {**self.files, "setup/release.json": f"{note}\n".encode()}
        target = io.BytesIO()
        # Stored: what a compressor makes differs between its versions, and this is small.
        with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
            for path, content in sorted(files.items()):
                info = zipfile.ZipInfo(f"{self.name}/{path}", (1980, 1, 1, 0, 0, 0))
                info.create_system = 3  # Unix, wherever it is made: keeps the modes
                info.external_attr = (0o100755 if path.endswith(".sh") else 0o100644) << 16
                archive.writestr(info, content)
        return target.getvalue()


def make_release(
    root: Path = ROOT, labs: Collection[str] = (), today: datetime | None = None
) -> Release:
    """The release that the sources below ``root`` give; nothing is written.

    It holds the assignments called ``labs``, or if none is named all those that are open
    ``today`` (by default: now).

    Raises:
        LabError: a source has a mistake, or a file lies where it does not belong; or there is no
            such assignment, or none is open.
    """
    every = read_course(root / "setup" / "course.toml")
    held = held_labs(every, labs, today or datetime.now(UTC))
    course = replace(every, labs={lab: every.labs[lab] for lab in held})
    closed = every.labs.keys() - held
    shut = tuple(f"notebooks/{lab}/" for lab in closed)
    built = {path: data for path, data in derive(root).items() if path.startswith("notebooks/")}
    files = {path: data for path, data in built.items() if not path.startswith(shut)}
    files[f"notebooks/{START}"] = _start_page(files, course)
    files |= _helpers(root, every.labs.keys() - homes_of(course))
    files |= {name: (root / name).read_bytes() for name in COPIED}
    files["requirements.txt"] = _until(root / "requirements.txt", REQUIREMENTS_END)
    files["pyproject.toml"] = _until(root / "pyproject.toml", PROJECT_END)
    public = _without_extensions(root / "setup" / "course.toml")
    files["setup/course.toml"] = only_labs(public, closed)
    files["Makefile"] = (root / STUDENT / "Makefile").read_bytes()
    files["README.md"] = _readme(root, course)
    version = tomllib.loads(files["pyproject.toml"].decode())["project"]["version"]
    newest = re.search(r"^## .*(\d{4}-\d\d-\d\d)$", (root / "CHANGELOG.md").read_text(), re.M)
    if newest is None:
        raise ReleaseError("CHANGELOG.md has no dated heading, as in ## 0.1.0, 2026-11-16")
    return Release(version, newest[1], files)


def _start_page(notebooks: Files, course: Course) -> bytes:
    """The page on which students start, about notebooks that nobody has opened yet."""
    with TemporaryDirectory(prefix="start-") as folder:
        for path, content in notebooks.items():
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_bytes(content)
        return start_notebook(course, Path(folder) / "notebooks").encode()


def _helpers(root: Path, closed: Collection[str]) -> Files:
    files: Files = {}
    for path in sorted((root / "lab_utils").rglob("*")):
        name = path.relative_to(root).as_posix()
        if not path.is_file() or "__pycache__" in path.parts:
            continue
        if name.startswith(tuple(f"lab_utils/labs/{lab}/" for lab in closed)):
            continue
        if path.suffix not in KINDS:
            raise ReleaseError(f"{name} is nothing that students should get: delete it")
        files[name] = path.read_bytes()
    return files


def _until(path: Path, end: str) -> bytes:
    text, found, _ = path.read_text(encoding="utf-8").partition(f"\n{end}")
    if not found:
        raise ReleaseError(f"{path.name} has no line {end!r}: there the part of students ends")
    return f"{text.rstrip()}\n".encode()


def _without_extensions(path: Path) -> bytes:
    """The course file without what is between single students and us."""
    kept = []
    private = False
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            private = line.strip().endswith(".extensions]")
        if not private:
            kept.append(line)
    text = "\n".join(kept).rstrip()
    labs = tomllib.loads(text)["labs"]
    if any("extensions" in lab for lab in labs.values()):
        raise ReleaseError(f"{path.name}: write extensions as a table, [labs.NAME.extensions]")
    return f"{text}\n".encode()


def _bonus(lab: Assignment) -> str:
    return f" and a bonus of {lab.bonus:g}" if lab.bonus else ""


def _readme(root: Path, course: Course) -> bytes:
    rows = [
        f"| {lab.label} | {lab.title} | `notebooks/{lab.id}/` | {lab.points:g}{_bonus(lab)} | "
        f"{f'{lab.due:%A, %d %B %Y, %H:%M} (UTC{lab.due:%z})' if lab.due else 'see the course'} | "
        f"`{course.zip_file_name(lab.id, first='First', last='Last')}` |"
        for lab in course.labs.values()
    ]
    template = Template((root / STUDENT / "README.md").read_text(encoding="utf-8"))
    text = template.substitute(
        course=course.name,
        term=course.term,
        labs="\n".join(rows),
        share=course.share or "<the course's folder>",
        release=RELEASE_NAME,
    )
    return text.encode()
