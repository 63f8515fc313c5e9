"""Tasks of notebook 3, large batches and what the ranks must agree on."""

from __future__ import annotations

from lab_utils.kit.task import Task

TASKS: tuple[Task, ...] = (
    Task(
        "3.1",
        "linear scaling and warm-up",
        3,
        "learning_rate",
        "step, rate, base, batch, warmup",
        "a learning rate",
    ),
    Task("3.2", "large batches, measured", 2, "batches.csv"),
    Task(
        "3.4",
        "a sampler of your own",
        3,
        "shard",
        "images, rank, ranks, epoch, seed, drop_last",
        "a list of numbers of images",
    ),
    Task(
        "3.6",
        "what is on the wire",
        3,
        "traffic",
        "log, model",
        "a dict: bytes of parameters, buffers, gradients, metadata",
    ),
    Task(
        "3.8",
        "batch norm over all ranks",
        3,
        "sync_batch_norm",
        "x, eps",
        "a tensor as large as x",
    ),
)
NAMES: dict[str, str] = {
    "KINDS": ".wire_log",
    "Message": ".wire_log",
    "ModelBytes": ".wire_log",
    "measure_batches": ".runs",
    "record_ddp": ".wire_log",
    "show_batches": ".runs",
}
