"""Tasks of notebook 1, times: measured, published, compared."""

from __future__ import annotations

from lab_utils.kit.task import Task

_TABLE = "a dict: by (gpus, batch)"
TASKS: tuple[Task, ...] = (
    Task(
        "1.1",
        "a stopwatch that waits",
        2,
        "timed_epoch",
        "batches, step, clock, sync",
        "the seconds of all steps of an epoch",
    ),
    Task(
        "1.2",
        "which rows cannot be",
        1,
        "impossible",
        "seconds, macs, images, peak, saving",
        "a list of batch sizes",
    ),
    Task("1.4", "speed-up", 1.5, "speedups", "times", f"{_TABLE}, how many times as fast"),
    Task(
        "1.5",
        "strong scaling without a new measurement",
        1.5,
        "strong_points",
        "times",
        "a list of ((1, batch), (gpus, batch), speed-up)",
    ),
    Task(
        "1.7",
        "compute and communication",
        3,
        "split",
        "alone, times",
        f"{_TABLE}, the pair (compute, communication) in seconds",
    ),
    Task(
        "1.8",
        "the bandwidth that was reached",
        2,
        "bandwidth",
        "communication, images, nbytes",
        f"{_TABLE}, GB/s",
    ),
)
NAMES: dict[str, str] = {
    "Device": ".device",
    "K80": ".published",
    "K80_ALONE": ".published",
    "PEAKS": ".published",
    "RESNET18": ".published",
    "RTX8000": ".published",
    "V100": ".published",
    "measure_epochs": ".runs",
    "show_epochs": ".runs",
    "write_job": ".cluster",
}
