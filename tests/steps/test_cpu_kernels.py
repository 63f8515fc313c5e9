"""What a graph says about its operators is what PyTorch's kernels do, node by node."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import fx, nn

from lab_utils.kit.errors import LabError
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.dot.write import write_dot
from lab_utils.steps.memory import live_bytes
from lab_utils.steps.run import measured_peak, run
from lab_utils.steps.schedule import program_order
from lab_utils.steps.storage import Storage, overwritten_inputs, storages
from lab_utils.steps.workloads import Workload
from tests.support.workloads import CASES, Case, make_case

LOSSES = ("mse", "smooth_l1", "huber", "l1", "binary_cross_entropy", "soft_margin")


def tensors(value: Any) -> list[torch.Tensor | None]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def made(value: Any) -> list[torch.Tensor]:
    return [tensor for tensor in tensors(value) if tensor is not None]


def unchanged(before: list[torch.Tensor], after: list[torch.Tensor]) -> bool:
    pairs = zip(before, after, strict=True)
    return all(bool(((a == b) | (a != a)).all()) for a, b in pairs)  # NaN is as it was


def assert_told_as_it_is(case: Case) -> None:
    """Shapes, strides, bytes, shared memory, and what is overwritten."""
    torch.manual_seed(0)
    memory = storages(case.graph)
    env: dict[fx.Node, Any] = {}
    real: dict[Storage, int] = {}
    for node in case.graph.nodes:
        if node.op == "placeholder":
            env[node] = case.values[node.name].clone()
        elif node.op == "call_function":
            before = {n: [t.clone() for t in made(env[n])] for n in node.all_input_nodes}
            args, kwargs = fx.map_arg((node.args, node.kwargs), env.__getitem__)
            env[node] = node.target(*args, **kwargs)
            changed = {s for n in overwritten_inputs(node) for s in memory[n]}
            for read, copies in before.items():
                allowed = not changed.isdisjoint(memory[read])
                assert allowed or unchanged(copies, made(env[read])), f"{node} overwrites {read}"
        else:
            continue
        for told, got, storage in zip(
            tensors(node.meta["val"]), tensors(env[node]), memory[node], strict=False
        ):
            assert (told is None) == (got is None), node
            if told is not None and got is not None:
                assert_same_form(told, got, node)
                assert_same_memory(storage, got, real, node)


def assert_same_form(told: torch.Tensor, got: torch.Tensor, node: fx.Node) -> None:
    assert (told.shape, told.dtype) == (got.shape, got.dtype), node
    strides = zip(told.shape, told.stride(), got.stride(), strict=True)
    assert all(a == b for size, a, b in strides if size > 1), node


def assert_same_memory(
    storage: Storage, got: torch.Tensor, real: dict[Storage, int], node: fx.Node
) -> None:
    allocated = got.untyped_storage()
    if storage not in real and allocated.nbytes():
        assert allocated._cdata not in real.values(), f"{node} shares memory"
        assert storage.nbytes == allocated.nbytes(), node
    assert real.setdefault(storage, allocated._cdata) == allocated._cdata, f"{node} shares none"


@pytest.mark.parametrize("name", CASES)
def test_every_operator_is_told_as_it_is(name: str) -> None:
    torch.manual_seed(0)
    assert_told_as_it_is(CASES[name]())


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("turned", [False, True])
def test_losses(name: str, turned: bool) -> None:
    """Their kernels keep, or do not keep, one loss for each element."""

    def loss(result: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        result = torch.sigmoid(result)
        function = getattr(F, name if hasattr(F, name) else f"{name}_loss")
        return function(result.t() if turned else result, target.t() if turned else target)

    work = Workload(nn.Linear(4, 8), torch.randn(50, 4), torch.rand(50, 8), loss)
    case = make_case(work, torch.optim.SGD)
    assert_told_as_it_is(case)
    line = live_bytes(case.graph, program_order(case.graph))
    assert line.peak == measured_peak(case.graph, case.values)


@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_operands_that_are_broadcast_or_cut_out(name: str) -> None:
    function = getattr(F, name if hasattr(F, name) else f"{name}_loss")
    for shape, cut in (((50,), lambda r: r[:, 0]), ((50, 1), lambda r: r[:, :1])):
        work = Workload(
            nn.Linear(4, 8),
            torch.randn(50, 4),
            torch.rand(shape),
            lambda result, target, cut=cut: function(torch.sigmoid(cut(result)), target),
        )
        case = make_case(work, torch.optim.SGD)
        assert_told_as_it_is(case)
    if name in ("mse", "smooth_l1", "huber", "l1"):  # the others want equal shapes
        work = replace(work, targets=torch.rand(1, 30))
        with pytest.warns(UserWarning, match="broadcasting"):
            assert_told_as_it_is(make_case(work, torch.optim.SGD))


LAID_OUT: dict[str, Any] = {
    "roll": lambda x: x.roll(1, 2),
    "channel_shuffle": lambda x: F.channel_shuffle(x, 2),
    "glu": lambda x: F.glu(x, 1),
    "logsigmoid": F.logsigmoid,
    "rrelu": lambda x: F.rrelu(x, training=True),
    "pixel_shuffle": lambda x: F.pixel_shuffle(x, 2),
    "pixel_unshuffle": lambda x: F.pixel_unshuffle(x, 2),
    "reflection": lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"),
    "replication": lambda x: F.pad(x, (1, 1, 1, 1), mode="replicate"),
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
}


@pytest.mark.parametrize("layout", ["contiguous", "channels last", "permuted"])
@pytest.mark.parametrize("name", LAID_OUT)
def test_operators_that_choose_the_layout_of_their_result(name: str, layout: str) -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.rand(1, 4, 1, 1) + 0.5)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return LAID_OUT[name](x * self.scale)

    x = torch.randn(2, 4, 6, 6)
    if layout == "channels last":
        x = x.to(memory_format=torch.channels_last)
    elif layout == "permuted":
        x = torch.randn(6, 2, 6, 4).permute(1, 3, 2, 0)
    work = Workload(Model(), x, torch.zeros(()), lambda r, t: (r.flatten(1) ** 2).sum() + t)
    case = make_case(work, torch.optim.SGD)
    assert_told_as_it_is(case)
    if name != "rrelu":  # which no file can hold
        assert write_dot(read_dot(write_dot(case.graph))) == write_dot(case.graph)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize(
    ("padding", "offsets", "frozen"),
    [
        (None, None, False),
        (0, None, False),
        (None, [0, 3, 7], False),
        (None, [0, 3, 7, 30], False),
        (0, [0, 3, 7, 30], False),
        (0, None, True),
        (None, [0, 3, 7, 30], True),
    ],
)
def test_a_bag_of_embeddings(
    mode: str, padding: int | None, offsets: list[int] | None, frozen: bool
) -> None:
    """Its kernels cut an element off some of their results, and keep the memory of it."""

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            last = offsets is not None and len(offsets) > 3
            self.bag = nn.EmbeddingBag(
                20, 8, mode=mode, padding_idx=padding, include_last_offset=last
            ).requires_grad_(not frozen)
            self.register_buffer("offsets", torch.tensor(offsets or [0]))
            self.layer = nn.Linear(8, 3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            bags = self.bag(x) if offsets is None else self.bag(x.flatten(), self.offsets)
            return self.layer(bags)

    rows = 6 if offsets is None else 3
    work = Workload(Model(), torch.randint(0, 20, (6, 5)), torch.randn(rows, 3), nn.MSELoss())
    case = make_case(work, torch.optim.SGD)
    if not frozen:  # of a frozen one PyTorch itself foretells a shape, which nobody reads, wrong
        assert_told_as_it_is(case)
    line = live_bytes(case.graph, program_order(case.graph))
    assert line.peak == measured_peak(case.graph, case.values)


def test_a_view_that_is_not_declared_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next operator of this sort is found by what fake tensors share."""
    from lab_utils.steps import storage as effects

    split = torch.ops.aten.unsafe_split.Tensor
    monkeypatch.delitem(effects._UNDECLARED_VIEWS, split)
    effects._schema.cache_clear()
    with pytest.raises(LabError, match=r"aten.unsafe_split.Tensor shares memory with"):
        CASES["recurrent"]()
    effects._schema.cache_clear()


def test_an_lstm_runs() -> None:
    """Plain operators stand for its fused kernel; eager PyTorch's gradients within rounding."""

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.LSTM(6, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layer(x)[0]

    work = Workload(Model(), torch.randn(4, 5, 6), torch.randn(4, 5, 8), nn.MSELoss())
    case = make_case(work, torch.optim.SGD)
    got = run(case.graph, case.values)
    case.eager_step()
    for path, parameter in work.model.named_parameters():
        torch.testing.assert_close(got.outputs[f"grad:{path}"], parameter.grad)
