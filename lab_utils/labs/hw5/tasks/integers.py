"""Tasks of notebook 5, a network in integers: questions 4 and 5 of part B."""

from __future__ import annotations

from lab_utils.kit.task import Task

_SCALES = "input_scale, weight_scale, earlier"

TASKS: tuple[Task, ...] = (
    Task(
        "5.1",
        "back to eight bits",
        3,
        "output_multiplier",
        f"largest, {_SCALES}",
        "a number: the multiplier M",
    ),
    Task(
        "5.2",
        "a real number as two integers",
        1.5,
        "fixed_point",
        "multiplier",
        "two integers: m0 and shift",
    ),
    Task("5.3", "multiply and shift", 1.5, "requantize", "acc, m0, shift", "an int8 tensor"),
    Task("5.4", "products in 32 bits", 2, "accumulate", "x, layer", "an int32 tensor"),
    Task(
        "5.5",
        "the whole network",
        2,
        "integer_forward",
        "layers, x",
        "a list of int8 tensors, one for each layer",
    ),
    Task("5.6", "biases", 5, "quantized_bias", f"bias, {_SCALES}", "an int32 tensor"),
    Task(
        "5.7",
        "a network with biases, in integers",
        3,
        "integer_net",
        "layers, weights, largest",
        "a list of IntLayer, one for each layer",
    ),
)
NAMES = {
    "IntLayer": ".network",
    "int8_pixels": ".network",
    "right_share": ".network",
    "lenet_int8": ".network",
    "bits_curve": ".bits_chart",
    "layer_work": ".on_the_roof",
    "roof_of": ".on_the_roof",
}
"""What notebook 5 imports beyond notebook 4's names, by module."""
