"""What is right in the tasks of Lab 1A, and what a wrong answer was probably thinking.

No formula stands here. A case brings what is right, and what each usual slip would answer; the
sentence that belongs to a slip is below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.lab1a.records import Times

#: By task and slip.
LOOK: dict[str, dict[str, str]] = {
    "1.1": {
        "": "Elements that must come from memory, and those that must go back: each once.",
        "weight by batch": "One weight serves the whole batch: it is not multiplied by B.",
        "order": "The dims of a GEMM come as B, M, N, K: the length that is summed over is last.",
        "projections": "Three projections, so three weights of K times N.",
        "kept inside": "Queries, keys, values and scores stay on the chip: only the result leaves.",
        "affine": "Neither SoftMax nor this LayerNorm has a weight: nothing is learned in them.",
        "no batch": "Every item of the batch is read and written: the batch is missing.",
        "bytes": "These are bytes: count elements here, whatever their type.",
    },
    "1.2": {
        "": "Count one output: its multiplications, and the additions between them.",
        "2K": "You count 2K for each output: K products have only K - 1 additions between them.",
        "products": "You count the multiplications alone: the additions are operations too.",
        "order": "The arguments are B, M, N, K: the length that is summed over comes last.",
        "no batch": "The product runs once for every item of the batch: the batch is missing.",
    },
    "1.3": {
        "": "For one vector: its exponentials, the additions of their sum, the divisions.",
        "twice": "You count the exponentials twice: they are kept after the sum, and divided.",
        "from zero": "You count L additions for the sum: L numbers have L - 1 between them.",
        "no sum": "You count no additions: the sum of the exponentials takes some.",
        "safe": "You subtract something first: this is the plain SoftMax, without a maximum.",
        "one division": "You count one division a vector: the definition divides every element.",
        "no batch": "There are B vectors, and each has its own sum: the batch is missing.",
        "weight": "Exponentials and divisions weigh w each: yours weigh something else.",
        "all w": "Additions weigh 1, not w: only exponentials and divisions weigh w.",
    },
    "1.4": {
        "": "For one vector: mean, differences, squares, their sum, variance, root, quotients.",
        "centred twice": "You count x minus the mean more than once: the differences are kept.",
        "one more": "You count Y additions for the sum of the squares: Y - 1 stand between Y.",
        "from zero": "You count Y additions for each sum: Y numbers have Y - 1 between them.",
        "no squares": "You forget to add up the squares: the variance is their sum, divided.",
        "no root": "The standard deviation is a square root: one for each vector, of weight w.",
        "root each": "You count a root for each element: one for each vector is enough.",
        "2Y": "You count 2 Y too many a vector: the differences are computed once and kept, and "
        "this LayerNorm has no scale and shift.",
        "no batch": "There are B times X vectors, each with a mean of its own.",
        "weight": "Divisions and square roots weigh w each: yours weigh something else.",
        "all w": "Additions, subtractions and multiplications weigh 1, not w.",
    },
    "1.5": {
        "": "Step by step: three projections, scores, one root, divisions, SoftMax, mixing.",
        "no division": "You forget to divide the scores by the root: one division a score, w each.",
        "no root": "You forget the square root itself: it is computed once, and weighs w.",
        "root each": "You count a root for every score: the constant has one, computed once.",
        "soft once": "You count SoftMax for one item: each item of the batch has its own scores.",
        "soft row": "You count SoftMax of one vector: every one of the M rows has its own.",
        "no soft": "You forget the SoftMax between scores and mixing.",
        "projections": "You count one projection: queries, keys and values have one each.",
        "2K": "You count as many additions as products: K products have K - 1 between them.",
        "twice": "You count the exponentials of SoftMax twice: they are kept after the sum.",
        "order": "The arguments are B, M, N, K: the input has K numbers a token, the output N.",
        "no batch": "Everything but the root of the constant runs once for each item of the batch.",
    },
    "2.1": {
        "": "Work divided by what is done in a second, once for arithmetic, once for memory.",
        "multiplied": "An efficiency below 1 makes the machine slower: it belongs to the divisor.",
        "no efficiency": "The machine does not reach its best: use compute_eff and memory_eff.",
        "swapped": "The two efficiencies are exchanged.",
        "sum": "You add the two times: both go on at once, and the longer one decides.",
        "shorter": "You take the shorter time: the work is done when both parts are done.",
        "elements": "These are elements: each takes as many bytes as item_bytes(dtype) says.",
        "four bytes": "You take 4 bytes for every element: how many it is depends on the dtype.",
        "half rate": "You halve the rate: multiplications and additions are both counted already.",
        "other rate": "You take the rate of another dtype: ask machine.rate(dtype).",
        "binary": "You take a GB as 2 to the 30th: machine.bandwidth is in plain bytes a second.",
        "per element": "Intensity is operations for each byte, not for each element.",
        "upside down": "Intensity is operations for each byte: yours is the other way round.",
        "ridge": "Intensity belongs to the operator alone: the machine has no say in it.",
        "bound": "It is bound by what takes longer: 'compute' or 'memory', in these words.",
    },
    "2.2": {
        "": "Follow the arrows: what leaves an operator is what enters the next.",
        "second K": "The second GEMM sums over d_ff: what the first one wrote is what it reads.",
        "input K": "A length that is summed over is the width of the operator before, not d_in.",
        "order": "The dims of GEMM and attention are [B, M, N, K]: N is made, K is summed over.",
        "softmax": "SoftMax takes [B, L]: batch and tokens together are the number of vectors.",
        "first norm": "The first LayerNorm stands before attention: it sees vectors of d_in.",
        "last norm": "The last LayerNorm stands behind the GEMMs: it sees vectors of d_model.",
        "batch": "The batch goes through every operator.",
        "count": "Six operators: LayerNorm, attention, two GEMMs, LayerNorm, SoftMax.",
    },
    "2.3": {
        "": "A product of [M, K] and [K, N] is 2 M N K; write down M, N and K of this one.",
        "macs": "You count a multiplication and its addition as one: FLOPs count them as two.",
        "2K-1": "Here the counting of hardware holds: 2 M N K, with an addition for each product.",
        "all heads": "Keys and values are made for kv_heads only: several query heads share one.",
        "kv scores": "Every query head has scores of its own: it is heads here, not kv_heads.",
        "no past": "New tokens look at the cache too: past + new keys and values, not new alone.",
        "no cache": "You project the past again: its keys and values lie in the cache already.",
        "no batch": "Every sequence of the batch has its own tokens: the batch is missing.",
        "causal": "You count half: the product computes all scores, and the mask throws some away.",
        "width": "The heads together are heads times head wide: that need not be the width.",
        "swapped": "You count scores with the past alone: new tokens see themselves too.",
    },
    "2.4": {
        "": "What the product reads, weight or cache included, and what it writes; each once.",
        "weight by batch": "One weight serves all tokens of all sequences: it is read once.",
        "no output": "What is written counts as well as what is read.",
        "no weight": "The second factor is read too: a weight, or keys and values of the cache.",
        "no input": "The first factor is read too.",
        "all heads": "The cache holds kv_heads only: query heads that share one read it once.",
        "cache once": "Each sequence has a cache of its own: unlike a weight, it is never shared.",
        "no past": "The cache holds past + new tokens, and all of them are read.",
        "bytes": "These are bytes: count elements here, whatever their type.",
    },
    "2.5": {
        "": "Weights: all matrices and norms of all layers. Cache: keys and values of all tokens.",
        "elements": "These are elements: each takes as many bytes as item_bytes(dtype) says.",
        "four bytes": "You take 4 bytes for every element: how many it is depends on the dtype.",
        "no head": "There are two tables of vocab times width: at the entrance and at the exit.",
        "no vocab": "The tables of words are missing: vocab times width, at both ends.",
        "no norms": "The norms have a weight too: two a layer, and one at the end, each of width.",
        "two matrices": "A gated feed-forward part has three matrices.",
        "one layer": "Every layer has weights and a cache of its own: the layers are missing.",
        "keys alone": "Keys and values are both in the cache: twice as much.",
        "all heads": "Keys and values have kv_heads heads: several query heads share one.",
        "no batch": "Each sequence of the batch has a cache of its own.",
        "shared batch": "The weights do not grow with the batch: all sequences share them.",
    },
    "2.6": {
        "": "Write operations and bytes as functions of b, set their quotient to the ridge, solve.",
        "weights alone": "You count the bytes of the weight alone: inputs and outputs travel too.",
        "down": "You round down: at this batch memory still takes longer. The first one above.",
        "one more": "One batch earlier is enough.",
        "macs": "A product of [b, K] and [K, N] is 2 b K N operations.",
        "elements": "The ridge is in operations for each byte: an element takes several bytes.",
        "four bytes": "You take 4 bytes for every element: how many it is depends on the dtype.",
        "never": "It does cross: inputs and outputs stay small enough beside the weight.",
        "always": "It never crosses: inputs and outputs grow with the batch as fast as operations.",
    },
}


def _slip(case: Case, answer: Any, part: Any = None) -> str:
    """The slip that gives ``answer``; empty if none is known."""
    for name, value in case.wanted.get("slips", []):
        told = value if part is None else value.get(part) if isinstance(value, dict) else None
        if told is not None and _same(told, answer):
            return str(name)
    return ""


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        whole = isinstance(one, int) and isinstance(other, int)
        return one == other if whole else isclose(one, other, rel_tol=1e-9, abs_tol=1e-30)
    return bool(one == other)


def _look(case: Case, task: str, answer: Any, part: Any = None) -> str:
    return LOOK[task][_slip(case, answer, part)]


def judge_elements(case: Case, answer: Sequence[float]) -> list[Finding]:
    """Task 1.1: three numbers of elements."""
    wanted = case.wanted["elements"]
    if _same(wanted, answer):
        return []
    look = _look(case, "1.1", answer)
    if look == LOOK["1.1"][""]:  # one of the three may be a slip by itself
        names = ("input", "weight", "output")
        wrong = [n for n, a, b in zip(names, answer, wanted, strict=True) if not _same(a, b)]
        parts = [_look(case, "1.1", answer[names.index(name)], name) for name in wrong]
        look = next((one for one in parts if one != look), look)
    return [Finding(_three(answer), _three(wanted), look)]


def _three(values: Sequence[float]) -> str:
    names = ("input", "weight", "output")
    return ", ".join(f"{n} {v:,}" for n, v in zip(names, values, strict=True))


def _operations(task: str) -> Any:
    def judge(case: Case, answer: float) -> list[Finding]:
        wanted = case.wanted["operations"]
        if _same(wanted, answer):
            return []
        look = _look(case, task, answer)
        return [Finding(f"{answer:,} operations", f"{wanted:,} operations", look)]

    return judge


def judge_times(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 2.1: four numbers and a word; what only follows from another slip is not told twice."""
    wanted, found = case.wanted["times"], []
    for name in Times._fields:
        mine, right = answer[name], wanted[name]
        if _same(mine, right):
            continue
        if name == "bound":
            words = (f"bound: {str(mine)[:40]!r}", f"bound: {right!r}", LOOK["2.1"]["bound"])
        else:
            unit = "operations for each byte" if name == "intensity" else "s"
            words = (f"{name} {mine:.6g} {unit}", f"{name} {right:.6g} {unit}", "")
            words = (*words[:2], _look(case, "2.1", mine, name))
        found.append(Finding(*words))
    compute, memory = answer["compute"], answer["memory"]
    follows = {
        "execution": _same(answer["execution"], max(compute, memory)),
        "bound": answer["bound"] == ("compute" if compute > memory else "memory"),
    }
    causes = [one for one in found if not follows.get(one.yours.partition(" ")[0].strip(":"))]
    return causes or found


def judge_network(case: Case, answer: Sequence[Any]) -> list[Finding]:
    """Task 2.2: the operators, in their order."""
    wanted = case.wanted["network"]
    if len(answer) != len(wanted):
        yours, right = (f"{len(one)} operators" for one in (answer, wanted))
        return [Finding(yours, right, LOOK["2.2"]["count"])]
    found = []
    for place, (mine, right) in enumerate(zip(answer, wanted, strict=True)):
        if not _same(mine, right):
            yours, theirs = (f"operator {place + 1}: {_operator(one)}" for one in (mine, right))
            found.append(Finding(yours, theirs, _look(case, "2.2", mine, str(place))))
    return found


def _operator(pair: Sequence[Any]) -> str:
    return f"{str(pair[0])[:40]} {pair[1]}"


def _layer(task: str, unit: str) -> Any:
    def judge(case: Case, answer: Mapping[str, float]) -> list[Finding]:
        wanted = case.wanted["layer"]
        by_look: dict[str, list[str]] = {}
        for name, right in wanted.items():
            if not _same(answer[name], right):
                by_look.setdefault(_look(case, task, answer[name], name), []).append(name)
        found = []
        for look, names in by_look.items():
            first, *more = names
            also = f" (and {', '.join(more)})" if more else ""
            yours = f"{first}: {answer[first]:,} {unit}{also}"
            found.append(Finding(yours, f"{first}: {wanted[first]:,} {unit}", look))
        return found

    return judge


def judge_memory(case: Case, answer: Sequence[float]) -> list[Finding]:
    """Task 2.5: bytes of weights and of the cache."""
    found = []
    for name, mine, right in zip(("weights", "cache"), answer, case.wanted["memory"], strict=True):
        if not _same(mine, right):
            words = (f"{name}: {mine:,} bytes", f"{name}: {right:,} bytes")
            found.append(Finding(*words, _look(case, "2.5", mine, name)))
    return found


def judge_ridge(case: Case, answer: float | None) -> list[Finding]:
    """Task 2.6: the first batch that crosses, or none."""
    wanted = case.wanted["batch"]
    if _same(wanted, answer):
        return []
    yours, right = ("never" if n is None else f"batch {n:,}" for n in (answer, wanted))
    if answer is None:
        return [Finding(yours, right, LOOK["2.6"]["never"])]
    if wanted is None:
        return [Finding(yours, right, LOOK["2.6"]["always"])]
    return [Finding(yours, right, _look(case, "2.6", answer))]


JUDGE = {
    "1.1": judge_elements,
    "1.2": _operations("1.2"),
    "1.3": _operations("1.3"),
    "1.4": _operations("1.4"),
    "1.5": _operations("1.5"),
    "2.1": judge_times,
    "2.2": judge_network,
    "2.3": _layer("2.3", "FLOPs"),
    "2.4": _layer("2.4", "elements"),
    "2.5": judge_memory,
    "2.6": judge_ridge,
}
