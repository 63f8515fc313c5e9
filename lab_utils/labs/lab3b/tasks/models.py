"""Tasks of notebook 3, models of memory and time."""

from __future__ import annotations

from lab_utils.kit.task import Task

#: What the notebook imports, by the module that has it.
NAMES = {
    **dict.fromkeys(("ALL_REDUCES", "CLUSTER", "GPT_JOB", "MIB", "TABLE"), ".h100"),
    **dict.fromkeys(("memory_beside", "time_beside"), ".reality"),
    "room": ".card_room",
}

TASKS: tuple[Task, ...] = (
    Task(
        "3.1",
        "parameters of a rank",
        0.5,
        "rank_parameters",
        "model, tp, pp",
        "a list: for each stage, the parameters of one of its ranks",
    ),
    Task(
        "3.2",
        "what a layer keeps",
        0.75,
        "layer_bytes",
        "model, tokens, batch, dtype, plan",
        "a number of bytes",
    ),
    Task(
        "3.3",
        "the peak of a rank",
        0.5,
        "peak_memory",
        "model, job, plan",
        "a list: for each stage, Memory(state, kept, logits)",
    ),
    Task(
        "3.4",
        "FLOPs of a rank",
        0.25,
        "rank_work",
        "model, job, plan",
        "a list: for each stage, Work(dense, attention)",
    ),
    Task(
        "3.5",
        "the time of a step",
        0.5,
        "step_time",
        "model, job, plan, cluster",
        "a number of seconds",
    ),
    Task(
        "3.6",
        "the best plan",
        0.5,
        "best_plan",
        "model, job, cluster",
        "a Plan, or None if none fits",
    ),
    Task(
        "3.7",
        "the largest model",
        0.25,
        "largest_model",
        "model, job, cluster, step",
        "(layers, plan), or None if none fits",
    ),
    Task(
        "3.8",
        "a file for Megatron",
        0.25,
        "megatron_yaml",
        "plan, job",
        "the text of a YAML file",
    ),
    Task(
        "3.9",
        "the ideal speed-up",
        0.25,
        "ideal_speedup",
        "dp, pp, micro_batches",
        "a number",
    ),
)
