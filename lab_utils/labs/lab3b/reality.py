"""A student's models of memory and time beside seven measurements on real cards."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lab_utils.instruments.parallel import Cluster, Job, Memory, Plan
from lab_utils.instruments.shapes import GPT_2560, Transformer
from lab_utils.kit.charts.drawn import Drawing
from lab_utils.labs.lab3b.h100 import CLUSTER, GPT_JOB, MIB, TABLE
from lab_utils.labs.lab3b.stacks import Scale, Stack, draw_stacks

Peak = Callable[[Transformer, Job, Plan], Sequence[Memory]]
Time = Callable[[Transformer, Job, Plan, Cluster], float]


def _deviation(mine: float, measured: float) -> str:
    share = round(100 * (mine / measured - 1), 1)
    return f"{share + 0:+.1f} %" if share else "0.0 %"


def memory_beside(peak_memory: Peak) -> Drawing:
    """Your peak of every rank beside the one that was measured, in GiB as the profiler tells."""
    stacks = []
    for row in TABLE:
        for stage, (memory, peak) in enumerate(
            zip(peak_memory(GPT_2560, GPT_JOB, row.plan), row.peaks, strict=True)
        ):
            name = f"{row.plan}, stage {stage}" if len(row.peaks) > 1 else str(row.plan)
            parts = {"state": memory.state, "kept": memory.kept, "logits": memory.logits}
            words = _deviation(memory.total, peak * MIB)
            stacks.append(Stack(name, parts, peak * MIB, words))
    caption = (
        "One number was chosen by looking at three of these rows (single, TP2, DP2): that three "
        "buffers as large as the logits are alive. Nothing else was fitted."
    )
    return draw_stacks(stacks, Scale("GiB", 2**30), caption)


def time_beside(step_time: Time, cluster: Cluster = CLUSTER) -> Drawing:
    """Your time of a step beside the one that was measured, in milliseconds."""
    stacks = []
    for row in TABLE:
        seconds = step_time(GPT_2560, GPT_JOB, row.plan, cluster)
        words = _deviation(1e3 * seconds, row.iteration)
        stacks.append(Stack(str(row.plan), {"your model": seconds}, row.iteration / 1e3, words))
    caption = (
        "Two numbers were read off the first row: what share of its rate the card reaches, in "
        "large products and in attention. The link is a line through two measured all-reduces."
    )
    return draw_stacks(stacks, Scale("ms", 1e-3), caption)
