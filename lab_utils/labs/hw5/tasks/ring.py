"""Tasks of notebook 2, the ring and the data-parallel step."""

from __future__ import annotations

from lab_utils.kit.task import Task

TASKS: tuple[Task, ...] = (
    Task(
        "2.1",
        "ring all-reduce",
        6,
        "ring_all_reduce",
        "tensor",
        "nothing: it changes the tensor",
    ),
    Task(
        "2.2",
        "what a ring costs",
        2,
        "ring_seconds",
        "nbytes, ranks, latency, bandwidth",
        "seconds",
    ),
    Task(
        "2.3",
        "a data-parallel step",
        2,
        "data_parallel_backward",
        "loss, parameters, buckets, images, total",
        "nothing: it fills .grad",
    ),
)
_REPLICAS = "lab_utils.instruments.ranks.replicas"
NAMES: dict[str, str] = {"replica": _REPLICAS, "replica_loss": _REPLICAS}
