"""Warm processes grow from one stem: they share libraries, and nothing of each other's kits."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import nbformat
import pytest

from autograder.grading.plan import _imports, read_plan
from autograder.grading.sandbox import (
    Code,
    Executor,
    Isolation,
    Job,
    Limits,
    Notebook,
    Result,
    SandboxFailed,
)
from autograder.grading.sandbox.host.cut import Cut, Kit
from autograder.grading.sandbox.host.house import INSIDE
from autograder.grading.sandbox.host.pool import libraries_of
from autograder.grading.sandbox.host.stems import Stem, own_stems, sharing
from autograder.grading.sandbox.host.worker import Team, Worker
from autograder.grading.sandbox.wire.line import Late, Line
from lab_utils.kit.root import ROOT

pytestmark = pytest.mark.xdist_group("sandboxes")

LIMITS = Limits(cell_seconds=30, grace_seconds=2)
CUT = Kit(Cut(frozenset({"kit/words.py"})), ("lab_utils.kit.errors",))
WHOLE = Kit(Cut(), ("lab_utils.kit.words",))
LOOK = """
import os, subprocess, sys
print("words" if "lab_utils.kit.words" in sys.modules else "none", "in memory")
for start in ("/kits", "/kit", os.environ["PYTHONPATH"], "/"):
    for folder, _, names in os.walk(start):
        if any("words" in name and folder.rstrip("/").endswith(("kit", "kit/__pycache__"))
               for name in names):
            print("words on disk")
import_it = [sys.executable, "-c", "import lab_utils.kit.words"]
print(subprocess.run(import_it, stderr=subprocess.DEVNULL).returncode, "from a child")
"""
LEVELS = [Isolation.FULL, Isolation.NAMESPACES, Isolation.LIMITS]


def shown(result: Result) -> list[set[str]]:
    """The lines that each notebook prints."""
    return [
        {line for cell in book.cells for o in cell.outputs for line in str(o["text"]).splitlines()}
        for book in result.notebooks
    ]


@pytest.mark.parametrize("level", LEVELS)
def test_what_one_kit_lacks_is_nowhere_though_another_has_it(level: Isolation) -> None:
    """In memory, on disk, and for a process of the student's, in whatever order they come."""
    books = [Notebook(name, [Code("c", LOOK)]) for name in ("whole", "cut", "whole", "cut")]
    with Executor(level, limits=LIMITS, jobs=1, kits={"cut": CUT, "whole": WHOLE}) as executor:
        if executor.reached.level is not level:
            pytest.skip(str(executor.reached))
        whole, cut, *again = shown(executor.run(Job("a", books)))
    assert whole == {"words in memory", "words on disk", "0 from a child"}
    assert cut == {"none in memory", "1 from a child"}
    assert again == [whole, cut]


def test_what_released_cells_import_is_there_and_what_fails_is_left_to_them() -> None:
    names = "[name for name in ('errors', 'words') if f'lab_utils.kit.{name}' in sys.modules]"
    look = f"import sys\nprint({names})"
    tried = ("from lab_utils.kit.errors import LabError", "import lab_utils.kit.words", "1 / 0")
    kits = {"cut": replace(CUT, preload=(), imports=tried), "whole": replace(WHOLE, imports=tried)}
    books = [Notebook(name, [Code("c", look)]) for name in kits]
    with Executor(Isolation.FULL, limits=LIMITS, jobs=1, kits=kits) as executor:
        assert shown(executor.run(Job("a", books))) == [{"['errors']"}, {"['errors', 'words']"}]


def test_stems_import_nothing_of_a_kit() -> None:
    assert libraries_of([Kit(Cut(), ("wave", "lab_utils.kit.words")), CUT]) == ("wave",)
    with own_stems() as stems:
        house = stems.house()
        reached = stems.reach(house, Isolation.NONE, Isolation.NONE)
        (house.bare / "lab_utils.py").touch()
        with (
            pytest.raises(SandboxFailed, match="part of a kit"),
            stems.lent(reached, house, ["lab_utils"]) as stem,
        ):
            stem.start(1_000_000)


def test_a_stem_is_handed_on_and_replaced_when_it_has_died() -> None:
    """Nothing of an executor is left for the next one but the libraries."""
    found: list[Any] = []
    with sharing():
        for variable in ("ONE", "OTHER"):
            with Executor(
                limits=LIMITS, jobs=1, preload=("wave",), environment={variable: "set"}
            ) as executor:
                cell = "import os\nprint(sorted({'ONE', 'OTHER'} & set(os.environ)))"
                job = Job("a", [Notebook("n", [Code("c", cell)])])
                found.append(shown(executor.run(job)))
                stem = next(s for s in _all(executor) if s.process)
                if variable == "OTHER":
                    os.kill(stem.process, 9)
                    found.append(shown(executor.run(job)))
                found.append(stem)
    one, first, other, after, second = found
    assert first is second
    assert (one, other, after) == ([{"['ONE']"}], [{"['OTHER']"}], [{"['OTHER']"}])


def _all(executor: Executor) -> list[Stem]:
    return [worker._stem for team in _teams(executor) for worker in team._workers.values()]


def test_a_plan_tells_what_released_cells_import_and_nothing_of_solutions() -> None:
    (part,) = read_plan("lab0", ROOT / "solutions" / "lab0").notebooks
    assert "from lab_utils.labs.lab0 import check, tiny_model" in part.imports
    assert all(line.split()[1].startswith("lab_utils") for line in part.imports)
    cell = nbformat.v4.new_code_cell
    solution = cell("import lab_utils.b", metadata={"nbgrader": {"solution": True}})
    test = cell("import lab_utils.c", metadata={"nbgrader": {"grade": True}})
    cells = [cell("import lab_utils.a\nimport os\n1 / 0"), solution, test, cell("%time import x")]
    assert list(_imports(nbformat.v4.new_notebook(cells=cells))) == ["import lab_utils.a"]


def _two_at_once(executor: Executor, cell: str) -> list[str]:
    jobs = [
        Job(name, [Notebook("n", [Code("c", f"import time\n{cell}\ntime.sleep(1)")])])
        for name in "ab"
    ]
    return [line for result in executor.map(jobs) for (line,) in shown(result)]


def test_who_shares_a_warm_process_is_another_user() -> None:
    with Executor(limits=LIMITS, jobs=2, preload=()) as executor:
        if not executor.reached.rooms or os.geteuid():
            pytest.skip("without rooms, or without root, there is one user")
        one, other = _teams(executor)
        assert one.worker_for("n").warm is other.worker_for("n").warm
        first, second = _two_at_once(executor, "import os\nprint(os.getuid(), os.geteuid())")
    assert first != second


def test_a_room_that_does_not_end_is_put_out_and_its_neighbour_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    see_off = Worker._see_off
    refused: list[object] = []

    def deaf(worker: Worker, supervisor: Line, order: dict[str, Any] | None = None) -> None:
        if order and not refused:
            refused.append(order)
            raise Late
        see_off(worker, supervisor, order)

    with Executor(limits=LIMITS, jobs=2, preload=()) as executor:
        if not executor.reached.rooms:
            pytest.skip("without rooms, each worker has a stem of its own")
        (stem,) = {worker._stem for team in _teams(executor) for worker in team._workers.values()}
        process = stem.process
        monkeypatch.setattr(Worker, "_see_off", deaf)
        assert _two_at_once(executor, "print('done')") == ["done", "done"]
        assert refused
        assert stem.process == process


FORK_APART = """
import os
from inside import kernel, namespaces
if {nobody}:
    kernel.call("unshare", kernel.NEW_USERS)
for _ in range(2):
    child = namespaces.fork_apart()
    if not child:
        os._exit(os.getpid() == 1)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), end=" ")
plain = os.fork()
if not plain:
    os._exit(os.getpid() == 1)
print(os.waitstatus_to_exitcode(os.waitpid(plain, 0)[1]))
"""


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="root on Linux may")
@pytest.mark.parametrize(("nobody", "told"), [(False, "1 1 0\n"), (True, "0 0 0\n")])
def test_a_room_is_born_apart_wherever_its_parent_may_come_back(nobody: bool, told: str) -> None:
    """Else it goes apart by itself, in ``enter_room``; what is forked later never is apart."""
    run = [sys.executable, "-c", FORK_APART.format(nobody=nobody)]
    found = subprocess.run(run, cwd=INSIDE.parent, capture_output=True, text=True)
    if "unshare" in found.stderr:
        pytest.skip(found.stderr.splitlines()[-1])
    assert (found.stdout, found.stderr) == (told, "")


def _teams(executor: Executor) -> list[Team]:
    teams = [executor._idle.get() for _ in range(executor.jobs)]
    for team in teams:
        executor._idle.put(team)
    return teams
