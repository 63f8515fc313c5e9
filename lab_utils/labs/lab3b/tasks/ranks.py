"""Tasks of notebook 1, ranks, collectives and tensor parallel."""

from __future__ import annotations

from lab_utils.kit.task import Task

TASKS: tuple[Task, ...] = (
    Task(
        "1.1",
        "the first half of the ring: add up",
        0.5,
        "ring_reduce_scatter",
        "chunks",
        "nothing: it changes the chunks",
    ),
    Task(
        "1.2",
        "the second half of the ring: hand on",
        0.5,
        "ring_all_gather",
        "chunks",
        "nothing: it changes the chunks",
    ),
    Task(
        "1.3",
        "a linear layer by columns",
        0.5,
        "column_linear",
        "x, weight, bias",
        "a tensor: this rank's part of the outputs",
    ),
    Task(
        "1.4",
        "a linear layer by rows",
        0.5,
        "row_linear",
        "x, weight, bias",
        "a tensor: all outputs, the same on every rank",
    ),
    Task(
        "1.5",
        "heads, not thirds",
        0.25,
        "shard_qkv",
        "weight, heads, rank, ranks",
        "a tensor: the rows of this rank's heads",
    ),
    Task(
        "1.6",
        "dropout on several ranks",
        0.25,
        "parallel_dropout",
        "x, p, seed, sharded",
        "a tensor as large as x",
    ),
    Task(
        "1.7",
        "a transformer block on several ranks",
        0.5,
        "parallel_block",
        "x, part, heads",
        "a tensor as large as x, the same on every rank",
    ),
)
