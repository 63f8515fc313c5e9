"""The pictures at the heads of Lab 1B's notebooks; the same bytes every time."""

from __future__ import annotations

from pathlib import Path

from autograder.labs.lab1b.fusion import joined, moved_by_running
from autograder.labs.lab1b.orders import staying
from lab_utils.instruments.roofline import A100
from lab_utils.instruments.tiles import tile_film
from lab_utils.labs.lab1b.fusion_picture import Cost, FusionFilm
from lab_utils.labs.lab1b.models import Arrow, transformer_layer

FOLDER = Path("solutions/lab1b/images")


def pictures() -> dict[Path, str]:
    """The text of every picture, by its path in the repository."""
    film = tile_film({f"{keep} stays": staying(keep, (4, 3, 2)) for keep in "AC"})
    assert film is not None
    return {FOLDER / "tiles.svg": film.static.svg, FOLDER / "fusion.svg": _layer().static.svg}


def _layer() -> FusionFilm:
    ops, nbytes = transformer_layer()

    def cost(fused: list[Arrow]) -> dict[str, Cost]:
        moved = moved_by_running(ops, nbytes, joined(fused))
        return {
            op.name: (op.flops / A100.rates["bf16"], sum(moved[op.name]) / A100.bandwidth)
            for op in ops
        }

    return FusionFilm(ops, [("logit", "softmax"), ("softmax", "attend")], cost)
