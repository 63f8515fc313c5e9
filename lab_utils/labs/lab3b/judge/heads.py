"""Tasks 1.5 and 1.6: which heads are a rank's, and whose dice fall alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab_utils.instruments.ranks.show.findings import stopped
from lab_utils.kit.task import Case, Finding
from lab_utils.labs.lab3b.numbers import numbers_of, random_numbers


def judge_shard(case: Case, answer: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Task 1.5: queries, keys and values of a rank's own heads."""
    width, heads, ranks = (case.given[name] for name in ("width", "heads", "ranks"))
    own = heads // ranks
    columns = 2 if case.given["columns"] else 1
    for rank, part in enumerate(answer):
        rows = [
            which * width + head * (width // heads) + place
            for which in range(3)
            for head in range(rank * own, (rank + 1) * own)
            for place in range(width // heads)
        ]
        shape = [len(rows), 2] if case.given["columns"] else [len(rows)]
        got = [int(number) for number in part["numbers"][::columns]]
        if part["shape"] == shape and got == rows:
            continue
        wanted = f"rank {rank} has {len(rows)} rows: {_rows(rows)}"
        return [Finding(_rows(got), wanted, _shard_look(got, rows, rank, case.given))]
    return []


def _shard_look(
    got: Sequence[int], rows: Sequence[int], rank: int, given: Mapping[str, Any]
) -> str:
    width, heads, ranks = given["width"], given["heads"], given["ranks"]
    many = 3 * width // ranks
    if list(got) == list(range(rank * many, (rank + 1) * many)):
        return (
            "This cuts the fused weight into equal pieces, so that one rank has only queries and "
            "another only values. A rank needs queries, keys and values of the same heads."
        )
    if sorted(got) == sorted(rows):
        return "The rows are right, their order is not: all queries, then all keys, then values."
    if len(got) != len(rows):
        return "A rank has heads / ranks heads, each with width / heads rows of q, of k and of v."
    strided = [
        w * width + h * (width // heads) for w in range(3) for h in range(rank, heads, ranks)
    ]
    if set(got) >= set(strided) and heads > ranks:
        return "Heads are handed out in blocks: rank 0 has the first ones, and so on."
    return "Look at the weight as 3 x heads x rows of a head, and take this rank's heads of each."


def _rows(rows: Sequence[int]) -> str:
    """Stretches of rows, as in 0-3, 8-11."""
    stretches: list[list[int]] = []
    for row in rows:
        if stretches and row == stretches[-1][1] + 1:
            stretches[-1][1] = row
        else:
            stretches.append([row, row])
    told = [f"{a}-{b}" if a < b else str(a) for a, b in stretches]
    return ", ".join(told[:8]) + (", …" if len(told) > 8 else "")


def judge_dropout(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 1.6: alike on all ranks outside, different inside, the same again for a seed."""
    if found := stopped(answer):
        return found
    p, told = case.given["p"], answer["told"]
    x = numbers_of(random_numbers(case.given["seed"], case.given["shape"]))
    for rank, parts in enumerate(told):
        for name, part in parts.items():
            if wrong := _no_dropout(part, x, p, case.given["shape"]):
                return [Finding(f"rank {rank}, {name}: {wrong[0]}", _KEPT, wrong[1])]
    drops = [{name: _mask(part) for name, part in parts.items()} for parts in told]
    for name in ("outside", "outside-later"):
        if any(one[name] != drops[0][name] for one in drops):
            look = (
                "Outside of a part that is split every rank has the same x, and must drop the "
                "same numbers: else the ranks go on with different values."
            )
            return [Finding(f"{name}: ranks drop different numbers", "all drop the same", look)]
    for name in ("inside", "inside-later"):
        if len({one[name] for one in drops}) < len(drops):
            look = (
                "Inside a part that is split each rank has its own numbers: with the same dice "
                "they drop the same places of different heads. Let the rank be in the seed."
            )
            return [Finding(f"{name}: two ranks drop the same places", "each its own", look)]
    for one in drops:
        for name in ("outside", "inside"):
            if one[name] != one[f"{name}-again"]:
                look = (
                    "Take your dice from the seed alone (torch.Generator().manual_seed): what was "
                    "drawn before must not matter, or nothing can be computed again."
                )
                return [Finding(f"{name}: the same seed drops others", "the same again", look)]
            if one[name] == one[f"{name}-later"]:
                look = "Another seed is another step: other numbers are dropped."
                return [Finding(f"{name}: another seed drops the same", "others", look)]
    return []


_KEPT = "numbers that are 0, or x / (1 - p)"


def _mask(part: Mapping[str, Any]) -> tuple[bool, ...]:
    return tuple(number == 0 for number in part["numbers"])


def _no_dropout(
    part: Mapping[str, Any], x: Sequence[float], p: float, shape: Sequence[int]
) -> tuple[str, str] | None:
    got = part["numbers"]
    if list(part["shape"]) != list(shape):
        return "another shape", "Dropout keeps the shape of x."
    kept = [(a, b) for a, b in zip(got, x, strict=True) if a != 0]
    if any(abs(a - b / (1 - p)) > 1e-6 * (1 + abs(b)) for a, b in kept):
        if all(abs(a - b) < 1e-9 for a, b in kept):
            return "x itself", "What is kept is divided by 1 - p, so that the mean stays."
        if all(abs(a - b / p) < 1e-6 * (1 + abs(b)) for a, b in kept):
            return "x / p", "What is kept is divided by 1 - p: p is the share that is dropped."
        return "other numbers", "What is kept is x / (1 - p), everything else is 0."
    share = 1 - len(kept) / len(x)
    if abs(share - p) > 0.12:
        look = "Each number is dropped with probability p, and kept with 1 - p."
        return f"{share:.0%} are dropped", look
    return None
