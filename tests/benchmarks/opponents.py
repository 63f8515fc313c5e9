"""Other ways to train with less memory: what PyTorch offers, run on the same models.

Each opponent is a function that runs one whole training step (forward, loss, backward,
update) on the real model; its peak is watched and its CPU time measured.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import fx, nn
from torch.utils.checkpoint import CheckpointPolicy, checkpoint

from lab_utils.steps.graph import phase
from lab_utils.steps.kept import is_early
from lab_utils.steps.run import StorageWatch
from lab_utils.steps.storage import storages
from lab_utils.steps.workloads import Workload
from tests.support.workloads import Case

Run = Callable[[], object]


def our_step(graph: fx.Graph, case: Case) -> Run:
    """A traced (and perhaps rewritten) step as generated Python code."""
    module = fx.GraphModule(nn.Module(), graph)
    given = {name: value.clone() for name, value in case.values.items()}
    names = [node.target for node in graph.find_nodes(op="placeholder")]

    def step() -> None:
        with torch.inference_mode():  # autograd has no part in it
            module(*(given[str(name)] for name in names))

    return step


def eager_step(case: Case, blocks: list[nn.Module] | None = None) -> Run:
    """Plain PyTorch; with ``blocks``, each of them under ``torch.utils.checkpoint``."""

    def step() -> None:
        with _checkpointed(blocks or []):
            case.eager_step()
        case.optimizer.zero_grad(set_to_none=True)

    return step


@contextmanager
def _checkpointed(blocks: list[nn.Module]) -> Iterator[None]:
    for block in blocks:
        block.forward = functools.partial(checkpoint, block.forward, use_reentrant=False)
    try:
        yield
    finally:
        for block in blocks:
            del block.forward


def min_cut_step(case: Case, budget: float | None) -> Run:
    """AOTAutograd with the min-cut partitioner; None: its partitioner without recomputation."""
    from torch._functorch import config
    from torch._functorch.aot_autograd import aot_function
    from torch._functorch.partitioners import (
        default_partition,
        min_cut_rematerialization_partition,
    )

    model = case.work.model
    names = [name for name, _ in model.named_parameters()]
    buffers = dict(model.named_buffers())

    def loss(
        parameters: list[torch.Tensor], states: list[torch.Tensor], inputs: Any, *targets: Any
    ) -> torch.Tensor:
        state = dict(zip([*names, *buffers], [*parameters, *states], strict=True))
        by_name = isinstance(inputs, dict)
        given = ((), inputs) if by_name else ((inputs,), {})
        result = torch.func.functional_call(model, state, *given)
        return result.loss if case.work.loss is None else case.work.loss(result, *targets)

    partition = min_cut_rematerialization_partition if budget is not None else default_partition
    compiled = aot_function(
        loss,
        fw_compiler=_boxed,
        bw_compiler=_boxed,
        partition_fn=partition,
        decompositions=_batch_norm_only(),
        keep_inference_input_mutations=True,
    )
    parameters: list[torch.Tensor] = list(model.parameters())
    targets = [] if case.work.targets is None else [case.work.targets]

    def step() -> None:
        with config.patch(activation_memory_budget=1.0 if budget is None else budget):
            states = list(buffers.values())
            compiled(parameters, states, case.work.inputs, *targets).backward()
        case.optimizer.step()
        case.optimizer.zero_grad(set_to_none=True)

    step()  # compiles
    return step


def _boxed(gm: fx.GraphModule, example_inputs: Any) -> Callable[..., Any]:
    """Generated code that frees its arguments as it goes, as a compiler's would."""
    from torch.fx.graph import _BoxedCodeGen

    gm.graph.set_codegen(_BoxedCodeGen())
    gm.recompile()

    def run(args: list[Any]) -> Any:
        return gm.forward(args)

    run._boxed_call = True  # type: ignore[attr-defined]
    return run


def _batch_norm_only() -> dict[Any, Callable[..., Any]]:
    """The min-cut partitioner fails on batch norm as it is."""
    from torch._decomp import get_decompositions

    aten = torch.ops.aten
    return get_decompositions([aten.native_batch_norm, aten.native_batch_norm_backward])


def rewritten_by_pytorch(graph: fx.Graph, recomputed: set[str]) -> fx.Graph:
    """What PyTorch's own pass makes of a step that is to recompute these values."""
    from torch._functorch._activation_checkpointing import (
        remat_using_tags_for_fwd_loss_bwd_graph_pass as rewriter,
    )

    module = fx.GraphModule(nn.Module(), graph)
    memory = storages(graph)
    for node in module.graph.nodes:
        node.meta["custom"] = {"phase": str(phase(node))} if node.op != "placeholder" else {}
        owners = {storage.owner.name for storage in memory[node]}
        # A view of what is dropped would keep it in memory.
        if owners and owners <= recomputed and is_early(node):
            node.meta["recompute"] = CheckpointPolicy.MUST_RECOMPUTE
    return rewriter.remat_using_tags_for_fwd_loss_bwd_graph(module).graph


def watched_peak(case: Case, step: Run) -> int:
    """The most bytes that tensors hold during ``step``, above weights, inputs and states."""
    step()  # the optimizer makes its states
    model = case.work.model
    static = [*model.parameters(), *model.buffers(), *_inputs(case.work)]
    static += [s for state in case.optimizer.state.values() for s in state.values()]
    with StorageWatch(static) as watch:
        before = watch.now
        step()
    return watch.peak - before


def _inputs(work: Workload) -> list[torch.Tensor]:
    given = list(work.inputs.values()) if isinstance(work.inputs, dict) else [work.inputs]
    return given + ([work.targets] if work.targets is not None else [])
