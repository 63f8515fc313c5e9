"""Tasks 3.1 to 3.3: a learned model, by numbers alone."""

from __future__ import annotations

from collections.abc import Sequence

from lab_utils.instruments.systolic.designs import Design
from lab_utils.kit.task import Case, Finding
from lab_utils.labs.lab2a.judge.array import named, same

LEAST, MOST = 0.15, 0.35
"""Share of the designs that a test may have."""


def judge_error(case: Case, answer: float) -> list[Finding]:
    """Task 3.1: the mean relative error in per cent."""
    wanted = case.wanted["percent"]
    if same(answer, wanted):
        return []
    predicted, cycles = case.given["predicted"], case.given["cycles"]
    pairs = list(zip(predicted, cycles, strict=True))
    many = len(pairs)
    look = named(
        answer,
        (
            (wanted / 100, "This is a fraction: per cent are wanted."),
            (
                100 * sum((p - c) / c for p, c in pairs) / many,
                "Too much and too little must not cancel: take the distance, without its sign.",
            ),
            (
                abs(100 * sum((p - c) / c for p, c in pairs) / many),
                "Too much and too little must not cancel: take each distance without its sign.",
            ),
            (
                100 * sum(abs(p - c) / p for p, c in pairs) / many,
                "Relative to what is right: divide by the true cycles, not by the prediction.",
            ),
            (
                100 * sum(abs(p - c) for p, c in pairs) / sum(cycles),
                "Divide each distance by its own cycles: else the slow designs decide alone.",
            ),
            (
                sum(abs(p - c) for p, c in pairs) / many,
                "These are cycles: large designs would decide alone. Divide each by its cycles.",
            ),
            (
                sum((p - c) ** 2 for p, c in pairs) / many,
                "Squared cycles let the slowest designs decide alone: take relative distances.",
            ),
            (
                100 * sum(((p - c) / c) ** 2 for p, c in pairs) / many,
                "Distances are wanted, not their squares.",
            ),
        ),
        "The mean of |predicted - cycles| / cycles, in per cent.",
    )
    return [Finding(f"{answer:g} per cent", f"{wanted:g} per cent", look)]


def judge_split(case: Case, answer: Sequence[Sequence[int]]) -> list[Finding]:
    """Task 3.2: everything once, a quarter for the test, no twins on both sides."""
    designs = [Design(*one) for one in case.given["designs"]]
    learn, test = answer
    wanted = f"{len(designs)} designs, each on one side"
    if len(set(learn)) < len(learn) or len(set(test)) < len(test):
        look = "A place comes twice on one side."
        return [Finding("a design twice", wanted, look)]
    if both := set(learn) & set(test):
        look = "A design from which a model learns cannot test it: it knows the answer."
        return [Finding(f"{len(both)} designs on both sides", wanted, look)]
    if len(learn) + len(test) < len(designs):
        look = "Every design is on one of the two sides."
        return [Finding(f"{len(learn)} and {len(test)} designs", wanted, look)]
    known = {_cause(designs[place]) for place in learn}
    if twins := [place for place in test if _cause(designs[place]) in known]:
        look = (
            "Designs that differ only in the memory for outputs take the same cycles: with one "
            "of them to learn from, the other tests nothing but memory."
        )
        return [Finding(f"{len(twins)} designs have a twin to learn from", "none has", look)]
    if not LEAST <= len(test) / len(designs) <= MOST:
        look = "About a quarter of the designs is for the test: too few tell nothing."
        return [Finding(f"{len(test)} of {len(designs)} for the test", "about a quarter", look)]
    return []


def _cause(design: Design) -> tuple[object, ...]:
    """What decides the cycles: all but the memory for outputs."""
    return design._replace(ofmap_kb=0)


def judge_predict(case: Case, answer: Sequence[float]) -> list[Finding]:
    """Task 3.3: a relative error below a baseline's."""
    cycles = case.wanted["cycles"]
    error = 100 * sum(abs(p - c) / c for p, c in zip(answer, cycles, strict=True)) / len(cycles)
    limit = case.wanted["limit"]
    if error < limit:
        return []
    look = {
        "mean": "The mean of all known cycles does better than that: is it the right scale?",
        "tree": "A decision tree that knows no physics does as well: put folds into the features.",
        "formula": "The formula without stalls does as well: let a model learn what it leaves out.",
        "target": (
            "Let a model learn the ratio of cycles to the formula, not the cycles. If it does: "
            "stalls begin suddenly, and a straight line cannot follow them. Trees can."
        ),
    }[case.wanted["against"]]
    if min(answer) <= 0:
        look = "Cycles are never negative: learn their logarithm, or a ratio."
    told = f"{error:.1f} per cent off in the mean"
    return [Finding(told, f"less than {limit:.1f} per cent", look)]
