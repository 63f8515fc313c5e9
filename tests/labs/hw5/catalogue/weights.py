"""Wrong and right cells of notebook 4, weights and what enters the layers."""

from __future__ import annotations

from functools import partial

from lab_utils.labs.hw5 import LAB
from tests.support.catalogue import Cell
from tests.support.catalogue import cell as any_cell

cell = partial(any_cell, LAB)

RANGE = """\
mean, sigma = weight.mean(), weight.std()
far = (weight - mean).abs() > 3 * sigma
parts = (weight.min(), weight.max(), mean, sigma, far.double().mean())
return WeightRange(*(part.item() for part in parts))
"""
LOST = """\
size = weight.abs()
step = limit / (2 ** (bits - 1) - 1)
zeroed = (size > 0) & (size < step / 2)
return int((size > limit).sum()), int(zeroed.sum())
"""
QUANTIZED = "return torch.round(values * scale).clamp(-128, 127).to(torch.int8)\n"
WEIGHTS = """\
largest = weight.abs().max().item()
scale = 127 / largest if largest else 1.0
return torch.round(weight * scale).clamp(-128, 127).to(torch.int8), scale
"""
CLIPPED = """\
limit = (weight.mean().abs() + 3 * weight.std()).item()
limit = min(limit, weight.abs().max().item())
scale = 127 / limit if limit else 1.0
return torch.round(weight * scale).clamp(-128, 127).to(torch.int8), scale
"""
CHANNELS = """\
rows = weight.flatten(1)
largest = rows.abs().amax(1)
steps = 2 ** (bits - 1) - 1
scales = torch.where(largest > 0, steps / largest, torch.ones_like(largest))
return (rows * scales[:, None]).round().to(torch.int8).reshape(weight.shape), scales
"""
PROFILE = """\
kept, was = {}, net.training
def note(name, values):
    kept.setdefault(name, []).append(values.detach().double().flatten())
handles = [
    module.register_forward_pre_hook(lambda _, inputs, name=name: note(name, inputs[0]))
    for name, module in net.named_modules()
    if isinstance(module, (nn.Conv2d, nn.Linear))
]
net.eval()
for batch in batches:
    note("output", net(batch))
for handle in handles:
    handle.remove()
net.train(was)
found = {}
for name, parts in kept.items():
    x = torch.cat(parts)
    found[name] = Seen(x.numel(), x.abs().max().item(), x.mean().item(), x.std().item())
return found
"""
#: Four numbers of every batch are kept, and put together at the end as Chan does.
STREAMING = """\
kept, was = {}, net.training
def note(name, values):
    x = values.detach().double().flatten()
    few = [x.numel(), x.abs().max(), x.mean(), ((x - x.mean()) ** 2).sum()]
    kept.setdefault(name, []).append(few)
handles = [
    module.register_forward_pre_hook(lambda _, inputs, name=name: note(name, inputs[0]))
    for name, module in net.named_modules()
    if type(module) in (nn.Conv2d, nn.Linear)
]
net.eval()
with torch.inference_mode():
    for batch in batches:
        note("output", net(batch))
for handle in handles:
    handle.remove()
net.train(was)
found = {}
for name, rows in kept.items():
    n = sum(row[0] for row in rows)
    mean = sum(row[0] * row[2] for row in rows) / n
    squares = sum(row[3] + row[0] * (row[2] - mean) ** 2 for row in rows)
    found[name] = Seen(n, max(row[1] for row in rows), mean, (squares / (n - 1)) ** 0.5)
return found
"""

WRONG: list[Cell] = [
    cell("4.1", "divides by n", RANGE.replace("std()", "std(correction=0)"), "divides by n"),
    cell(
        "4.1",
        "measured from 0",
        RANGE.replace("(weight - mean).abs()", "weight.abs()"),
        "Measure from the mean",
    ),
    cell("4.1", "a count", RANGE.replace("far.double().mean()", "far.sum()"), "This is a count"),
    cell(
        "4.1",
        "one side",
        RANGE.replace("(weight - mean).abs()", "(weight - mean)"),
        "both sides",
    ),
    cell("4.1", "variance", RANGE.replace("mean, sigma, far", "mean, sigma**2, far"), "variance"),
    cell(
        "4.1",
        "the interval",
        RANGE.replace("weight.min(), weight.max()", "mean - 3 * sigma, mean + 3 * sigma"),
        "3-sigma interval",
    ),
    cell("4.2", "a whole step", LOST.replace("step / 2", "step"), "less than half a step"),
    cell("4.2", "zeros too", LOST.replace("(size > 0) & ", ""), "A weight that is 0 loses nothing"),
    cell("4.2", "one side", LOST.replace("(size > limit)", "(weight > limit)"), "both sides"),
    cell("4.2", "the limit too", LOST.replace("(size > limit)", "(size >= limit)"), "exactly"),
    cell("4.2", "255 steps", LOST.replace("(bits - 1)", "bits"), "Half of the steps"),
    cell(
        "4.2",
        "turned round",
        LOST.replace(
            "int((size > limit).sum()), int(zeroed.sum())",
            "int(zeroed.sum()), int((size > limit).sum())",
        ),
        "turned round",
    ),
    cell("4.3", "cut off", QUANTIZED.replace("torch.round", ""), "cut off"),
    cell("4.3", "no clamp", QUANTIZED.replace(".clamp(-128, 127)", ""), "wrapped around"),
    cell("4.3", "still floats", QUANTIZED.replace(".to(torch.int8)", ""), "still floats"),
    cell("4.3", "divided", QUANTIZED.replace("* scale", "/ scale"), "real x scale"),
    cell("4.3", "symmetric", QUANTIZED.replace("-128", "-127"), "from -128 to 127"),
    cell(
        "4.3",
        "in place",
        "values *= scale\nreturn values.round().clamp(-128, 127).to(torch.int8)",
        "not in place",
    ),
    cell("4.5", "128 steps", WEIGHTS.replace("127 / l", "128 / l"), "128 at the maximum"),
    cell("4.5", "no abs", WEIGHTS.replace(".abs()", ""), "max without abs"),
    cell(
        "4.5",
        "255 over the range",
        WEIGHTS.replace("127 / largest", "255 / (weight.max() - weight.min()).item()"),
        "255 / (max - min)",
    ),
    cell("4.5", "inverse", WEIGHTS.replace("127 / largest", "largest / 127"), "the inverse"),
    cell(
        "4.5",
        "a layer of zeros",
        WEIGHTS.replace(" if largest else 1.0", " if largest else float('inf')"),
        "scale of infinity",
    ),
    cell("4.5", "cut off", WEIGHTS.replace("torch.round", ""), "cut off"),
    cell("4.6", "around 0", CLIPPED.replace("weight.mean().abs() + ", ""), "|mean| + 3 sigma"),
    cell(
        "4.6",
        "wider than the weights",
        CLIPPED.replace("min(limit, weight.abs().max().item())", "limit"),
        "wider than the weights",
    ),
    cell("4.6", "no clamp", CLIPPED.replace(".clamp(-128, 127)", ""), "wrapped around"),
    cell("4.6", "one sigma", CLIPPED.replace("3 * ", ""), "one sigma"),
    cell(
        "4.7",
        "one scale",
        CHANNELS.replace("rows.abs().amax(1)", "rows.abs().max().expand(len(rows))"),
        "All outputs have one scale",
    ),
    cell("4.7", "always 127", CHANNELS.replace("2 ** (bits - 1) - 1", "127"), "8 bits"),
    cell("4.7", "2**bits", CHANNELS.replace("(bits - 1) - 1", "bits - 1"), "2**(bits - 1) - 1"),
    cell(
        "4.7",
        "for each input",
        """\
largest = weight.abs().transpose(0, 1).flatten(1).amax(1)
scales = (2 ** (bits - 1) - 1) / largest
back = (1, -1) + (1,) * (weight.dim() - 2)
return (weight * scales.reshape(back)).round().to(torch.int8), scales
""",
        "for each output",
    ),
    cell("4.7", "no abs", CHANNELS.replace(".abs()", ""), "max without abs"),
    cell("4.8", "no abs", PROFILE.replace("x.abs().max()", "x.max()"), "max without abs"),
    cell(
        "4.8",
        "the last batch",
        PROFILE.replace("kept.setdefault(name, []).append(values", "kept[name] = [(values").replace(
            ".flatten())", ".flatten())]"
        ),
        "last batch alone",
    ),
    cell(
        "4.8",
        "what comes out",
        PROFILE.replace(
            "register_forward_pre_hook(lambda _, inputs, name=name: note(name, inputs[0]))",
            "register_forward_hook(lambda _, inputs, out, name=name: note(name, out))",
        ),
        "before ReLU and pooling",
    ),
    cell(
        "4.8",
        "in place",
        PROFILE.replace("values.detach().double()", "values.abs_().detach().double()"),
        "changed in place",
    ),
    cell("4.8", "dropout", PROFILE.replace("net.eval()", "pass"), "Dropout was at work"),
    cell(
        "4.8",
        "mean of sigmas",
        PROFILE.replace("x.std().item()", "torch.stack([p.std() for p in parts]).mean().item()"),
        "no sigma",
    ),
    cell(
        "4.8", "no output", PROFILE.replace('note("output", net(batch))', "net(batch)"), "'output'"
    ),
    cell("4.8", "children", PROFILE.replace("named_modules", "named_children"), "named_modules()"),
    cell("4.9", "hooks stay", PROFILE.replace("handle.remove()", "pass"), "call its remove()"),
    cell("4.9", "stays in eval", PROFILE.replace("net.train(was)\n", ""), "trains as it did"),
    cell(
        "4.9",
        "all hooks gone",
        PROFILE.replace(
            "    handle.remove()",
            "    for module in net.modules():\n        module._forward_pre_hooks.clear()",
        ),
        "remove your own alone",
    ),
    cell(
        "4.9",
        "images spoiled",
        PROFILE.replace("values.detach().double()", "values.detach().abs_().double()"),
        "images themselves were changed",
    ),
    cell("4.9", "nothing at all", "return {}", "Profile all batches first", most=0),
    cell("4.10", "keeps everything", PROFILE, "grows with every batch"),
    cell(
        "4.10",
        "all batches first",
        "batches = list(batches)\n" + STREAMING,
        "grows with every batch",
    ),
    cell(
        "4.10",
        "keeps them as arrays",
        PROFILE.replace(".flatten())", ".flatten().numpy().copy())").replace(
            "torch.cat(parts)", "torch.cat([torch.tensor(p) for p in parts])"
        ),
        "grows with every batch",
    ),
    cell(
        "4.10",
        "keeps them as lists",
        PROFILE.replace(".flatten())", ".flatten().tolist())").replace(
            "torch.cat(parts)",
            "torch.cat([torch.tensor(p, dtype=torch.float64) for p in parts])",
        ),
        "grows with every batch",
    ),
    cell("4.10", "nothing at all", "return {}", "Profile all batches first", most=0),
]
RIGHT: list[Cell] = [
    cell(
        "4.1",
        "numpy",
        """\
w = weight.double().numpy().reshape(-1)
sigma = w.std(ddof=1)
outside = float((abs(w - w.mean()) > 3 * sigma + 1e-12).mean())
return WeightRange(w.min(), w.max(), w.mean(), sigma, outside)
""",
    ),
    cell(
        "4.2",
        "a loop",
        """\
step = limit / (2 ** (bits - 1) - 1)
saturated = zeroed = 0
for one in weight.flatten().tolist():
    saturated += abs(one) > limit
    zeroed += one != 0 and abs(one) / step < 0.5
return [saturated, zeroed]
""",
    ),
    cell(
        "4.3",
        "half up",
        "return torch.floor(values.double() * scale + 0.5).clamp(-128, 127).char()",
    ),
    cell(
        "4.5",
        "numpy",
        """\
import numpy as np
w = weight.numpy().astype(np.float64)
scale = 127 / np.abs(w).max() if np.abs(w).max() > 0 else 1
return np.rint(w * scale).astype(np.int8), scale
""",
    ),
    cell("4.6", "a tensor as scale", CLIPPED.replace("int8), scale", "int8), torch.tensor(scale)")),
    cell(
        "4.7",
        "row by row",
        """\
parts, scales = [], []
for row in weight:
    whole, scale = quantized_weights(row)
    largest = row.abs().max().item()
    scales.append((2 ** (bits - 1) - 1) / largest if largest else 1.0)
    parts.append(quantized(row, scales[-1]))
return torch.stack(parts), scales
""",
    ),
    cell("4.8", "keeps everything", PROFILE),
    cell("4.9", "keeps everything", PROFILE),
    cell("4.10", "sums of each batch", STREAMING),
]
