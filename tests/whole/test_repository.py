"""What the repository promises about itself: pins, sizes, light imports, no machine traces."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import metadata, packages_distributions
from itertools import pairwise
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from lab_utils.kit.course import read_course
from lab_utils.kit.root import ROOT
from tests.support.groups import ByGroup, group_of

LONGEST_MODULE = 300  # lines: one sitting
HEAVY = ("matplotlib", "pandas", "networkx", "IPython", "torch.fx.experimental.proxy_tensor")

MODULES = sorted((ROOT / "lab_utils").rglob("*.py"))


def test_there_are_modules() -> None:
    assert MODULES


def requirements(name: str) -> dict[str, Requirement]:
    lines = (ROOT / name).read_text().splitlines()
    wanted = [Requirement(line) for line in lines if line.strip() and line[0] not in "#-"]
    return {canonicalize_name(r.name): r for r in wanted}


def packaged() -> dict[str, Requirement]:
    """What lab_utils asks for as a package, extras included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    wanted = [Requirement(text) for group in groups for text in group]
    return {canonicalize_name(r.name): r for r in wanted}


@cache
def files() -> tuple[Path, ...]:
    """Every file that is in git or would be added to it."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if result.returncode:
        pytest.skip("not a git checkout, or git is missing")
    paths = (ROOT / name for name in result.stdout.split("\0") if name)
    return tuple(path for path in paths if path.is_file())


@pytest.mark.parametrize("name", ["requirements.txt", "requirements.lock"])
def test_requirements_are_pinned(name: str) -> None:
    loose = [
        str(r) for r in requirements(name).values() if [s.operator for s in r.specifier] != ["=="]
    ]
    assert not loose


def test_lock_leaves_direct_requirements_alone() -> None:
    twice = requirements("requirements.txt").keys() & requirements("requirements.lock").keys()
    assert not twice, "run make lock"


def test_pinned_versions_run_on_the_oldest_python() -> None:
    pinned = requirements("requirements.txt") | requirements("requirements.lock")
    # (A package may have put its own reader of metadata in place of Python's: it knows no None.)
    needs = {name: (metadata(name).get_all("Requires-Python") or [""])[0] for name in pinned}
    refused = [name for name, bounds in needs.items() if "3.11.0" not in SpecifierSet(bounds)]
    assert not refused, "hold them back in setup/lock.sh"


def test_package_bounds_admit_the_pinned_versions() -> None:
    pinned = requirements("requirements.txt")
    for name, bounds in packaged().items():
        assert name in pinned, f"pyproject.toml asks for {name}, requirements.txt does not"
        (version,) = (s.version for s in pinned[name].specifier)
        assert bounds.specifier.contains(version), f"pyproject.toml forbids {name} {version}"


def imported(path: Path) -> Iterator[str]:
    """Top-level names of all that the file imports, inside functions too."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def test_every_import_of_lab_utils_is_declared() -> None:
    distributions = packages_distributions()
    declared = packaged()
    undeclared = {
        f"{path.name} imports {name}"
        for path in MODULES
        for name in imported(path)
        if name not in sys.stdlib_module_names and name != "lab_utils"
        if not declared.keys() & {canonicalize_name(d) for d in distributions.get(name, [name])}
    }
    assert not undeclared


def test_lab_utils_never_imports_what_students_may_not_see() -> None:
    hidden = {"autograder", "solutions", "tests"}
    found = {f"{path.name} imports {n}" for path in MODULES for n in imported(path) if n in hidden}
    assert not found


def test_import_is_light() -> None:
    """Beyond what torch loads by itself, ``import lab_utils`` brings nothing heavy."""

    def loaded(module: str) -> set[str]:
        code = f"import sys, {module}; print(*sys.modules)"
        result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE)
        return set(result.stdout.decode().split())

    ours = loaded("lab_utils")
    assert "lab_utils" in ours
    assert not (ours - loaded("torch")) & set(HEAVY)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_module_can_be_read_in_one_sitting(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST_MODULE


def test_no_file_names_a_machine_or_a_registry() -> None:
    # Written in pieces, so that this file does not name them either.
    homes = r"(?<![\w.$}])/(?:work|root|home/\w+|Users/\w+)" + "/"
    hosts = "|".join(("py" + r"pi\.org", "python" + r"hosted\.org", r"download\." + "pytorch"))
    options = "index" + "-url|find" + "-links"
    traces = re.compile(f"{homes}|{hosts}|{options}")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in files()
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1)
        if traces.search(line) or str(ROOT) in line
    ]
    assert not found


def test_changelog_is_dated_and_says_for_whom() -> None:
    text = (ROOT / "CHANGELOG.md").read_text()
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    dates = [re.search(r"\b\d{4}-\d\d-\d\d$", heading) for heading in headings]
    assert headings
    assert all(dates), headings
    days = [date.group() for date in dates if date]
    assert all(newer >= older for newer, older in pairwise(days)), "the newest comes first"
    entries = re.findall(r"^- (.+)$", text, re.MULTILINE)
    assert entries
    assert not [e for e in entries if not e.startswith(("code: ", "handout: "))]


@pytest.mark.needs_shellcheck
def test_shell_scripts_are_sound() -> None:
    scripts = [
        path
        for path in files()
        if path.suffix == ".sh" or re.match(rb"#!.*\b(ba)?sh\b", path.open("rb").readline())
    ]
    assert scripts
    result = subprocess.run(["shellcheck", "-x", *scripts], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout


def run_setup(python: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHON": python}
    command = ["bash", "setup/venv.sh"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def test_setup_refuses_an_old_python(tmp_path: Path) -> None:
    old = tmp_path / "an old python"
    old.write_text("#!/bin/sh\nexit 1\n")  # as the version check inside would
    old.chmod(0o755)
    for python in (str(old), "no-such-python"):
        result = run_setup(python)
        assert result.returncode != 0
        (line,) = result.stderr.splitlines()
        assert python in line
        assert "3.11" in line


def test_tests_of_a_group_stay_together() -> None:
    paths = sorted((ROOT / "tests").rglob("test_*.py"))
    modules = [path.relative_to(ROOT).as_posix() for path in paths]
    named = [path for path in modules if "mark.xdist_group(" in (ROOT / path).read_text()]
    assert len(named) > 5
    assert [path for path in named if path != _THIS and not group_of(path)] == []
    split = ByGroup._split_scope
    browser = {split(None, f"{p}::test[a]") for p in named if "browser" in p}  # type: ignore[arg-type]
    assert browser == {"browser"}
    alone = "tests/whole/test_repository.py::test_it"
    assert split(None, alone) == alone  # type: ignore[arg-type]


_THIS = Path(__file__).relative_to(ROOT).as_posix()


def test_no_lab_is_named_outside_its_own_folders() -> None:
    """But in setup/course.toml, tests and texts."""
    words = [re.sub(r"(?=\d)", " ?", lab, count=1) for lab in read_course().labs]  # lab4a, Lab 4A
    # Without a digit it is a plain word, but for where modules and folders are named.
    names = [word if " ?" in word else rf"labs[./]{word}\b" for word in words]
    named = re.compile("|".join(names), re.IGNORECASE)
    rooms = ("lab_utils/", "autograder/", "setup/", "Makefile", ".ci/", "pyproject.toml")
    own = re.compile(rf"(lab_utils|autograder)/labs/({'|'.join(read_course().labs)})/")
    guilty = []
    for path in files():
        name = path.relative_to(ROOT).as_posix()
        if not name.startswith(rooms) or own.match(name) or name == "setup/course.toml":
            continue
        if named.search(path.read_text(encoding="utf-8", errors="replace")):
            guilty.append(name)
    assert guilty == []
