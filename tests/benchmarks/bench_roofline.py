"""The roofline: exact against PyTorch's counter, honest about this computer, and quick to move."""

from __future__ import annotations

import time
from collections.abc import Iterator

import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import LlamaConfig, LlamaForCausalLM

from lab_utils.instruments.roofline import item_bytes
from lab_utils.instruments.roofline.measure import measure_this_computer
from lab_utils.instruments.shapes import LLAMA_7B, Transformer
from lab_utils.labs.lab1a import Times, layer_names, walk
from lab_utils.labs.lab1a.walking import BATCHES
from tests.benchmarks import Row, progress, timed
from tests.support.solved_cells import functions_of

TOKENS = 512
LARGE = ("gemm 768", "gemm 1024", "gemm 1536")


def benchmarks() -> Iterator[Row]:
    """Ours against PyTorch's count, the measured roof, and a person's patience."""
    names = functions_of(
        "lab1a",
        Transformer=Transformer,
        Times=Times,
        Machine=object,
        item_bytes=item_bytes,
        layer_names=layer_names,
    )
    flops, elements = names["layer_flops"], names["layer_elements"]

    progress("LLaMA-7B on tensors without data")
    ours = LLAMA_7B.layers * sum(flops(LLAMA_7B, 1, TOKENS, 0).values())
    ours += 2 * TOKENS * LLAMA_7B.width * LLAMA_7B.vocab
    theirs = _counted()
    # Both bounds are 1: equal, or missed.
    yield Row("LLaMA-7B prefill, FLOPs", ours, "FlopCounterMode", theirs, "FLOP", goal=1)
    yield Row("the same, from below", ours, "FlopCounterMode", theirs, "FLOP", 1, True)

    progress("the roof of one core")
    found = measure_this_computer()
    roof = found.machine.rate("fp32")
    for work in found.works:
        if work.name in LARGE:
            under = found.machine.attainable(work.intensity, "fp32")
            yield Row(
                f"{work.name} under the roof", work.rate, "the roof", under, "FLOP/s", 0.75, True
            )
    progress(f"roof {roof / 1e9:.0f} GFLOP/s, {found.machine.bandwidth / 1e9:.1f} GB/s")

    shown = walk(flops, elements, LLAMA_7B)

    def play() -> None:
        for batch in BATCHES:
            shown.batch.value = batch

    shown.batch.value = BATCHES[-1]
    spent = timed(play, clock=time.perf_counter) / len(BATCHES)
    yield Row("slider step, 32 layers", spent, "a person's patience", 0.1, "s", goal=1)


def _counted() -> int:
    with torch.device("meta"), torch.no_grad():
        model = LlamaForCausalLM(LlamaConfig())
        with FlopCounterMode(display=False) as counter:
            model(torch.zeros(1, TOKENS, dtype=torch.long))
    return int(counter.get_total_flops())
