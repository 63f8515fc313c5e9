"""Tasks of notebook 4, weights and what enters the layers: questions 1 to 3 of part B."""

from __future__ import annotations

from lab_utils.kit.task import Task

_PAIR = "an int8 tensor as large as the weight, and a scale"

TASKS: tuple[Task, ...] = (
    Task("4.1", "the range of a layer", 5, "weight_range", "weight", "a WeightRange"),
    Task(
        "4.2",
        "what a range loses",
        3,
        "lost",
        "weight, limit, bits",
        "two counts: weights that saturate, weights that become 0",
    ),
    Task("4.3", "from real to int8", 3, "quantized", "values, scale", "an int8 tensor"),
    Task("4.5", "weights in int8", 2, "quantized_weights", "weight", _PAIR),
    Task("4.6", "the 3-sigma range", 2, "clipped_weights", "weight", _PAIR),
    Task(
        "4.7",
        "a scale for each output",
        3,
        "channel_weights",
        "weight, bits",
        "an int8 tensor as large as the weight, and a scale for each output",
    ),
    Task(
        "4.8",
        "what enters each layer",
        4,
        "profile",
        "net, batches",
        "a dict with a Seen for each layer, and for 'output'",
    ),
    Task(
        "4.9",
        "a network as you found it",
        2,
        "profile",
        "net, batches",
        "a dict with a Seen for each layer, and for 'output'",
    ),
    Task(
        "4.10",
        "nothing is kept",
        2,
        "profile",
        "net, batches",
        "a dict with a Seen for each layer, and for 'output'",
    ),
)
NAMES = {
    "WeightRange": ".records",
    "Seen": ".records",
    "CLASSES": ".images",
    "load_images": ".images",
    "lenet": ".network",
    "lenet_layers": ".network",
    "float_pixels": ".network",
    "accuracy": ".network",
    "clipping_film": ".clipping",
}
"""What notebook 4 imports, by module."""
