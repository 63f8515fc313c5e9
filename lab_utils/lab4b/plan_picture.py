"""A plan as a picture: the memory line, with what is dropped in the colour of clones."""

from __future__ import annotations

from collections.abc import Sequence

from torch import fx

from lab_utils.graph import Kind
from lab_utils.memory import live_bytes
from lab_utils.pictures.drawn import Drawing, drawing, drawing_of_words
from lab_utils.pictures.facts import listed
from lab_utils.pictures.memory_svg import Panel, memory_svg
from lab_utils.pictures.svg import size
from lab_utils.schedule import program_order


def draw_plan(drop: Sequence[fx.Node], nbytes: int) -> Drawing:
    """The step before the rewrite; orange is what the plan drops, the dashed line its peak."""
    words = f"plan: drop {len(drop)} values ({listed(tuple(n.name for n in drop))})"
    words += f"; peak {size(nbytes)}"
    if not drop:
        return drawing_of_words(words)
    line = live_bytes(drop[0].graph, program_order(drop[0].graph))
    by_kind = {kind: list(held) for kind, held in line.by_kind.items()}
    for life in line.lifetimes:
        if life.storage.owner in set(drop):
            for step in range(life.first, life.last + 1):
                by_kind[life.kind][step] -= life.nbytes
                by_kind[Kind.RECOMP][step] += life.nbytes
    panel = Panel("orange: what the plan drops", by_kind, line.schedule.name)
    return drawing(lambda alone: memory_svg([panel], nbytes, alone=alone), words, words)
