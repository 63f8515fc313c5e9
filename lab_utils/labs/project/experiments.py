"""The experiments of notebook 06: models from configs, results that go on where they stopped.

``PROJECT_SIZE=small`` in the environment makes everything tiny, to try a notebook in seconds.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch
from torch import fx

from lab_utils.kit.errors import LabError
from lab_utils.kit.rows import Row
from lab_utils.kit.rows import collect as collect
from lab_utils.kit.rows import read_rows as read_rows
from lab_utils.labs.project.tables import SIZES
from lab_utils.steps.clock import clock
from lab_utils.steps.graph import copy_graph
from lab_utils.steps.run import example_values, run
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import Workload


def trace_model(name: str, batch: int) -> fx.Graph:
    """The training step (with Adam) of a model of the experiments, traced on fake tensors."""
    known = {
        k: v
        for size in SIZES.values()
        for part in ("models", "timed")
        for k, v in size[part].items()
    }
    if name not in known:
        raise LabError(f"there is no model {name!r}: choose {', '.join(known)}")
    family, config = known[name]
    families: dict[str, Callable[..., Workload]] = {"bert": _bert, "resnet": _resnet}
    build = families[family]
    with torch.device("meta"):
        work = build(batch, **config)
    return trace_workload(work, torch.optim.Adam)


def _bert(batch: int, layers: int, width: int, length: int, words: int = 30522) -> Workload:
    from transformers import BertConfig, BertForSequenceClassification

    config = BertConfig(
        hidden_size=width,
        vocab_size=words,
        num_hidden_layers=layers,
        num_attention_heads=max(width // 64, 2),
        intermediate_size=4 * width,
    )
    config._attn_implementation = "eager"  # attention in plain operators, each of them a choice
    ids = torch.zeros((batch, length), dtype=torch.long)
    inputs = {
        "input_ids": ids,
        "attention_mask": torch.ones_like(ids),
        "labels": torch.zeros(batch, dtype=torch.long),
    }
    return Workload(BertForSequenceClassification(config).train(), inputs)


def _resnet(batch: int, depths: tuple[int, ...], pixels: int) -> Workload:
    from transformers import ResNetConfig, ResNetForImageClassification

    widths = [256, 512, 1024, 2048][: len(depths)]
    config = ResNetConfig(depths=list(depths), hidden_sizes=widths, layer_type="bottleneck")
    inputs = {
        "pixel_values": torch.zeros(batch, 3, pixels, pixels),
        "labels": torch.zeros(batch, dtype=torch.long),
    }
    return Workload(ResNetForImageClassification(config).train(), inputs)


def static_bytes(graph: fx.Graph) -> int:
    """Bytes of all that the step is given: weights, optimizer state, inputs."""
    from lab_utils.steps.storage import nbytes

    return sum(nbytes(node) for node in graph.nodes if node.op == "placeholder")


def time_step(graph: fx.Graph, repeats: int) -> Row:
    """Seconds of one step: median, smallest and largest of ``repeats`` runs after a warm-up.

    ``total`` is the time of all these runs together.

    On a GPU also the peak that CUDA's allocator saw, in bytes.
    """
    device = "cuda" if torch.cuda.is_available() else "cpu"
    graph, values = _on(device, graph), example_values(graph)
    values = {name: value.to(device) for name, value in values.items()}
    run(graph, values)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    times = []
    for _ in range(repeats):
        start = clock()
        run(graph, values)
        times.append(clock() - start)
    row: Row = {"median": statistics.median(times), "min": min(times), "max": max(times)}
    row |= {"repeats": repeats, "total": sum(times), "device": device}
    if device == "cuda":
        row["cuda_peak_bytes"] = torch.cuda.max_memory_allocated()
    return row


def _on(device: str, graph: fx.Graph) -> fx.Graph:
    """A copy whose nodes make their tensors on ``device``."""
    copy, _ = copy_graph(graph)
    for node in copy.nodes:
        if "device" in node.kwargs:
            node.kwargs = {**node.kwargs, "device": torch.device(device)}
    return copy


def plot_rows(rows: Iterable[Mapping[str, Any]], value: str, label: str, file: str) -> Any:
    """A group of bars for each batch size, one bar for each method; written to ``file`` too."""
    from matplotlib import pyplot

    table = list(rows)
    if not table:
        raise LabError(f"there is nothing to draw: no row has been measured for {file}")
    models = list(dict.fromkeys(row["model"] for row in table))
    methods = list(dict.fromkeys(row["method"] for row in table))
    figure, axes = pyplot.subplots(1, len(models), figsize=(5 * len(models), 3.6), squeeze=False)
    for axis, model in zip(axes[0], models, strict=True):
        batches = sorted({int(row["batch"]) for row in table if row["model"] == model})
        for place, (method, heights) in enumerate(_bars(table, model, methods, batches, value)):
            shift = (place - (len(methods) - 1) / 2) * 0.8 / len(methods)
            axis.bar(
                [i + shift for i in range(len(batches))], heights, 0.8 / len(methods), label=method
            )
        axis.set_xticks(range(len(batches)), [str(batch) for batch in batches])
        axis.set_xlabel("mini-batch size")
        axis.set_ylabel(label)
        axis.set_title(model)
        axis.legend()
    figure.set_layout_engine("constrained")
    figure.savefig(file, dpi=120)
    pyplot.close(figure)
    return figure


def _bars(
    table: list[Mapping[str, Any]], model: str, methods: list[str], batches: list[int], value: str
) -> Iterator[tuple[str, list[float]]]:
    scale = 1e-9 if value.endswith("bytes") else 1e3
    for method in methods:
        found = {
            int(row["batch"]): float(row[value]) * scale
            for row in table
            if (row["model"], row["method"]) == (model, method)
        }
        yield method, [found.get(batch, 0.0) for batch in batches]
