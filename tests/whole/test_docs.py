"""What the documentation names is there: files, functions, headings, commands, options."""

from __future__ import annotations

import ast
import re
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import pytest

from autograder.cli import main as autograder
from lab_utils.__main__ import main as lab_utils
from lab_utils.kit.course import read_course
from lab_utils.kit.root import ROOT

DOCS = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
#: Rooms of the repository; what else has a slash in it is made, or elsewhere.
IN_A_ROOM = re.compile(r"(?:lab_utils|autograder|solutions|setup|tests|docs|\.ci)/[\w./*-]*")
MADE = ("autograder/grades/",)
#: The lab that does not exist yet, in examples.
TO_BE_MADE = "lab5"
PROGRAMS = {"autograder": autograder, "lab_utils": lab_utils}

each_page = pytest.mark.parametrize(
    "page", DOCS, ids=lambda page: page.relative_to(ROOT).as_posix()
)


def code(page: Path) -> list[str]:
    """All that stands as code on a page, a line each."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S)
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S))
    return [line for block in blocks for line in block.splitlines()] + spans


@each_page
def test_paths_are_there(page: Path) -> None:
    named = [span.replace("<lab>", "*") for span in code(page) if TO_BE_MADE not in span]
    paths = [span for span in named if IN_A_ROOM.fullmatch(span) and not span.startswith(MADE)]
    assert [path for path in paths if not any(ROOT.glob(path))] == []


@pytest.mark.parametrize(
    "room", ["lab_utils", "lab_utils/kit", "lab_utils/steps", "lab_utils/instruments", "autograder"]
)
def test_the_plan_of_the_house_names_every_module(room: str) -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    plan = page.partition("```\n")[2].partition("```")[0]
    modules = [path.stem for path in (ROOT / room).glob("[!_]*.py")]
    packages = [path.parent.name for path in (ROOT / room).glob("[!_]*/__init__.py")]
    there = {name.removesuffix("_command") for name in (*modules, *packages)}
    assert len(there) > 3
    assert [name for name in there if not re.search(rf"\b{name}\b", plan)] == []


@cache
def headings(page: Path) -> set[str]:
    """What a link to a part of a page may end in, as GitHub makes it."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.M)
    plain = (re.sub(r"[^\w\- ]", "", title.lower()) for title in titles)
    return {title.replace(" ", "-") for title in plain}


@each_page
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", text):
        path, _, part = "".join(link).partition("#")
        if "://" in path:
            continue
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not part or part in headings(target), link


@cache
def defined(path: Path) -> set[str]:
    """Functions, classes and ``Class.method`` of a module."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{m.name}" for m in node.body if isinstance(m, ast.FunctionDef)}
    return found


def hops() -> list[tuple[Path, str]]:
    """Each file of a journey, with each of the functions named beside it."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    page = text.partition("## Three journeys")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| [^|]+ \| `([\w/]+\.py)`[^|]* \| (`[^|]+`) \|$", page, re.M)
    return [(ROOT / path, name) for path, names in rows for name in re.findall(r"[\w.]+", names)]


def test_the_journeys_pass_through_functions_that_exist() -> None:
    assert len(hops()) > 40
    lost = [(path.name, name) for path, name in hops() if name not in defined(path)]
    assert lost == []


@each_page
def test_functions_are_where_they_are_said_to_be(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name, path in re.findall(r"`([A-Za-z_][\w.]*)` (?:\(|in )`([\w/]+\.py)`", text):
        if "/" in path:
            file = next(f for f in (ROOT / path, ROOT / "lab_utils" / path) if f.is_file())
            assert name in defined(file), path


@cache
def targets(makefile: str) -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / makefile).read_text(), re.M))


@each_page
def test_make_knows_what_is_asked_of_it(page: Path) -> None:
    known = targets("Makefile")
    if page.name in ("students.md", "instructors.md"):  # they tell of students' commands
        known = known | targets("setup/student/Makefile")
    variables = set(re.findall(r"^(\w+) \?=", (ROOT / "Makefile").read_text(), re.M))
    for line in code(page):
        if not line.startswith("make "):
            continue
        command = line.partition("#")[0]
        assert command.split()[1] in known, line
        assert set(re.findall(r"\b([A-Z]+)=", command)) <= variables, line
        for name in re.findall(r"\bNAME=(\w+)", command):
            assert (ROOT / "tests" / "benchmarks" / f"bench_{name}.py").is_file(), line


def test_the_readme_says_how_to_test() -> None:
    assert any(line == "make test" for line in code(ROOT / "README.md"))


@cache
def help_of(program: str, *words: str) -> str:
    """What a command says of itself; empty if there is none."""
    told = StringIO()
    with redirect_stdout(told), redirect_stderr(StringIO()), suppress(SystemExit):
        PROGRAMS[program]([*words, "--help"])
    return told.getvalue()


@each_page
def test_commands_and_their_options_exist(page: Path) -> None:
    for line in code(page):
        called = re.match(r"(?:\.venv/bin/)?python -m ([\w.]+)(.*?)(?:#.*)?$", line)
        if called is None:
            continue
        module, arguments = called[1], re.sub(r'"[^"]*"', "", called[2])
        assert find_spec(module), line
        if module in PROGRAMS and (words := re.findall(r"(?<!\S)[a-z][\w-]*", arguments)):
            told = help_of(module, words[0])
            assert told, line
            told += help_of(module, *words[:2])
            assert not [o for o in re.findall(r"--[a-z-]+", arguments) if o not in told], line


def test_the_readme_lists_the_assignments() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for lab in read_course().labs.values():
        (row,) = [row for row in text.splitlines() if f"(notebooks/{lab.id})" in row]
        assert f" {lab.points:g} " in row, row


@each_page
def test_python_imports_what_there_is(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.ImportFrom) and node.module:
                module = import_module(node.module)
                lost = [name.name for name in node.names if not hasattr(module, name.name)]
                assert lost == [], node.module
