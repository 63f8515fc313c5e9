"""The traced graph is the training step of eager PyTorch, bit for bit."""

from __future__ import annotations

import re
from copy import deepcopy
from functools import partial
from typing import Any

import pytest
import torch
import torch.utils.checkpoint
from torch import nn

from lab_utils.kit.errors import LabError
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.dot.write import write_dot
from lab_utils.steps.graph import Kind, Phase, kind, outputs, phase
from lab_utils.steps.run import run
from lab_utils.steps.storage import is_random, overwritten_inputs, owns_memory
from lab_utils.steps.trace import older_torch
from lab_utils.steps.trace.step import TraceError, trace_training_step, trace_workload
from lab_utils.steps.workloads import Workload, llm_mlp
from tests.support.workloads import CASES, Case, make_case


@pytest.fixture(params=CASES, ids=str)
def case(request: pytest.FixtureRequest) -> Case:
    torch.manual_seed(0)
    return CASES[request.param]()


def test_gradients_weights_and_buffers_equal_eager(case: Case) -> None:
    torch.manual_seed(1)  # the same dropout masks for both
    traced = run(case.graph, case.values)
    torch.manual_seed(1)
    loss = case.eager_step()
    model = case.work.model
    assert torch.equal(traced.outputs["loss"], loss)
    for path, parameter in model.named_parameters():
        assert parameter.grad is not None
        assert torch.equal(traced.outputs[f"grad:{path}"], parameter.grad), path
        assert torch.equal(traced.state[case.placeholder(f"param:{path}")], parameter), path
        for name, value in case.optimizer.state[parameter].items():
            if value is not None:
                kept = traced.state[case.placeholder(f"state:{path}.{name}")]
                assert torch.equal(kept, value), f"{path}.{name}"
    for path, buffer in model.named_buffers():
        name = case.placeholder(f"buffer:{path}")
        assert torch.equal(traced.state.get(name, case.values[name]), buffer), path


def test_every_node_is_labelled(case: Case) -> None:
    for node in case.graph.nodes:
        assert isinstance(phase(node), Phase), node
        assert isinstance(kind(node), Kind), node
        if node.op == "call_function":
            assert "val" in node.meta
    names = [node.name for node in case.graph.nodes]
    assert len(set(names)) == len(names)


def test_phases_follow_each_other(case: Case) -> None:
    ranks = list(Phase)
    order = [ranks.index(phase(n)) for n in case.graph.nodes if n.op == "call_function"]
    assert order == sorted(order)


def test_every_gradient_is_a_grad_weight(case: Case) -> None:
    for label, node in outputs(case.graph).items():
        if label != "loss":
            assert kind(node) is Kind.GRAD_WEIGHT, label


def test_no_dead_operator(case: Case) -> None:
    for node in case.graph.nodes:
        if node.op == "call_function" and not node.users:
            assert overwritten_inputs(node) or is_random(node), node


def test_names_tell_what_a_value_is() -> None:
    graph = trace_workload(llm_mlp(2, 8, 16, 4))
    names = {node.name for node in graph.nodes}
    block = {"gate_proj", "gate_proj_act", "up_proj", "gate_up_proj", "down_proj", "add"}
    assert {f"l{i}_{word}" for i in range(2) for word in block} <= names
    assert {f"d_l{i}_{word}" for i in range(2) for word in block - {"down_proj"}} <= names
    weights = {f"l{i}_{word}_proj_w" for i in range(2) for word in ("gate", "up", "down")}
    assert weights <= names
    assert {f"d_{w}" for w in weights} <= names
    assert {f"{w}_update" for w in weights} <= names
    assert {"x", "target", "loss", "d_loss"} <= names


def test_a_model_larger_than_memory_can_be_traced() -> None:
    with torch.device("meta"):
        work = llm_mlp(2, width=200_000, hidden=800_000, batch=100_000)
    graph = trace_workload(work)
    weights = [n for n in graph.nodes if kind(n) is Kind.WEIGHT and n.op == "placeholder"]
    assert sum(n.meta["val"].nbytes for n in weights) == 2 * 3 * 200_000 * 800_000 * 4


def test_the_graph_does_not_depend_on_real_values() -> None:
    first, second = (trace_workload(llm_mlp(2, 8, 16, 4)) for _ in range(2))
    assert str(first) == str(second)


def test_frozen_parameters_have_no_gradient() -> None:
    work = llm_mlp(2, 8, 16, 4)
    frozen = next(iter(dict(work.model.named_parameters())))
    dict(work.model.named_parameters())[frozen].requires_grad_(False)
    graph = trace_workload(work)
    assert f"grad:{frozen}" not in outputs(graph)
    assert f"param:{frozen}" in [n.meta.get("source") for n in graph.nodes]


def test_a_second_step_goes_on_from_the_first() -> None:
    """Adam's state is part of the graph, so the same graph serves every step."""
    torch.manual_seed(0)
    case = CASES["llm_mlp_adam"]()
    values = dict(case.values)
    for _ in range(3):
        values |= run(case.graph, values).state
        case.optimizer.zero_grad()
        case.eager_step()
    for path, parameter in case.work.model.named_parameters():
        assert torch.equal(values[case.placeholder(f"param:{path}")], parameter)


class _Reassigns(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.seen: torch.Tensor
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen = self.seen + 1
        return self.layer(x)


class _Looks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) if x.sum() > 0 else x


class _Constant(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) * torch.tensor([1.0, 2.0, 3.0, 4.0])


class _Numbers(nn.Module):
    """Makes a number, and an empty tensor, from Python values while it runs."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = torch.cat([torch.tensor([]).reshape(0, 4), self.layer(x)])
        return rows * torch.tensor(0.5)


def test_numbers_made_while_the_model_runs_are_traced() -> None:
    torch.manual_seed(0)
    case = make_case(_work(_Numbers()), torch.optim.SGD)
    traced = run(case.graph, case.values)
    assert torch.equal(traced.outputs["loss"], case.eager_step())


def _work(model: nn.Module) -> Workload:
    return Workload(model, torch.randn(2, 4), torch.randn(2, 4), nn.MSELoss())


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (_Reassigns(), ["buffer seen", "copy_"]),
        (_Looks(), ["forward", "test_trace.py"]),
        (_Constant(), ["constant", "[4]", "buffer"]),
        (nn.ReLU(), ["no parameter"]),
    ],
    ids=["reassigned buffer", "looks at values", "constant tensor", "no parameters"],
)
def test_what_has_no_faithful_graph_is_refused(model: nn.Module, words: list[str]) -> None:
    with pytest.raises(LabError) as error:
        optimizer = torch.optim.SGD([*model.parameters()] or [nn.Parameter(torch.zeros(1))])
        work = _work(model)
        trace_training_step(model, work.inputs, work.targets, work.loss, optimizer)
    message = str(error.value)
    assert all(word in message for word in words), message
    assert "\n" not in message


def test_a_trace_that_fails_leaves_no_trace() -> None:
    model = nn.Sequential(nn.Sequential(_Looks()))
    before = trace_workload(llm_mlp(2, 8, 16, 4))
    with pytest.raises(TraceError) as kept:  # what it holds lives as long as the error
        trace_workload(_work(model))
    assert [n.meta["module"] for n in trace_workload(llm_mlp(2, 8, 16, 4)).nodes] == [
        n.meta["module"] for n in before.nodes
    ]
    del kept


def test_an_unknown_optimizer_is_refused() -> None:
    with pytest.raises(LabError, match="RMSprop.*SGD, Adam or AdamW"):
        trace_workload(llm_mlp(1, 4, 4, 2), torch.optim.RMSprop)


def test_a_parameter_outside_the_optimizer_is_named() -> None:
    work = llm_mlp(1, 4, 4, 2)
    _, *others = work.model.parameters()
    optimizer = torch.optim.SGD(others)
    with pytest.raises(LabError, match=r"layers\.0\.gate_proj\.weight.*not in the optimizer"):
        trace_training_step(work.model, work.inputs, work.targets, work.loss, optimizer)


def test_a_loss_that_is_not_one_number_is_refused() -> None:
    work = llm_mlp(1, 4, 4, 2)
    with pytest.raises(TraceError, match="one number"):
        trace_training_step(
            work.model,
            work.inputs,
            work.targets,
            lambda result, _: result,
            torch.optim.SGD(work.model.parameters()),
        )


def test_views_of_views_are_cleaned_away() -> None:
    """A transpose of a transpose is the value itself; backward reads the weight directly."""
    case = make_case(llm_mlp(2, 8, 16, 4), torch.optim.SGD)
    for node in case.graph.nodes:
        if node.op == "call_function" and not owns_memory(node):
            source = node.all_input_nodes[0]
            assert not (node.target is source.target is torch.ops.aten.t.default), node


def test_what_older_versions_need_changes_nothing_and_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whether it helps, tests/torch_versions.sh finds out."""
    operator = torch.ops.aten.silu_backward.default
    before = dict(operator.py_kernels)
    monkeypatch.setattr(older_torch, "_version", lambda: (2, 9))
    graph = trace_workload(llm_mlp(2, 8, 16, 4))
    assert operator in {node.target for node in graph.nodes}
    assert operator.py_kernels == before


class _Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.layer(x)
        return h if h.sum() > 0 else -h


class _Overlapping(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        whole = torch.zeros(6)
        self.register_buffer("whole", whole)
        self.register_buffer("part", whole[3:])
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)


def _hooked() -> nn.Module:
    model = nn.Linear(4, 4)
    model.weight.register_hook(lambda gradient: 2 * gradient)
    return model


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (nn.Sequential(nn.Linear(3, 4)), r"in 0 \(Linear\): aten.mm.default: .*reduction dim"),
        (_Branches(), r"in the model \(_Branches\) at .*test_trace.py:\d+: .*needs the number"),
        (_Overlapping(), "whole and part are views of the same memory"),
        (_hooked(), "parameter weight has a gradient hook"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_has_no_faithful_graph_is_told(
    model: nn.Module, says: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(LabError, match=says):
        trace_workload(Workload(model, torch.randn(5, 4), torch.randn(5, 4), nn.MSELoss()))
    assert capfd.readouterr().err == ""


def test_a_sparse_gradient_is_refused() -> None:
    model = nn.Sequential(nn.Embedding(9, 4, sparse=True))
    work = Workload(model, torch.arange(5), torch.randn(5, 4), nn.MSELoss())
    with pytest.raises(LabError, match="the gradient of 0.weight is sparse"):
        trace_workload(work)


def test_optimizers_that_a_graph_does_not_follow() -> None:
    work = Workload(nn.Linear(4, 4), torch.randn(5, 4), torch.randn(5, 4), nn.MSELoss())
    with pytest.raises(LabError, match="first step without dampening"):
        trace_workload(work, partial(torch.optim.SGD, momentum=0.9, dampening=0.5))
    hooked = torch.optim.SGD(work.model.parameters())
    hooked.register_step_pre_hook(lambda *_: None)
    with pytest.raises(LabError, match="step hooks"):
        trace_workload(work, lambda _: hooked)


def test_a_failed_trace_leaves_the_model_alone() -> None:
    model = _Branches()
    weight = model.layer.weight
    with pytest.raises(LabError):
        trace_workload(Workload(model, torch.randn(5, 4), torch.randn(5, 4), nn.MSELoss()))
    assert model.layer.weight is weight
    assert model(torch.randn(5, 4)).shape == (5, 4)


def test_a_checkpointed_model_recomputes_in_its_graph() -> None:
    """What torch.utils.checkpoint runs again is part of backward."""

    class Checkpointed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.block = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.utils.checkpoint.checkpoint(self.block, x, use_reentrant=False)

    work = Workload(Checkpointed(), torch.randn(5, 4), torch.randn(5, 4), nn.MSELoss())
    case = make_case(work, torch.optim.SGD)
    got = run(case.graph, case.values)
    case.eager_step()
    for path, parameter in work.model.named_parameters():
        assert parameter.grad is not None
        assert torch.equal(got.outputs[f"grad:{path}"], parameter.grad)
    again = [n for n in case.graph.nodes if n.target is torch.ops.aten.tanh.default]
    assert [phase(n) for n in again] == [Phase.FORWARD, Phase.BACKWARD]


class _Added(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.zeros(6, 7))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.w


class _Turned(_Added):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.t() * (self.w.t() + 1)


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, partial(torch.optim.Adam, fused=True)])
@pytest.mark.parametrize(
    ("model", "x"),
    [
        (_Added(), torch.randn(6, 7)),
        (_Turned(), torch.randn(6, 7)),
        (nn.Conv2d(3, 4, 3), torch.randn(2, 3, 6, 6).to(memory_format=torch.channels_last)),
        (
            nn.Conv2d(3, 4, 3).to(memory_format=torch.channels_last),  # type: ignore[call-overload]
            torch.randn(2, 3, 6, 6),
        ),
    ],
    ids=["expanded", "turned", "channels last", "weights channels last"],
)
def test_gradients_are_laid_out_as_their_parameters(
    model: nn.Module, x: torch.Tensor, optimizer: Any
) -> None:
    """Autograd may send them in any layout; the fused update walks through memory."""
    work = Workload(deepcopy(model), x, torch.zeros(()), lambda r, t: (r * r + r).sum() + t)
    case = make_case(work, optimizer)
    got = run(case.graph, case.values)
    case.eager_step()
    for path, parameter in work.model.named_parameters():
        assert parameter.grad is not None
        assert got.outputs[f"grad:{path}"].stride() == parameter.grad.stride()
        assert torch.equal(got.outputs[f"grad:{path}"], parameter.grad)
        assert torch.equal(got.state[case.placeholder(f"param:{path}")], parameter)
    assert read_dot(write_dot(case.graph))


class _Remembers(nn.Module):
    """Keeps what it computes, in every place where a module can keep something."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.cache: dict[str, torch.Tensor] = {}
        self.all: list[torch.Tensor] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen = self.layer(x)
        self.all.append(self.cache.setdefault("seen", self.seen))
        if not hasattr(self, "steps"):
            self.register_buffer("steps", torch.arange(4.0), persistent=False)
        return self.seen + self.steps


def test_a_trace_leaves_the_model_alone() -> None:
    model = _Remembers()
    work = Workload(model, torch.randn(5, 4), torch.randn(5, 4), nn.MSELoss())
    before = dict(vars(model))
    trace_workload(work)
    assert vars(model) == before
    assert not dict(model.named_buffers())
    assert not model.cache
    assert not model.all
    trace_workload(work)
    assert type(model(torch.randn(5, 4))) is torch.Tensor


_HERE = rf"{re.escape(__file__)}:\d+"  # the line of the model is told


class _DropoutAgain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def block(z: torch.Tensor) -> torch.Tensor:
            return nn.functional.dropout(self.layer(z), 0.3)

        return torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)


class _Complex(_Added):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = torch.fft.rfft(x @ self.w[:4, :4])
        return (z * z.conj()).real


class _Reentrant(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.utils.checkpoint.checkpoint(self.layer, self.layer(x), use_reentrant=True)


class _Overwrites(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x.relu_())


class _Attribute(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer, self.mask = nn.Linear(4, 4), torch.ones(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) * self.mask


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (_DropoutAgain(), rf"at {_HERE}: .*draws random numbers in backward: torch.utils"),
        (_Complex(), rf"at {_HERE}: aten._fft_r2c.default: it makes complex numbers"),
        (_Reentrant(), rf"at {_HERE}: .*use_reentrant=True.*set use_reentrant=False"),
        (_Overwrites(), "input:0 and target share memory"),
        (_Attribute(), r"in the model \(_Attribute\) at .*register it as a buffer"),
        (nn.LazyLinear(4), "weight has no shape yet"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_would_be_silently_wrong_is_refused(model: nn.Module, says: str) -> None:
    x = torch.randn(5, 4)
    with pytest.raises(LabError, match=says):
        trace_workload(Workload(model, x, x, lambda r, t: r.sum() + t.sum()))


def test_reentrant_checkpointing_works_again_after_it_was_refused() -> None:
    x, model = torch.randn(5, 4, requires_grad=True), _Reentrant()
    with pytest.raises(LabError, match="use_reentrant"):
        trace_workload(Workload(model, x.detach(), x.detach(), nn.MSELoss()))
    model(x).sum().backward()
    assert model.layer.weight.grad is not None


def test_complex_inputs_are_refused_by_name() -> None:
    x = torch.randn(5, 4, dtype=torch.complex64)
    with pytest.raises(LabError, match="input:0 holds complex numbers"):
        trace_workload(Workload(nn.Linear(4, 4), x, x.real, nn.MSELoss()))


def test_grouped_experts_are_refused_for_what_is_true() -> None:
    """The CPU runs them in float32; what is refused says so, and what to do instead works."""
    from transformers import MixtralConfig, MixtralForCausalLM

    config = MixtralConfig(
        vocab_size=50,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        num_local_experts=2,
    )
    model = MixtralForCausalLM(config)
    ids = torch.randint(0, 50, (2, 8))
    work = Workload(model, {"input_ids": ids, "labels": ids.clone()})
    model.set_experts_implementation("grouped_mm")
    assert model(**work.inputs).loss.isfinite()
    says = r"experts \(MixtralExperts\) at .*aten._grouped_mm.default: .*float32 too: .*batched_mm"
    with pytest.raises(LabError, match=says):
        trace_workload(work)
    model.set_experts_implementation("batched_mm")
    trace_workload(work)


def test_attention_without_dropout_may_be_checkpointed() -> None:
    """Its operator could draw random numbers, and does not."""

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            def block(z: torch.Tensor) -> torch.Tensor:
                y = self.layer(z)
                return nn.functional.scaled_dot_product_attention(y, y, y)

            return torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)

    work = Workload(Attention(), torch.randn(1, 2, 5, 4), torch.randn(1, 2, 5, 4), nn.MSELoss())
    case = make_case(work, torch.optim.SGD)
    got = run(case.graph, case.values)
    case.eager_step()
    for path, parameter in work.model.named_parameters():
        assert parameter.grad is not None
        assert torch.equal(got.outputs[f"grad:{path}"], parameter.grad)


def test_a_loss_without_gradient_is_told() -> None:
    work = Workload(nn.Linear(4, 4), torch.randn(5, 4), None, lambda r, _: r.detach().sum())
    with pytest.raises(LabError, match="is it detached"):
        trace_workload(work)
