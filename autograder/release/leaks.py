"""Looks for what must never reach students: solutions, hidden tests, references, our paths."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from autograder.authoring.build import Files
from autograder.release.hidden_values import hidden_values_in
from lab_utils.kit.course import Course, read_course

REGION = re.compile(
    r"^[# ]*### BEGIN (SOLUTION|HIDDEN TESTS|MARK SCHEME)$(.*?)^[# ]*### END \1$", re.M | re.S
)
OURS = ("autograder/", "solutions/", "tests/", ".git", ".ci/")
HOME = re.compile(r"(?<![\w.$}])/(?:root|home/\w+|Users/\w+)/")
TELLING, TELLING_FAR = 16, 40
"""Characters that make a line telling, in the notebooks of its lab and in those of other labs."""
ROW = 4  # lines one after another that are no coincidence


def leaks_in_release(files: Files, root: Path) -> list[str]:
    """What must not be in a release and is, one line for each."""
    course = read_course(root / "setup" / "course.toml")
    names = {notebook.source for lab in course.labs.values() for notebook in lab.notebooks}
    paths = {name: root / "solutions" / f"{name}.py" for name in sorted(names)}
    sources = {n: p.read_text(encoding="utf-8") for n, p in paths.items() if p.is_file()}
    notebooks = {p: c for p, c in files.items() if p.startswith("notebooks/")}
    others = {p: c for p, c in files.items() if p not in notebooks}
    found = [f"{path}: belongs to instructors" for path in files if path.startswith(OURS)]
    for name, source in sources.items():
        near = _of_its_lab(name, notebooks, course)
        far = {p: c for p, c in notebooks.items() if p not in near}
        lines = [*leaks([source], near), *leaks([source], far, TELLING_FAR)]
        found += [f"notebooks: a secret line, {line!r}" for line in lines]
    solved = _with_solutions(sources.values(), others)
    found += [f"{path}: has lines of a solution" for path in solved]
    found += hidden_values_in(files, root)
    students = {name for lab in course.labs.values() for name in lab.extensions}
    for path, text in ((path, "\n".join(texts({path: c}))) for path, c in files.items()):
        found += [f"{path}: names a student, {name}" for name in students if name in text]
        if path in notebooks and "autograder" in text.lower():
            found.append(f"{path}: speaks of the autograder")
        if "from autograder" in text or "import autograder" in text:
            found.append(f"{path}: imports the autograder")
        if str(root) in text or HOME.search(text):
            found.append(f"{path}: has a path of somebody's machine")
    return found


def _of_its_lab(source: str, notebooks: Files, course: Course) -> Files:
    """The notebooks of the assignments that use a source of the same lab."""
    home = source.partition("/")[0]
    labs = [lab for lab in course.labs.values() if any(n.home == home for n in lab.notebooks)]
    folders = tuple(f"notebooks/{lab.id}/" for lab in labs)
    return {path: content for path, content in notebooks.items() if path.startswith(folders)}


def leaks(sources: Iterable[str], released: Files, telling: int = TELLING) -> list[str]:
    """Lines of the sources' regions that can be read in a release, and not elsewhere in them."""
    sources = list(sources)
    public = "\n".join(REGION.sub("", source) for source in sources)
    everything = "\n".join(texts(released))
    secrets = {
        line.strip("# ")
        for source in sources
        for region in REGION.finditer(source)
        for line in region[2].splitlines()
    }
    return [
        secret
        for secret in sorted(secrets - {""})
        # A short line, such as ``return {``, is everybody's.
        if len(secret) >= telling and secret not in public and secret in everything
    ]


def texts(files: Files) -> Iterator[str]:
    """All that can be read in files: their names, and what is in them."""
    for path, content in files.items():
        yield path
        if path.endswith(".ipynb"):
            yield from strings(json.loads(content))
        else:
            yield content.decode(errors="replace")


def strings(value: Any) -> Iterator[str]:
    """Every text in JSON data: keys and values, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield key
            yield from strings(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from strings(entry)


def _with_solutions(sources: Iterable[str], files: Files) -> Iterator[str]:
    rows = set()
    for source in sources:
        for region in REGION.finditer(source):
            lines = _lines(region[2])
            rows |= {tuple(lines[at : at + ROW]) for at in range(len(lines) - ROW + 1)}
    for path, content in files.items():
        lines = _lines(content.decode(errors="replace"))
        if any(tuple(lines[at : at + ROW]) in rows for at in range(len(lines))):
            yield path


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
