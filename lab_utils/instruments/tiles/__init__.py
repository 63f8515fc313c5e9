"""Loop nests over tiles: what one slot of fast memory for each operand fetches and writes back.

``Operand`` says which indices of a loop nest choose the tile; ``tile_film`` shows an order. What
counts lies in ``show``, a folder that no sandbox has: while a hand-in is graded nobody can ask
our interpreter for the numbers that a task asks for, and films are not shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lab_utils.instruments.tiles.show.film import TileFilm

Place = Sequence[int]
"""One step of a loop nest: the value of each index."""


class Operand(NamedTuple):
    """A matrix that is cut into tiles; at each step one of them is needed on chip.

    Attributes:
        name: as in pictures.
        axes: which indices of the loop nest say which tile, as in (0, 2): row m, column k.
        is_sum: whether steps add to it. A sum starts on chip as zero. When its slot is needed
            for another tile it is written to memory, and read back if more is to be added.
    """

    name: str
    axes: tuple[int, ...]
    is_sum: bool = False


#: C[m, n] += A[m, k] · B[k, n]; the indices of a step are (m, n, k).
PRODUCT = (Operand("A", (0, 2)), Operand("B", (2, 1)), Operand("C", (0, 1), is_sum=True))
#: O[i] += softmax(Q[i] · K[j]) · V[j]; the indices of a step are (i, j).
ATTENTION = (
    Operand("Q", (0,)),
    Operand("K", (1,)),
    Operand("V", (1,)),
    Operand("O", (0,), is_sum=True),
)


def tile_film(
    orders: Mapping[str, Iterable[Place]] | Iterable[Place],
    operands: Sequence[Operand] = PRODUCT,
) -> TileFilm | None:
    """Walk through a loop nest, or through several side by side.

    A tile that is on chip is lit; one that was fetched for this step is framed. Each tile
    shows how often it has been fetched so far.

    Args:
        orders: steps (m, n, k) in the order in which they run, or several such lists by title.
        operands: which tiles a step needs.

    Returns:
        The film; nothing where a hand-in is graded.
    """
    if find_spec(f"{__name__}.show") is None:
        print("The film is shown in your own notebook.")
        return None
    from lab_utils.instruments.tiles.show.film import TileFilm

    named = dict(orders) if isinstance(orders, Mapping) else {"": orders}
    return TileFilm({title: [tuple(p) for p in steps] for title, steps in named.items()}, operands)
