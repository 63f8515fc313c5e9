"""Cases of notebook 5: integers by recipe; what is right the judge computes with numpy.

Networks for tasks 5.5 and 5.7 are quantized here, by fractions and int64.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from autograder.authoring.derived import CaseData, in_parts
from lab_utils.labs.hw5.judge.exact import (
    accumulated,
    fixed_point_of,
    int_arrays,
    integers,
    layer_out,
    max_scale,
    nearest,
    reals,
)

Recipe = dict[str, Any]
_HIDDEN = 900  # seeds above it are those of hidden cases
_EARLIER = [[100.0, 0.002], [50.0, 0.01]]


def public() -> dict[str, list[CaseData]]:
    """By task, what students have."""
    return {
        "5.1": [
            _case("the first layer", **_scales(4.0, 127.0, 100.0, [])),
            _case("the second layer", **_scales(10.0, 127.0, 200.0, [[100.0, 0.0025]])),
            _case("the third layer", **_scales(2.5, 127.0, 80.0, _EARLIER)),
        ],
        "5.2": [
            _case("a half", multiplier=0.5),
            _case("0.0025", multiplier=0.0025),
            _case("more than 1", multiplier=3.0),
        ],
        "5.3": [
            _case("seven sums, by an eighth", **_acc([-20, -9, -3, 0, 3, 9, 20], 2**30, 33)),
            _case("large sums", **_acc([1_000_000, -40_000, 123_456], 1_700_000_000, 43)),
            _case("beyond int8", **_acc([100_000, 1_000, -100_000], 2**30, 36)),
            _case("a hair below a half", **_acc([2**30 - 13, 2**30], 2**30 + 13, 61)),
        ],
        "5.4": [
            _case("a linear layer", **_linear(2, 3, 2, 31, bias=False)),
            _case("400 products of 127 x 127", **_full(400, 2)),
            _case("a convolution with padding", **_conv([2, 1, 4, 4], [2, 1, 3, 3], 1, 32)),
        ],
        "5.5": [
            _network(
                "a linear layer, then another", 41, [_fc(3, 4), _fc(2, 3, relu=False)], [2, 4]
            ),
            _network("a convolution, then a linear layer", 42, _convs(), [2, 1, 6, 6]),
        ],
        "5.6": [
            _case("the first layer", bias=_real([3], 51, 0.3), **_bias_scales(127.0, 100.0, [])),
            _case(
                "the third layer", bias=_real([4], 52, 0.2), **_bias_scales(127.0, 80.0, _EARLIER)
            ),
            _case(
                "beyond int32",
                bias={"shape": [2], "values": [3.0, -0.5]},
                **_bias_scales(127.0, 1e7, []),
            ),
        ],
        "5.7": [
            _biased("two linear layers", 61, [_fc(3, 4), _fc(2, 3, relu=False)]),
            _biased("a convolution, then a linear layer", 62, _convs()),
        ],
    }


def hidden() -> dict[str, list[CaseData]]:
    """By task, what decides."""
    names = ("two layers", "three layers", "four layers", "five layers", "deep", "deeper")
    counts = range(1, 7)
    return {
        "5.1": [
            in_parts(
                name, [_part(**_some_scales(950 + n, n)), _part(**_some_scales(970 + n, n + 1))]
            )
            for name, n in zip(names[:5], counts, strict=False)
        ]
        + [
            in_parts(
                "nothing but 0 comes out",
                [_part(**_scales(0.0, 127.0, 90.0, _EARLIER)), _part(**_some_scales(990, 3))],
            )
        ],
        "5.2": [
            in_parts("below 1", [_part(multiplier=m) for m in (0.3, 0.0071, 0.9)]),
            in_parts("far below 1", [_part(multiplier=m) for m in (3.3e-5, 7.7e-7, 1.1e-3)]),
            in_parts("above 1", [_part(multiplier=m) for m in (1.7, 40.3, 0.7)]),
            in_parts("powers of two", [_part(multiplier=m) for m in (2**-9, 1.0, 0.61)]),
            in_parts("all bits set", [_part(multiplier=m) for m in (1 - 2**-40, 0.0123)]),
            in_parts("of all sizes", [_part(multiplier=m) for m in (0.017, 2.9, 5e-4, 0.25)]),
        ],
        "5.3": [
            in_parts(name, [_part(**_spread(s)), _part(**_halves(s)), _part(**_hair(s))])
            for name, s in zip(
                ("small M", "a batch", "scores", "both signs", "large sums", "wide"),
                range(1, 7),
                strict=True,
            )
        ],
        "5.4": [
            in_parts(
                "512 channels of 3 x 3", [_part(**_full(4608, 1)), _part(**_linear(3, 9, 4, 981))]
            ),
            in_parts(
                "a convolution with padding",
                [_part(**_conv([2, 3, 6, 5], [4, 3, 3, 3], 1, 982)), _part(**_full(1153, 2))],
            ),
            in_parts(
                "5 x 5, padding 2",
                [_part(**_conv([1, 2, 7, 7], [3, 2, 5, 5], 2, 983)), _part(**_full(2001, 1))],
            ),
            in_parts(
                "no padding",
                [_part(**_conv([3, 2, 6, 6], [2, 2, 3, 3], 0, 984)), _part(**_full(1900, 3))],
            ),
            in_parts(
                "linear layers",
                [
                    _part(**_linear(4, 30, 6, 985)),
                    _part(**_conv([1, 1, 5, 5], [1, 1, 3, 3], 1, 986)),
                ],
            ),
            in_parts(
                "one image, one output",
                [_part(**_full(3000, 1)), _part(**_conv([1, 4, 3, 3], [1, 4, 3, 3], 1, 987))],
            ),
        ],
        "5.5": [
            _network(
                "small sums, then large ones",
                941,
                [_fc(6, 8), _fc(5, 6), _fc(3, 5, relu=False)],
                [4, 8],
                top=2,
            ),
            _network("a convolution", 942, _convs(3, 5), [3, 1, 6, 6]),
            _network("two convolutions", 943, _two_convs(), [2, 2, 10, 10]),
            _network("with biases", 944, _two_convs(), [3, 2, 10, 10], bias=True),
            _network("an odd size", 945, _odd(), [2, 1, 9, 9], bias=True),
            _network("wide", 946, [_fc(20, 40), _fc(4, 20, relu=False)], [5, 40], bias=True),
        ],
        "5.6": [
            in_parts(
                name,
                [
                    _part(bias=_real([5], 930 + n, 0.4), **_some_bias(950 + n, n)),
                    _part(bias=_real([3], 940 + n, 30.0), **_some_bias(970 + n, n + 1)),
                    *(
                        [
                            _part(
                                bias={"shape": [3], "values": [40.0, -90.5, 0.3]},
                                **_bias_scales(127.0, 2e6 * n, []),
                            )
                        ]
                        if n % 2
                        else []
                    ),
                ],
            )
            for name, n in zip(names, counts, strict=True)
        ],
        "5.7": [
            _biased("three linear layers", 951, [_fc(6, 8), _fc(5, 6), _fc(3, 5, relu=False)]),
            _biased("a convolution", 952, _convs(3, 5)),
            _biased("two convolutions", 953, _two_convs()),
            _biased("an odd size", 954, _odd()),
            _biased("wide", 955, [_fc(12, 20), _fc(4, 12, relu=False)]),
            _biased("four layers", 956, [_fc(4, 5), _fc(4, 4), _fc(4, 4), _fc(2, 4, relu=False)]),
        ],
    }


def _case(name: str, **given: Any) -> CaseData:
    return {"name": name, "given": given, "wanted": {}}


def _part(**given: Any) -> CaseData:
    return _case("", **given)


def _bias_scales(input_scale: float, weight_scale: float, earlier: Any) -> dict[str, Any]:
    return {"input_scale": input_scale, "weight_scale": weight_scale, "earlier": earlier}


def _scales(
    largest: float, input_scale: float, weight_scale: float, earlier: Any
) -> dict[str, Any]:
    return {"largest": largest, **_bias_scales(input_scale, weight_scale, earlier)}


def _some_bias(seed: int, layers: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    earlier = [
        [round(float(rng.uniform(30, 600)), 3), round(float(rng.uniform(0.0005, 0.009)), 7)]
        for _ in range(layers)
    ]
    return _bias_scales(127.0 if seed % 2 else 61.5, round(float(rng.uniform(40, 400)), 3), earlier)


def _some_scales(seed: int, layers: int) -> dict[str, Any]:
    largest = round(float(np.random.default_rng(seed + 1).uniform(0.7, 30)), 3)
    return {"largest": largest, **_some_bias(seed, layers)}


def _int(
    shape: list[int], seed: int, low: int = -128, high: int = 127, dtype: str = "int8"
) -> Recipe:
    return {"shape": shape, "seed": seed, "low": low, "high": high, "dtype": dtype}


def _real(shape: list[int], seed: int, sigma: float) -> Recipe:
    return {"shape": shape, "seed": seed, "mean": 0.0, "sigma": sigma}


def _acc(values: list[int], m0: int, shift: int) -> dict[str, Any]:
    acc = {"shape": [len(values)], "values": values, "dtype": "int32"}
    return {"acc": acc, "m0": m0, "shift": shift}


def _spread(seed: int) -> dict[str, Any]:
    """Sums of both signs, of which some go beyond int8."""
    top = 40_000 * seed
    m0, shift = fixed_point_of(Fraction(180, top))
    return {"acc": _int([2, 3, 4, 4], 960 + seed, -top, top, "int32"), "m0": m0, "shift": shift}


def _halves(seed: int) -> dict[str, Any]:
    """By a power of two: many lie just in the middle."""
    return {"acc": _int([20], 990 + seed, -300, 300, "int32"), "m0": 2**30, "shift": 31 + seed % 2}


def _hair(seed: int) -> dict[str, Any]:
    """A product below the middle by less than a double of 53 bits can tell: 2**60 - s**2."""
    s = 2 * seed - 1
    acc = [2**30 - s, -(2**30 - s), 2**31 - 1, -(2**31), 12_345]
    return _acc(acc, 2**30 + s, 61)


def _linear(n: int, inputs: int, outputs: int, seed: int, bias: bool = True) -> dict[str, Any]:
    layer = {
        "name": "fc",
        "weight": _int([outputs, inputs], seed + 100),
        "bias": _int([outputs], seed + 200, -9000, 9000, "int32") if bias else None,
        "m0": 2**30,
        "shift": 40,
    }
    return {"x": _int([n, inputs], seed), "layer": layer}


def _full(many: int, outputs: int) -> dict[str, Any]:
    """The largest sums that there can be, but for one odd product: a float cannot hold them."""
    layer = {
        "name": "fc",
        "weight": {"shape": [outputs, many], "fill": 127, "dtype": "int8", "set": {"0": 126}},
        "bias": None,
        "m0": 2**30,
        "shift": 40,
    }
    x = {"shape": [1, many], "fill": 127, "dtype": "int8", "set": {"1": 125}}
    return {"x": x, "layer": layer}


def _conv(shape: list[int], weight: list[int], padding: int, seed: int) -> dict[str, Any]:
    layer = {
        "name": "conv",
        "weight": _int(weight, seed + 100),
        "bias": _int(weight[:1], seed + 200, -9000, 9000, "int32"),
        "m0": 2**30,
        "shift": 40,
        "padding": padding,
    }
    return {"x": _int(shape, seed), "layer": layer}


def _fc(outputs: int, inputs: int, relu: bool = True) -> dict[str, Any]:
    return {"shape": [outputs, inputs], "relu": relu, "pool": False, "padding": 0}


def _convs(channels: int = 2, outputs: int = 3) -> list[dict[str, Any]]:
    first = {"shape": [channels, 1, 3, 3], "relu": True, "pool": True, "padding": 1}
    return [first, _fc(outputs, channels * 9, relu=False)]


def _two_convs() -> list[dict[str, Any]]:
    return [
        {"shape": [3, 2, 3, 3], "relu": True, "pool": True, "padding": 1},
        {"shape": [4, 3, 2, 2], "relu": True, "pool": True, "padding": 0},
        _fc(5, 16),
        _fc(3, 5, relu=False),
    ]


def _odd() -> list[dict[str, Any]]:
    """Nine by nine: a row and a column are left over when it is pooled."""
    first = {"shape": [2, 1, 3, 3], "relu": True, "pool": True, "padding": 1}
    return [first, _fc(3, 32, relu=False)]


def _name(place: int, layer: dict[str, Any]) -> str:
    return f"{'conv' if len(layer['shape']) == 4 else 'fc'}{place + 1}"


def _network(
    name: str,
    seed: int,
    layers: list[dict[str, Any]],
    shape: list[int],
    bias: bool = False,
    top: int = 127,
) -> CaseData:
    """A network whose multipliers leave some outputs beyond int8.

    With weights and inputs up to ``top`` alone its first multiplier may be above 1.
    """
    x, made = _int(shape, seed, -top - 1, top), []
    values = integers(x)
    for place, layer in enumerate(layers):
        rest = {key: value for key, value in layer.items() if key != "shape"}
        fan_in = prod(layer["shape"][1:])
        offset = _int(
            layer["shape"][:1], seed * 10 + place + 5, -2000 * fan_in, 2000 * fan_in, "int32"
        )
        one: dict[str, Any] = {
            "name": _name(place, layer),
            "weight": _int(layer["shape"], seed * 10 + place, -top, top),
            "bias": offset if bias else None,
            **rest,
        }
        arrays = int_arrays({**one, "m0": 1, "shift": 0})
        flat = values.reshape(len(values), -1) if arrays["weight"].ndim == 2 else values
        acc = accumulated(flat, arrays["weight"], arrays["bias"], arrays["padding"])
        m0, shift = fixed_point_of(Fraction(160, int(np.abs(acc).max())))
        made.append({**one, "m0": m0, "shift": shift})
        values = layer_out(int_arrays(made[-1]), values)
    return _case(name, layers=made, x=x)


def _biased(name: str, seed: int, layers: list[dict[str, Any]]) -> CaseData:
    """Real layers with large biases, their weights in int8, and the largest magnitudes."""
    rng = np.random.default_rng(seed)
    made, weights, largest = [], [], [1.0]
    for place, layer in enumerate(layers):
        rest = {key: value for key, value in layer.items() if key != "shape"}
        fan_in = prod(layer["shape"][1:])
        weight = _real(layer["shape"], seed * 10 + place, float((2 / fan_in) ** 0.5))
        scale = round(max_scale(reals(weight)), 4)
        whole = nearest(reals(weight), scale)
        bias = _real(layer["shape"][:1], seed * 10 + place + 5, 3.0)
        made.append({"name": _name(place, layer), "weight": weight, "bias": bias, **rest})
        recipe = {"shape": layer["shape"], "values": whole.reshape(-1).tolist(), "dtype": "int8"}
        weights.append([recipe, scale])
        largest.append(round(float(rng.uniform(3, 12)), 4))
    if seed % 2:
        largest[0] = 0.8
    elif seed > _HIDDEN:  # no scale of the input is 127 there
        largest[0] = 1.6
    return _case(name, layers=made, weights=weights, largest=largest)
