"""Traffic against on-chip memory: of a product, and of attention."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.util import find_spec

from lab_utils.kit.charts.axes import turned
from lab_utils.kit.charts.colors import BLUE, GREEN, ORANGE, PALE
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.svg import document, line, text
from lab_utils.kit.words import size

Curve = Sequence[tuple[float, float]]
_LOOKS = ((BLUE, ""), (ORANGE, "7 3"), (GREEN, "2 3"), (PALE, "10 3 2 3"))
_LEFT, _TOP, _WIDE, _HIGH = 62, 34, 520, 230


def curves(lines: Mapping[str, Curve], across: str, up: str, caption: str = "") -> Drawing:
    """Lines through points (x, y), both axes in powers of two or ten; x and y are in bytes."""
    words = "\n".join(
        f"{name}: from {size(points[0][1])} at {size(points[0][0])} "
        f"to {size(points[-1][1])} at {size(points[-1][0])}"
        for name, points in lines.items()
    )
    return drawing(lambda alone: _svg(lines, across, up, words, alone), words, caption)


def _svg(lines: Mapping[str, Curve], across: str, up: str, words: str, alone: bool) -> str:
    xs = [math.log2(x) for points in lines.values() for x, _ in points]
    ys = [math.log2(y) for points in lines.values() for _, y in points]
    low, high, foot, top = min(xs), max(xs), math.floor(min(ys)), math.ceil(max(ys))

    def place(x: float, y: float) -> tuple[float, float]:
        right = (math.log2(x) - low) / ((high - low) or 1) * _WIDE
        return _LEFT + right, _TOP + _HIGH - (math.log2(y) - foot) / ((top - foot) or 1) * _HIGH

    bottom, right = _TOP + _HIGH, _LEFT + _WIDE
    body = [line(_LEFT, bottom, right, bottom), turned(14, _TOP + _HIGH / 2, up)]
    body.append(text(_LEFT + _WIDE / 2, bottom + 34, across, text_anchor="middle"))
    every = max(1, (top - foot) // 6)
    for power in range(foot, top + 1, every):
        _, y = place(2**low, 2.0**power)
        body.append(line(_LEFT, y, right, y, stroke_opacity=0.15))
        body.append(text(_LEFT - 6, y + 4, _short(2.0**power), text_anchor="end", font_size=10))
    for x in sorted({x for points in lines.values() for x, _ in points}):
        at, _ = place(x, 2.0**foot)
        body.append(text(at, bottom + 16, _short(x), text_anchor="middle", font_size=10))
    key = float(_LEFT)
    for (name, points), (colour, dashes) in zip(lines.items(), _LOOKS, strict=False):
        look = f'fill="none" stroke="{colour}" stroke-width="2.2" stroke-dasharray="{dashes}"'
        path = "L".join("{:.1f} {:.1f}".format(*place(*point)) for point in points)
        body.append(f'<path d="M{path}" {look}/><path d="M{key:g} 14h26" {look}/>')
        body.append(text(key + 32, 18, name))
        key += 56 + 6.6 * len(name)
    return document(max(right + 24, round(key)), bottom + 46, words, body, alone)


def _short(nbytes: float) -> str:
    """``64K``: powers of two."""
    for letter, factor in (("G", 2**30), ("M", 2**20), ("K", 2**10)):
        if nbytes >= factor:
            return f"{nbytes / factor:g}{letter}"
    return f"{nbytes:g}"


def attention_traffic(tokens: int, head: int, on_chip: int, nbytes: int = 2) -> int | None:
    """Bytes that flash attention moves for one head, counted by the interpreter of loop nests.

    Blocks of queries and of keys are as long as fits: four blocks (Q, K, V, O) of ``head``
    numbers a row are on chip. None where a hand-in is graded: the interpreter is not there.
    """
    if find_spec("lab_utils.instruments.tiles.show") is None:
        return None
    from lab_utils.instruments.tiles import ATTENTION
    from lab_utils.instruments.tiles.show.walk import count

    rows = 1
    while rows * 2 <= tokens and 4 * rows * 2 * head * nbytes <= on_chip:
        rows *= 2
    blocks = tokens // rows
    moved = count([(i, j) for i in range(blocks) for j in range(blocks)], ATTENTION)
    return moved.total * rows * head * nbytes


def attention_chart(tokens: int = 4096, head: int = 64) -> Drawing | None:
    """Flash attention against attention whose scores go to memory, over on-chip memory."""
    chips = [2**power for power in range(12, 22)]
    flash = [(float(chip), attention_traffic(tokens, head, chip)) for chip in chips]
    if any(moved is None for _, moved in flash):
        print("The chart is shown in your own notebook.")
        return None
    ends = (float(chips[0]), float(chips[-1]))
    narrow, scores = 2 * tokens * head, 2 * tokens * tokens
    plain, once = 4.0 * narrow + 4 * scores, 4.0 * narrow
    lines = {
        "flash attention": [(chip, float(moved or 0)) for chip, moved in flash],
        "scores go to memory": [(end, plain) for end in ends],
        "each input once": [(end, once) for end in ends],
    }
    caption = f"One head of {head} numbers, {tokens:,} tokens, bf16."
    return curves(lines, "on-chip memory (bytes)", "bytes moved", caption)
