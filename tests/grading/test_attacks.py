"""Attacks on the executor: nothing is learnt, nobody else is affected, and it is said."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest

from autograder.grading.sandbox import (
    Code,
    Executor,
    Isolation,
    Job,
    Limits,
    Notebook,
    Question,
    Result,
    Trouble,
)
from lab_utils.kit.root import ROOT
from lab_utils.labs.lab4a import public_cases
from tests.grading import warm
from tests.grading.attacks.catalogue import ANSWERS, GROUPS, READING, Answer, Attack

pytestmark = [pytest.mark.xdist_group("sandboxes"), pytest.mark.needs_bwrap, pytest.mark.slow]

MB = 1_000_000
LIMITS = Limits(
    cell_seconds=2,
    notebook_seconds=20,
    question_seconds=2,
    grace_seconds=1,
    address_space=2500 * MB,
    memory=1000 * MB,
    file_bytes=20 * MB,
    disk_bytes=30 * MB,
    disk_files=500,
    output_bytes=100_000,
    reply_bytes=1 * MB,
)
CASE = public_cases("2.1")[0]
LAB = "lab4a"

HONEST = '''
# a mark that is only in honest notebooks
def recompute_set(target, kept):
    """Nodes to run again to rebuild `target` when only `kept` is in memory."""
    needed, todo = set(), [target]
    while todo:
        node = todo.pop()
        if node.op == "call_function" and node not in kept and node not in needed:
            needed.add(node)
            todo += node.all_input_nodes
    return [node for node in target.graph.nodes if node in needed]

print("defined")
'''


def question() -> Question:
    return Question(LAB, "2.1", "recompute_set", CASE.given)


def is_right(reply: dict[str, object]) -> bool:
    return warm.is_right("2.1", CASE, reply)


def honest_job(name: str) -> Job:
    return Job(name, [Notebook("01", [Code("honest", HONEST), question()])])


def hostile_cell(attack: Attack, places: dict[str, str]) -> Code:
    text = attack.cell
    for name, place in places.items():
        text = text.replace(name, place)
    return Code("attack", text)


def hostile_job(attack: Attack, places: dict[str, str]) -> Job:
    """The attack, then honest work in the same notebook and in the next one."""
    cells = [hostile_cell(attack, places), Code("honest", HONEST)]
    notebooks = [Notebook("01", [*cells, question()]), *honest_job("").notebooks]
    return Job(attack.name, notebooks, attack.files)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What the grader has that attacks look for."""
    secret = tmp_path_factory.mktemp("grader") / "secret"
    secret.write_text("the answers")
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with (
        socket.create_server(("127.0.0.1", 0)) as door,
        datagrams,
        socket.socket(socket.AF_UNIX) as other,
        socket.socket(socket.AF_UNIX) as path,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as packets,
    ):
        name = f"grader-{os.getpid()}"
        other.bind(f"\0{name}")
        other.listen()
        way = secret.with_name("door")
        path.bind(str(way))
        path.listen()
        packets.bind(f"{way}-datagrams")
        port = door.getsockname()[1]
        datagrams.bind(("127.0.0.1", port))
        grader = {"PORT": str(port), "SOCKET": name, "DOOR": str(way), "GRADER": str(os.getpid())}
        yield {"ROOT": str(ROOT), "SECRET": str(secret), **grader}
        datagrams.setblocking(False)
        with pytest.raises(BlockingIOError):
            datagrams.recv(100)


def shown(result: Result) -> str:
    texts = []
    for notebook in result.notebooks:
        for cell in notebook.cells:
            for output in cell.outputs:
                texts.append(output.get("text", "") or str(output.get("data", "")))
                texts.append(f"{output.get('ename', '')} {output.get('evalue', '')}")
    return "\n".join(texts)


def failures(attack: Attack, result: Result, after: Result) -> Iterator[str]:
    """What is wrong with how an attack ended, and with the submission after it."""
    text = shown(result)
    if "BREACH" in text:
        yield f"it got something: {text}"
    if attack.shows not in text:
        yield f"it does not show {attack.shows!r}: {text}"
    found = {remark.kind for remark in result.remarks}
    perhaps = attack.perhaps
    if Trouble.INTERRUPTED in attack.troubles:  # on a busy machine it hears of it too late
        perhaps |= {Trouble.KILLED}
    wanted = attack.troubles | perhaps if perhaps & found else attack.troubles
    if not (found <= wanted if perhaps & found else found == wanted):
        yield f"other remarks than {set(wanted)}: {result.remarks}"
    for notebook in result.notebooks:
        defined = "defined\n" in str(
            notebook.cells[-1].outputs[:1] and notebook.cells[-1].outputs[0].get("text")
        )
        if not defined or not is_right(notebook.replies[0]):
            yield f"it spoils more than its own cell: {notebook}"
    if after.remarks or shown(after).strip() != "defined":
        yield f"the next submission sees something of it: {after.remarks} {shown(after)}"
    if not is_right(after.notebooks[0].replies[0]):
        yield f"the next submission gets no points: {after.notebooks[0].replies}"


def bad_answer_job(answer: Answer) -> Job:
    """One function that misbehaves, and a file that is as it should be."""
    body = answer.body or "return []"
    function = f"{answer.before}\ndef recompute_set(target, kept):\n    {body}\n"
    cells = [Code("file", "open('made.dot', 'w').write('by hand')"), Code("answer", function)]
    steps: list[Code | Question] = [*cells, question(), Question(LAB, "1.5", "made.dot")]
    return Job(answer.name, [Notebook("01", steps)])


def unexpected(answer: Answer, result: Result) -> Iterator[str]:
    """What is wrong with how a function that misbehaves was treated."""
    bad, other = result.notebooks[0].replies
    if answer.says not in str(bad["error"]):
        yield f"another error: {bad}"
    if {remark.kind for remark in result.remarks} != answer.troubles:
        yield f"other remarks: {result.remarks}"
    is_right = other == {"answer": {"text": "by hand", "file": "made.dot"}}
    if not is_right and "inside.answers" not in answer.before:
        yield f"it spoils another task: {other}"


@pytest.mark.parametrize("group", GROUPS)
def test_an_attack_gets_nothing_and_spoils_nothing(group: str, places: dict[str, str]) -> None:
    """Each attack is followed by an honest submission in the same warm process."""
    jobs = []
    for attack in GROUPS[group]:
        jobs += [hostile_job(attack, places), honest_job(f"after: {attack.name}")]
    answers = ANSWERS if group == next(iter(GROUPS)) else []
    jobs += map(bad_answer_job, answers)
    # Those that read take their time, and none of them runs until it is stopped.
    patient = replace(LIMITS, cell_seconds=30, notebook_seconds=90)
    limits = patient if "reading" in group else LIMITS
    with warm.warm_executor(limits, require=Isolation.FULL) as executor:
        results = {result.id: result for result in executor.map(jobs)}
    found = {answer.name: list(unexpected(answer, results[answer.name])) for answer in answers}
    found |= {
        attack.name: list(failures(attack, results[attack.name], results[f"after: {attack.name}"]))
        for attack in GROUPS[group]
    }
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("level", [Isolation.NAMESPACES, Isolation.LIMITS])
def test_reading_is_stopped_without_bubblewrap(level: Isolation, places: dict[str, str]) -> None:
    jobs = [alone(attack, places) for attack in READING]
    patient = replace(LIMITS, cell_seconds=30)
    with Executor(level, limits=patient, jobs=1, preload=()) as executor:
        if executor.reached.level is not level:
            pytest.skip(str(executor.reached))
        found = {result.id: shown(result) for result in executor.map(jobs * 2)}
    assert {name: text for name, text in found.items() if "BREACH" in text} == {}


def test_reading_gets_somewhere_where_nothing_stops_it(places: dict[str, str]) -> None:
    """Or the tests above would prove nothing."""
    job = alone(READING[0], places)
    with Executor(Isolation.NONE, limits=LIMITS, jobs=1, preload=()) as executor:
        assert places["SECRET"] in shown(executor.run(job))


def alone(attack: Attack, places: dict[str, str]) -> Job:
    """The cell of an attack, and nothing after it."""
    return Job(attack.name, [Notebook("01", [hostile_cell(attack, places)])])


# ---- what one notebook leaves for the next -------------------------------------------------

ASKED = """
import os, socket
def recompute_set(target, kept):
    os.system("touch /tmp/seen my_work.py; chmod 755 my_work.py")
    for _ in range(TIMES):
        if os.fork() == 0:
            os._exit(0)
        os.wait()
        with socket.create_server(("127.0.0.1", 0)) as door:
            socket.create_connection(door.getsockname()).close()
    raise ValueError("TIMES")
open("my_work.py", "w").write("kept")
"""
LOOKS = """
import os, socket
counts = [row.split()[:3] for row in open("/proc/net/dev") if "lo:" in row]
files = {name: (os.stat(name).st_mode, os.stat(name).st_mtime) for name in os.listdir()}
folder = os.stat(".")
with socket.create_server(("127.0.0.1", 29500)):
    pass
print(os.getpid(), os.listdir(), counts, files, folder.st_mtime, os.listdir("/tmp"))
print(open("my_work.py").read(), os.stat("my_work.py").st_ino, open("/proc/net/sockstat").read())
"""


def test_a_notebook_learns_nothing_of_what_the_one_before_was_asked() -> None:
    """Whatever it does when it is asked, the next one finds what the cells left, and no more."""

    def job(times: int) -> Job:
        cells = [Code("c", ASKED.replace("TIMES", str(times)))]
        first = Notebook("01", [*cells, replace(question(), hidden=True)])
        return Job(str(times), [first, Notebook("02", [Code("look", LOOKS)])])

    with warm.warm_executor(LIMITS, require=Isolation.NAMESPACES) as executor:
        few, many = (executor.run(job(times)) for times in (0, 30))
    assert "kept" in shown(few)
    assert _seen_there(few) == _seen_there(many)


def _seen_there(result: Result) -> str:
    """What the second notebook saw, without what the kernel counts for the whole machine."""
    return re.sub(r"alloc \d+ mem \d+|\n", "", shown(result))


CHOOSES = """
import inside.answers, os
def recompute_set(target, kept):
    inside.answers.have_changed = lambda _: ["CHOSEN"]
    inside.notebook.answers.have_changed = lambda _: ["CHOSEN"]
    END
"""


@pytest.mark.parametrize("end", ["raise ValueError('CHOSEN')", "os._exit(37)", "os.kill(2, 10)"])
def test_no_remark_has_words_of_code_that_has_met_a_hidden_case(end: str) -> None:
    steps: list[Code | Question] = [
        Code("c", CHOOSES.replace("END", end)),
        replace(question(), hidden=True),
    ]
    with warm.warm_executor(LIMITS, require=Isolation.NAMESPACES) as executor:
        result = executor.run(Job("a", [Notebook("01", steps)]))
    said = {remark.text for remark in result.remarks}
    assert said <= {"its process ended"}


def test_all_that_a_submission_shows_is_bounded() -> None:
    limits = replace(LIMITS, notebook_output=250_000, submission_output=400_000)
    cells = [Code(str(n), f"print('x' * 80_000, {n})\n1 / 0") for n in range(10)]
    with warm.warm_executor(limits, require=Isolation.NAMESPACES) as executor:
        result = executor.run(Job("a", [Notebook(str(n), cells) for n in range(3)]))
    sizes = [
        sum(len(str(output)) for cell in book.cells for output in cell.outputs)
        for book in result.notebooks
    ]
    assert sizes[0] <= 250_000 + 10 * 16_000
    assert sum(sizes) <= 400_000 + 30 * 16_000
    assert {remark.kind for remark in result.remarks} == {Trouble.OUTPUT}
    every = [cell.outputs for book in result.notebooks for cell in book.cells]
    assert all("ZeroDivisionError" in str(outputs) for outputs in every)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give it a user of its own")
@pytest.mark.parametrize("level", [Isolation.FULL, Isolation.NAMESPACES])
def test_the_supervisor_is_another_user(level: Isolation) -> None:
    look = "import os\nrows = open('/proc/1/status').read().splitlines()\n"
    cell = Code("c", look + "print(os.getuid(), *(row for row in rows if row.startswith('Uid')))")
    with Executor(level, limits=LIMITS, jobs=1, preload=()) as executor:
        if executor.reached.level is not level:
            pytest.skip(str(executor.reached))
        student, _, *supervisor = shown(executor.run(Job("a", [Notebook("01", [cell])]))).split()
    assert not {"0", student} & set(supervisor[:3])  # the fourth is for files alone
