"""Cases of tasks 3.1 to 3.3: recorded runs, some of them held out; what is to be beaten."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from autograder.authoring.derived import CaseData
from autograder.labs.lab2a.baselines import errors
from autograder.labs.lab2a.cases import case, numbered
from autograder.labs.lab2a.record import chosen, config_text, recorded
from lab_utils.instruments.systolic.designs import Design, design_space
from lab_utils.instruments.systolic.show.space import explore
from lab_utils.instruments.systolic.show.traffic import stall_free_cycles
from lab_utils.labs.lab2a.network import BANDWIDTH, CONVS, GEMMS

_LAYERS = (*CONVS, *GEMMS)
HELD_OUT = (8, 3)
"""Of the recorded designs, every eighth from number 3 on is hidden: a learned model's test."""
HIDDEN_BANDWIDTH = 20
"""In words a cycle. Students can compute the whole space at the bandwidth of the notebook: who
only looks cycles up there has learnt nothing that holds here."""
_PUBLIC = slice(2, None, 6)
"""Of those that ship, what the public case asks for."""


def model_cases(which: str) -> dict[str, list[CaseData]]:
    """Public or hidden cases, by task."""
    rng = np.random.default_rng(7 if which == "public" else 8)
    return {
        "3.1": numbered(_error_cases(which, rng), "model", which),
        "3.2": numbered(_split_cases(which, rng), "table", which),
        "3.3": _predict_cases(which),
    }


def _error_cases(which: str, rng: np.random.Generator) -> Iterable[CaseData]:
    lists: list[tuple[list[float], list[float]]] = [
        ([110.0, 190.0], [100.0, 200.0]),
        ([50.0, 900.0, 30.0], [100.0, 1000.0, 20.0]),
    ]
    if which == "hidden":
        lists = []
        for many in (2, 5, 9, 20, 40, 3):
            cycles = rng.integers(2_000, 250_000, many)
            predicted = (cycles * rng.uniform(0.4, 1.9, many)).round()
            lists.append((predicted.tolist(), cycles.tolist()))
    for mine, right in lists:
        pairs = zip(mine, right, strict=True)
        off = [abs(told - true) / true for told, true in pairs]
        yield case(
            f"{len(right)} designs",
            {"predicted": mine, "cycles": right},
            percent=100 * sum(off) / len(off),
        )


def _split_cases(which: str, rng: np.random.Generator) -> Iterable[CaseData]:
    space = design_space()
    for families, most in (
        ((6, 3), (16, 2))
        if which == "public"
        else (
            (10, 4),
            (30, 4),
            (24, 3),
            (60, 2),
            (12, 4),
            (40, 3),
        )
    ):
        designs: list[Design] = []
        for place in rng.choice(len(space), families, replace=False):
            twins = rng.choice(4, int(rng.integers(1, most + 1)), replace=False) + 1
            designs += [space[place]._replace(ofmap_kb=int(size)) for size in twins]
        order = rng.permutation(len(set(designs)))
        unique = sorted(set(designs))
        yield case(f"{len(unique)} designs", {"designs": [list(unique[place]) for place in order]})


def totals() -> tuple[dict[Design, int], dict[Design, int]]:
    """SCALE-Sim's cycles of the whole network on each recorded design: shipped, and held out."""
    known = recorded()
    every, first = HELD_OUT
    whole = [one for one in dict.fromkeys(chosen()) if len(known.get(one, ())) == len(_LAYERS)]
    cycles = {one: sum(int(row["total"]) for row in known[one]) for one in whole}
    return _apart(cycles, [one for place, one in enumerate(whole) if place % every == first])


def _apart(
    cycles: dict[Design, int], wanted: Iterable[Design]
) -> tuple[dict[Design, int], dict[Design, int]]:
    """All others, and those that are ``wanted``; one with a twin among the others joins them."""
    asked = set(wanted)
    known = {one._replace(ofmap_kb=0) for one in cycles if one not in asked}
    asked = {one for one in asked if one._replace(ofmap_kb=0) not in known}
    others = {one: count for one, count in cycles.items() if one not in asked}
    return others, {one: count for one, count in cycles.items() if one in asked}


def stall_free(designs: Iterable[Design]) -> list[int]:
    """Cycles of the network without stalls."""
    return [
        # SCALE-Sim reports the number of the last cycle, counted from 0, for each layer.
        sum(
            stall_free_cycles(layer, design.dataflow, design.height, design.width) - 1
            for layer in _LAYERS
        )
        for design in designs
    ]


def _predict_cases(which: str) -> list[CaseData]:
    shipped, held = totals()
    bandwidth = BANDWIDTH
    if which == "public":
        shipped, held = _apart(shipped, list(shipped)[_PUBLIC])
    else:
        bandwidth = HIDDEN_BANDWIDTH
        found = _at(bandwidth, [*shipped, *held])
        shipped, held = ({one: found[one] for one in designs} for designs in (shipped, held))
    known, asked = list(shipped), list(held)
    cycles, right = list(shipped.values()), list(held.values())
    limits = errors(known, cycles, asked, right, stall_free(asked))
    limits["target"] = 0.75 * min(limits["formula"], limits["tree"])
    given = {
        "form": _form(bandwidth),
        "known": [list(one) for one in known],
        "cycles": cycles,
        "asked": [list(one) for one in asked],
    }
    titles = {
        "mean": "better than the mean",
        "tree": "better than a tree without physics",
        "formula": "better than the formula",
        "target": "a quarter better than both",
    }
    return [
        case(title, given, cycles=right, limit=_below(limits[name]), against=name)
        for name, title in titles.items()
        if which == "hidden" or name in ("mean", "target")
    ]


def _below(limit: float) -> float:
    """A round limit that whoever is as good as the baseline does not reach."""
    return math.floor(10 * limit - 1) / 10


def _at(bandwidth: int, designs: Iterable[Design]) -> dict[Design, int]:
    """Cycles of the network at another bandwidth, by the model that tests hold to SCALE-Sim."""
    outcomes = explore(_LAYERS, designs, bandwidth)
    return {design: sum(one.total for one in found) for design, found in outcomes.items()}


def _form(bandwidth: int) -> str:
    """A ``system.cfg`` with places for a design's values."""
    places = Design(*(f"{{{name}}}" for name in Design._fields))  # type: ignore[arg-type]
    return config_text(places, bandwidth)
