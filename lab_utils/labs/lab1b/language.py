"""A very small language model with real weights: trained in seconds on Python's own manual."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pydoc_data.topics import topics
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional as F

_CONTEXT, _WIDTH, _HIDDEN = 10, 16, 192
_STEPS, _BATCH, _HELD_OUT = 400, 256, 4096


@dataclass(frozen=True)
class TinyModel:
    """A model that guesses the next letter from the ten before it.

    ``weights`` are its three matrices; rows are outputs. ``loss`` says how well it guesses
    text that it has not seen: nats a letter, less is better.
    """

    weights: Mapping[str, NDArray[Any]]
    _test: tuple[torch.Tensor, torch.Tensor] = field(repr=False)

    def loss(self, weights: Mapping[str, NDArray[Any]] | None = None) -> float:
        """The loss with other ``weights`` in place of its own; all that are not given stay."""
        used = {**self.weights, **(weights or {})}
        given = {name: torch.tensor(np.asarray(w), dtype=torch.float32) for name, w in used.items()}
        with torch.no_grad():
            logits = _forward(self._test[0], given)
            return float(F.cross_entropy(logits, self._test[1]))

    def with_outlier(self, factor: float = 60.0) -> dict[str, NDArray[Any]]:
        """Weights that compute exactly the same, with one row ``factor`` times as large.

        The unit that it feeds is made smaller again by as much in the next matrix. Large
        language models grow such rows by themselves.
        """
        weights = {name: weight.copy() for name, weight in self.weights.items()}
        weights["hidden"][0] *= factor
        weights["output"][:, 0] /= factor
        return weights


def _forward(letters: torch.Tensor, w: Mapping[str, torch.Tensor]) -> torch.Tensor:
    embedded = w["embedding"][letters].flatten(1)
    return torch.relu(embedded @ w["hidden"].T) @ w["output"].T


def tiny_language_model(seed: int = 0) -> TinyModel:
    """Train the model; takes a few seconds."""
    text = "".join(topics[name] for name in sorted(topics))[:200_000]
    alphabet = {letter: place for place, letter in enumerate(sorted(set(text)))}
    letters = torch.tensor([alphabet[letter] for letter in text])
    windows = letters.unfold(0, _CONTEXT + 1, 1)
    random = torch.Generator().manual_seed(seed)
    windows = windows[torch.randperm(len(windows), generator=random)]
    test, train = windows[:_HELD_OUT], windows[_HELD_OUT:]
    shapes = {
        "embedding": (len(alphabet), _WIDTH),
        "hidden": (_HIDDEN, _CONTEXT * _WIDTH),
        "output": (len(alphabet), _HIDDEN),
    }
    weights = {
        name: nn.Parameter(torch.randn(shape, generator=random) / shape[1] ** 0.5)
        for name, shape in shapes.items()
    }
    optimizer = torch.optim.Adam(weights.values(), lr=4e-3)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for matrices as small as these, others only get in the way
    try:
        for step in range(_STEPS):
            batch = train[(step * _BATCH) % (len(train) - _BATCH) :][:_BATCH]
            loss = F.cross_entropy(_forward(batch[:, :-1], weights), batch[:, -1])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    finally:
        torch.set_num_threads(threads)
    trained = {name: weight.detach().double().numpy() for name, weight in weights.items()}
    return TinyModel(trained, (test[:, :-1], test[:, -1]))
