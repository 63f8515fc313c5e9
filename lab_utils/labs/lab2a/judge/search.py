"""Tasks 2.4 to 2.8: stalls, objectives, the best designs."""

from __future__ import annotations

from collections.abc import Sequence

from lab_utils.instruments.systolic.designs import Design
from lab_utils.kit.task import Case, Finding
from lab_utils.labs.lab2a.judge.array import named, same
from lab_utils.labs.lab2a.network import KB_AREA, PE_AREA

MANY = 10


def judge_stalls(case: Case, answer: float) -> list[Finding]:
    """Task 2.4: the whole array waits for the latest half."""
    wanted = case.wanted["stalls"]
    if answer == wanted:
        return []
    period = case.given["period"]
    misses = zip(case.given["cycles"], case.given["halves"], strict=True)
    late = [half * period - 1 - (cycle + 1) for cycle, half in misses]
    waits = [max(0, one) for one in late]
    look = named(
        answer,
        (
            (
                sum(waits),
                "Once the array has waited, all later demands come later too: do not add.",
            ),
            (sum(late), "Once the array has waited, all later demands come later too: do not add."),
            (
                max(late, default=0),
                "A half that is there early does not give time back: at least 0.",
            ),
            (late[-1] if late else 0, "The last miss need not be the worst one: look at all."),
            (waits[-1] if late else 0, "The last miss need not be the worst one: look at all."),
            (len(late) * period, "A half is fetched while the array works: only lateness costs."),
            (
                max(case.given["halves"], default=0) * period,
                "Halves are fetched while the array works: only lateness costs.",
            ),
            (wanted + 1, "A demand of cycle c is served in time if its half is there at c + 1."),
            (wanted - 1, "Half number k is there at the end of cycle k * period - 1."),
            (wanted + 2, "Half k is there at k * period - 1, and is needed at c + 1."),
        ),
        "How late is each half, if nothing had stalled before? The worst of them counts.",
    )
    return [Finding(f"{answer:,} cycles", f"{wanted:,} cycles", look)]


def judge_scores(case: Case, answer: Sequence[float]) -> list[Finding]:
    """Task 2.5: both objectives."""
    design, cycles = Design(*case.given["design"]), case.given["cycles"]
    efficiency = case.given["efficiency"]
    first, second = case.wanted["scores"]
    findings = []
    if not same(answer[0], first):
        look = named(
            answer[0],
            (
                (
                    80000 / cycles + 8 * efficiency / 100,
                    "The efficiency is in per cent, up to 100.",
                ),
                (80000 / cycles + efficiency, "The efficiency counts eightfold."),
                (second, "The scores are swapped: the one with the efficiency comes first."),
            ),
            "80000 / cycles, and 8 times the efficiency in per cent.",
        )
        findings.append(Finding(f"first score {answer[0]:g}", f"{first:g}", look))
    if not same(answer[1], second) and not same(answer[0], second):
        pes = PE_AREA * design.height * design.width
        srams = (design.ifmap_kb, design.filter_kb, design.ofmap_kb)
        some = [
            (
                17500 / cycles + 15000 / (pes + KB_AREA * (sum(srams) - left)),
                "All three memories take area, the one for outputs too.",
            )
            for left in srams
        ]
        look = named(
            answer[1],
            (
                *some,
                (17500 / cycles + 15000 / pes, "The memories take area, too."),
                (
                    17500 / cycles + 15000 / (KB_AREA * sum(srams)),
                    "The PEs take area, too: height times width of them.",
                ),
                (
                    17500 / cycles + 15000 / (PE_AREA + KB_AREA * sum(srams)),
                    "There are height times width PEs.",
                ),
            ),
            "17500 / cycles + 15000 / area; all PEs and all three memories take area.",
        )
        findings.append(Finding(f"second score {answer[1]:g}", f"{second:g}", look))
    return findings


def judge_best(case: Case, answer: Sequence[int]) -> list[Finding]:
    """Task 2.6: ten different scores, the highest first; any of several equal ones."""
    scores, wanted = case.given["scores"], case.wanted["best"]
    mine = [scores[place] for place in answer]
    if len(mine) == len(wanted) and all(map(same, mine, wanted)):
        return []
    told = f"scores {', '.join(f'{one:g}' for one in mine[:MANY])}"
    right = f"scores {', '.join(f'{one:g}' for one in wanted)}"
    if any(same(a, b) for place, a in enumerate(mine) for b in mine[:place]):
        look = "The same score comes twice: designs that score alike count as one."
    elif len(mine) < len(wanted):
        look = "There are more different scores than that: up to ten are wanted."
    elif len(mine) > MANY:
        look = "Ten are wanted, no more."
    elif sorted(mine, reverse=True) != mine:
        look = "The best comes first: the highest score."
    else:
        look = "Some higher scores are missing."
    return [Finding(told, right, look)]


def judge_swings(case: Case, answer: Sequence[float]) -> list[Finding]:
    """Task 2.7: the share of each term in what the score can move."""
    wanted = case.wanted["swings"]
    if all(map(same, answer, wanted)):
        return []
    first, second = case.given["first"], case.given["second"]
    spans = [max(terms) - min(terms) for terms in (first, second)]
    means = [sum(terms) / len(terms) for terms in (first, second)]
    tops = [max(terms) for terms in (first, second)]

    def is_like(numbers: Sequence[float]) -> bool:
        return all(map(same, answer, numbers))

    if is_like([one / 100 for one in wanted]):
        look = "These are fractions: per cent are wanted, and together they make 100."
    elif is_like(spans):
        look = "These are the swings themselves: their shares in per cent are wanted."
    elif is_like([100 * one / sum(means) for one in means]):
        look = "A large term that is the same everywhere decides nothing: take largest - smallest."
    elif is_like([100 * one / sum(tops) for one in tops]):
        look = "The largest value is no swing: subtract the smallest."
    elif is_like([wanted[1], wanted[0]]):
        look = "The two shares are swapped."
    else:
        look = "The swing of a term is its largest value minus its smallest, over all designs."
    told = f"{answer[0]:g} and {answer[1]:g}"
    return [Finding(told, f"{wanted[0]:g} and {wanted[1]:g}", look)]


def judge_pareto(case: Case, answer: Sequence[int]) -> list[Finding]:
    """Task 2.8: nobody is better in one thing without being worse in the other."""
    points, wanted = case.given["points"], set(case.wanted["front"])
    mine = set(answer)
    if mine == wanted and len(answer) == len(mine):
        return []
    if len(answer) > len(mine):
        look = "A place comes twice."
        return [Finding("a place twice", "each place once", look)]
    if extra := sorted(mine - wanted):
        place = extra[0]
        x, y = points[place]
        tied = any((x == a and b < y) or (y == b and a < x) for a, b in points)
        look = "Another design is better in both: fewer cycles and less area."
        if tied and not any(a < x and b < y for a, b in points):
            look = "Another design is as good in one and better in the other: that is enough."
        return [Finding(f"{x:,} cycles, {y:,} area is in it", "it is not", look)]
    place = min(wanted - mine)
    x, y = points[place]
    twin = [list(point) for point in points].count([x, y]) > 1
    look = "No design is as good in both and better in one: it belongs to the front."
    if twin:
        look = "Designs that are equal in both are no better than each other: all belong to it."
    elif min(a for a, _ in points) == x or min(b for _, b in points) == y:
        look = "The ends belong to it: the fastest design, and the smallest one."
    return [Finding(f"{x:,} cycles, {y:,} area is missing", "it is in it", look)]
