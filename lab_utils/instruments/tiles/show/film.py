"""The tile film: matrices cut into tiles, what is on chip lit, each fetch counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lab_utils.instruments.tiles import Operand
from lab_utils.instruments.tiles.show.walk import Move, Tile, walk
from lab_utils.kit.charts.colors import BLUE, GREEN, ORANGE
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.film import StepFilm
from lab_utils.kit.charts.svg import INK, document, rectangle, text
from lab_utils.kit.errors import LabError

_SIDE, _SMALLEST, _WIDE = 32, 5, 150  # of a tile in pixels, and of a matrix at most
_GAP, _HEAD, _FOOT, _LEFT = 26, 58, 46, 12
_CAPTION = (
    "Yellow: on chip now. Orange frame: fetched for this step; green frame: a sum that starts "
    "as zero. A number says how often a tile has been fetched; the bluer, the more often."
)
_LIT = "#ffd23f"
Steps = Sequence[Tile]


class Take(NamedTuple):
    """One order, walked through: how many tiles had moved after each step."""

    title: str
    moves: list[list[Move]]
    moved: list[list[int]]
    """For each step, tiles read so far by operand, then tiles written by operand."""


class Frame(NamedTuple):
    """What a picture shows: an order at a step; a step after the last is the end."""

    take: Take
    step: int


class TileFilm(StepFilm):
    """The widget that ``tile_film`` returns; its controls are attributes."""

    def __init__(self, orders: Mapping[str, Steps], operands: Sequence[Operand]) -> None:
        self.operands = tuple(operands)
        self.takes = [_take(title, order, self.operands) for title, order in orders.items()]
        if not self.takes or not all(take.moves for take in self.takes):
            raise LabError("a film needs at least one step: (m, n, k), …")
        last = max(len(take.moves) for take in self.takes)
        super().__init__(last, 250)
        self.static = self.at(last)

    def at(self, step: int) -> Drawing:
        """The picture of a step."""
        frames = [Frame(take, min(step, len(take.moves))) for take in self.takes]
        return drawing(lambda alone: _svg(frames, self.operands, alone), _words(frames), _CAPTION)


def _take(title: str, order: Steps, operands: Sequence[Operand]) -> Take:
    moves = list(walk(order, operands))
    reads, writes = [0] * len(operands), [0] * len(operands)
    moved = []
    for step in moves:
        for number, move in enumerate(step):
            reads[number] += move.read
            writes[number] += move.written is not None
        moved.append([*reads, *writes])
    if moved:  # what is still on chip at the end is written then
        moved.append([*reads, *(n + one.is_sum for n, one in zip(writes, operands, strict=True))])
    return Take(title, moves, moved)


def _told(take: Take, step: int, operands: Sequence[Operand]) -> list[str]:
    """What has moved so far, a line for each operand."""
    moved = take.moved[step]
    lines = []
    for number, operand in enumerate(operands):
        line = f"{operand.name}: {moved[number]:,} read"
        if operand.is_sum:
            line += f", {moved[len(operands) + number]:,} written"
        lines.append(line)
    return lines


def _words(frames: Sequence[Frame]) -> str:
    lines = []
    for take, step in frames:
        name = f"{take.title}: " if take.title else ""
        when = f"step {step + 1} of {len(take.moves)}"
        when = when if step < len(take.moves) else f"after {len(take.moves)} steps"
        lines.append(f"{name}{when}, {sum(take.moved[step]):,} tiles moved")
    return "\n".join(lines)


def _svg(frames: Sequence[Frame], operands: Sequence[Operand], alone: bool) -> str:
    body: list[str] = []
    left, bottom = float(_LEFT), 0.0
    ends = [_fetched(take, n, len(take.moves)) for take, _ in frames for n in range(len(operands))]
    most = max((often for end in ends for often in end.values()), default=1)
    for frame in frames:
        parts, width, height = _panel(frame, operands, left, most)
        body += parts
        left += width + 2 * _GAP
        bottom = max(bottom, height)
    return document(round(left - _GAP), round(bottom), _words(frames), body, alone)


def _panel(
    frame: Frame, operands: Sequence[Operand], left: float, most: int
) -> tuple[list[str], float, float]:
    """One order: its matrices side by side; also how wide and how high that is."""
    take, step = frame
    body = [text(left, 16, take.title, font_weight="bold", font_size=13)]
    body.append(text(left, 34, _words([Frame(take._replace(title=""), step)])))
    at, bottom = left, 0.0
    told = _told(take, step, operands)
    for number, operand in enumerate(operands):
        rows, columns = _extent(take, number)
        side = max(min(_SIDE, _WIDE / max(rows, columns)), _SMALLEST)
        body.append(text(at, _HEAD - 6, operand.name, font_weight="bold"))
        fetched = _fetched(take, number, step)
        for row in range(rows):
            for column in range(columns):
                tile = (row, column)[: len(operand.axes)]
                x, y = at + column * side, _HEAD + row * side
                body.append(_cell(take, number, step, tile, (x, y, side), fetched, most))
        wide = max(columns * side, 6.4 * len(told[number]))
        body.append(text(at, _HEAD + rows * side + 16, told[number]))
        at += wide + _GAP
        bottom = max(bottom, _HEAD + rows * side + _FOOT - 16)
    return body, max(at - _GAP - left, 7 * len(take.title)), bottom


def _cell(
    take: Take,
    number: int,
    step: int,
    tile: Tile,
    box: tuple[float, float, float],
    fetched: Mapping[Tile, int],
    most: int,
) -> str:
    """One tile: how often it was fetched, whether it is on chip, whether it has just come."""
    x, y, side = box
    move = take.moves[step][number] if step < len(take.moves) else None
    often = fetched.get(tile, 0)
    here = move is not None and move.tile == tile
    look: dict[str, object] = {"fill": BLUE, "fill_opacity": round(0.06 + 0.6 * often / most, 3)}
    ink = "currentColor"
    if here:
        look, ink = {"fill": _LIT}, INK
    look |= {"stroke": "currentColor", "stroke_opacity": 0.35}
    new = here and move is not None and move.put
    if new and move is not None:
        look |= {"stroke": ORANGE if move.read else GREEN, "stroke_opacity": 1, "stroke_width": 3}
    inset = 1.5 if new else 0.5
    parts = [rectangle(x + inset, y + inset, side - 2 * inset, side - 2 * inset, **look)]
    if often and side >= 14:
        middle = {"text_anchor": "middle", "font_size": 11 if side >= 20 else 9, "fill": ink}
        parts.append(text(x + side / 2, y + side / 2 + 4, str(often), **middle))
    return "".join(parts)


def _extent(take: Take, number: int) -> tuple[int, int]:
    """Rows and columns of an operand, as far as the order goes."""
    tiles = {step[number].tile for step in take.moves}
    rows = 1 + max(tile[0] for tile in tiles)
    return rows, 1 + max((tile[1] for tile in tiles if len(tile) > 1), default=0)


def _fetched(take: Take, number: int, step: int) -> dict[Tile, int]:
    """How often each tile was read from memory, this step included."""
    often: dict[Tile, int] = {}
    for moves in take.moves[: step + 1]:
        if moves[number].read:
            often[moves[number].tile] = often.get(moves[number].tile, 0) + 1
    return often
