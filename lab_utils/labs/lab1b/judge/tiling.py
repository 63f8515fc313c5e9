"""Tasks 2.1 to 2.4: what an order of tiles moves, and which tiles to take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from typing import Any

from lab_utils.instruments.tiles.show.walk import Counts, count
from lab_utils.kit.task import Case, Finding

_NAMES = ("A read", "B read", "C read", "C written")


def judge_stationary(case: Case, answer: Sequence[float]) -> list[Finding]:
    """Task 2.1: elements moved while one operand stays."""
    findings = []
    for name, mine, wanted in zip(_NAMES, answer, case.wanted["elements"], strict=True):
        if mine != wanted:
            look = _stationary_wrong(case.given, name, mine, wanted)
            findings.append(
                Finding(f"{name}: {mine:,} elements", f"{name}: {wanted:,} elements", look)
            )
    return findings


def _stationary_wrong(given: Mapping[str, Any], name: str, mine: float, wanted: int) -> str:
    keep, (m, n, k), (tm, tn, tk) = given["keep"], given["shape"], given["tiles"]
    whole = {"A": m * k, "B": k * n, "C": m * n}[name[0]]
    parts = {"A": tm * tk, "B": tk * tn, "C": tm * tn}[name[0]]
    if wanted and mine * whole == wanted * parts:
        return "These are tiles: multiply by the elements of one tile."
    if wanted and mine == wanted // whole:
        return "This is how often the whole matrix is moved: multiply by its elements."
    if name[0] == keep and name[0] != "C" and mine != whole:
        return "This operand stays: each of its tiles is fetched once, and used until done."
    if name[0] in "AB":
        if {mine, wanted} == {tm * whole, tn * whole}:
            return (
                "Tm and Tn are swapped: a tile of A is needed once for each n, a tile of B once "
                "for each m."
            )
        if mine == whole:
            return "Another operand stays, so this one comes and goes: count how often."
        return "How many steps need a tile of it, and how many tiles does a matrix have?"
    if name == "C read":
        if not mine and wanted:
            return (
                "Partial sums that were written have to be read back before more can be added "
                "to them."
            )
        if keep == "C":
            return "A tile of C starts on chip as zero and stays until it is done: never read."
        if mine == wanted + whole:
            return "A tile of C starts on chip as zero: its first visit reads nothing."
        return "Each tile of C is visited Tk times; what does the first visit read?"
    if keep == "C":
        return "C stays on chip until its sum is complete: each tile is written once."
    if mine == whole:
        return "A tile of C leaves the chip after each of its Tk visits, and is written each time."
    return "How often does a tile of C leave the chip?"


def judge_better_order(case: Case, answer: Sequence[Sequence[int]]) -> list[Finding]:
    """Task 2.2: every step once, and less traffic than any order in which one operand stays."""
    if wrong := _no_order(case.given["tiles"], answer):
        return [wrong]
    moved, most = count(answer), case.wanted["stationary"]
    if moved.total < most:
        return []
    look = _order_wrong(moved) if moved.total > most else _AS_BEFORE
    return [Finding(_moved(moved), f"less than {most:,} tiles moved", look)]


_AS_BEFORE = (
    "This moves as much as an order in which one operand stays: an index that jumps back to 0 at "
    "the end of a row throws away a tile that could stay. The film shows where."
)
_TURN = (
    "Look at the film at the end of a row: an index that jumps back to 0 throws away a tile that "
    "could stay."
)


def judge_best_order(case: Case, answer: Sequence[Sequence[int]]) -> list[Finding]:
    """Task 2.3: every step once, and the least traffic."""
    if wrong := _no_order(case.given["tiles"], answer):
        return [wrong]
    moved, best = count(answer), case.wanted["best"]
    if moved.total <= best:
        return []
    look = _order_wrong(moved)
    if not moved.reads["C"]:
        lost = sum(sum(a != b for a, b in zip(*pair, strict=True)) > 1 for pair in pairwise(answer))
        look = "Some steps change two or three indices at once, and so keep no tile at all."
        if not lost:
            look = "Every step keeps a tile: is it the one whose loss costs most?"
    return [Finding(_moved(moved), f"{best:,} tiles moved", look)]


def _order_wrong(moved: Counts) -> str:
    if moved.reads["C"]:
        return (
            "Tiles of C are written and read back: both are saved if all steps of a tile of C "
            "come one after the other."
        )
    return _TURN


def _moved(moved: Counts) -> str:
    reads = ", ".join(f"{name} {n:,}" for name, n in moved.reads.items())
    return f"{moved.total:,} tiles moved (read: {reads}; C written {moved.writes['C']:,})"


def _no_order(tiles: Sequence[int], answer: Sequence[Sequence[int]]) -> Finding | None:
    """What is wrong with the steps themselves."""
    steps = [tuple(step) for step in answer]
    wanted = f"each of {tiles[0] * tiles[1] * tiles[2]:,} steps once"
    tm, tn, tk = tiles
    for step in steps:
        if not all(0 <= index < most for index, most in zip(step, tiles, strict=True)):
            look = "A step is (m, n, k), in this order, each from 0 to below Tm, Tn, Tk."
            return Finding(
                f"there is a step {step}, with Tm, Tn, Tk = {tm}, {tn}, {tk}", wanted, look
            )
    if missing := set(product(*map(range, tiles))) - set(steps):
        look = "A step that is left out is a product that nobody adds: C would be wrong."
        return Finding(f"{len(missing)} steps are missing, such as {min(missing)}", wanted, look)
    if len(steps) > len(set(steps)):
        look = "A step that comes twice is added twice: C would be wrong."
        return Finding(f"{len(steps) - len(set(steps))} steps come again", wanted, look)
    return None


def judge_tiles(case: Case, answer: Sequence[float]) -> list[Finding]:
    """Task 2.4: tiles that fit, with the least traffic while C stays."""
    shape, budget = case.given["shape"], case.given["budget"]
    best = case.wanted["elements"]
    wanted = f"tiles that fit, with {best:,} elements moved"
    mine = "tiles of " + " x ".join(f"{size:,}" for size in answer)
    if any(size < 1 or whole % size for size, whole in zip(answer, shape, strict=True)):
        look = "Whole numbers that divide M, N and K without rest are wanted, in this order."
        return [Finding(mine, wanted, look)]
    m, n, k = map(int, answer)
    held, moved = m * k + k * n + m * n, elements_moved(shape, (m, n, k))
    if held <= budget and moved <= best:
        return []
    mine += f": {held:,} elements on chip, {moved:,} moved"
    example = case.wanted["sizes"]
    if [whole // size for whole, size in zip(shape, (m, n, k), strict=True)] == example:
        look = "These are numbers of tiles: the sizes of one tile are wanted."
    elif held > budget:
        look = "A tile of A, one of B and one of C must be on chip together: m·k + k·n + m·n."
    elif k > example[2]:
        look = "How long a tile is along K changes nothing in the traffic: leave the room to C."
    else:
        look = "Some other tiles move less: try all sizes that divide M, N and K."
    return [Finding(mine, wanted, look)]


def elements_moved(shape: Sequence[int], sizes: Sequence[int]) -> int:
    """What an order that keeps C moves with tiles of these sizes, by the interpreter."""
    m, n, k = sizes
    counts = [whole // size for whole, size in zip(shape, sizes, strict=True)]
    moved = count(product(*map(range, counts)))  # m, then n, then k: the innermost keeps C
    a, b = moved.reads["A"] * m * k, moved.reads["B"] * k * n
    return a + b + (moved.reads["C"] + moved.writes["C"]) * m * n
