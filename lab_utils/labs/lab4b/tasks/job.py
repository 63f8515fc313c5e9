"""Tasks of notebook 2, collectives and a training job."""

from __future__ import annotations

from lab_utils.kit.task import Task

#: What the notebook imports, by the module that has it.
NAMES = {
    **dict.fromkeys(
        ("GPT_175B", "JOB", "LLAMA_70B", "NETWORK_1", "SYSTEM_1", "SYSTEM_2", "SYSTEM_JSON"),
        ".systems",
    ),
    **dict.fromkeys(
        ("ASTRASIM", "ASTRASIM_IN_PARTS", "PUBLISHED", "rank_correlation"), ".published"
    ),
    "Row": ".rows",
    "StageLoad": ".rows",
    "strategy_map": ".maps",
}

_SCHEDULE = "a list of steps, each a list of Send(src, dst, chunks, add)"

TASKS: tuple[Task, ...] = (
    Task("2.1", "everybody to everybody", 0.5, "direct", "ranks", _SCHEDULE),
    Task("2.2", "halving and doubling", 0.5, "halving_doubling", "ranks", _SCHEDULE),
    Task("2.3", "dimension by dimension", 0.5, "hierarchical", "sizes", _SCHEDULE),
    Task(
        "2.4",
        "the time of a collective",
        0.75,
        "collective_seconds",
        "collective, nbytes, dims",
        "a number of seconds",
    ),
    Task(
        "2.5",
        "what a layer sends",
        0.75,
        "layer_traffic",
        "model, job, strategy",
        "a list of Traffic(phase, collective, axis, nbytes)",
    ),
    Task(
        "2.6",
        "what a device holds",
        0.5,
        "device_memory",
        "model, job, strategy, state",
        "Memory(state, kept, logits)",
    ),
    Task("2.7", "all strategies", 0.25, "strategies", "ranks", "a list of Strategy"),
    Task(
        "2.8",
        "the best that fits",
        0.25,
        "best_strategy",
        "rows, room",
        "a Strategy, or None if none fits",
    ),
    Task(
        "2.9",
        "how much faster the links would have to be",
        0.25,
        "turning_point",
        "one, other",
        "a factor, or None if there is none",
    ),
    Task("2.10", "a file for AstraSim", 0.25, "network_yml", "dims", "the text of a network.yml"),
    Task(
        "2.11",
        "the winner on a machine that you have not seen",
        0.5,
        "winner",
        "network, system, model, job, room",
        "a Strategy, or None if none fits",
    ),
    Task(
        "2.12",
        "a stage of a pipeline",
        0.5,
        "stage_load",
        "model, job, strategy, stage, state",
        "StageLoad(sent, state, kept, logits)",
    ),
)
