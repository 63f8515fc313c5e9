"""Attacks on the executor: nothing is learnt, nobody else is affected, and it is said."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest

from autograder.grading.sandbox import (
    Cell,
    Executor,
    Isolation,
    Job,
    Limits,
    Notebook,
    Question,
    Result,
)
from lab_utils.kit.root import ROOT
from lab_utils.labs.lab4a import public_cases
from tests.grading import warm
from tests.grading.attacks.catalogue import ANSWERS, GROUPS, READING, Answer, Attack

pytestmark = [pytest.mark.needs_bwrap, pytest.mark.slow]

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
    return Job(name, [Notebook("01", [Cell("honest", HONEST), question()])])


def hostile_cell(attack: Attack, places: dict[str, str]) -> Cell:
    text = attack.cell
    for name, place in places.items():
        text = text.replace(name, place)
    return Cell("attack", text)


def hostile_job(attack: Attack, places: dict[str, str]) -> Job:
    """The attack, then honest work in the same notebook and in the next one."""
    cells = [hostile_cell(attack, places), Cell("honest", HONEST)]
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
    ):
        name = f"grader-{os.getpid()}"
        other.bind(f"\0{name}")
        other.listen()
        port = door.getsockname()[1]
        datagrams.bind(("127.0.0.1", port))
        grader = {"PORT": str(port), "SOCKET": name, "GRADER": str(os.getpid())}
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
    wanted = attack.troubles | attack.perhaps if attack.perhaps & found else attack.troubles
    if not (found <= wanted if attack.perhaps & found else found == wanted):
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
    cells = [Cell("file", "open('made.dot', 'w').write('by hand')"), Cell("answer", function)]
    steps: list[Cell | Question] = [*cells, question(), Question(LAB, "1.5", "made.dot")]
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
