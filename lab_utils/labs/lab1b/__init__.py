"""Lab 1B, fusion, tiling, data types: what the kit knows of it."""

from __future__ import annotations

from lab_utils.kit.lab import Lab
from lab_utils.kit.task import Task
from lab_utils.labs.lab1b.tables import FILES

LAB = Lab(
    home=__name__,
    noun="case",
    packages=("graphs",),  # torch, for the tiny model of notebook 2
    tasks=(
        Task(
            "1.1",
            "what a fused model still moves",
            1.5,
            "traffic",
            "ops, nbytes, groups",
            "bytes read and written by each operator",
        ),
        Task(
            "1.2",
            "the time of a model",
            0.5,
            "model_time",
            "ops, moved, rate, bandwidth",
            "a number of seconds",
        ),
        Task(
            "1.3",
            "the fewest fusions with the full gain",
            1.5,
            "fewest_fusions",
            "arrows, time",
            "a list of arrows",
        ),
        Task(
            "2.1",
            "one operand stays",
            1.5,
            "stationary",
            "keep, shape, tiles",
            "four numbers of elements: A read, B read, C read, C written",
        ),
        Task("2.2", "a better order", 1, "tile_order", "tm, tn, tk", "a list of steps (m, n, k)"),
        Task("2.3", "the best order", 1, "tile_order", "tm, tn, tk", "a list of steps (m, n, k)"),
        Task(
            "2.4",
            "tiles that fit",
            0.5,
            "best_tiles",
            "m, n, k, budget",
            "the sizes of a tile: three numbers that divide m, n and k",
        ),
        Task(
            "2.5",
            "smaller numbers, less time",
            0.5,
            "gemm_times",
            "shape, stored, computed, rates, bandwidth",
            "two numbers of seconds: compute and memory",
        ),
        Task(
            "2.6",
            "a weight in 8 bits",
            0.5,
            "quantize",
            "weight",
            "whole numbers as large as the weight, and a scale for each row",
        ),
    ),
    files=FILES,
    names={
        "Op": ".models",
        "COLUMNS": ".tables",
        "write_fusion": ".tables",
        "write_tiling": ".tables",
        "write_types": ".tables",
        "course_chain": ".models",
        "transformer_layer": ".models",
        "arrows_of": ".models",
        "groups_of": ".models",
        "fusion_film": ".fusion_picture",
        "attention_chart": ".flash",
        "curves": ".flash",
        "tiny_language_model": ".language",
    },
)
check, public_cases, __getattr__ = LAB.check, LAB.public_cases, LAB.named
