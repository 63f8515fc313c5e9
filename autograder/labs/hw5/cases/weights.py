"""Cases of notebook 4: tensors by recipe; what is right the judge computes with numpy."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from autograder.authoring.derived import CaseData, in_parts

Recipe = dict[str, Any]


def public() -> dict[str, list[CaseData]]:
    """By task, what students have."""
    six = _values([2, 3], [-0.5, 0.25, 0.0, 0.1, 0.75, -1.0])
    return {
        "4.1": [
            _case("six weights", weight=six),
            _case("a layer with an outlier", weight=_normal([5, 6], 11, 0.8, 0.1, {"7": -0.6})),
            _case("all equal", weight={"shape": [3, 3], "fill": 0.25}),
        ],
        "4.2": [
            _case("six weights, 3 bits", weight=six, limit=0.75, bits=3),
            _case("8 bits", weight=_normal([20, 20], 12, 0, 1), limit=2.5, bits=8),
            _case("4 bits", weight=_normal([20, 20], 12, 0, 1), limit=2.5, bits=4),
        ],
        "4.3": [
            _case("six numbers", values=six, scale=100.0),
            _case(
                "beyond int8", values=_values([5], [-3.0, -1.28, 0.007, 1.274, 3.0]), scale=100.0
            ),
            _case("an image", values=_normal([1, 4, 4], 13, 0, 1), scale=60.0),
        ],
        "4.5": [
            _case("six weights", weight=six),
            _case("a convolution", weight=_normal([3, 2, 3, 3], 14, -0.1, 0.2)),
            _case("all 0", weight={"shape": [2, 4], "fill": 0.0}),
        ],
        "4.6": [
            _case("a layer with an outlier", weight=_normal([8, 8], 15, 0.1, 0.2, {"9": 3.0})),
            _case("no outlier at all", weight=six),
        ],
        "4.7": [
            _case("six weights, 8 bits", weight=six, bits=8),
            _case("six weights, 4 bits", weight=six, bits=4),
            _case("a convolution, 2 bits", weight=_normal([3, 2, 3, 3], 16, 0, 0.3), bits=2),
        ],
        "4.8": [
            _profile("two layers, one batch", 21, _dense(4, 3, 2), [6, 4], 6, training=False),
            _profile("a convolution, three batches", 22, _small(), [7, 1, 6, 6], 3, training=True),
        ],
        "4.9": [
            _profile("two layers", 23, _dense(4, 3, 2), [6, 4], 4, training=False),
            _profile("a network in training", 24, _small(), [5, 1, 6, 6], 2, training=True),
        ],
        "4.10": [
            _profile("two layers, ten batches", 25, _dense(40, 30, 50), [1600, 40], 160, False),
            _profile("in training, twenty batches", 26, _dense(40, 60), [3200, 40], 160, True),
        ],
    }


def hidden() -> dict[str, list[CaseData]]:
    """By task, what decides: each case has a corner for every mistake that we know."""
    seeds = range(901, 907)
    names = ("a convolution", "a linear layer", "few outputs", "many", "small weights", "large")
    return {
        "4.1": [
            in_parts(
                name,
                [
                    _part(weight=_normal([4, 6], s, 1.0, 0.1, {"5": -0.6})),
                    _part(weight=_normal([3, 2, 3, 3], s + 50, -0.4 * s / 900, 0.2, {"1": 2.0})),
                    _part(weight={"shape": [2, s % 5 + 2], "fill": -0.125 * (s % 3)}),
                    _part(weight=_normal([20, 10], s + 70, 0.2, 1, {"3": 3.8, "8": -2.4})),
                ],
            )
            for name, s in zip(names, seeds, strict=True)
        ],
        "4.2": [
            in_parts(
                name,
                [
                    _part(
                        weight=_normal([300], s, 0.1, 1, {"0": 0.0, "1": 1.5}), limit=1.5, bits=4
                    ),
                    _part(
                        weight=_normal([40, 20], s + 50, 0, 2, {"2": 0.0}), limit=s / 300, bits=3
                    ),
                    _part(weight=_normal([9, 9], s + 70, 0, 1), limit=0.75, bits=8),
                ],
            )
            for name, s in zip(names, seeds, strict=True)
        ],
        "4.3": [
            in_parts(
                name,
                [
                    _part(values=_normal([3, 7], s, 0, 1, {"0": 5.0, "1": -5.0}), scale=s / 15),
                    _part(values=_normal([2, 1, 3, 3], s + 50, 0, 0.02), scale=1900.5 + s),
                    _part(values=_normal([11], s + 70, 0, 40, dtype="float64"), scale=0.75),
                ],
            )
            for name, s in zip(names, seeds, strict=True)
        ],
        "4.5": [
            in_parts(
                name,
                [
                    _part(weight=_normal([4, 5], s, 0, 0.3, {"3": -1.7})),
                    _part(weight=_normal([2, 3, 3, 3], s + 50, 0.1, 0.02 * (s - 899))),
                    _part(weight={"shape": [s % 4 + 1, 3], "fill": 0.0})
                    if s % 2
                    else _part(weight=_normal([6], s + 70, 0, 9, dtype="float64")),
                ],
            )
            for name, s in zip(names, seeds, strict=True)
        ],
        "4.6": [
            in_parts(
                name,
                [
                    _part(weight=_normal([6, 7], s, 0.3, 0.1, {"3": -4.0, "8": 3.5})),
                    _part(weight=_normal([2, 3, 4, 4], s + 50, -0.2, 0.05, {"30": 2.0})),
                    _part(weight={"shape": [5, 4], "seed": s, "low": -9, "high": 7}),
                    *([_part(weight={"shape": [3, s % 4 + 1], "fill": 0.0})] if s % 2 else []),
                ],
            )
            for name, s in zip(names, seeds, strict=True)
        ],
        "4.7": [
            in_parts(
                name,
                [
                    _part(weight=_normal([4, 6], s, 0, 0.3, {"3": -2.0, "9": 9.0}), bits=4),
                    _part(weight=_normal([3, 2, 3, 3], s + 50, 0, 1, {"20": -6.0}), bits=2 + s % 4),
                    _part(weight=_values([3, 2], [0, 0, -3.5, 1, 0.25, s / 1000]), bits=8),
                ],
            )
            for name, s in zip(names, seeds, strict=True)
        ],
        "4.8": [
            _profile("three layers", 911, _dense(6, 5, 4, 3), [11, 6], 4, training=True),
            _profile("a convolution", 912, _small(2, 3), [9, 1, 6, 6], 4, training=True),
            _profile("one image a batch", 913, _small(3, 4), [5, 1, 8, 8], 1, training=False),
            _profile("two convolutions", 914, _deep(), [8, 2, 8, 8], 3, training=True),
            _profile("small numbers", 915, _dense(20, 30, 2), [13, 20], 6, False, times=0.01),
            _profile("a network of one layer", 916, _dense(5, 4), [9, 5], 2, training=True),
        ],
        "4.9": [
            _profile("three layers", 921, _dense(6, 5, 4, 3), [11, 6], 4, training=True),
            _profile("a convolution", 922, _small(2, 3), [9, 1, 6, 6], 4, training=True),
            _profile("two convolutions", 923, _deep(), [8, 2, 8, 8], 3, training=True),
            _profile("a network of one layer", 924, _dense(5, 4), [9, 5], 2, training=True),
        ],
        "4.10": [
            _profile("two layers", 932, _dense(50, 40, 30), [1920, 50], 160, training=True),
            _profile("three layers", 933, _dense(30, 60, 45, 35), [2880, 30], 240, training=False),
            _profile("many batches", 934, _dense(25, 30), [6000, 25], 200, training=True),
            _profile("a convolution", 935, _small(2, 20), [3600, 1, 6, 6], 240, training=True),
        ],
    }


def _values(shape: list[int], values: list[float]) -> Recipe:
    return {"shape": shape, "values": values}


def _normal(
    shape: list[int],
    seed: int,
    mean: float,
    sigma: float,
    single: dict[str, float] | None = None,
    dtype: str = "float32",
) -> Recipe:
    recipe = {"shape": shape, "seed": seed, "mean": mean, "sigma": sigma, "dtype": dtype}
    return recipe | ({"set": single} if single else {})


def _part(**given: Any) -> CaseData:
    return {"name": "", "given": given, "wanted": {}}


def _case(name: str, **given: Any) -> CaseData:
    return {"name": name, "given": given, "wanted": {}}


def _dense(*sizes: int) -> list[dict[str, Any]]:
    """Linear layers from size to size; the last has no ReLU."""
    return [
        {"name": f"fc{place + 1}", "shape": [b, a], "relu": place < len(sizes) - 2}
        for place, (a, b) in enumerate(pairwise(sizes))
    ]


def _small(channels: int = 2, outputs: int = 3) -> list[dict[str, Any]]:
    """A convolution with pooling, then a linear layer, for one channel of 6 x 6 (or 8 x 8)."""
    side = 3 if channels < 3 else 4
    return [
        {"name": "conv1", "shape": [channels, 1, 3, 3], "padding": 1, "pool": True},
        {"name": "fc1", "shape": [outputs, channels * side * side], "relu": False},
    ]


def _deep() -> list[dict[str, Any]]:
    return [
        {"name": "conv1", "shape": [3, 2, 3, 3], "padding": 1, "pool": True},
        {"name": "conv2", "shape": [4, 3, 3, 3], "pool": False},
        {"name": "fc1", "shape": [5, 16], "relu": True},
        {"name": "fc2", "shape": [2, 5], "relu": False},
    ]


def _profile(
    name: str,
    seed: int,
    layers: list[dict[str, Any]],
    shape: list[int],
    batch: int,
    training: bool,
    times: float = 1.0,
) -> CaseData:
    """Images for a network; with ``times`` they and the biases are that much larger."""
    made = []
    for place, layer in enumerate(layers):
        fan_in = 1
        for size in layer["shape"][1:]:
            fan_in *= size
        rest = {key: value for key, value in layer.items() if key != "shape"}
        weight = _normal(layer["shape"], seed * 10 + place, 0.05, (2 / fan_in) ** 0.5)
        bias = _normal(layer["shape"][:1], seed * 10 + place + 5, 0, 0.3 * times)
        made.append({**rest, "weight": weight, "bias": bias})
    # The largest magnitude of what enters is a negative one.
    images = _normal(shape, seed, -0.2 * times, 0.7 * times, {"1": -4.0 * times})
    given = {"layers": made, "images": images, "batch": batch, "training": training}
    return {"name": name, "given": given, "wanted": {}}
