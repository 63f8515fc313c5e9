"""Tasks 1.1 to 1.3: what is moved, how long it takes, which fusions are worth it.

What is right stands in the case; nothing here could compute it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab_utils.kit.task import Case, Finding
from lab_utils.kit.words import listed

NEAR = 1e-6  # numbers that differ by less than this part are the same


def same(mine: float, wanted: float) -> bool:
    """Whether two numbers differ by no more than rounding."""
    return abs(mine - wanted) <= NEAR * max(abs(wanted), 1e-30)


def judge_traffic(case: Case, answer: Mapping[str, Sequence[float]]) -> list[Finding]:
    """Task 1.1: bytes that each operator reads and writes."""
    wanted = case.wanted["moved"]
    if missing := [name for name in wanted if name not in answer]:
        look = "One entry for each operator, also for those that no group names."
        return [Finding(f"no entry for {listed(missing)}", "an entry for each operator", look)]
    if extra := [name for name in answer if name not in wanted]:
        look = "The keys are the names of operators, and nothing else."
        return [Finding(f"an entry for {listed(extra)}", "an entry for each operator", look)]
    findings = []
    for name, _reads, _makes, _flops in case.given["ops"]:
        (mine, out), (right, right_out) = answer[name], wanted[name]
        if mine != right:
            look = _read_wrong(case.given, name, mine, right)
            findings.append(
                Finding(f"{name} reads {mine:,} bytes", f"it reads {right:,} bytes", look)
            )
        if out != right_out:
            look = _write_wrong(case.given, name, out, right_out)
            findings.append(
                Finding(f"{name} writes {out:,} bytes", f"it writes {right_out:,} bytes", look)
            )
    return findings


def _read_wrong(given: Mapping[str, Any], name: str, mine: float, right: int) -> str:
    nbytes, ops = given["nbytes"], {op[0]: op for op in given["ops"]}
    maker = {op[2]: op[0] for op in given["ops"]}
    reads = ops[name][1]
    all_of_it = sum(nbytes[v] for v in reads)
    if mine > right and mine == all_of_it and len(set(reads)) < len(reads):
        return "An operator that uses a value twice fetches it once."
    group = next((group for group in given["groups"] if name in group), [name])
    if mine > right:
        if any(maker.get(v) in group for v in reads):
            return (
                "What another operator of the same group makes is still on chip: it is not read "
                "from memory, however many steps lie between them."
            )
        return "It reads each value that it names, and nothing more."
    outside = [v for v in reads if v not in maker]
    if outside and mine <= right - min(nbytes[v] for v in outside):
        return (
            "Weights and inputs come from memory, fused or not: nobody in the group makes them. "
            "Each operator that needs one fetches it."
        )
    return "A value that an operator of another group makes has to be read from memory."


def _write_wrong(given: Mapping[str, Any], name: str, mine: float, right: int) -> str:
    made = next(op[2] for op in given["ops"] if op[0] == name)
    readers = [op[0] for op in given["ops"] if made in op[1]]
    if mine and not right:
        return (
            "All who read this value are in the same group, and have it on chip: it is not "
            "written. Fusing saves the producer's write as well as the consumer's read."
        )
    if not mine and not readers:
        return "Nobody reads this value: it is a result of the model, and has to be written."
    if not mine:
        return "Somebody outside the group reads this value too, so it has to be written."
    return "It writes the one value that it makes, once."


def judge_time(case: Case, answer: float) -> list[Finding]:
    """Task 1.2: the time of the model."""
    wanted = case.wanted["seconds"]
    if same(answer, wanted):
        return []
    return [Finding(f"{answer:.6g} s", f"{wanted:.6g} s", _time_wrong(case.given, answer))]


def _time_wrong(given: Mapping[str, Any], mine: float) -> str:
    pairs = [
        (op[3] / given["rate"], given["moved"][op[0]], given["bandwidth"]) for op in given["ops"]
    ]
    compute = [one for one, _, _ in pairs]
    memory = [(read + written) / width for _, (read, written), width in pairs]
    both = list(zip(compute, memory, strict=True))
    reads = [max(one, moved[0] / width) for one, moved, width in pairs]
    if same(mine, sum(compute) + sum(memory)):
        return (
            "You add compute and memory time: a machine computes while it fetches, so an "
            "operator takes as long as the slower of the two."
        )
    if same(mine, max(sum(compute), sum(memory))) or same(mine, max(map(max, both))):
        return (
            "One operator runs after the other: take the slower of compute and memory for each "
            "operator, then add."
        )
    if same(mine, sum(reads)):
        return "Bytes that are written cross the same wires as bytes that are read."
    if same(mine, sum(map(min, both))):
        return "The slower of the two decides, not the faster."
    if same(mine, sum(compute)) or same(mine, sum(memory)):
        return "This is one of the two alone: some operators wait for memory, some compute."
    if any(same(mine, k * sum(map(max, both))) for k in (1e3, 1e6, 1e-3, 1e-6)):
        return "In seconds, not in thousandths or millionths of them."
    return "For each operator, the larger of flops / rate and bytes / bandwidth; then the sum."


def judge_fusions(case: Case, answer: Sequence[Sequence[str]]) -> list[Finding]:
    """Task 1.3: as fast as any choice, with as few arrows as possible."""
    arrows = [tuple(arrow) for arrow in case.given["arrows"]]
    fastest, fewest = case.wanted["time"], case.wanted["count"]
    told = f"{fewest} fusions, {fastest:,} µs"
    chosen = [tuple(pair) for pair in answer]
    if odd := [pair for pair in chosen if pair not in arrows]:
        backwards = any(pair[::-1] in arrows for pair in odd)
        look = "An arrow goes from who makes a value to who reads it: yours is turned round."
        if not backwards:
            look = "Only operators that an arrow joins can be fused: these two are no neighbours."
        return [Finding(f"{' -> '.join(odd[0])} is fused", told, look)]
    if len(set(chosen)) < len(chosen):
        return [Finding("an arrow comes twice", told, "Fusing it once is enough.")]
    mask = sum(1 << arrows.index(pair) for pair in chosen)
    time = case.given["times"][mask]
    mine = f"{len(chosen)} fusions, {time:,} µs"
    if not same(time, fastest):
        look = "Some other choice is faster: try every set of arrows, not one arrow at a time."
        if not chosen:
            look = "Nothing is fused: the model is as slow as before."
        elif len(chosen) == 1 and fewest > 1:
            look = "One fusion is not enough here: several together may gain more than the best."
        return [Finding(mine, told, look)]
    if len(chosen) > fewest:
        look = (
            "As fast as can be, but with more fusions than it takes: between operators that wait "
            "for arithmetic, fewer bytes gain nothing."
        )
        return [Finding(mine, told, look)]
    return []
