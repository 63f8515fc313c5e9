"""Task 3.6: what is on the wire, by kind."""

from __future__ import annotations

from collections.abc import Mapping

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.hw5.wire_log import KINDS, Message, ModelBytes


def judge_traffic(case: Case, answer: Mapping[str, int]) -> list[Finding]:
    """Task 3.6: every byte of the log, in one of four kinds."""
    wanted = case.wanted["bytes"]
    if dict(answer) == wanted:
        return []
    kind = next(kind for kind in KINDS if answer[kind] != wanted[kind])
    told = f"{kind}: {answer[kind]:,} bytes", f"{kind}: {wanted[kind]:,} bytes"
    return [Finding(*told, _look(case, answer, kind))]


def _look(case: Case, answer: Mapping[str, int], kind: str) -> str:
    log = [Message(*message) for message in case.given["log"]]
    model, wanted = ModelBytes(*case.given["model"]), case.wanted["bytes"]
    total, got = sum(message.nbytes for message in log), sum(answer.values())
    notes = sum(m.nbytes for m in log if m.dtype == "int32")
    counters = sum(m.nbytes for m in log if m.dtype == "int64" and m.phase == "forward")
    off = {one: answer[one] - wanted[one] for one in KINDS}
    if off["parameters"] and answer["parameters"] == model.trained:
        return "Frozen parameters are sent too when the model is built: all ranks must agree."
    if off["parameters"] > 0 and off["buffers"] < 0:
        return (
            "When the model is built, parameters and buffers travel together: what goes beyond "
            "the bytes of the model's parameters are buffers."
        )
    if kind == "parameters" and answer[kind] == 0:
        return "Rank 0 sends its parameters to all others when the model is built."
    if kind == "parameters":
        return "Parameters are sent once, when the model is built; after that gradients travel."
    if off["buffers"] and off["buffers"] + off["gradients"] == 0:
        return (
            "Gradients are what backward sums up; what forward sends are buffers. Batch norm's "
            "weight and bias are parameters, and have gradients."
        )
    if notes and (
        off["buffers"] == notes or off["gradients"] == notes or off["metadata"] == -notes
    ):
        return "Messages of int32 are notes about buckets and unused parameters: metadata."
    if counters and off["buffers"] < 0 < off["metadata"]:
        return "Batch norm counts its batches in an int64: that is a buffer too, not metadata."
    if off["buffers"] < 0 and off["metadata"] == -off["buffers"]:
        return "Buffers are sent when the model is built, and again before every forward."
    if got != total:
        return "The four kinds together must be all bytes of the log: some are missing or twice."
    return "Go by phase: notes first, then parameters and buffers; buffers; gradients."
