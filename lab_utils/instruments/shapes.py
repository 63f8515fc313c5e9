"""Real transformers as data: how many layers, how wide, how many heads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lab_utils.kit.errors import LabError


@dataclass(frozen=True)
class Transformer:
    """The sizes of a decoder-only transformer.

    Attributes:
        layers: how many decoder layers it has.
        width: numbers that stand for one token between the layers (d_model).
        heads: query heads.
        kv_heads: key and value heads; fewer than ``heads`` where several queries share one.
        head: numbers of one head.
        hidden: width inside the feed-forward part.
        gated: whether that part has three matrices (SwiGLU) or two.
        vocab: words that it knows.
        context: the most tokens that it was made for.
    """

    name: str
    layers: int
    width: int
    heads: int
    kv_heads: int
    head: int
    hidden: int
    gated: bool
    vocab: int
    context: int

    def __post_init__(self) -> None:
        if self.heads % self.kv_heads:
            raise LabError(f"{self.name}: {self.heads} heads cannot share {self.kv_heads} evenly")


LLAMA_7B = Transformer("LLaMA-7B", 32, 4096, 32, 32, 128, 11008, True, 32000, 2048)
LLAMA3_8B = Transformer("Llama 3 8B", 32, 4096, 32, 8, 128, 14336, True, 128256, 8192)
LLAMA2_70B = Transformer("Llama 2 70B", 80, 8192, 64, 8, 128, 28672, True, 32000, 4096)
GPT3_175B = Transformer("GPT-3 175B", 96, 12288, 96, 96, 128, 49152, False, 50257, 2048)
#: As wide as GPT-3 2.7B, with two of its layers: what a famous course trains on two cards.
GPT_2560 = Transformer("GPT, 2 layers of 2560", 2, 2560, 32, 32, 80, 10240, False, 50257, 2048)
MODELS: Mapping[str, Transformer] = MappingProxyType(
    {model.name: model for model in (LLAMA_7B, LLAMA3_8B, LLAMA2_70B, GPT3_175B)}
)
