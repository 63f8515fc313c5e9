"""The map of strategies, by a name that is there wherever a notebook runs.

What draws it lies in ``show``, a folder that no sandbox has: it finds the best strategy, and so it
would answer a task.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from lab_utils.labs.lab4b.rows import Row

if TYPE_CHECKING:
    from lab_utils.labs.lab4b.show.triangles import StrategyMap

_SHOW = "lab_utils.labs.lab4b.show"


def strategy_map(systems: Mapping[str, Iterable[Row]], room: float = 80) -> StrategyMap | None:
    """Choose a system and the memory of its devices, and see which strategies are left.

    Args:
        systems: by name, the rows of all strategies without a pipeline.
        room: GB (10⁹ bytes) of a device at the start.

    Returns:
        The map; nothing where a hand-in is graded.
    """
    if find_spec(_SHOW) is None:
        print("The map is shown in your own notebook.")
        return None
    from lab_utils.labs.lab4b.show.triangles import StrategyMap

    return StrategyMap({name: list(rows) for name, rows in systems.items()}, room)
