"""Models that several tests trace, each with a fresh batch and optimizer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn

from lab_utils.steps.run import step_values
from lab_utils.steps.trace.step import trace_training_step
from lab_utils.steps.workloads import Workload, attention, gelu_mlp, llm_mlp


@dataclass
class Case:
    """A traced model together with the real one that it came from."""

    work: Workload
    optimizer: torch.optim.Optimizer
    graph: fx.Graph
    values: dict[str, torch.Tensor]

    def eager_step(self) -> torch.Tensor:
        """Train the real model for one step with plain PyTorch; returns the loss."""
        work = self.work
        inputs = work.inputs
        result = work.model(**inputs) if isinstance(inputs, dict) else work.model(inputs)
        loss = result.loss if work.loss is None else work.loss(result, work.targets)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def placeholder(self, source: str) -> str:
        """The name of the placeholder that stands for ``source``."""
        return next(n.name for n in self.graph.nodes if n.meta.get("source") == source)


def make_case(work: Workload, optimizer: Callable[..., torch.optim.Optimizer]) -> Case:
    """Trace ``work``; the values are copies, so that an eager step does not change them."""
    work.model.train()
    chosen = optimizer(work.model.parameters())
    graph = trace_training_step(work.model, work.inputs, work.targets, work.loss, chosen)
    values = step_values(graph, work.model, work.inputs, work.targets, chosen)
    return Case(work, chosen, graph, {name: value.clone() for name, value in values.items()})


def bert_small(dropout: float = 0.1) -> Workload:
    """Two layers of BERT that return their own loss."""
    from transformers import BertConfig, BertForSequenceClassification

    config = BertConfig(
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=128,
        vocab_size=100,
        max_position_embeddings=32,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )
    ids = torch.randint(0, 100, (4, 16))
    batch = {
        "input_ids": ids,
        "attention_mask": torch.ones_like(ids),
        "labels": torch.randint(0, 2, (4,)),
    }
    return Workload(BertForSequenceClassification(config), batch)


def resnet_small() -> Workload:
    """A bottleneck ResNet with batch norm that returns its own loss."""
    from transformers import ResNetConfig, ResNetForImageClassification

    config = ResNetConfig(
        embedding_size=8,
        hidden_sizes=[16, 32],
        depths=[1, 2],
        layer_type="bottleneck",
    )
    batch = {"pixel_values": torch.randn(2, 3, 32, 32), "labels": torch.randint(0, 2, (2,))}
    return Workload(ResNetForImageClassification(config), batch)


class InPlace(nn.Module):
    """In-place operators in forward, on values that backward reads and does not read."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.second = nn.Linear(16, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.relu_(self.first(x))
        y = self.second(h)
        y += x
        return y.mul_(2)


class Shared(nn.Module):
    """One weight read by two layers, and one activation read twice."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.tanh(self.layer(x))
        return self.layer(h) * h


class Recurrent(nn.Module):
    """An LSTM cell, which cuts one value into pieces and overwrites them."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(6, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        state = None
        for row in x:
            state = self.cell(row, state)
        return state[0]  # type: ignore[index]


class Transposed(nn.Module):
    """Batch norm of the input, then attention; the loss gets a value that is not contiguous."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(6)
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.norm(x)
        return self.attention(h, h, h, need_weights=False)[0]


class TwoNames(nn.Module):
    """One layer under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Linear(8, 8)
        self.decode = self.encode

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.decode(torch.tanh(self.encode(x)))


def _plain(model: nn.Module) -> Workload:
    return Workload(model, torch.randn(4, 8), torch.randn(4, 8), nn.MSELoss())


def _fused_adam(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.Adam(parameters, fused=True)


def _momentum(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.1, momentum=0.9, weight_decay=0.01, nesterov=True)


CASES: dict[str, Callable[[], Case]] = {
    "llm_mlp": lambda: make_case(llm_mlp(4, 16, 32, 64), torch.optim.SGD),
    "llm_mlp_adam": lambda: make_case(llm_mlp(2, 16, 32, 64), _fused_adam),
    "gelu_mlp_momentum": lambda: make_case(gelu_mlp(3, 16, 32, 64), _momentum),
    "attention": lambda: make_case(attention(2, 16, 8, 4), _fused_adam),
    "bert_dropout": lambda: make_case(bert_small(), _fused_adam),
    "bert": lambda: make_case(bert_small(dropout=0.0), torch.optim.SGD),
    "resnet": lambda: make_case(resnet_small(), _momentum),
    "in_place": lambda: make_case(_plain(InPlace()), torch.optim.SGD),
    "shared": lambda: make_case(_plain(Shared()), torch.optim.SGD),
    "two_names": lambda: make_case(_plain(TwoNames()), torch.optim.SGD),
    "recurrent": lambda: make_case(
        Workload(Recurrent(), torch.randn(3, 5, 6), torch.randn(5, 8), nn.MSELoss()),
        torch.optim.SGD,
    ),
    "transposed": lambda: make_case(
        Workload(Transposed(), torch.randn(2, 6, 16), torch.randn(2, 6, 16), nn.HuberLoss()),
        torch.optim.SGD,
    ),
}


def distilbert_small() -> Workload:
    """DistilBERT with two layers and dropout."""
    from transformers import DistilBertConfig, DistilBertForSequenceClassification

    config = DistilBertConfig(
        vocab_size=500, dim=64, n_layers=2, n_heads=4, hidden_dim=256, max_position_embeddings=128
    )
    batch = {"input_ids": torch.randint(0, 500, (8, 64)), "labels": torch.randint(0, 2, (8,))}
    return Workload(DistilBertForSequenceClassification(config), batch)


def mobilenet_small() -> Workload:
    """MobileNetV2 at half its width."""
    from transformers import MobileNetV2Config, MobileNetV2ForImageClassification

    config = MobileNetV2Config(depth_multiplier=0.5, image_size=64)
    batch = {"pixel_values": torch.randn(4, 3, 64, 64), "labels": torch.randint(0, 2, (4,))}
    return Workload(MobileNetV2ForImageClassification(config), batch)


def mamba_small() -> Workload:
    """Mamba with two layers: a scan whose every step reads one large value."""
    from transformers import MambaConfig, MambaForCausalLM

    config = MambaConfig(vocab_size=100, hidden_size=32, state_size=8, num_hidden_layers=2)
    ids = torch.randint(0, 100, (2, 32))
    return Workload(MambaForCausalLM(config), {"input_ids": ids, "labels": ids.clone()})
