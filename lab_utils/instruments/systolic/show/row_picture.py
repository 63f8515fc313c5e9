"""One frame of the row-stationary film, drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lab_utils.instruments.systolic.show.rows import Element, RowArray
from lab_utils.kit.charts.colors import BLUE, GREEN, ORANGE
from lab_utils.kit.charts.svg import INK, document, line, rectangle, text

if TYPE_CHECKING:
    from lab_utils.instruments.systolic.show.row_film import Frame

_ROWS = ("#9ecae1", "#fdc48f", "#b5e0ad", "#d3cdec", "#fbb4a5", "#e3dc8f", "#a5e0e0", "#f2b3d6")
_LIT = "#ffd23f"
_SQUARE, _TALL, _GAP_X, _GAP_Y = 26, 92, 40, 34
_LEFT, _TOP = 74, 126


def draw_frame(
    array: RowArray, frame: Frame, total: Mapping[str, int], words: str, alone: bool
) -> str:
    """The formula on top, the array below it, the outputs on the right."""
    wide = max(3, array.s) * _SQUARE + 12
    right = _LEFT + array.width * (wide + _GAP_X)
    bottom = _TOP + array.height * (_TALL + _GAP_Y)
    outputs, out_right, out_bottom = _outputs(array, frame, right + 10)
    body = [
        text(12, 18, words.partition(";")[0], font_weight="bold", font_size=13),
        *_formula(array, frame, total),
    ]
    for row in range(array.height):
        for column in range(array.width):
            body += _wires(frame, row, column, wide)
    for row, elements in enumerate(frame.elements):
        for column, element in enumerate(elements):
            x, y = _corner(row, column, wide)
            body += _element(array, frame, element, row, (x, y, wide))
    body += outputs
    return document(max(out_right, 640), max(bottom, out_bottom), words, body, alone)


def _corner(row: int, column: int, wide: float) -> tuple[float, float]:
    return _LEFT + column * (wide + _GAP_X), _TOP + row * (_TALL + _GAP_Y)


def _formula(array: RowArray, frame: Frame, total: Mapping[str, int]) -> list[str]:
    """Terms of the time; the one that this cycle pays is lit, bars say how much is paid."""
    strips = -(-array.rows // array.width)
    passes = -(-len(array.filters) // array.sets) * array.filters.shape[1]
    passes *= -(-array.r // array.set_rows)
    terms = [
        (f"{passes} × (", ""),
        (f"load {array.s}", "load"),
        (f"+ {strips} × (", ""),
        (f"stream {array.s} · {array.columns}", "stream"),
        ("+", ""),
        (f"drain {array.set_rows - 1}", "drain"),
        ("))", ""),
    ]
    body, x = [], 14.0
    for words, phase in terms:
        long = 7.4 * len(words) + 8
        if phase:
            lit = phase == frame.moment.phase
            look = {"fill": _LIT} if lit else {"fill": "none"}
            body.append(
                rectangle(x, 30, long, 24, rx=4, stroke="currentColor", stroke_opacity=0.5, **look)
            )
            share = frame.paid[phase] / (total.get(phase) or 1)
            body.append(rectangle(x, 58, long, 6, fill="currentColor", fill_opacity=0.12))
            body.append(rectangle(x, 58, long * share, 6, fill=BLUE))
            told = f"{frame.paid[phase]} of {total.get(phase, 0)}"
            body.append(text(x + long / 2, 78, told, text_anchor="middle", font_size=10))
            ink = {"fill": INK} if lit else {}
            body.append(text(x + 6, 47, words, font_size=13, **ink))
        else:
            body.append(text(x + 2, 47, words, font_size=13))
        x += long + 6
    body.append(text(x + 4, 47, f"= {sum(total.values())} cycles", font_size=13))
    return body


def _element(
    array: RowArray, frame: Frame, element: Element, row: int, box: tuple[float, float, float]
) -> list[str]:
    """One processing element: its filter row, its inputs, its sum."""
    x, y, wide = box
    is_loading = frame.moment.phase == "load"
    works = element.product is not None or (is_loading and element.weights)
    idle = element.output_row is None and not is_loading
    pale = 0.4 if idle else 1
    frame_look: dict[str, object] = {"fill": "currentColor", "fill_opacity": 0.04, "rx": 5}
    frame_look |= {"stroke": "currentColor", "stroke_opacity": 0.7 if works else 0.25}
    if idle:
        frame_look["stroke_dasharray"] = "3 3"
    body = [rectangle(x, y, wide, _TALL, **frame_look), f'<g opacity="{pale}">']
    part = frame.moment.fold + row % array.set_rows
    now = element.product[1].place if element.product else None
    body.append(text(x + 6, y + 13, f"filter row {part}" if element.weights else "", font_size=9))
    for number in range(array.s):
        left, top = x + 6 + number * _SQUARE, y + 17
        body += _square(left, top, _weight(element, number), "", element.tap == number)
    for number, one in enumerate(element.window):
        left, top = x + 6 + number * _SQUARE, y + 44
        colour = _ROWS[one.place[0] % len(_ROWS)]
        body += _square(left, top, str(one.value), colour, one.place == now)
    if element.product and element.output_row is not None:
        weight, value = element.product
        body.append(text(x + 6, y + 84, f"{weight}·{value.value} → Σ = {element.partial}"))
    elif idle:
        body.append(text(x + 6, y + 84, "nothing to do" if element.weights else "unused"))
    body.append("</g>")
    return body


def _weight(element: Element, number: int) -> str:
    return str(element.weights[number]) if number < len(element.weights) else ""


def _square(x: float, y: float, words: str, fill: str, framed: bool) -> list[str]:
    look: dict[str, object] = {"fill": fill or "none", "stroke": "currentColor"}
    look["stroke_opacity"] = 0.3
    ink = {"fill": INK} if fill else {}
    side = _SQUARE - 3
    body = [rectangle(x, y, side, side, **look)]
    if framed:
        body.append(rectangle(x, y, side, side, fill="none", stroke=ORANGE, stroke_width=3))
    where = {"text_anchor": "middle", "font_size": 12}
    body.append(text(x + side / 2, y + side / 2 + 4, words, **where, **ink))
    return body


def _wires(frame: Frame, row: int, column: int, wide: float) -> list[str]:
    """How an input reaches an element, and what it hands up."""
    element, (x, y) = frame.elements[row][column], _corner(row, column, wide)
    body: list[str] = []
    if element.input_row is not None:
        colour = _ROWS[element.input_row % len(_ROWS)]
        strong = {"stroke": colour, "stroke_width": 5 if element.came else 2}
        if element.source:
            sx, sy = _corner(*element.source, wide)
            body.append(line(sx + wide, sy, x, y + _TALL, **strong))
        else:
            body.append(line(x - 20, y + 56, x, y + 56, **strong))
            if element.came:
                told = f"in {element.input_row}"
                body.append(text(x - 4, y + 48, told, text_anchor="end", font_size=9))
    if element.up is not None:
        up = {"stroke": GREEN, "stroke_width": 3, "marker_end": "url(#§tip)"}
        body.append(line(x + wide / 2, y, x + wide / 2, y - _GAP_Y + 2, **up))
        body.append(text(x + wide / 2 + 6, y - _GAP_Y / 2 + 4, str(element.up.value)))
    return body


def _outputs(array: RowArray, frame: Frame, left: float) -> tuple[list[str], float, float]:
    """What has come out so far: the outputs of the filters that are worked on."""
    body, y = [], float(_TOP)
    side = 30
    shown = range(frame.moment.filters, min(frame.moment.filters + array.sets, len(frame.outputs)))
    new = {
        (frame.moment.filters + row // array.set_rows, *element.up.place)
        for row, line in enumerate(frame.elements)
        for element in line
        if element.up and not row % array.set_rows
    }
    for kernel in shown:
        name = "outputs so far" if len(frame.outputs) == 1 else f"outputs of filter {kernel}"
        body.append(text(left, y - 6, name))
        for row in range(array.rows):
            inside = frame.moment.strip <= row < frame.moment.strip + array.width
            for column in range(array.columns):
                value = int(frame.outputs[kernel, row, column])
                look: dict[str, object] = {"fill": "currentColor"}
                look["fill_opacity"] = 0.1 if inside and frame.moment.phase != "load" else 0.02
                ink = {"fill": INK} if (kernel, row, column) in new else {}
                if ink:
                    look = {"fill": _LIT}
                look |= {"stroke": "currentColor", "stroke_opacity": 0.25}
                x, top = left + column * side, y + row * 22
                body.append(rectangle(x, top, side - 2, 20, **look))
                if value:
                    middle = {"text_anchor": "middle", "font_size": 10}
                    body.append(text(x + side / 2 - 1, top + 14, str(value), **middle, **ink))
        y += array.rows * 22 + 30
    return body, left + array.columns * side + 10, y
