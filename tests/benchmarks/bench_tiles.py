"""How fast the interpreter of loop nests and the search for fusions answer a slider."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from autograder.labs.lab1b.fusion import fewest, joined, moved_by_running, table_of_times
from autograder.labs.lab1b.orders import staying
from lab_utils.instruments.roofline import A100
from lab_utils.instruments.tiles import PRODUCT
from lab_utils.instruments.tiles.show.film import TileFilm
from lab_utils.instruments.tiles.show.walk import count
from lab_utils.labs.lab1b.fusion_picture import FusionFilm
from lab_utils.labs.lab1b.models import arrows_of, transformer_layer
from tests.benchmarks import Row, timed

SLIDER = 0.1  # seconds within which a slider's step feels immediate
LAYERS = 32


def benchmarks() -> Iterator[Row]:
    """One slider step each, against the time within which a slider feels immediate."""
    big = list(product(range(32), repeat=3))
    yield _row("tiles: count 32,768 steps", timed(lambda: count(big)))
    film = TileFilm({keep: staying(keep, (8, 8, 8)) for keep in "AC"}, PRODUCT)
    yield _row("tiles: a picture of the film", timed(lambda: film.at(300)))
    yield _row("tiles: best fusions, 32 layers", timed(_best_fusions))
    ops, nbytes = transformer_layer()

    def costs(fused: list[tuple[str, str]]) -> dict[str, tuple[float, float]]:
        moved = moved_by_running(ops, nbytes, joined(fused))
        width, rate = A100.bandwidth, A100.rates["bf16"]
        return {op.name: (op.flops / rate, sum(moved[op.name]) / width) for op in ops}

    fusions = FusionFilm(ops, arrows_of(ops), costs)
    yield _row("tiles: a step of the fusion film", timed(lambda: fusions.at(3)))


def _best_fusions() -> float:
    """Every set of fusions of a layer; the model is so many equal layers, one after the other."""
    ops, nbytes = transformer_layer(1, 32, 2048, 4096)
    times = table_of_times(ops, nbytes, A100.rates["bf16"], A100.bandwidth)
    return LAYERS * fewest(arrows_of(ops), times)[0]


def _row(name: str, seconds: float) -> Row:
    return Row(name, seconds, "a slider's step", SLIDER, "CPU s", goal=1.0)
