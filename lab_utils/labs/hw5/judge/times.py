"""What is right in notebook 1, times."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lab_utils.kit.parts import judged_in_parts
from lab_utils.kit.task import Case, Finding, Judge

Cells = dict[tuple[int, int], float]
_LEFT_OUT = "Some cells are missing: there is one for each cell that can be compared."
_TOO_MANY = "There are cells that have nothing to be compared with: leave them out."


def same(a: float, b: float) -> bool:
    """Whether two numbers agree, up to rounding."""
    return math.isclose(a, b, rel_tol=1e-11, abs_tol=1e-12)


def judge_timed(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 1.1: every step, from its launch until the device has done it."""
    device, right, got = case.given["device"], case.wanted["seconds"], answer["seconds"]
    if same(got, right):
        return []
    steps = len(device["images"])
    told = (f"{got:.6g} s", f"{right:.6g} s")
    if same(got, steps * device["launch"]):
        look = (
            "This is the time of the launches alone: nothing waited for the device. Call sync "
            "before you read the clock."
        )
    elif device["first"] and answer["epochs"] < 2:
        look = (
            "The first step takes longer than all others, and yours is timed with the rest: run "
            "one epoch that does not count, then time another one."
        )
    elif got > 1.5 * right and same(got, 2 * right + device["first"]):
        look = "Both epochs are in this sum. The first one is the warm-up: start again from 0."
    elif same(got, right / steps):
        look = "This is the time of one step: an epoch is all of them together."
    elif got < right:
        look = (
            "Some work of the device is not waited for: call sync after each step, before you "
            "read the clock."
        )
    elif same(got, right + steps * device["copy"]):
        look = (
            "The copies that the loader launched are counted with the step: call sync before the "
            "first reading too."
        )
    else:
        look = "Loading is in this sum: read the clock when a batch is there, and after its step."
    return [Finding(*told, look)]


_LAWS: tuple[tuple[Callable[[float, float], bool], str], ...] = (
    (
        lambda rate, saving: rate / 2 > saving,
        "A MAC is two operations, a multiplication and an addition; yours counts one.",
    ),
    (
        lambda rate, saving: rate / 3 > saving,
        "Training is forward and backward, and backward takes twice the operations of forward.",
    ),
    (
        lambda rate, saving: rate / 6 > saving,
        "Forward, backward (twice as much), and two operations for each MAC: that makes six.",
    ),
    (
        lambda rate, saving: rate > 1,
        "Clever algorithms save operations: a row is impossible only if it is too fast even then.",
    ),
    (
        lambda rate, saving: rate * saving > 1,
        "Saving makes the work smaller: divide the operations by it.",
    ),
    (
        lambda rate, saving: rate <= saving,
        "These are the rows that are possible: return the others.",
    ),
)


def judge_impossible(case: Case, answer: Sequence[int]) -> list[Finding]:
    """Task 1.2: the rows that would need more than the peak."""
    wanted = sorted(case.wanted["batches"])
    if sorted(answer) == wanted:
        return []
    rows = case.wanted["rates"]
    missing = [batch for batch, rate in rows if rate is None]
    look = "Operations of an epoch, divided by saving and by its seconds, against the peak."
    if set(missing) & set(answer):
        look = "A row without a time says nothing: it is not impossible."
    else:
        for law, words in _LAWS:
            if sorted(b for b, r in rows if r and law(r, case.given["saving"])) == list(answer):
                look = words
                break
    return [Finding(str(list(answer)), str(wanted), look)]


def judge_speedups(case: Case, answer: Sequence[Sequence[float]]) -> list[Finding]:
    """Task 1.4: how many times as fast as one GPU with the same batch."""
    times = cells_of(case.given["times"])

    def look(cell: tuple[int, int], got: float, right: float) -> str:
        gpus, batch = cell
        if same(got, 1 / right):
            return "This is the inverse: a speed-up is above 1 if more GPUs take less time."
        if same(got, right / gpus):
            return (
                "This is divided by the number of GPUs, which is called efficiency. The speed-up "
                "is not."
            )
        if (1, gpus * batch) in times and same(got, times[1, gpus * batch] / times[cell]):
            return (
                "You compare with one GPU that has the whole batch. Here each GPU keeps its "
                "batch, so one GPU has the same batch too."
            )
        first = min(times)
        if same(got, times[first] / times[cell]):
            return "All cells are compared with one and the same: each batch size has its own."
        return "One GPU's time divided by that of several, at the same batch of each GPU."

    return judged_cells(cells_of(answer), cells_of(case.wanted["cells"]), look)


def judged_cells(
    got: Cells, right: Cells, look: Callable[[tuple[int, int], float, float], str]
) -> list[Finding]:
    """A number for each cell, all of them and no others."""
    if lacking := sorted(right.keys() - got.keys()):
        return [Finding(f"no cell {lacking[0]}", f"{len(right)} cells", _LEFT_OUT)]
    if more := sorted(got.keys() - right.keys()):
        return [Finding(f"a cell {more[0]}", f"{len(right)} cells", _TOO_MANY)]
    for cell, value in sorted(right.items()):
        if not same(got[cell], value):
            told = f"{cell}: {got[cell]:.6g}", f"{cell}: {value:.6g}"
            return [Finding(*told, look(cell, got[cell], value))]
    return []


def judge_strong(case: Case, answer: Sequence[Sequence[float]]) -> list[Finding]:
    """Task 1.5: one GPU and several with the same batch in total."""
    right = {tuple(map(int, row[:4])): row[4] for row in case.wanted["points"]}
    got = {tuple(map(int, row[:4])): row[4] for row in answer}
    for pair in sorted(got.keys() - right.keys()):
        gpus, batch, others, each = pair
        told = f"({gpus}, {batch}) with ({others}, {each})"
        if batch == each and gpus != others:
            look = "The batch of each GPU is the same here: that is weak scaling."
        elif gpus != 1:
            look = "Strong scaling compares with one GPU: the first cell of a pair is (1, batch)."
        elif others == 1:
            look = "A cell is compared with itself: the second one has several GPUs."
        else:
            look = "The batches in total differ: gpus times batch must be the same on both sides."
        return [Finding(told, f"{len(right)} pairs", look)]
    if lacking := sorted(right.keys() - got.keys()):
        one, whole, gpus, each = lacking[0]
        look = "A pair is missing: compare every cell of one GPU with every other cell."
        told = f"({one}, {whole}) with ({gpus}, {each})"
        return [Finding(f"{len(got)} pairs", f"{told} as well", look)]
    for pair, value in sorted(right.items()):
        if not same(got[pair], value):
            look = "The speed-up is one GPU's time divided by that of several."
            return [Finding(f"{got[pair]:.6g}", f"{value:.6g}", look)]
    return []


def judge_split(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 1.7: the work shared by all, and what is left of the total."""
    refused = case.wanted.get("refused")
    if "refused" in answer:
        if not refused:
            look = (
                "This table is possible. One epoch is shared by all GPUs, so each computes one "
                "GPU's time divided by their number: is yours that?"
            )
            return [Finding("a ValueError", "a table", look)]
        named = {int(text) for text in re.findall(r"\d+", answer["refused"])}
        if any(set(cell) <= named for cell in refused):
            return []
        look = "The message of the ValueError names the cell: its number of GPUs and its batch."
        return [Finding("a ValueError without a cell", f"the cell {tuple(refused[0])}", look)]
    rows = answer["cells"]
    if refused:
        below = [row for row in rows if row[3] < 0]
        look = "Communication cannot take less than no time: raise ValueError, and name the cell."
        if not below and any(row[3] == 0 for row in rows):
            look = (
                "A time below 0 was made 0. That hides an impossible table: raise ValueError, and "
                "name the cell."
            )
        return [Finding("a table", f"a ValueError about the cell {tuple(refused[0])}", look)]
    right = {(int(r[0]), int(r[1])): (r[2], r[3]) for r in case.wanted["cells"]}
    got = {(int(r[0]), int(r[1])): (r[2], r[3]) for r in rows}
    found = judged_cells(
        {cell: pair[0] for cell, pair in got.items()},
        {cell: pair[0] for cell, pair in right.items()},
        lambda cell, mine, value: _compute_look(case, cell, mine, value),
    )
    return found or judged_cells(
        {cell: pair[1] for cell, pair in got.items()},
        {cell: pair[1] for cell, pair in right.items()},
        lambda *_: "Communication is what is left of the total when compute is taken away.",
    )


def _compute_look(case: Case, cell: tuple[int, int], got: float, right: float) -> str:
    gpus, batch = cell
    times = cells_of(case.given["times"])
    if same(got, right * gpus):
        return "One epoch is shared by all GPUs, so each computes one GPU's time divided by theirs."
    if same(got, times[cell]):
        return "This is the total of the cell: compute and communication together are the total."
    if same(got, times.get((1, batch), -1.0) / gpus):
        return "This has loading in it: compute is the time without loading, shared by all GPUs."
    return "Compute is the time of one GPU without loading, divided by the number of GPUs."


def judge_bandwidth(case: Case, answer: Sequence[Sequence[float]]) -> list[Finding]:
    """Task 1.8: bytes that a ring sends in an epoch, by the seconds of communication."""
    images = case.given["images"]

    def look(cell: tuple[int, int], got: float, right: float) -> str:
        gpus, batch = cell
        steps = math.ceil(images / (gpus * batch))
        ratio = got / right
        known = (
            (
                1 / steps,
                "Bytes of one step over seconds of one epoch: multiply by the number of steps.",
            ),
            (
                1e9 / 2**30,
                "This is GiB/s, of 2**30 bytes. GB in this table are 10**9 bytes.",
            ),
            (1e9, "These are bytes a second: GB are 10**9 of them."),
            (
                math.ceil(images / batch) / steps,
                "A step takes a batch on every GPU: an epoch has images / (gpus * batch) steps.",
            ),
            (
                gpus,
                "2 (N - 1) times all bytes: in a ring each message is one of N chunks.",
            ),
            (
                gpus / 2,
                "N - 1 times all bytes: that is what everybody sends who sends all to everybody.",
            ),
            (0.5, "A ring goes around twice: once to add up, once to hand on."),
            (
                (images // (gpus * batch)) / steps,
                "The last step of an epoch has fewer images, and sends as many bytes: round up.",
            ),
            (
                images / (gpus * batch) / steps,
                "There are no parts of a step: round their number up.",
            ),
            (
                gpus / (gpus - 1),
                "2 S bytes are sent only by infinitely many GPUs: of N chunks one never leaves.",
            ),
            (1 / right**2, "This is the inverse: bytes by seconds."),
        )
        for factor, words in known:
            if not same(factor, 1.0) and math.isclose(ratio, factor, rel_tol=1e-7):
                return words
        return "Each GPU sends 2 (N - 1) / N of the gradients' bytes in each step of the epoch."

    return judged_cells(cells_of(answer), cells_of(case.wanted["cells"]), look)


def cells_of(rows: Sequence[Sequence[float]]) -> Cells:
    """A table by (gpus, batch), from rows of plain data."""
    return {(int(gpus), int(batch)): value for gpus, batch, value in rows}


JUDGE: dict[str, Judge] = {
    "1.1": judged_in_parts(judge_timed),
    "1.2": judged_in_parts(judge_impossible),
    "1.4": judged_in_parts(judge_speedups),
    "1.5": judged_in_parts(judge_strong),
    "1.7": judged_in_parts(judge_split),
    "1.8": judged_in_parts(judge_bandwidth),
}
