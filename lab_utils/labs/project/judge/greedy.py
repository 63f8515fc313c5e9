"""What is right in tasks 5.4 to 5.6."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab_utils.kit.task import OR, Case, Finding
from lab_utils.labs.project.ask.candidates import Fields
from lab_utils.labs.project.judge.candidates import differences

#: How much more work than ours a plan may take.
WORK_SLACK = 1.05


def judge_update(case: Case, answer: list[Fields]) -> list[Finding]:
    """Task 5.4: the updates."""
    findings = []
    chosen = {fields["node"] for fields in case.given["chosen"]}
    t = case.given["t"]["node"]
    for mine, wanted in zip(answer, case.wanted["after"], strict=True):
        for found in differences(mine, wanted, {}):
            before = next(
                f
                for f in (case.given["t"], *case.given["chosen"], *case.given["remaining"])
                if f["node"] == wanted["node"]
            )
            findings.append(
                Finding(found.yours, found.wanted, _why_update(t, chosen, before, wanted))
            )
    return findings


def _why_update(t: str, chosen: set[str], before: Fields, wanted: Fields) -> str:
    name = wanted["node"]
    if name == t:
        return f"Each chosen value that was rebuilt from {t} runs {t}'s path once more: count."
    if name in chosen:
        return f"{t} is gone now: {name} is rebuilt from {t}'s sources, and {t}'s time is added."
    if t in before["sources"] and t in wanted["sources"]:
        return f"{t} is alive again when backward first reads {name}: leave {name} as it is."
    if t in before["sources"]:
        return (
            f"{name} was rebuilt from {t}: it takes {t}'s sources and adds {t}'s time, and runs "
            "once more for each chosen value that it is a source of."
        )
    if wanted["total"] != before["total"]:
        return f"{t} is rebuilt from {name}: {name}'s path would run count({t}) times."
    return f"{name} has nothing to do with {t}: leave it as it is."


def judge_simulate(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 5.5: the simulated peak."""
    wanted = case.wanted
    yours = f"{answer['nbytes']:,.0f} bytes at {answer['node']}"
    right = f"{wanted['nbytes']:,} bytes at {wanted['nodes'][0]}"
    if answer["nbytes"] != wanted["nbytes"]:
        looks = [hint for hint, held in wanted["mistakes"].items() if held == answer["nbytes"]]
        look = OR.join(looks) or (
            "Write down what runs (clones too, right before their reader, and a tuple's getitem "
            "nodes along with it), then as in task 1.4."
        )
        return [Finding(yours, right, look)]
    if answer["node"] not in wanted["nodes"]:
        look = "The node that runs at the peak; for a clone, the reader that it was made for."
        return [Finding(yours, right, look)]
    return []


def judge_choose(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """By what the plan leads to: ``plans`` knows the peak and the work of every set of drops."""
    drop, wanted, budget = answer["drop"], case.wanted, case.given["budget"]
    names: list[str] = wanted["candidates"]
    if odd := [name for name in drop if name not in names]:
        look = "Only candidates may be dropped."
        return [Finding(f"{odd[0]} is dropped", f"some of {names}", look)]
    if len(set(drop)) < len(drop):
        return [Finding(f"drop {drop}", "each value once", "A chosen value is no candidate more.")]
    peaks, idle, work = (wanted["plans"][key] for key in ("peaks", "idle", "work"))
    sets = [sum(1 << names.index(name) for name in drop[:count]) for count in range(len(drop) + 1)]
    final, ours = sets[-1], sum(1 << names.index(name) for name in wanted["drop"])
    for before, after, name in zip(sets, sets[1:], drop, strict=False):
        if peaks[before] <= budget:
            look = "Stop as soon as the simulated peak is within the budget."
            return [
                Finding(
                    f"{name} is dropped as well", f"nothing after {_peak(before, wanted)}", look
                )
            ]
        if not idle[before] >> names.index(name) & 1:
            look = (
                f"{name} does not lie idle at the peak (is it made later, or in use?): dropping "
                "it saves nothing there."
            )
            return [Finding(f"{name} is chosen", "a candidate that is idle at the peak", look)]
        if peaks[after] > peaks[before]:
            look = f"With {name} dropped the peak rises: leave it in memory, and go on."
            return [Finding(f"{name} is chosen", f"{name} stays in memory", look)]
    if answer["nbytes"] != peaks[final]:
        saved = peaks[0] - sum(wanted["nbytes"][name] for name in drop)
        look = "The simulated peak of the plan, recompute buffers included."
        if answer["nbytes"] in (saved, peaks[0] - saved):
            look = "That is the sum of the plan's sizes. What counts is the simulated peak."
        dropped = ", ".join(drop) or "nothing"
        yours = f"a peak of {answer['nbytes']:,.0f} bytes, dropped: {dropped}"
        return [Finding(yours, f"{peaks[final]:,} bytes", look)]
    if peaks[final] > max(budget, peaks[ours]):
        useful = [
            name
            for bit, name in enumerate(names)
            if idle[final] >> bit & 1 and peaks[final | 1 << bit] <= peaks[final]
        ]
        look = "Go on while the peak is above the budget and a candidate is idle there."
        if useful:
            look = (
                "Go on while the peak is above the budget and a candidate is idle there: "
                f"{useful[0]} is."
            )
        elif worse := _worse_choice(drop, wanted):
            look = worse
        yours = f"{_peak(final, wanted)}, dropped: {', '.join(drop) or 'nothing'}"
        return [Finding(yours, f"{_peak(ours, wanted)}, the budget is {budget:,}", look)]
    if work[final] > WORK_SLACK * work[ours]:
        return [_why_work(drop, wanted, work[final], work[ours])]
    return []


def _peak(plan: int, wanted: Mapping[str, Any]) -> str:
    return f"a peak of {wanted['plans']['peaks'][plan]:,} bytes"


def _why_work(drop: Sequence[str], wanted: Mapping[str, Any], mine: float, ours: float) -> Finding:
    """More work than needed, and what led to it."""
    look = _worse_choice(drop, wanted)
    look = look or "Choose the largest ratio, and update the ratios after each choice."
    return Finding(f"{mine:g} s run again: {list(drop)}", f"{ours:g} s: {wanted['drop']}", look)


def _worse_choice(drop: Sequence[str], wanted: Mapping[str, Any]) -> str:
    """The first choice that was not the best one, by the ratios of that moment; or nothing."""
    for name, best, ratios in zip(drop, wanted["drop"], wanted["ratios"], strict=False):
        if name != best:
            return (
                f"{best} has the larger ratio at that moment ({ratios[best]:,.1f}, {name} has "
                f"{ratios.get(name, 0):,.1f}). Are the ratios updated after each choice?"
            )
    return ""
