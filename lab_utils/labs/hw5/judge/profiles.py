"""Tasks 4.8 to 4.10: what enters each layer; a network that stays as it was; nothing is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.hw5.judge.exact import accumulated, pooled, reals
from lab_utils.labs.hw5.judge.numbers import near

OUTPUT = "output"
_CLOSE = 1e-3
_BYTES = 4  # of a number in float32
_HOOKS_BEFORE = 1  # somebody else's, which the network has when it comes


def entering(given: Mapping[str, Any], absolute: bool = False) -> dict[str, np.ndarray]:
    """By layer, all that enters it; with ``absolute``, if each input were made positive first."""
    found, x = {}, reals(given["images"])
    for layer in given["layers"]:
        weight, bias = reals(layer["weight"]), layer.get("bias")
        x = x.reshape(len(x), -1) if weight.ndim == 2 else x
        x = np.abs(x) if absolute else x
        found[f"body.{layer['name']}"] = x
        offset = None if bias is None else reals(bias)
        x = accumulated(x, weight, offset, layer.get("padding", 0))
        x = np.maximum(x, 0) if layer.get("relu", True) else x
        x = pooled(x) if layer.get("pool") else x
    return {**found, OUTPUT: x}


def leaving(given: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """By layer, what it computes before ReLU and pooling."""
    inputs, found = entering(given), {}
    for layer in given["layers"]:
        name, bias = f"body.{layer['name']}", layer.get("bias")
        offset = None if bias is None else reals(bias)
        weight = reals(layer["weight"])
        found[name] = accumulated(inputs[name], weight, offset, layer.get("padding", 0))
    return found


def seen_of(values: np.ndarray) -> list[float]:
    """How many, largest magnitude, mean and sigma."""
    sizes = (float(np.abs(values).max()), float(values.mean()), float(values.std(ddof=1)))
    return [values.size, *sizes]


def judge_profile(case: Case, answer: Mapping[str, Sequence[float]]) -> list[Finding]:
    """Task 4.8: four numbers for each place."""
    places = entering(case.given)
    if found := _names_wrong(answer, places):
        return found
    for name, values in places.items():
        right, mine = seen_of(values), answer[name]
        spread = right[1]
        for part, yours, wanted in zip(
            ("numbers", "largest", "mean", "sigma"), mine, right, strict=True
        ):
            floor = _CLOSE * spread if part == "mean" else 0.0
            if not abs(yours - wanted) <= max(_CLOSE * abs(wanted), floor):
                look = _look(case.given, name, part, mine, places)
                told = (f"{part} of {name}: {yours:.6g}", f"{wanted:.6g}")
                return [Finding(*told, look)]
    return []


def _names_wrong(answer: Mapping[str, Any], places: Mapping[str, Any]) -> list[Finding]:
    told = (f"entries for {', '.join(answer) or 'nothing'}", ", ".join(places))
    if missing := set(places) - set(answer):
        if missing == {OUTPUT}:
            look = "What the network returns is missing: its entry is called 'output'."
        elif answer.keys() & {name.removeprefix("body.") for name in places} - {OUTPUT}:
            look = "Take the whole names, as net.named_modules() has them: 'body.conv1'."
        else:
            look = (
                "A layer may lie inside of another module: net.named_modules() finds all of them, "
                "net.children() only the outermost."
            )
        return [Finding(*told, look)]
    if set(answer) - set(places):
        look = "Only layers with weights (Conv2d and Linear) are asked for, and 'output'."
        return [Finding(*told, look)]
    return []


def _batches(given: Mapping[str, Any], values: np.ndarray) -> list[np.ndarray]:
    each = given["batch"]
    return [values[at : at + each] for at in range(0, len(values), each)]


def _look(
    given: Mapping[str, Any],
    name: str,
    part: str,
    mine: Sequence[float],
    places: Mapping[str, np.ndarray],
) -> str:
    values = places[name]
    split = _batches(given, values)

    def is_of(other: np.ndarray) -> bool:
        guess = dict(zip(("numbers", "largest", "mean", "sigma"), seen_of(other), strict=True))
        at = ("numbers", "largest", "mean", "sigma").index(part)
        return near(mine[at], guess[part], _CLOSE)

    if len(split) > 1 and is_of(split[-1]):
        return "This is the last batch alone: each batch adds to what was seen before."
    if len(split) > 1 and is_of(split[0]):
        return "This is the first batch alone: each batch adds to what was seen before."
    if is_of(entering(given, absolute=True)[name]):
        return (
            "The profile was changed in place: abs_() or *= in a hook changes what the layer "
            "itself gets. Compute with a copy."
        )
    left = leaving(given)
    if name in left and is_of(left[name]):
        return (
            "This is what the layer computes, before ReLU and pooling: what enters the layer is "
            "asked for (a forward pre-hook gets it)."
        )
    if look := _part_look(part, mine, values, split):
        return look
    if given["training"]:
        return "Dropout was at work: profile in eval mode, net.eval()."
    return {
        "numbers": "numbers counts all numbers that came by, not the images and not the batches.",
        "largest": "The largest magnitude of all numbers that enter, over all batches.",
        "mean": "The mean of all numbers: batches differ in size, so sum first, divide last.",
        "sigma": "sigma**2 is (sum of squares - n * mean**2) / (n - 1).",
    }[part]


def _part_look(
    part: str, mine: Sequence[float], values: np.ndarray, split: Sequence[np.ndarray]
) -> str:
    """What one wrong number was probably thinking; nothing if it cannot be told."""
    if part == "numbers" and mine[0] in (len(values), len(split)):
        return "numbers counts all numbers that came by, not the images and not the batches."
    if part == "largest":
        if near(mine[1], float(values.max()), _CLOSE):
            return (
                "The largest magnitude may belong to a number below 0: max without abs misses it."
            )
        if near(mine[1], float(np.mean([np.abs(one).max() for one in split])), _CLOSE):
            return "The mean of the batches' maxima is not the maximum of all: keep the largest."
    if part == "mean" and near(mine[2], float(np.mean([one.mean() for one in split])), _CLOSE):
        return "The mean of all numbers: batches differ in size, so sum first, divide last."
    if part != "sigma":
        return ""
    if near(mine[3], float(np.mean([one.std(ddof=1) for one in split])), 2 * _CLOSE):
        return (
            "A mean of the batches' sigmas is no sigma: add up the numbers and their squares, and "
            "divide at the end."
        )
    if near(mine[3], float(values.std()), _CLOSE / 4):
        return "This divides by n: torch.std divides by n - 1, and so do we."
    if near(mine[3], float(values.var(ddof=1)), _CLOSE):
        return "This is the variance: the standard deviation is its square root."
    return ""


def judge_held(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 4.10: what is held does not grow with the number of batches; and the network did run."""
    given = case.given
    places = entering(given)
    if answer["counts"] != {name: values.size for name, values in places.items()}:
        look = "Profile all batches first: the numbers that entered each layer are counted (4.8)."
        return [Finding("not all that entered the layers was looked at", "", look)]
    grown = answer["end"] - answer["half"]
    batches = -(-given["images"]["shape"][0] // given["batch"])
    least = min(values.size for values in places.values()) // batches * _BYTES
    if grown <= least * batches // 4:  # who keeps that layer's alone has twice as much
        return []
    look = (
        "What you hold grows with every batch: keep a count, a sum, a sum of squares and the "
        "largest magnitude for each layer, and let the tensors go. (A sum of tensors that need "
        "gradients holds all of them: take .item(), or look under torch.no_grad().)"
    )
    yours = f"{grown:,} bytes more after {batches} batches than half-way"
    return [Finding(yours, "no more than half-way", look)]


def judge_tidy(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 4.9: hooks gone, mode restored, nothing changed; and the network did run."""
    given = case.given
    right = {name: values.size for name, values in entering(given).items()}
    if answer["images"] < given["images"]["shape"][0] or answer["counts"] != right:
        look = "Profile all batches first: the numbers that entered each layer are counted (4.8)."
        return [Finding("the network has not run on all images, or not been looked at", "", look)]
    if not answer["kept"]:
        look = "The network had a hook when it came, and it is gone: remove your own alone."
        return [Finding("somebody else's hook is gone", "the hooks as they were", look)]
    if answer["hooks"] != _HOOKS_BEFORE:
        look = (
            "Hooks are still there, and run whenever the network does: keep what register_... "
            "returns, and call its remove()."
        )
        more = answer["hooks"] - _HOOKS_BEFORE
        return [Finding(f"{more} more hooks than before", "the hooks as they were", look)]
    if answer["training"] != [given["training"]]:
        look = "eval() is needed while you look; afterwards the network trains as it did before."
        mode = {True: "train mode", False: "eval mode"}
        told = " and ".join(mode[one] for one in answer["training"])
        return [Finding(f"the network is in {told}", mode[given["training"]], look)]
    if answer["spoiled"]:
        look = (
            "The images themselves were changed, in place: the first layer's input is the batch. "
            "Compute with a copy."
        )
        return [Finding("other images than before", "the images as they were", look)]
    if answer["changed"] or answer["gradients"]:
        look = "Weights, buffers and requires_grad stay as they were: only look."
        return [Finding("another network than before", "the network as it was", look)]
    return []
