"""Tasks 1.3, 1.4 and 1.7: layers that several ranks share, beside those of one process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch.nn import functional as F

from lab_utils.instruments.ranks.asked import BACKWARD
from lab_utils.instruments.ranks.show.findings import close, collectives_of, stopped
from lab_utils.kit.task import Case, Finding
from lab_utils.labs.lab3b.judge.oracle import Tensors, one_block, one_linear
from lab_utils.labs.lab3b.numbers import block_numbers, linear_numbers


def judge_column(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 1.3: some outputs on each rank; the gradient of x is summed in backward."""
    if found := stopped(answer):
        return found
    ranks, right = case.given["ranks"], one_linear(case.given)
    for rank, told in enumerate(answer["told"]):
        mine = {name: right[name].chunk(ranks)[rank] for name in ("weight", "bias")}
        wanted = {"out": right["out"].chunk(ranks, -1)[rank], "x": right["x"], **mine}
        if wrong := _first_wrong(told, wanted):
            return [wrong.finding(rank, _column_look(case, rank, wrong, answer))]
    return _joined(answer, (0, 1), right["x"], _COLUMN_COUNT)


_COLUMN_COUNT = (
    "Forward needs nothing from the others, as each rank has all of x. Backward needs one "
    "all-reduce, of the gradient of x."
)


def _column_look(case: Case, rank: int, wrong: Wrong, answer: Mapping[str, Any]) -> str:
    ranks, whole = case.given["ranks"], linear_numbers(case.given)
    if wrong.name == "out":
        if wrong.shape and wrong.shape[-1] == case.given["outputs"]:
            return "All outputs are here: each rank keeps its own, and nobody gathers them."
        if _counts(answer["diaries"][rank])[0]:
            return (
                "Outputs were summed over the ranks, but they are different outputs: going in, "
                "forward needs nothing and backward sums (f); the other way is g."
            )
        return "This rank's outputs are x times its own weight, and its own bias."
    if wrong.name == "x":
        gradient = whole["gradient"].chunk(ranks, -1)[rank]
        part = gradient @ whole["weight"].chunk(ranks)[rank]
        if wrong.is_like(part):
            return (
                "This is what this rank's outputs say about x. The others' outputs came from the "
                "same x: sum the gradient over the ranks in backward."
            )
        if wrong.is_like(one_linear(case.given)["x"] / ranks):
            return "The gradient of x is the sum over the ranks, not the mean."
        return "Backward of f gives the sum over all ranks of the gradient that reaches it."
    return "The gradient of this rank's own weight needs nothing of the others."


def judge_row(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 1.4: some inputs on each rank; outputs are summed in forward, the bias is added once."""
    if found := stopped(answer):
        return found
    ranks, right = case.given["ranks"], one_linear(case.given)
    for rank, told in enumerate(answer["told"]):
        mine = {name: right[name].chunk(ranks, -1)[rank] for name in ("x", "weight")}
        wanted = {"out": right["out"], **mine, "bias": right["bias"]}
        if wrong := _first_wrong(told, wanted):
            return [wrong.finding(rank, _row_look(case, rank, wrong, right))]
    return _joined(answer, (1, 0), right["out"], _ROW_COUNT)


_ROW_COUNT = (
    "Forward needs one all-reduce, of the outputs. Backward needs nothing: every rank has the "
    "gradient of all outputs already."
)


def _row_look(case: Case, rank: int, wrong: Wrong, right: Tensors) -> str:
    ranks, whole = case.given["ranks"], linear_numbers(case.given)
    if wrong.name == "out":
        if wrong.is_like(right["out"] + (ranks - 1) * whole["bias"]):
            return (
                "The bias is in the sum once for each rank: add it after the all-reduce, so that "
                "it counts once."
            )
        if wrong.is_like(right["out"] - whole["bias"]):
            return "The bias is missing: add it once, after the all-reduce."
        x, weight = (whole[name].chunk(ranks, -1)[rank] for name in ("x", "weight"))
        if any(wrong.is_like(F.linear(x, weight, bias)) for bias in (None, whole["bias"])):
            return (
                "This is what this rank's inputs add to the outputs: sum over the ranks in "
                "forward (g)."
            )
        return "Outputs are the sum over the ranks of x times weight, and then the bias."
    if wrong.is_like(ranks * wrong.right):
        return (
            "The gradient is too large by the number of ranks: it was summed in backward as well. "
            "Every rank has the gradient of the outputs: backward of g is the identity."
        )
    if wrong.got is None:
        return "No gradient comes through the all-reduce: write forward and backward of g yourself."
    return "Backward of g hands the gradient on as it is; the rest is that of a linear layer."


def judge_block(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 1.7: output and all gradients of one process, with four all-reduces."""
    if found := stopped(answer):
        return found
    ranks, right = case.given["ranks"], one_block(case.given)
    for rank, told in enumerate(answer["told"]):
        wanted = part_of_block(right, rank, ranks, case.given["heads"])
        if wrong := _first_wrong(told, wanted):
            return [wrong.finding(rank, _block_look(case, wrong))]
    return _joined(answer, (2, 2), right["out"], _BLOCK_COUNT)


_BLOCK_COUNT = (
    "A block has four all-reduces: forward one after the attention and one after the MLP, "
    "backward one before each of them. Each is as large as x."
)


def part_of_block(right: Tensors, rank: int, ranks: int, heads: int) -> Tensors:
    """What of the whole's gradients belongs to a rank."""
    part = {name: right[name] for name in ("out", "x", "ln1_weight", "ln1_bias")}
    for name in ("qkv_weight", "qkv_bias"):
        by_head = right[name].unflatten(0, (3, heads, -1))
        part[name] = by_head.chunk(ranks, 1)[rank].flatten(0, 2)
    part["out_weight"] = right["out_weight"].chunk(ranks, -1)[rank]
    part |= {name: right[name] for name in ("out_bias", "ln2_weight", "ln2_bias")}
    part |= {name: right[name].chunk(ranks)[rank] for name in ("up_weight", "up_bias")}
    part["down_weight"] = right["down_weight"].chunk(ranks, -1)[rank]
    part["down_bias"] = right["down_bias"]
    return part


def _block_look(case: Case, wrong: Wrong) -> str:
    if wrong.name == "out":
        whole = block_numbers(case.given)
        more = case.given["ranks"] - 1
        if wrong.is_like(one_block({**case.given, "causal": False})["out"]):
            return "Each token sees all others: it may look at itself and at those before it."
        if wrong.is_like(wrong.right + more * whole["down_bias"]):
            return "A bias is added once for each rank: leave it to row_linear."
        if wrong.is_like(one_block({**case.given, "residual": False})["out"]):
            return "What goes in is added to what attention and MLP make: x = x + …, twice."
        return (
            "Norm, attention, add; norm, MLP, add. In attention the first third of this rank's "
            "rows are queries, then keys, then values, each by heads."
        )
    if wrong.name.startswith("ln") or wrong.name == "x":
        return (
            "The gradient that reaches here is only this rank's share: columns need their sum in "
            "backward (f) before it."
        )
    return "Forward is right, so look at what the gradient passes on its way back to here."


class Wrong(NamedTuple):
    """The first value of a rank that is not that of one process."""

    name: str
    got: Sequence[float] | None
    shape: Sequence[int] | None
    right: torch.Tensor

    def is_like(self, other: torch.Tensor) -> bool:
        """Whether what came is this."""
        return self.got is not None and close(self.got, other)

    def finding(self, rank: int, look: str) -> Finding:
        """In words."""
        what = "the output" if self.name == "out" else f"the gradient of {self.name}"
        if self.got is None:
            return Finding(f"rank {rank} has no {what.removeprefix('the ')}", what, look)
        if self.shape is not None and list(self.shape) != list(self.right.shape):
            wanted = f"{what} of shape {tuple(self.right.shape)}"
            return Finding(f"on rank {rank} its shape is {tuple(self.shape)}", wanted, look)
        off = (torch.tensor(self.got) - self.right.reshape(-1)).abs().max()
        return Finding(
            f"on rank {rank} {what} is off by {float(off):.3g}", "what one process computes", look
        )


def _first_wrong(told: Mapping[str, Any], wanted: Tensors) -> Wrong | None:
    out = told["out"]
    if list(out["shape"]) != list(wanted["out"].shape) or not close(out["numbers"], wanted["out"]):
        return Wrong("out", out["numbers"], out["shape"], wanted["out"])
    for name, right in wanted.items():
        got = told["gradients"].get(name) if name != "out" else out["numbers"]
        if got is None or not close(got, right):
            return Wrong(name, got, None, right)
    return None


def _counts(diary: Sequence[Sequence[Any]]) -> tuple[int, int]:
    """Collectives and messages before backward starts, and after."""
    starts = [place for place, entry in enumerate(diary) if entry[0] == "compute"]
    starts = [place for place in starts if diary[place][2] == BACKWARD] or [len(diary)]
    places = [p for p, entry in enumerate(diary) if entry[0] in ("collective", "send")]
    return sum(p < starts[0] for p in places), sum(p > starts[0] for p in places)


def _joined(
    answer: Mapping[str, Any], counts: tuple[int, int], like: torch.Tensor, look: str
) -> list[Finding]:
    """Whether each rank joined as many all-reduces as it needs, all of the right size."""
    told = (
        f"{counts[0]} all-reduces in forward, {counts[1]} in backward, {like.nbytes:,} bytes each"
    )
    for rank, diary in enumerate(answer["diaries"]):
        forward, backward = _counts(diary)
        sizes = {(what, nbytes) for what, _, nbytes in collectives_of(diary)}
        if (forward, backward) != counts or sizes - {("all_reduce", like.nbytes)}:
            moved = sum(nbytes for *_, nbytes in collectives_of(diary))
            yours = f"rank {rank}: {forward} in forward, {backward} in backward, {moved:,} bytes"
            return [Finding(yours, told, look)]
    return []
