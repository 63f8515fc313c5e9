"""Tasks of notebook 2, pipeline and data parallel."""

from __future__ import annotations

from lab_utils.kit.task import Task

_SCHEDULE = 'a list for each rank, of steps ("F", micro) and ("B", micro)'

TASKS: tuple[Task, ...] = (
    Task("2.1", "all forward, then all backward", 0.25, "gpipe", "stages, micros", _SCHEDULE),
    Task("2.2", "one forward, one backward", 0.5, "one_f_one_b", "stages, micros", _SCHEDULE),
    Task(
        "2.3",
        "how many micro-batches",
        0.25,
        "fewest_micros",
        "stages, percent",
        "a number of micro-batches",
    ),
    Task(
        "2.4",
        "a stage at work",
        0.75,
        "run_stage",
        "stage, steps",
        "nothing: it calls the stage, and sends and receives",
    ),
    Task(
        "2.5",
        "one embedding, two places",
        0.25,
        "sync_tied",
        "gradient",
        "nothing: it changes the gradient",
    ),
    Task(
        "2.6",
        "buckets",
        0.25,
        "buckets_of",
        "nbytes, most",
        "a list of buckets, each a list of numbers of parameters",
    ),
    Task(
        "2.7",
        "average while you go",
        0.75,
        "overlapped_backward",
        "loss, parameters, buckets",
        "nothing: it leaves the averages in the gradients",
    ),
)
