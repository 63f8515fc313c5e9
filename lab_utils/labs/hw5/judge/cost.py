"""Task 2.2: what a ring costs."""

from __future__ import annotations

import math

from lab_utils.kit.task import Case, Finding


def judge_seconds(case: Case, answer: float) -> list[Finding]:
    """Task 2.2: as the virtual clock says."""
    right, given = case.wanted["seconds"], case.given
    if _same(answer, right):
        return []
    nbytes, ranks = given["nbytes"], given["ranks"]
    latency, pause = given["latency"], nbytes / given["bandwidth"]
    steps = 2 * (ranks - 1)
    known = (
        (
            steps * (latency + pause),
            "A message is one of N chunks, not the whole tensor.",
        ),
        (
            steps // 2 * (latency + pause / ranks),
            "This is one half of a ring: a chunk goes around twice, to be added and handed on.",
        ),
        (
            2 * ranks * (latency + pause / ranks),
            "A circle of N ranks takes N - 1 steps: the last one would bring a chunk home again.",
        ),
        (
            latency + steps * pause / ranks,
            "The latency is paid in every step: a message waits for the one before it.",
        ),
        (
            steps * pause / ranks,
            "The latency is missing: it is paid in every step.",
        ),
        (
            steps * latency,
            "The bytes are missing: a chunk takes its bytes divided by the bandwidth.",
        ),
        (
            ranks * steps * (latency + pause / ranks),
            "All ranks send at the same time: the time of one of them is the time of all.",
        ),
        (
            steps * (latency + nbytes * given["bandwidth"] / ranks),
            "The bandwidth is in bytes a second: divide by it.",
        ),
    )
    look = "There are 2 (N - 1) steps, and in each one chunk goes from a rank to the next."
    for value, words in known:
        if _same(answer, value):
            look = words
            break
    return [Finding(f"{answer:.6g} s", f"{right:.6g} s", look)]


def _same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-15)
