"""Pictures of part B's notebooks that code can draw."""

from __future__ import annotations

from pathlib import Path

import torch

from lab_utils.kit.charts.colors import BLUE, GREEN, ORANGE
from lab_utils.kit.charts.svg import document, line, rectangle, text
from lab_utils.labs.hw5.clipping import clipping_film
from lab_utils.labs.hw5.judge.exact import nearest
from lab_utils.labs.hw5.judge.ranges import lost_of
from lab_utils.labs.hw5.network import lenet

FOLDER = Path("solutions/hw5/images")


def pictures() -> dict[Path, str]:
    """The text of every picture, by its path in the repository."""
    film = clipping_film(lenet(), _quantized, _lost, "fc1")
    return {
        FOLDER / "clipping.svg": film.static.svg,
        FOLDER / "integers.svg": _way_of_integers(),
    }


def _quantized(values: torch.Tensor, scale: float) -> torch.Tensor:
    return torch.from_numpy(nearest(values.double().numpy(), scale))


def _lost(weight: torch.Tensor, limit: float, bits: int) -> tuple[int, int]:
    return lost_of(weight.double().numpy(), limit, bits)


def _way_of_integers() -> str:
    """One layer: what has how many bits, on which scale."""
    boxes = (
        ("x, int8", "scale s_in", BLUE),
        ("x · w, int32", "scale s_in · s_w", ORANGE),
        ("+ bias, int32", "scale s_in · s_w", ORANGE),
        ("· m0 >> shift", "M = s_out / (s_in · s_w)", GREEN),
        ("y, int8", "scale s_out", BLUE),
    )
    body, wide, gap = [], 132, 18
    for place, (what, scale, colour) in enumerate(boxes):
        left = 12 + place * (wide + gap)
        body.append(rectangle(left, 30, wide, 46, fill=colour, fill_opacity=0.25, stroke=colour))
        body.append(text(left + wide / 2, 58, what, text_anchor="middle", font_size=14))
        body.append(text(left + wide / 2, 96, scale, text_anchor="middle"))
        if place:
            body.append(line(left - gap + 2, 53, left - 2, 53, marker_end="url(#§tip)"))
    label = (
        "A layer in integers: int8 inputs times int8 weights are summed in int32, the int32 bias "
        "is added, and a multiplication and a shift lead back to int8."
    )
    return document(12 + 5 * (wide + gap), 112, label, body, alone=True)
