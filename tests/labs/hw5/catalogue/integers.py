"""Wrong and right cells of notebook 5, a network in integers."""

from __future__ import annotations

from functools import partial

from lab_utils.labs.hw5 import LAB
from tests.support.catalogue import Cell
from tests.support.catalogue import cell as any_cell

cell = partial(any_cell, LAB)

MULTIPLIER = """\
carried = input_scale
for scale, multiplier in earlier:
    carried *= scale * multiplier
wanted = 127 / largest if largest else 1.0
return wanted / (carried * weight_scale)
"""
FIXED = """\
shift = 31
while multiplier * 2**shift >= 2**31:
    shift -= 1
while multiplier * 2**shift < 2**30:
    shift += 1
m0 = round(multiplier * 2**shift)
return (m0 // 2, shift - 1) if m0 == 2**31 else (m0, shift)
"""
REQUANTIZE = """\
product = acc.long() * m0 + (1 << (shift - 1))
return (product >> shift).clamp(-128, 127).to(torch.int8)
"""
ACCUMULATE = """\
x, weight = x.int(), layer.weight.int()
if weight.dim() == 4:
    return F.conv2d(x, weight, layer.bias, padding=layer.padding)
return F.linear(x, weight, layer.bias)
"""
FORWARD = """\
outputs = []
for layer in layers:
    if layer.weight.dim() == 2:
        x = x.flatten(1)
    acc = accumulate(x, layer)
    if layer.relu:
        acc = acc.clamp(min=0)
    if layer.pool:
        acc = F.max_pool2d(acc, 2)
    x = requantize(acc, layer.m0, layer.shift)
    outputs.append(x)
return outputs
"""
BIAS = """\
scale = input_scale * weight_scale
for weight, multiplier in earlier:
    scale *= weight * multiplier
return torch.round(bias.double() * scale).clamp(-(2**31), 2**31 - 1).to(torch.int32)
"""
NET = """\
input_scale, earlier, made = 127 / largest[0], [], []
for layer, (whole, scale), reached in zip(layers, weights, largest[1:]):
    bias = quantized_bias(layer.bias, input_scale, scale, earlier)
    m = output_multiplier(reached, input_scale, scale, earlier)
    m0, shift = fixed_point(m)
    made.append(
        IntLayer(layer.name, whole, bias, m0, shift, layer.padding, layer.relu, layer.pool)
    )
    earlier.append((scale, m))
return made
"""

WRONG: list[Cell] = [
    cell("5.1", "255 steps", MULTIPLIER.replace("127", "255"), "half of your range is empty"),
    cell("5.1", "128 steps", MULTIPLIER.replace("127", "128"), "128 at the maximum"),
    cell(
        "5.1",
        "earlier left out",
        "return (127 / largest if largest else 1.0) / (input_scale * weight_scale)",
        "what the layers before have multiplied",
    ),
    cell("5.1", "the output scale", "return 127 / largest if largest else 1.0", "counted twice"),
    cell("5.1", "only weights", MULTIPLIER.replace(" * multiplier", ""), "multiplied twice"),
    cell("5.1", "inverse", MULTIPLIER.replace("return ", "return 1 / (").rstrip() + ")", "inverse"),
    cell("5.1", "multiplied", MULTIPLIER.replace("wanted /", "wanted *"), "do not multiply"),
    cell(
        "5.1",
        "only the last one",
        MULTIPLIER.replace("in earlier:", "in earlier[-1:]:"),
        "all of them have multiplied",
    ),
    cell("5.2", "cut off", FIXED.replace("round(", "int("), "cut off"),
    cell("5.2", "32 bits", FIXED.replace("2**31", "2**32").replace("2**30", "2**31"), "int32"),
    cell("5.2", "always 31", "return round(multiplier * 2**31), 31", "31"),
    cell(
        "5.2",
        "negative shifts",
        FIXED.replace("shift - 1) if", "1 - shift) if").replace("(m0, shift)", "(m0, -shift)"),
        "counted as positive",
    ),
    cell("5.2", "eight bits", FIXED.replace("2**31", "2**8").replace("2**30", "2**7"), "few bits"),
    cell(
        "5.2",
        "beyond the first 31",
        FIXED.replace("shift - 1) if", "shift - 32) if").replace("(m0, shift)", "(m0, shift - 31)"),
        "beyond the first 31",
    ),
    cell("5.3", "rounds down", REQUANTIZE.replace(" + (1 << (shift - 1))", ""), "rounds down"),
    cell("5.3", "no clamp", REQUANTIZE.replace(".clamp(-128, 127)", ""), "wrapped around"),
    cell("5.3", "32 bits", REQUANTIZE.replace("acc.long() * m0", "(acc * m0).long()"), "need 63"),
    cell(
        "5.3",
        "floats",
        "return torch.floor(acc.double() * m0 / 2**shift + 0.5).clamp(-128, 127).to(torch.int8)",
        "a hair from the middle",
    ),
    cell(
        "5.3",
        "half to even",
        "x = acc.double() * (m0 / 2**shift)\nreturn x.round().clamp(-128, 127).to(torch.int8)",
        "the larger one",
    ),
    cell("5.3", "int32", REQUANTIZE.replace("torch.int8", "torch.int32"), "int8"),
    cell("5.4", "in int8", ACCUMULATE.replace(".int()", ""), "without a word"),
    cell(
        "5.4",
        "in int8, then int32",
        """\
weight, bias = layer.weight, layer.bias
if weight.dim() == 4:
    out = F.conv2d(x, weight, padding=layer.padding).int()
    return out if bias is None else out + bias[:, None, None]
return F.linear(x, weight).int() + (0 if bias is None else bias)
""",
        "The accumulator wrapped",
    ),
    cell(
        "5.4",
        "floats",
        """\
x, weight = x.float(), layer.weight.float()
bias = None if layer.bias is None else layer.bias.float()
if weight.dim() == 4:
    return F.conv2d(x, weight, bias, padding=layer.padding)
return F.linear(x, weight, bias)
""",
        "16,777,216",
    ),
    cell(
        "5.4",
        "floats, then int32",
        """\
x, weight = x.float(), layer.weight.float()
bias = None if layer.bias is None else layer.bias.float()
if weight.dim() == 4:
    return F.conv2d(x, weight, bias, padding=layer.padding).int()
return F.linear(x, weight, bias).int()
""",
        "summed in float32",
    ),
    cell("5.4", "no padding", ACCUMULATE.replace("=layer.padding", "=0"), "zeros go around"),
    cell("5.4", "no bias", ACCUMULATE.replace("layer.bias", "None"), "bias is missing"),
    cell("5.5", "ReLU everywhere", FORWARD.replace("if layer.relu", "if True"), "may be below 0"),
    cell("5.5", "no ReLU", FORWARD.replace("if layer.relu", "if False"), "becomes 0"),
    cell(
        "5.5",
        "every second number",
        FORWARD.replace("F.max_pool2d(acc, 2)", "acc[:, :, 1::2, 1::2]"),
        "the largest of each 2 x 2",
        "layer conv1 is the first that differs",
    ),
    cell("5.5", "the last alone", FORWARD.replace("return outputs", "return x"), "Return a list"),
    cell(
        "5.5",
        "no requantizing",
        FORWARD.replace("requantize(acc, layer.m0, layer.shift)", "acc.to(torch.int8)"),
        "requantize it",
        "is the first that differs",
    ),
    cell(
        "5.5",
        "off by one from layer 2 on",
        FORWARD.replace("outputs.append(x)", "x = x + 1 if outputs else x\n    outputs.append(x)"),
        "is the first that differs",
        "within 1",
    ),
    cell("5.6", "not scaled", BIAS.replace(" * scale)", ")"), "not scaled"),
    cell(
        "5.6",
        "a scale of its own",
        "return torch.round(bias * 127 / bias.abs().max()).to(torch.int32)",
        "scale of its own",
    ),
    cell(
        "5.6",
        "the weight scale",
        BIAS.replace("input_scale * w", "w").replace("scale *= weight * multiplier", "pass"),
        "weight alone",
    ),
    cell(
        "5.6",
        "earlier left out",
        BIAS.replace("scale *= weight * multiplier", "pass"),
        "layers before have multiplied",
    ),
    cell(
        "5.6",
        "cut off",
        BIAS.replace("torch.round(", "(").replace("* scale)", "* scale).trunc()"),
        "cut off",
    ),
    cell("5.6", "wraps", BIAS.replace(".clamp(-(2**31), 2**31 - 1)", ".long()"), "wrapped around"),
    cell("5.6", "int8", BIAS.replace("-(2**31), 2**31 - 1", "-128, 127"), "int8"),
    cell(
        "5.7",
        "bias on the output scale",
        NET.replace(
            "    m0, shift",
            "    bias = (layer.bias.double() * 127 / reached).round().int()\n    m0, shift",
        ),
        "added before requantization",
    ),
    cell(
        "5.7",
        "earlier left out",
        NET.replace("    earlier.append((scale, m))\n", ""),
        "what the layers before have multiplied",
        "fc2 is the first that differs",
    ),
    cell(
        "5.7", "the same range", NET.replace("largest[1:]", "largest"), "largest[0] is what enters"
    ),
    cell("5.7", "input of 127", NET.replace("127 / largest[0]", "127"), "another scale"),
    cell("5.7", "no bias", NET.replace("whole, bias, m0", "whole, None, m0"), "bias is missing"),
    cell(
        "5.7",
        "no padding",
        NET.replace("layer.padding, layer.relu, layer.pool", "0"),
        "hand all of them on",
    ),
]
RIGHT: list[Cell] = [
    cell(
        "5.1",
        "by logarithms of products",
        """\
import math
on_the_way = math.prod(w * m for w, m in earlier) * input_scale * weight_scale
return (127 / largest if largest > 0 else 1) / on_the_way
""",
    ),
    cell(
        "5.2",
        "by frexp",
        """\
import math
fraction, exponent = math.frexp(multiplier)
m0 = int(fraction * 2**31 + 0.5)
shift = 31 - exponent
if m0 == 2**31:
    m0, shift = 2**30, shift - 1
return [m0, shift]
""",
    ),
    cell("5.2", "step by step", FIXED),
    cell(
        "5.3",
        "number by number",
        """\
flat = [(int(a) * m0 + 2**shift // 2) // 2**shift for a in acc.flatten()]
flat = [max(-128, min(127, a)) for a in flat]
return torch.tensor(flat, dtype=torch.int8).reshape(acc.shape)
""",
    ),
    cell(
        "5.4",
        "in int64, by windows",
        """\
x, weight = x.long(), layer.weight.long()
if weight.dim() == 2:
    out = x @ weight.T
    return (out if layer.bias is None else out + layer.bias).int()
x = F.pad(x, [layer.padding] * 4)
windows = x.unfold(2, weight.shape[2], 1).unfold(3, weight.shape[3], 1)
out = torch.einsum("nchwij,ocij->nohw", windows, weight)
return (out if layer.bias is None else out + layer.bias[:, None, None]).int()
""",
    ),
    cell(
        "5.4",
        "in float64",
        """\
x, weight = x.double(), layer.weight.double()
bias = None if layer.bias is None else layer.bias.double()
if weight.dim() == 4:
    return F.conv2d(x, weight, bias, padding=layer.padding).round().int()
return F.linear(x, weight, bias).round().int()
""",
    ),
    cell(
        "5.5",
        "requantized first",
        """\
outputs = []
for layer in layers:
    x = x if layer.weight.dim() == 4 else x.flatten(1)
    x = requantize(accumulate(x, layer), layer.m0, layer.shift)
    x = x.int()
    if layer.pool:
        x = F.max_pool2d(x, 2)
    x = (F.relu(x) if layer.relu else x).to(torch.int8)
    outputs.append(x)
return outputs
""",
    ),
    cell(
        "5.6",
        "numpy",
        """\
import numpy as np
scale = input_scale * weight_scale * np.prod([w * m for w, m in earlier] or [1.0])
found = np.clip(np.rint(bias.numpy().astype(float) * scale), -(2.0**31), 2.0**31 - 1)
return torch.from_numpy(found.astype(np.int32))
""",
    ),
    cell(
        "5.7",
        "scales carried along",
        """\
made, carried = [], 127 / largest[0]
for layer, (whole, scale), reached in zip(layers, weights, largest[1:]):
    m0, shift = fixed_point((127 / reached) / (carried * scale))
    bias = (layer.bias.double() * carried * scale).round().int()
    rest = (layer.padding, layer.relu, layer.pool)
    made.append(IntLayer(layer.name, whole, bias, m0, shift, *rest))
    carried = 127 / reached
return made
""",
    ),
]
