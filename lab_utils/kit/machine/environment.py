"""Is this machine ready for the lab? One OK or FAIL line for each thing, and the cure.

Nothing here imports torch or anything else that may be missing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from lab_utils.kit.course import CourseError, read_course
from lab_utils.kit.files import is_looked_at
from lab_utils.kit.lab import lab_of
from lab_utils.kit.machine.terminal import typed
from lab_utils.kit.root import ROOT

FREE_BYTES = 200_000_000
FREE_FILES = 1_000
CLOCK_SECONDS = 300  # how far the clocks of machine and disk may be apart
_ALWAYS = "notebook"  # the optional dependencies that every notebook has


@dataclass(frozen=True)
class Fact:
    """One thing about this machine; a cure makes it a FAIL."""

    text: str
    cure: str = ""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.cure

    def __str__(self) -> str:
        return f"OK    {self.text}" if self.ok else f"FAIL  {self.text}\n      cure: {self.cure}"


def environment(folder: Path | None = None) -> list[Fact]:
    """What the lab needs, and whether it is there; ``folder`` is where the student works."""
    here = folder or Path.cwd()
    packages = [
        *_packages(needed_packages(here.name)),
        *_optional(here.name),
        *_of_others(here.name),
    ]
    return [*_python(), *packages, _kernel(), _dot(), *_disk(here), _clock(here)]


def check_environment(folder: Path | None = None) -> bool:
    """Print the facts, all OK ones in one line where nothing is wrong; whether all is well.

    Where a hand-in is looked at, the machine is none of the student's business.
    """
    if is_looked_at(folder or Path.cwd()):
        print("Environment: the one in which hand-ins are looked at")
        return True
    facts = environment(folder)
    wrong = [fact for fact in facts if not fact.ok]
    if wrong:
        print(*wrong, sep="\n")
    else:
        print("Environment OK:", ", ".join(fact.text for fact in facts[:2]))
    return not wrong


def _project() -> dict[str, list[str]]:
    """What ``pyproject.toml`` asks for: Python, what all need, and what some labs need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {
        "python": [f"Python{project['requires-python']}"],
        "all": project["dependencies"],
        **project["optional-dependencies"],
    }


def _python() -> Iterator[Fact]:
    running = ".".join(map(str, sys.version_info[:3]))
    try:
        (wanted,) = _project()["python"]
    except OSError:
        text = f"{ROOT} is incomplete: pyproject.toml is missing"
        yield Fact(text, "unpack the release again, all of it, and open the notebooks there")
        return
    cure = "" if _within(running, wanted) else f"install {wanted}, and set the lab up again with it"
    yield Fact(f"Python {running}", cure)


def _packages(needed: Mapping[str, str]) -> Iterator[Fact]:
    for requirement, found in needed.items():
        name = name_in(requirement)
        if not found:
            cure = f"choose the lab's kernel, or run: {_installs(requirement)}"
            yield Fact(f"{name} is not installed for {sys.executable}", cure)
            continue
        cure = "" if _within(found, requirement) else f"run: {_installs(requirement)}"
        yield Fact(f"{name} {found}", cure)


def _installs(requirement: str) -> str:
    return typed(f"install '{requirement}'", "pip")


def _optional(assignment: str) -> Iterator[Fact]:
    """What the notebooks use where it is there: no FAIL where it is not."""
    for requirement, found in optional_packages(assignment).items():
        name = name_in(requirement)
        if found and _within(found, requirement):
            yield Fact(f"{name} {found}")
            continue
        wrong = f"{name} {found} is another version" if found else f"{name} is not there"
        yield Fact(f"{wrong}; the notebooks do without it, or run: {_installs(requirement)}")


def _of_others(assignment: str) -> Iterator[Fact]:
    """What only other labs need: no FAIL here."""
    here = needed_packages(assignment)
    users: dict[str, list[str]] = {}
    for other in _assignments():
        for requirement in needed_packages(other).keys() - here.keys():
            users.setdefault(requirement, []).append(other)
    for requirement, labs in users.items():
        name, found = name_in(requirement), _installed(name_in(requirement))
        missing = f"{name} is not there; only {' and '.join(labs)} need{'s' * (len(labs) == 1)} it"
        yield Fact(f"{name} {found}" if found else missing)


def _shared_packages() -> list[str]:
    labs = [lab for name in _assignments() if (lab := lab_of(name))]
    counted = Counter(package for lab in labs for package in lab.packages)
    return [package for package, count in counted.items() if count > 1]


def _assignments() -> list[str]:
    try:
        return list(read_course().labs)
    except CourseError:
        return []


def needed_packages(assignment: str = "") -> dict[str, str]:
    """What an assignment needs, as in ``torch>=2.9,<2.15``, and the installed version, if any.

    In a folder that is no assignment's, what several of them need.
    """
    try:
        wanted = _project()
    except OSError:
        return {}
    lab = lab_of(assignment) if assignment.isidentifier() else None
    parts = (*(lab.packages if lab else _shared_packages()), "all", _ALWAYS)
    return {
        requirement: _installed(name_in(requirement))
        for part in parts
        for requirement in wanted[part]
    }


def optional_packages(assignment: str) -> dict[str, str]:
    """What an assignment can use beyond what it needs, and the installed version, if any."""
    lab = lab_of(assignment) if assignment.isidentifier() else None
    try:
        wanted = _project()
    except OSError:
        return {}
    return {
        requirement: _installed(name_in(requirement))
        for part in (lab.optional if lab else ())
        for requirement in wanted[part]
    }


def name_in(requirement: str) -> str:
    """The name of the package that a requirement is about."""
    return re.split(r"[^\w-]", requirement)[0]


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _within(found: str, requirement: str) -> bool:
    """Whether a version lies within bounds such as ``torch>=2.9,<2.15``."""
    numbers = _numbers(found)
    for relation, bound in re.findall(r"(>=|==|<)\s*([\d.]+)", requirement):
        if relation == "==":
            if numbers != _numbers(bound):
                return False
            continue
        if (numbers >= _numbers(bound)) != (relation == ">="):
            return False
    return True


def _numbers(text: str) -> tuple[int, ...]:
    release = re.match(r"[\d.]*", text)
    return tuple(int(part) for part in release[0].split(".") if part) if release else ()


def _kernel() -> Fact:
    if find_spec("ipykernel"):
        return Fact(f"kernel: {sys.executable}")
    cure = f"run: {_installs('ipykernel')}"
    return Fact(f"notebooks cannot run with {sys.executable}: it has no ipykernel", cure)


def _dot() -> Fact:
    found = shutil.which("dot")
    return Fact(f"dot: {found}" if found else "dot is not there; pictures are drawn without it")


def _disk(folder: Path) -> Iterator[Fact]:
    free = shutil.disk_usage(folder).free
    clean = "delete what you do not need, for instance ~/.cache/pip, and try again"
    yield Fact(f"disk: {free / 1e9:.1f} GB free", "" if free >= FREE_BYTES else clean)
    if hasattr(os, "statvfs"):
        left = os.statvfs(folder)
        few = left.f_files > 0 and left.f_favail < FREE_FILES
        if few:
            yield Fact(f"disk: room for only {left.f_favail} more files", clean)
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(1_000_000))  # a quota shows only when something is written
            file.flush()
            os.fsync(file.fileno())
        yield Fact(f"can write in {folder}")
    except OSError as error:
        cure = f"{clean}; or copy the lab to a folder of your own, and open it there"
        yield Fact(f"cannot write in {folder}: {error.strerror}", cure)


def _clock(folder: Path) -> Fact:
    now = time.time()
    today = datetime.fromtimestamp(now).strftime("%Y-%m-%d %H:%M")
    cure = "let the machine set its clock by itself; on a cluster, tell the help desk"
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            apart = abs(os.fstat(file.fileno()).st_mtime - now)
    except OSError:
        apart = 0.0
    if apart > CLOCK_SECONDS:
        return Fact(f"clock: {today}, but that of the disk is {apart:.0f} seconds off", cure)
    released = _released()
    if released and date.fromtimestamp(now) < released:
        return Fact(f"clock: {today}, which is before this release ({released})", cure)
    return Fact(f"clock: {today}")


def _released() -> date | None:
    try:
        text = (ROOT / "setup" / "release.json").read_text(encoding="utf-8")
        return date.fromisoformat(json.loads(text)["date"])
    except (OSError, ValueError, KeyError):
        return None  # not a release: a checkout of the repository
