"""What the usual mistakes would answer, so that the judge knows them when it meets them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import Any

from autograder.labs.lab1a import clockwork
from autograder.labs.lab1a import definitions as d
from autograder.labs.lab1a.torch_layer import DTYPES, Parts, decoder_layer, memory
from lab_utils.instruments.roofline import Machine
from lab_utils.instruments.shapes import Transformer

Slips = list[list[Any]]
"""Pairs: the name of a slip, and what it answers."""

ELEMENTS: dict[str, dict[str, d.Definition]] = {
    "softmax": {"no batch": d.one_item(d.softmax)},
    "layernorm": {"affine": d.layernorm_affine, "no batch": d.one_item(d.layernorm)},
    "gemm": {
        "weight by batch": d.gemm_own_weights,
        "order": d.gemm_swapped,
        "no batch": d.one_item(d.gemm),
    },
    "attention": {
        "projections": d.attention_one_weight,
        "kept inside": d.attention_qkv_moved,
        "order": d.attention_swapped,
        "weight by batch": d.attention_own_weights,
        "no batch": d.one_item(d.attention),
    },
}
OPERATIONS: dict[str, dict[str, d.Definition]] = {
    "1.2": {
        "2K": d.gemm_from_zero,
        "products": d.gemm_products,
        "order": d.gemm_swapped,
        "no batch": d.one_item(d.gemm),
    },
    "1.3": {
        "twice": d.softmax_by(d.soft_twice),
        "from zero": d.softmax_by(d.soft_from_zero),
        "no sum": d.softmax_by(d.soft_no_sum),
        "safe": d.softmax_by(d.soft_safe),
        "one division": d.softmax_by(d.soft_one_division),
        "no batch": d.one_item(d.softmax),
    },
    "1.4": {
        "centred twice": d.layernorm_by(d.norm_centred_again),
        "one more": d.layernorm_by(d.norm_one_more),
        "from zero": d.layernorm_by(d.norm_from_zero),
        "no squares": d.layernorm_by(d.norm_no_squares),
        "no root": d.layernorm_by(d.norm_no_root),
        "root each": d.layernorm_by(d.norm_root_each),
        "2Y": d.layernorm_affine,
        "no batch": d.one_item(d.layernorm),
    },
    "1.5": {
        "no division": d.attention_by(scale="once"),
        "no root": d.attention_by(scale="constant"),
        "root each": d.attention_by(scale="roots"),
        "soft once": d.attention_by(soft_rows="first item"),
        "soft row": d.attention_by(soft_rows="first row"),
        "no soft": d.attention_by(soft_rows="none"),
        "projections": d.attention_by(projections=1),
        "twice": d.attention_by(each=d.soft_twice),
        "2K": d.attention_from_zero,
        "order": d.attention_swapped,
        "no batch": d.one_item(d.attention),
    },
}


def of_elements(operator: str, dims: Sequence[int]) -> Slips:
    """For task 1.1: as a whole, and part by part."""
    right = d.cost(d.RIGHT[operator], dims).elements
    wrong = {name: d.cost(f, dims).elements for name, f in ELEMENTS[operator].items()}
    wrong["bytes"] = [4 * n for n in right]
    wrong = {name: value for name, value in wrong.items() if value != right}
    whole: Slips = [[name, value] for name, value in wrong.items()]
    return [*whole, *([name, _parts(value, right)] for name, value in wrong.items())]


def _parts(value: Sequence[int], right: Sequence[int]) -> dict[str, int]:
    names = ("input", "weight", "output")
    return {n: a for n, a, b in zip(names, value, right, strict=True) if a != b}


def of_operations(task: str, right: d.Definition, dims: Sequence[int], w: int) -> Slips:
    """For tasks 1.2 to 1.5."""
    cost = d.cost(right, dims)
    wrong = {n: d.cost(f, dims).operations(w) for n, f in OPERATIONS[task].items()}
    if task in ("1.3", "1.4"):
        wrong |= {"weight": cost.operations(1), "all w": w * (cost.light + cost.heavy)}
        wrong["heavier"] = cost.operations(w + 3)
    same = {"heavier": "weight"}
    right_one = cost.operations(w)
    return [[same.get(n, n), v] for n, v in wrong.items() if v != right_one]


def of_times(given: dict[str, Any], machine: Machine) -> Slips:
    """For task 2.1, field by field."""
    work = (given["operations"], given["elements"], given["dtype"], machine)
    c, m = given["compute_eff"], given["memory_eff"]
    right = clockwork.times(*work, c, m)
    item = DTYPES[given["dtype"]].itemsize
    compute, traffic, intensity = right["compute"], right["memory"], right["intensity"]

    def other(compute_eff: float, memory_eff: float) -> dict[str, Any]:
        told = clockwork.times(*work, compute_eff, memory_eff)
        return {name: told[name] for name in ("compute", "memory")}

    rates = {rate for rate in machine.rates.values() if rate != machine.rate(given["dtype"])}
    slips: Slips = [
        ["multiplied", other(1 / c, 1 / m)],
        ["swapped", other(m, c)],
        ["no efficiency", other(1, 1)],
        ["sum", {"execution": compute + traffic}],
        ["shorter", {"execution": min(compute, traffic)}],
        ["elements", {"memory": traffic / item}],
        ["four bytes", {"memory": traffic / item * 4, "intensity": intensity * item / 4}],
        ["half rate", {"compute": compute * 2}],
        ["binary", {"memory": traffic * 1e9 / 2**30}],
        ["per element", {"intensity": intensity * item}],
        ["ridge", {"intensity": intensity * machine.bandwidth / machine.rate(given["dtype"])}],
        *(["other rate", {"compute": compute * work[3].rate(work[2]) / r}] for r in rates),
    ]
    if intensity:
        slips.append(["upside down", {"intensity": 1 / intensity}])
    return _wrong(slips, right)


def _wrong(slips: Slips, right: dict[str, Any]) -> Slips:
    """Only what differs from what is right."""
    kept = []
    for name, values in slips:
        left = {k: v for k, v in values.items() if abs(v - right[k]) > 1e-6 * abs(right[k])}
        if left:
            kept.append([name, left])
    return kept


def of_row(
    operations: int, moved: list[int], took: dict[str, Any], clock: float, item: int
) -> Slips:
    """For task 2.3, column by column."""
    right = clockwork.row(operations, moved, took, clock)
    del right["Bound"]
    sizes = [name for name in right if name.endswith("(MB)")]
    cycles = ("Cycles", "Compute Cycles", "Memory Cycles")
    latency, ratio, throughput = "Latency (msec)", "C/M ratio", "Throughput (Tflops)"
    slips: Slips = [
        ["upside down", {ratio: 1 / right[ratio]}] if right[ratio] else ["upside down", {}],
        ["per byte", {"Op Intensity": right["Op Intensity"] / item}],
        ["input alone", {"Op Intensity": operations / moved[0]}],
        ["seconds", {latency: took["execution"]}],
        ["micro", {latency: took["execution"] * 1e6}],
        ["from ms", {name: right[name] * 1e3 for name in cycles}],
        ["plain", {name: right[name] * 2**20 for name in sizes}],
        ["plain", {"Num ops (MFLOP)": operations, throughput: right[throughput] * 1e12}],
        ["bytes", {name: right[name] * item for name in sizes}],
        ["bytes", {name: right[name] * item * 2**20 / 1e6 for name in sizes}],
        ["decimal", {name: right[name] * 2**20 / 1e6 for name in sizes}],
        ["binary", {"Num ops (MFLOP)": operations / 2**20}],
        ["giga", {throughput: right[throughput] * 1e3}],
        ["latency", dict.fromkeys(cycles[1:], right["Cycles"])],
    ]
    if took["compute"]:
        slips.append(["at its best", {throughput: operations / took["compute"] / 1e12}])
    return _wrong(slips, right)


def of_network(batch: int, tokens: int, d_in: int, d_model: int, d_ff: int) -> Slips:
    """For task 2.2, by the operator's place."""
    first, second = (batch, tokens, d_ff), (batch, tokens, d_model)
    return [
        ["second K", {"3": ["gemm", [*second, d_model]]}],
        ["input K", {"2": ["gemm", [*first, d_in]], "3": ["gemm", [*second, d_in]]}],
        [
            "order",
            {
                "1": ["attention", [batch, tokens, d_in, d_model]],
                "2": ["gemm", [batch, tokens, d_model, d_ff]],
                "3": ["gemm", [batch, tokens, d_ff, d_model]],
            },
        ],
        ["softmax", {"5": ["softmax", [batch, tokens, d_model]]}],
        ["softmax", {"5": ["softmax", [batch, d_model]]}],
        ["first norm", {"0": ["layernorm", [batch, tokens, d_model]]}],
        ["last norm", {"4": ["layernorm", [batch, tokens, d_in]]}],
        ["last norm", {"4": ["layernorm", [batch, tokens, d_ff]]}],
        [
            "batch",
            {
                "0": ["layernorm", [1, tokens, d_in]],
                "1": ["attention", [1, tokens, d_model, d_in]],
                "2": ["gemm", [1, tokens, d_ff, d_model]],
                "3": ["gemm", [1, tokens, d_model, d_ff]],
                "4": ["layernorm", [1, tokens, d_model]],
                "5": ["softmax", [tokens, d_model]],
            },
        ],
    ]


def of_flops(model: Transformer, batch: int, new: int, past: int) -> Slips:
    """For task 2.4, operator by operator."""
    right = decoder_layer(model, batch, new, past)
    outputs = {name: parts.output for name, parts in right.parts.items()}
    flops, every = right.flops, past + new
    inner = ("scores", "mix")
    wide = replace(model, head=model.width // model.heads)
    slips: Slips = [
        ["all heads", decoder_layer(replace(model, kv_heads=model.heads), batch, new, past).flops],
        ["kv scores", decoder_layer(replace(model, heads=model.kv_heads), batch, new, past).flops],
        ["no past", decoder_layer(model, batch, new, 0).flops],
        ["no cache", decoder_layer(model, batch, every, 0).flops],
        ["causal", {name: flops[name] // 2 for name in inner}],
        ["macs", {name: n // 2 for name, n in flops.items()}],
        ["2K-1", {name: n - outputs[name] for name, n in flops.items()}],
        ["width", decoder_layer(wide, batch, new, past).flops],
        ["no batch", decoder_layer(model, 1, new, past).flops],
        ["swapped", {name: flops[name] // every * past for name in inner}],
    ]
    return _wrong(slips, flops)


def of_moved(model: Transformer, batch: int, new: int, past: int) -> Slips:
    """For task 2.5, operator by operator."""
    right = decoder_layer(model, batch, new, past)
    inner = ("scores", "mix")

    def each(total: Any) -> dict[str, int]:
        return {name: total(parts) for name, parts in right.parts.items()}

    def weights(p: Parts) -> int:
        return p.input + batch * p.weight + p.output

    shared = decoder_layer(replace(model, kv_heads=model.heads), batch, new, past)
    by_batch = {name: n for name, n in each(weights).items() if name not in inner}
    once = each(lambda p: p.input + p.weight // batch + p.output)
    slips: Slips = [
        ["all heads", {name: shared.elements[name] for name in (*inner, "k", "v")}],
        ["weight by batch", by_batch],
        ["cache once", {name: once[name] for name in inner}],
        ["no past", {name: decoder_layer(model, batch, new, 0).elements[name] for name in inner}],
        ["no output", each(lambda p: p.input + p.weight)],
        ["no weight", each(lambda p: p.input + p.output)],
        ["no input", each(lambda p: p.weight + p.output)],
        ["bytes", {name: 2 * n for name, n in right.elements.items()}],
        ["bytes", {name: 4 * n for name, n in right.elements.items()}],
    ]
    return _wrong(slips, right.elements)


def of_memory(model: Transformer, batch: int, context: int, dtype: str) -> Slips:
    """For task 2.6: weights and cache."""
    weights, cache = memory(model, batch, context, dtype)
    item = DTYPES[dtype].itemsize
    table = model.vocab * model.width * item
    alone = memory(replace(model, layers=1), batch, context, dtype)
    shared = memory(replace(model, kv_heads=model.heads), batch, context, dtype)
    norms = (2 * model.layers + 1) * model.width * item
    third = model.layers * model.width * model.hidden * item
    slips: Slips = [
        ["elements", {"weights": weights // item, "cache": cache // item}],
        ["four bytes", {"weights": weights * 4 // item, "cache": cache * 4 // item}],
        ["no head", {"weights": weights - table}],
        ["no vocab", {"weights": weights - 2 * table}],
        ["no norms", {"weights": weights - norms}],
        ["two matrices", {"weights": weights - third}],
        ["one layer", {"weights": alone[0], "cache": alone[1]}],
        ["keys alone", {"cache": cache // 2}],
        ["all heads", {"weights": shared[0], "cache": shared[1]}],
        ["no batch", {"cache": cache // batch}],
        ["shared batch", {"weights": weights * batch}],
    ]
    return _wrong(slips, {"weights": weights, "cache": cache})


def of_ridge(K: int, N: int, dtype: str, machine: Machine) -> Slips:
    """For task 2.7."""
    right = clockwork.ridge_batch(K, N, dtype, machine)
    if right is None:
        return []
    item = DTYPES[dtype].itemsize
    ridge = machine.ridge(dtype)

    def at(factor: float) -> int | None:
        """As if the ridge were so many times as high; None where that is too far off."""
        rates = {**machine.rates, dtype: machine.rate(dtype) * factor}
        try:
            return clockwork.ridge_batch(K, N, dtype, replace(machine, rates=rates))
        except ValueError:
            return None

    slips: Slips = [
        ["weights alone", ceil(ridge * item / 2)],
        ["weights alone", int(ridge * item / 2)],
        ["down", right - 1],
        ["one more", right + 1],
        ["macs", at(2)],
        ["elements", at(1 / item)],
        ["four bytes", at(4 / item)],
    ]
    return [[name, value] for name, value in slips if value not in (None, right)]
