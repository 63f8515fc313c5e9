"""The executor on honest notebooks, and its parts one by one. For attacks see test_attacks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.grading.sandbox import (
    Code,
    Executor,
    Isolation,
    Job,
    Limits,
    Notebook,
    Question,
    Result,
    SandboxFailed,
    Trouble,
)
from autograder.grading.sandbox.clean.markup import safe_html
from autograder.grading.sandbox.clean.shown import MOST_OUTPUTS, Full, Quota, Shown
from autograder.grading.sandbox.host.job import Waiting
from autograder.grading.sandbox.host.pool import shared_out
from autograder.labs.lab4a.hidden import HIDDEN
from lab_utils.labs.lab4a import public_cases
from tests.grading.warm import is_right, warm_executor
from tests.labs.lab4a.solved import _imports, solution_text

pytestmark = pytest.mark.xdist_group("sandboxes")

LIMITS = Limits(cell_seconds=30, question_seconds=30, grace_seconds=2)


@pytest.fixture(scope="module")
def executor() -> Iterator[Executor]:
    with warm_executor(LIMITS, jobs=2) as executor:
        yield executor


def run(executor: Executor, *sources: str) -> Result:
    """Each source is a notebook with one cell."""
    notebooks = [Notebook(f"{n:02}", [Code("c", source)]) for n, source in enumerate(sources)]
    return executor.run(Job("student", notebooks))


def text_of(result: Result, notebook: int = 0) -> str:
    return "".join(o.get("text", "") for c in result.notebooks[notebook].cells for o in c.outputs)


# ---- honest notebooks ----------------------------------------------------------------------

CELLS = [
    "print('one'); print('two')",
    "import sys; print('to stderr', file=sys.stderr); print('to stdout')",
    "21 * 2",
    "'text with ; at its end';",
    "import warnings; warnings.warn('careful')",
    "import pandas as pd; pd.DataFrame({'x': [1, 2], 'y': ['a', 'b']})",
    "import matplotlib.pyplot as plt; plt.plot([1, 2, 3]); plt.title('a figure');",
    "fig, ax = plt.subplots(); ax.plot([1]); print('before the figure')",
    "from IPython.display import HTML, Markdown, display\ndisplay(HTML('<b>bold</b>'), [1, 2])",
    "Markdown('# heading')",
    "handle = display('first', display_id=True)",
    "handle.update('second')",
    "from IPython.display import clear_output\nprint('gone'); clear_output(); print('stays')",
    "print('goes later'); clear_output(wait=True); print('stays, too')",
    "def f():\n    return 1 / 0\nf()",
    "this is no Python",
    "print('after the errors'); _",
    "!echo from the shell",
    "%%capture caught\nprint('caught')",
    "caught.stdout",
    "import asyncio\nawait asyncio.sleep(0, 'awaited')",
    "x = 5\nx?",
    "raise SystemExit('no')",
    "class Shown:\n    __repr__ = _repr_html_ = lambda self: '<i>me</i>'\nShown()",
    "print('ünïcödé ✓', end='')",
    "In[1], _ , len(Out) > 0, __name__",
    "   ",
]


def nbclient_outputs(sources: list[str], folder: Path) -> list[list[dict[str, Any]]]:
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(s) for s in sources])
    client = NotebookClient(
        book, allow_errors=True, kernel_name="python3", resources={"metadata": {"path": folder}}
    )
    client.execute()
    return [cell.outputs for cell in book.cells]


def comparable(outputs: list[dict[str, Any]]) -> list[Any]:
    """What two runs of a cell must have in common."""
    found: list[Any] = []
    for output in outputs:
        kind = output["output_type"]
        if kind == "stream":
            text = re.sub(
                r"/tmp/ipykernel_\d+/\d+\.py|<ipython-input[^>]*>", "<cell>", output["text"]
            )
            found.append((output["name"], text.replace("\r\n", "\n")))
        elif kind == "error":
            found.append(
                (output["ename"], re.sub(r"\(\S+, line", "(<cell>, line", output["evalue"]))
            )
        else:
            pictures = {k for k in output["data"] if k.startswith("image/")}
            texts = {k: v for k, v in output["data"].items() if k not in pictures}
            if "text/html" in texts:  # what acts when it is opened is taken out of ours
                texts["text/html"] = safe_html(texts["text/html"])
            found.append((kind, sorted(pictures), texts))
    return (
        sorted(found, key=str)
        if any(isinstance(f, tuple) and f[0] == "stderr" for f in found)
        else found
    )


@pytest.mark.slow
def test_outputs_are_those_of_nbclient(executor: Executor, tmp_path: Path) -> None:
    cells = [Code(str(n), source) for n, source in enumerate(CELLS)]
    ours = executor.run(Job("student", [Notebook("01", cells)])).notebooks[0].cells
    theirs = nbclient_outputs(CELLS, tmp_path)
    for source, mine, other in zip(CELLS, ours, theirs, strict=True):
        assert comparable(mine.outputs) == comparable(other), source


def test_what_programs_write_is_shown(executor: Executor) -> None:
    assert text_of(run(executor, "import os; os.system('echo from a program');")) == (
        "from a program\n"
    )


def test_chance_is_the_same_every_time(executor: Executor) -> None:
    cell = "import random, torch, numpy; print(random.random(), torch.rand(2), numpy.random.rand())"
    assert text_of(run(executor, cell)) == text_of(run(executor, cell))


def test_files_carry_over_to_the_next_notebook_and_no_further(executor: Executor) -> None:
    look = "import os; print(sorted(os.listdir()))"
    result = run(executor, "open('mine.txt', 'w').write('x'); kept = 1;", look, "print(kept)")
    assert text_of(result, 1) == "['mine.txt']\n"
    assert result.notebooks[2].cells[0].outputs[0]["ename"] == "NameError"
    assert text_of(run(executor, look)) == "[]\n"


def test_lent_functions_are_called_elsewhere_and_given_back(executor: Executor) -> None:
    case = public_cases("2.2")[0]
    wrong = "def recompute_set(target, kept):\n    return []\n"
    question = Question("lab4a", "2.2", "inject_recomputation", case.given)
    lent = replace(question, lent=("recompute_set",))
    cells = [Code("c", f"{_imports()}\n{wrong}\n{solution_text('inject_recomputation')}")]
    calls = []

    def lend(asked: Question, name: str, arguments: Any, _waiting: Waiting) -> Any:
        calls.append((asked.task, name))
        return HIDDEN.lend(name, case, arguments)

    job = Job("student", [Notebook("02", [*cells, question, lent, question])], lender=lend)
    replies = executor.run(job).notebooks[0].replies
    assert [is_right("2.2", case, reply) for reply in replies] == [False, True, False]
    assert set(calls) == {("2.2", "recompute_set")}


def test_a_loop_in_an_earlier_function_takes_no_time_from_lent_ones() -> None:
    case = public_cases("2.2")[0]
    loop = "def recompute_set(target, kept):\n    while True:\n        pass\n"
    own = Question("lab4a", "2.2", "inject_recomputation", case.given)
    lent = replace(own, lent=("recompute_set",))
    cells = [Code("c", f"{_imports()}\n{loop}\n{solution_text('inject_recomputation')}")]

    def lend(asked: Question, name: str, arguments: Any, _waiting: Waiting) -> Any:
        return HIDDEN.lend(name, case, arguments)

    job = Job(
        "student",
        [Notebook("02", [*cells, own, own, own])],
        follow_up=lambda *_: [lent],
        lender=lend,
    )
    with warm_executor(replace(LIMITS, question_seconds=2)) as executor:
        *own_replies, last = executor.run(job).notebooks[0].replies
    assert all("no answer" in reply["error"] for reply in own_replies)
    assert "took all its time" in own_replies[-1]["error"]
    assert is_right("2.2", case, last)


def test_a_follow_up_sees_the_replies_and_is_answered(executor: Executor) -> None:
    case = public_cases("2.1")[0]
    question = Question("lab4a", "2.1", "recompute_set", case.given)
    seen: list[Any] = []

    def follow_up(_: Notebook, replies: Sequence[dict[str, Any]]) -> list[Question]:
        seen.extend(replies)
        return [replace(question, name="other")]

    cells = [Code("c", "recompute_set = lambda target, kept: []\nother = lambda *_: [_[0]]")]
    job = Job("student", [Notebook("02", [*cells, question])], follow_up=follow_up)
    replies = executor.run(job).notebooks[0].replies
    assert seen == [{"answer": []}]
    assert replies == [{"answer": []}, {"answer": ["sin"]}]


def test_a_question_is_asked_where_it_stands(executor: Executor) -> None:
    case = public_cases("2.1")[0]
    question = Question("lab4a", "2.1", "answer", case.given)
    cells = [Code(str(n), f"answer = lambda target, kept: [target] * {n}") for n in range(3)]
    steps = [step for cell in cells for step in (cell, question)]
    replies = executor.run(Job("student", [Notebook("02", steps)])).notebooks[0].replies
    assert [len(reply["answer"]) for reply in replies] == [0, 1, 2]


KEEPS = """
seen = []
def recompute_set(target, kept):
    seen.append(target.name)
    open("seen.txt", "a").write(target.name)
    return [target]
"""


def test_what_is_asked_reaches_no_cell_and_no_later_notebook(executor: Executor) -> None:
    """Hidden graphs are among it, and cells can show what they like."""
    given = public_cases("2.1")[0].given
    question = Question("lab4a", "2.1", "recompute_set", given)
    look = Code("look", "import os; print(globals().get('seen'), os.listdir())")
    first = Notebook("01", [Code("keeps", KEEPS), question, look])
    result = executor.run(Job("student", [first, Notebook("02", [look])]))
    assert result.notebooks[0].replies == [{"answer": ["sin"]}]
    assert text_of(result, 0) == "[] []\n"
    assert text_of(result, 1) == "None []\n"


def test_what_a_later_task_is_given_answers_no_earlier_one(executor: Executor) -> None:
    """However a student orders the tests."""
    given = public_cases("2.1")[0].given
    cells = [Code("c", "seen = []\ndef early(*_): return list(seen)\n")]
    cells += [Code("d", "def late(*_):\n    seen.append('told')\n    return ['x']\n")]
    later, earlier = (Question("lab4a", "2.1", name, given) for name in ("late", "early"))
    later = replace(later, task="2.2", given=public_cases("2.2")[0].given)
    job = Job("student", [Notebook("01", [*cells, later, earlier])])
    assert executor.run(job).notebooks[0].replies[1] == {"answer": []}


def test_what_comes_before_too_many_fatal_cells_is_asked_about(executor: Executor) -> None:
    given = public_cases("2.1")[0].given
    question = Question("lab4a", "2.1", "answer", given)
    steps: list[Code | Question] = [Code("c", "answer = lambda target, kept: [target]"), question]
    steps += [Code(f"fatal {n}", "import os; os._exit(0)") for n in range(5)]
    steps += [Code("d", "other = answer"), replace(question, task="2.2", name="other")]
    first, last = executor.run(Job("student", [Notebook("01", steps)])).notebooks[0].replies
    assert first == {"answer": ["sin"]}
    assert "did not get that far" in last["error"]


def test_hidden_cases_come_after_all_public_ones(executor: Executor) -> None:
    """What is told of a public case may hold anything that the process has met before."""
    cells = [Code("c", "met = []\ndef first(*_):\n    met.append('told')\n    return ['x']\n")]
    cells += [Code("d", "def second(*_): return list(met)\n")]
    given = public_cases("2.1")[0].given
    hidden = Question("lab4a", "2.1", "first", given, hidden=True)
    public = Question("lab4a", "2.2", "second", public_cases("2.2")[0].given)
    replies = executor.run(Job("student", [Notebook("01", [*cells, hidden, public])])).notebooks[0]
    assert "told" not in str(replies.replies[1])


def test_code_that_has_met_a_hidden_case_has_no_words_for_a_public_one(executor: Executor) -> None:
    question = Question("lab4a", "2.1", "recompute_set", public_cases("2.1")[0].given)
    cell = Code("c", "def recompute_set(target, kept):\n    raise ValueError('CHOSEN')")
    job = Job(
        "student",
        [Notebook("02", [cell, question, replace(question, hidden=True)])],
        follow_up=lambda *_: [question],
    )
    before, hidden, after = executor.run(job).notebooks[0].replies
    assert "CHOSEN" in before["error"]
    assert "CHOSEN" in hidden["error"]  # which the judge tells nobody
    assert after["error"] == "your code ended with an error"
    assert "CHOSEN" not in str(after)


GLOO = """
import os, torch, torch.distributed as dist
os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500", "GLOO_SOCKET_IFNAME": "lo"}
def work(rank):
    dist.init_process_group("gloo", rank=rank, world_size=2)
    sums = torch.full((3,), float(rank + 1))
    dist.all_reduce(sums)
    open(f"sums-{rank}", "w").write(str(sums.tolist()))
    dist.destroy_process_group()
others = []
for rank in range(2):
    others.append(os.fork())
    if not others[-1]:
        try:
            work(rank)
        finally:
            os._exit(0)
for other in others:
    os.waitpid(other, 0)
print(*(open(f"sums-{rank}").read() for rank in range(2)))
"""


@pytest.mark.slow
@pytest.mark.parametrize("level", [Isolation.FULL, Isolation.NAMESPACES])
def test_processes_of_a_notebook_can_work_together(level: Isolation) -> None:
    with Executor(level, limits=LIMITS, jobs=1, preload=("torch.distributed",)) as executor:
        if executor.reached.level is not level:
            pytest.skip(str(executor.reached))
        assert text_of(run(executor, GLOO)).splitlines()[0] == "[3.0, 3.0, 3.0] [3.0, 3.0, 3.0]"


# ---- what is kept of what a cell shows -----------------------------------------------------


def displayed(text: str, update: bool = False) -> dict[str, Any]:
    kind = {"output_type": "display_data", "data": {"text/plain": text}, "metadata": {}}
    return {**kind, "display_id": "d", "update": update}


def test_what_is_shown_in_many_places_is_changed_in_all_of_them_at_the_end() -> None:
    shown = Shown([], {}, Quota(1_000_000))
    for number in range(1000):
        shown.add(displayed("old"))
        shown.add(displayed(str(number), update=True))
    assert {output["data"]["text/plain"] for output in shown.outputs} == {"old"}
    shown.settle()
    assert {output["data"]["text/plain"] for output in shown.outputs} == {"999"}


def test_a_change_counts_in_every_place_and_what_is_forgotten_does_not() -> None:
    quota = Quota(100_000)
    shown = Shown([], {}, quota)
    for _ in range(10):
        shown.add(displayed("x"))
    with pytest.raises(Full):
        shown.add(displayed("x" * 20_000, update=True))
    for _ in range(100):  # large, small, forgotten: nothing is gained by that
        shown.add(displayed("x" * 5000, update=True))
        shown.add(displayed("x", update=True))
        shown.clear(wait=False)
        shown.add(displayed("x"))
    for _ in range(10):
        shown.add({"output_type": "stream", "name": "stdout", "text": "y" * 50_000})
        shown.clear(wait=False)
    assert 0 <= quota.kept < 50_000
    with pytest.raises(Full):
        for _ in range(MOST_OUTPUTS + 1):
            shown.add({"output_type": "stream", "name": "stdout", "text": ""})


def test_a_part_is_no_larger_than_the_whole() -> None:
    whole = Quota(100)
    parts = [Quota(70, whole), Quota(70, whole)]
    parts[0].take(70)
    assert [part.left for part in parts] == [0, 30]
    with pytest.raises(Full):
        parts[1].take(31)
    parts[0].take(-70)
    assert parts[1].left == 70


def test_workers_keep_to_processors_of_their_own_where_there_are_enough() -> None:
    assert shared_out([0, 1], 2, 1) == [[0], [1]]
    assert shared_out(range(8), 3, 1) == [[0, 1], [2, 3], [4, 5]]
    assert shared_out(range(4), 2, 3) == [[0, 1, 2], [0, 1, 3]]
    assert shared_out([0, 1], 4, 1) == [[0], [1], [0], [1]]
    assert shared_out(range(4), 1, 1) == shared_out([], 1, 1) == [[]]


# ---- time ----------------------------------------------------------------------------------

SPIN = "while True: pass"
SLEEP = "import time; time.sleep(10**9)"
AFTER = "print('the next one runs')"


@pytest.fixture(scope="module")
def hasty() -> Iterator[Executor]:
    """With little time, and as if this machine were as fast as ours."""
    limits = Limits(cell_seconds=1, notebook_seconds=20, question_seconds=1, grace_seconds=1)
    with Executor(limits=limits, jobs=1, preload=(), slowness=1) as executor:
        yield executor


def run_cells(executor: Executor, *sources: str) -> Result:
    """One notebook with these cells."""
    cells = [Code(str(number), source) for number, source in enumerate(sources)]
    return executor.run(Job("student", [Notebook("01", cells)]))


SLOW = {
    "a loop": (SPIN, "used more than 1 seconds of processor time"),
    "a loop in another process": (
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SPIN!r}])",
        "used more than 1 seconds of processor time",
    ),
    "a loop in a thread": (
        f"import threading\nt = threading.Thread(target=exec, args=({SPIN!r},), daemon=True)\n"
        "t.start(); t.join()",
        "used more than 1 seconds of processor time",
    ),
    "sleep": (SLEEP, "did nothing for 1 seconds"),
    "short sleeps": ("import time\nwhile True: time.sleep(0.05)", "did nothing for 1 seconds"),
    "a socket": (
        "import socket; pair = socket.socketpair(); pair[0].recv(1)",
        "did nothing for 1 seconds",
    ),
}


@pytest.mark.parametrize("what", SLOW)
def test_a_cell_that_takes_too_much_time_is_interrupted(hasty: Executor, what: str) -> None:
    source, why = SLOW[what]
    result = run_cells(hasty, source, AFTER)
    assert [(r.kind, r.text) for r in result.remarks] == [
        (Trouble.INTERRUPTED, f"{why} and was interrupted")
    ]
    late, after = result.notebooks[0].cells
    (error,) = late.outputs
    assert (error["ename"], error["evalue"]) == ("OutOfTime", f"interrupted ({why})")
    assert after.outputs[0]["text"] == "the next one runs\n"


def test_sleep_is_paid_for_by_the_whole_notebook() -> None:
    limits = Limits(cell_seconds=1, notebook_seconds=2.5, grace_seconds=1)
    with Executor(limits=limits, jobs=1, preload=(), slowness=1) as executor:
        result = run_cells(executor, *[SLEEP] * 20)
    texts = [remark.text for remark in result.remarks]
    assert "was interrupted when the time for the notebook was up" in texts
    assert texts[-1].startswith("the cells took more than 2.5 seconds together")


def test_a_slow_machine_has_more_time() -> None:
    """Three times as much processor time as a cell may use where it is measured."""
    work = "import time\nwhile time.process_time() < 3: pass\nprint('done')"
    limits = Limits(cell_seconds=1, notebook_seconds=2, grace_seconds=1)
    with Executor(limits=limits, jobs=1, preload=(), slowness=8) as executor:
        result = run_cells(executor, work)
    assert text_of(result) == "done\n"
    assert not result.remarks


# ---- what a lab brings along ---------------------------------------------------------------


@pytest.fixture(scope="module")
def furnished() -> Iterator[Executor]:
    with Executor(
        Isolation.LIMITS,
        limits=replace(LIMITS, threads=2),
        jobs=1,
        preload=("wave",),
        warm_up=("gc:disable", "tempfile:gettempdir"),
        environment={"PROJECT_SIZE": "tiny"},
    ) as executor:
        yield executor


def test_a_lab_has_modules_functions_and_variables_of_its_own(furnished: Executor) -> None:
    cell = (
        "import gc, os, sys\n"
        "print('wave' in sys.modules, 'torch' in sys.modules, gc.isenabled())\n"
        "print(os.environ['PROJECT_SIZE'], os.environ['OMP_NUM_THREADS'])"
    )
    assert text_of(run(furnished, cell)) == "True False False\ntiny 2\n"


def test_libraries_may_work_with_several_threads(furnished: Executor) -> None:
    cell = (
        "import torch\n"
        "print(torch.get_num_threads(), (torch.ones(600, 600) @ torch.ones(600, 600)).sum().item())"
    )
    assert text_of(run(furnished, cell)) == "2 216000000.0\n"


def test_temporary_folders_can_be_made(furnished: Executor) -> None:
    cell = "import os, tempfile\nprint(os.path.dirname(tempfile.mkdtemp()) == os.environ['TMPDIR'])"
    assert text_of(run(furnished, cell)) == "True\n"


def test_what_cannot_be_warmed_up_is_named() -> None:
    with (
        pytest.raises(SandboxFailed, match="no_such_function"),
        Executor(jobs=1, preload=(), warm_up=("gc:no_such_function",)),
    ):
        pass
