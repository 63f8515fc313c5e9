"""What is right in the searches of notebook 2, and in the file for AstraSim."""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose

from lab_utils.instruments.network.astrasim import read_network
from lab_utils.kit.errors import LabError
from lab_utils.kit.task import Case, Finding

Told = Sequence[int]
"""A strategy as plain data: dp, tp, sp, pp, recompute."""


def _key(told: Told) -> str:
    return "_".join(map(str, told))


def judge_strategies(case: Case, answer: Sequence[Told]) -> list[Finding]:
    """Task 2.7: all of them, each once."""
    ranks, wanted = case.given["ranks"], {tuple(one) for one in case.wanted["strategies"]}
    mine = [tuple(one) for one in answer]
    right = f"{len(wanted)} strategies"
    for one in mine:
        if one in wanted:
            continue
        if one[0] * one[1] * one[2] != ranks:
            look = "dp times tp times sp is the number of ranks: all of them work."
        elif one[3] != 1:
            look = "There is no pipeline here: pp is 1."
        else:
            look = "This one is not among them."
        return [Finding(f"{_key(one)}", right, look)]
    if len(set(mine)) < len(mine):
        return [Finding(f"{len(mine)}, some of them twice", right, "Each strategy comes once.")]
    if len(mine) < len(wanted):
        kinds = {one[4] for one in mine}
        look = (
            "Each of them comes twice: without recomputation and with it."
            if len(kinds) == 1
            else "Some are missing. Every degree may be 1, and as large as the number of ranks."
        )
        return [Finding(f"{len(mine)} strategies", right, look)]
    return []


def judge_best(case: Case, answer: Told | None) -> list[Finding]:
    """Task 2.8: no row that fits is faster."""
    rows = {tuple(key): (seconds, nbytes) for key, seconds, nbytes in case.given["rows"]}
    room = case.given["room"]
    best = case.wanted["best"]
    wanted = "None: nothing fits" if best is None else f"{_key(best)}: {rows[tuple(best)][0]:.6g} s"
    if answer is None:
        if best is None:
            return []
        look = "A row fits: with room None every row does; with room in GB, compare nbytes with it."
        return [Finding("None", wanted, look)]
    if tuple(answer) not in rows:
        return [Finding(_key(answer), wanted, "Return the strategy of one of the rows.")]
    seconds, nbytes = rows[tuple(answer)]
    yours = f"{_key(answer)}: {seconds:.6g} s, {nbytes / 1e9:.3f} GB"
    if room is not None and nbytes > room * 1e9:
        look = (
            "It does not fit: room is in GB, and a GB is 10⁹ bytes, not 2³⁰."
            if nbytes <= room * 2**30
            else "It does not fit: look at the memory before the time."
        )
        return [Finding(yours, wanted, look)]
    if best is not None and seconds > rows[tuple(best)][0] * (1 + 1e-12):
        least = min(rows.values(), key=lambda price: price[1])
        look = (
            "This row takes the least memory. Any that fits will do: take the fastest."
            if nbytes == least[1]
            else "Another row that fits is faster."
        )
        if room is None:
            look = "Room None is endless memory: the fastest of all rows."
        elif rows[tuple(best)][1] == room * 1e9:
            look = "A row that fills the room to the last byte fits."
        return [Finding(yours, wanted, look)]
    return []


def judge_winner(case: Case, answer: Told | None) -> list[Finding]:
    """Task 2.11: no strategy that fits is faster by more than one part in a thousand."""
    rows = {tuple(key): (seconds, nbytes) for key, seconds, nbytes in case.wanted["rows"]}
    room, best = case.given["room"], case.wanted["best"]
    wanted = "None: nothing fits" if best is None else f"{_key(best)}: {rows[tuple(best)][0]:.6g} s"
    if answer is None:
        if best is None:
            return []
        look = "A strategy does fit here: does room reach your search as it is given?"
        return [Finding("None", wanted, look)]
    if tuple(answer) not in rows:
        look = "It does not use all devices of this machine, or it has a pipeline: pp is 1 here."
        return [Finding(_key(answer), wanted, look)]
    seconds, nbytes = rows[tuple(answer)]
    yours = f"{_key(answer)}: {seconds:.6g} s, {nbytes / 1e9:.3f} GB"
    if room is not None and nbytes > room * 1e9:
        look = "It does not fit into this machine's memory: look at the memory before the time."
        return [Finding(yours, wanted, look)]
    if best is not None and seconds > rows[tuple(best)][0] * (1 + 1e-3):
        least = min(price[1] for price in rows.values())
        look = (
            "This one takes the least memory. Any that fits will do: take the fastest."
            if nbytes == least
            else "Another one that fits is faster here. What wins elsewhere need not win on this "
            "machine: build it from its two files, and try every strategy on it."
        )
        return [Finding(yours, wanted, look)]
    return []


def judge_turning(case: Case, answer: float | None) -> list[Finding]:
    """Task 2.9: the factor at which both take equally long, to one part in a thousand."""
    right = case.wanted["factor"]
    if answer is None and right is None:
        return []
    wanted = "None" if right is None else f"{right:.6g}"
    yours = "None" if answer is None else f"{answer:.6g}"
    if right is None:
        look = "They do not cross between 1/1024 and 1024: then return None."
    elif answer is None:
        look = "They do cross: compare the two at 1/1024 and at 1024. Is another one faster there?"
    elif isclose(answer, right, rel_tol=1e-3):
        return []
    elif isclose(answer * right, 1, rel_tol=1e-3):
        look = "Upside down: the factor is that of the bandwidth, not of the time."
    else:
        look = (
            "At this factor the two do not take equally long. Halve the interval in which the "
            "difference changes its sign, again and again; a factor has no middle but the root of "
            "low times high."
        )
    return [Finding(yours, wanted, look)]


def judge_yml(case: Case, answer: str) -> list[Finding]:
    """Task 2.10: the file says what the dimensions are, in AstraSim's units."""
    try:
        mine = read_network(answer)
    except LabError as error:
        return [Finding(str(error), "a network.yml", "Four lines, each 'key: [ …, … ]'.")]
    wanted = case.given["dims"]
    if len(mine) != len(wanted):
        look = "One entry in each list for each dimension."
        return [Finding(f"{len(mine)} dimensions", f"{len(wanted)} dimensions", look)]
    for place, (dim, right) in enumerate(zip(mine, wanted, strict=True)):
        for name in ("kind", "size", "bandwidth", "latency"):
            yours, value = getattr(dim, name), right[name]
            if yours == value or (name != "kind" and isclose(yours, value, rel_tol=1e-6)):
                continue
            looks = {
                "kind": "topology holds the kinds of the dimensions, in their order.",
                "size": "npus_count holds the sizes of the dimensions, in their order.",
                "bandwidth": "bandwidth is in GB a second, and AstraSim's GB is 2³⁰ bytes.",
                "latency": "latency is in nanoseconds.",
            }
            what = f"dimension {place}, {name}"
            return [Finding(f"{what}: {yours:.6g}" if name != "kind" else f"{what}: {yours}",
                            f"{value}", looks[name])]  # fmt: skip
    return []
