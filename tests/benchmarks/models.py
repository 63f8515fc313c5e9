"""The models on which recomputation is measured, small enough for one core."""

from __future__ import annotations

import torch
from torch import nn

from lab_utils.steps.workloads import Workload, llm_mlp


def mlp(layers: int) -> Workload:
    """Llama-style feed-forward blocks whose activations are large beside their weights."""
    return llm_mlp(layers, width=256, hidden=1024, batch=2048)


def bert(dropout: float, layers: int = 4, width: int = 256) -> Workload:
    """BERT-small: its loss is made by the model."""
    from transformers import BertConfig, BertForSequenceClassification

    config = BertConfig(
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=4,
        intermediate_size=4 * width,
        vocab_size=1000,
        max_position_embeddings=128,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
    )
    ids = torch.randint(0, 1000, (16, 128))
    labels = torch.randint(0, 2, (16,))
    return Workload(BertForSequenceClassification(config), {"input_ids": ids, "labels": labels})


def resnet(depths: list[int], batch: int, pixels: int) -> Workload:
    """A bottleneck ResNet: depths 3, 4, 6, 3 are ResNet-50; 3, 8, 36, 3 are ResNet-152."""
    from transformers import ResNetConfig, ResNetForImageClassification

    config = ResNetConfig(depths=depths, layer_type="bottleneck")
    images = torch.randn(batch, 3, pixels, pixels)
    labels = torch.randint(0, 2, (batch,))
    model = ResNetForImageClassification(config)
    return Workload(model, {"pixel_values": images, "labels": labels})


def blocks(model: nn.Module) -> list[nn.Module]:
    """The repeated parts of a model: the innermost numbered modules that hold several others."""
    numbered = [
        (path, module)
        for path, module in model.named_modules()
        if path.rpartition(".")[2].isdigit() and len(list(module.children())) > 1
    ]
    outer = [(path, m) for path, m in numbered if not _inside_another(path, numbered)]
    return [module for _, module in outer]


def _inside_another(path: str, numbered: list[tuple[str, nn.Module]]) -> bool:
    return any(path.startswith(f"{other}.") for other, _ in numbered)
