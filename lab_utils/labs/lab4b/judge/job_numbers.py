"""What is right in the models of notebook 2: seconds, traffic and memory.

No formula stands here. A case brings what is right; for seconds also what usual slips would
answer. In traffic and memory a slip shows as a factor: a degree that was forgotten, or used where
it has no place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any

from lab_utils.kit.task import Case, Finding

#: By slip.
SECONDS = {
    "": "Dimension by dimension: what a step costs, how many steps, how many bytes are left.",
    "one half": "An all-reduce goes through the dimensions twice: to add up, and to hand out.",
    "twice": "Only an all-reduce goes both ways: this collective is one half of it.",
    "whole chunks": "A step carries 1/size of the bytes, not all of them.",
    "one latency": "Every step of the ring pays the latency: size - 1 times.",
    "no latency": "The latency is missing: every step begins with it.",
    "one hop": "Through a switch a message takes two links: to the switch, and from it.",
    "two hops": "Only a switch takes two links: ring and fully connected have one.",
    "one way": "With ways = 2 a ring sends one half of a chunk each way: half the bytes a link.",
    "both ways": "A ring with ways = 1 sends in one direction only.",
    "all bytes": "After the first dimension a rank is responsible for 1/size of the bytes: only "
    "those go on to the next dimension.",
    "slowest": "Dimensions take part one after the other: their times add up.",
    "one too many": "A ring of n ranks takes n - 1 steps, not n.",
    "even halves": "Halving: 1/2 of the bytes in the first step, then 1/4, then 1/8.",
    "as a ring": "Not every dimension is a ring: look at dim.kind.",
    "shared link": "In a fully connected group each pair has a link of its own: the messages of a "
    "step travel at once.",
}
#: What travels, by axis and phase.
TRAFFIC = {
    ("tp", "forward"): "Tensor parallel ranks meet twice in forward: after attention, and after "
    "the feed-forward part, each time with all activations of their tokens.",
    ("tp", "backward"): "Backward has as many meetings of the tp ranks as forward: two.",
    ("tp", "again"): "With recomputation forward runs again, with its meetings; without it, "
    "nothing runs again.",
    ("sp", "forward"): "Sequence parallel ranks gather keys and values of the whole sequence.",
    ("sp", "again"): "With recomputation forward runs again: keys and values are gathered again.",
    ("sp", "backward"): "In backward the gradients of keys and values are scattered; without "
    "recomputation keys and values are gathered again before (nobody kept them), with it they "
    "are still there.",
    ("copies", "update"): "All ranks with the same weights (dp times sp) add up the gradients of "
    "their weights: once, in the update.",
}
MEMORY = {
    "state": "State: bytes a parameter, times the matrices of all layers and the table of words.",
    "kept": "Kept: go through the table, for the tokens of this device; then the layer in work.",
    "logits": "Logits: three buffers of FP32, a number for each token of the device and each of "
    "its words.",
}
STAGE = {
    "sent": "Sent: for each micro-batch the activations of a rank's tokens to the next stage, and "
    "their gradients to the stage before.",
    "state": "State: the matrices of the layers of this stage, and the table of words where it is "
    "used: in the first stage and in the last.",
    "kept": "Kept: what the layers of this stage keep, for every micro-batch under way.",
    "logits": "Logits: the last stage alone computes the loss.",
}
_DEGREES = {
    "tp": ("tp ranks share this: you count all of it.", "You cut this by tp once too often."),
    "sp": ("sp ranks share the tokens: you count all of them.", "You cut this by sp, and it is "
           "not cut by sp."),
    "pp": ("A stage has its share of the layers: you count all of them.", "You cut this by pp "
           "once too often."),
    "dp": ("A replica has only its share of the batch.", "You cut this by dp, and every replica "
           "has all of it."),
    "micro_batches": ("One micro-batch at a time.", "You cut this by the number of micro-batches, "
                      "and it does not depend on them."),
}  # fmt: skip


def judge_seconds(case: Case, answer: float) -> list[Finding]:
    """Task 2.4: one number."""
    right = case.wanted["right"]
    if same(answer, right):
        return []
    slip = next((name for name, value in case.wanted["slips"] if same(value, answer)), "")
    given = case.given
    dims = ", ".join(f"{dim['kind']} {dim['size']}" for dim in given["dims"]) or "no dimension"
    what = f"{given['collective']} of {given['nbytes']:,} bytes on {dims}"
    return [Finding(f"{what}: {answer * 1e6:.6g} µs", f"{right * 1e6:.6g} µs", SECONDS[slip])]


def judge_traffic(case: Case, answer: Sequence[Sequence[Any]]) -> list[Finding]:
    """Task 2.5: bytes by phase, axis and direction; an all-reduce is two collectives in one."""
    right: Mapping[str, float] = case.wanted["totals"]
    mine = by_key(answer)
    for key in sorted({*right, *mine}, key=lambda one: (one not in right, one)):
        yours, wanted = mine.get(key, 0.0), right.get(key, 0.0)
        if same(yours, wanted):
            continue
        phase, axis, half = key.split()
        look = _by_factor(yours, wanted, case.given)
        if not look and axis != "sp":
            look = _by_half(yours, wanted)
        look = look or TRAFFIC.get((axis, phase), "Here this axis has nothing to send.")
        where = f"{phase}, {axis}, {half}"
        return [Finding(f"{where}: {yours:,.0f} bytes", f"{wanted:,.0f} bytes", look)]
    return []


def by_key(answer: Sequence[Sequence[Any]]) -> dict[str, float]:
    """Bytes by phase, axis and collective; an all-reduce counts in both of its halves."""
    found: dict[str, float] = {}
    for phase, collective, axis, nbytes in answer:
        halves = ("reduce_scatter", "all_gather") if collective == "all_reduce" else (collective,)
        for half in halves:
            key = f"{phase} {axis} {half}"
            found[key] = found.get(key, 0) + nbytes
    return found


def judge_memory(case: Case, answer: Sequence[float]) -> list[Finding]:
    """Task 2.6: three numbers."""
    return _by_name(case, answer, MEMORY)


def judge_stage(case: Case, answer: Sequence[float]) -> list[Finding]:
    """Task 2.12: four numbers."""
    return _by_name(case, answer, STAGE)


def _by_name(case: Case, answer: Sequence[float], looks: Mapping[str, str]) -> list[Finding]:
    """Numbers that have names; the case knows what slips would say."""
    found = []
    for name, yours, right in zip(looks, answer, case.wanted["parts"], strict=True):
        if same(yours, right):
            continue
        slips = case.wanted["slips"].get(name, [])
        look = next((words for words, value in slips if same(value, yours)), "")
        look = look or _by_factor(yours, right, case.given) or looks[name]
        found.append(Finding(f"{name}: {yours:,.0f} bytes", f"{name}: {right:,.0f} bytes", look))
    return found


def same(one: float, other: float) -> bool:
    """Whether two numbers are equal but for rounding."""
    return isclose(one, other, rel_tol=1e-7, abs_tol=1e-15)


def _by_factor(yours: float, right: float, given: Mapping[str, Any]) -> str:
    """The degree by which it is too large or too small, if exactly one is."""
    degrees = {**given["strategy"], "micro_batches": given["job"]["micro_batches"]}
    looks = []
    for name, (more, less) in _DEGREES.items():
        degree = degrees[name]
        if degree > 1 and same(yours, right * degree):
            looks.append(more)
        elif degree > 1 and same(yours * degree, right):
            looks.append(less)
    return looks[0] if len(looks) == 1 else ""


def _by_half(yours: float, right: float) -> str:
    if right and same(2 * yours, right):
        return "Exactly half: is one of two meetings missing, or do you count one byte a number?"
    if right and same(yours, 2 * right):
        return "Twice as much: do you count a meeting twice, or a number with too many bytes?"
    return ""
