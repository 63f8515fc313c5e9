"""Labels of an SVG picture over which a line is drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple
from xml.etree import ElementTree

_SVG = "{http://www.w3.org/2000/svg}"
_CURVE = 12  # straight pieces of a curve
Point = tuple[float, float]


class Label(NamedTuple):
    """A text, and about where its letters are."""

    words: str
    left: float
    top: float
    right: float
    bottom: float

    def is_crossed(self, start: Point, end: Point) -> bool:
        """Whether a straight line runs through it."""
        enter, leave = 0.0, 1.0
        sides = ((self.left, self.right), (self.top, self.bottom))
        for a, b, (low, high) in zip(start, end, sides, strict=True):
            if abs(b - a) < 1e-9:
                if not low < a < high:
                    return False
                continue
            first, second = sorted(((low - a) / (b - a), (high - a) / (b - a)))
            enter, leave = max(enter, first), min(leave, second)
        return enter < leave


def labels_under_lines(svg: str) -> list[str]:
    """The texts of a picture that a line crosses which is drawn after them."""
    labels: list[Label] = []
    found: dict[str, None] = {}
    for element in _drawn(ElementTree.fromstring(svg)):
        if element.tag == f"{_SVG}text":
            labels.append(_label(element))
        for start, end in pairwise(_points(element)):
            found |= {one.words: None for one in labels if one.is_crossed(start, end)}
    return list(found)


def _drawn(element: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """What stands where its numbers say, in the order of drawing."""
    for child in element:
        if child.tag not in (f"{_SVG}defs", f"{_SVG}marker") and not child.get("transform"):
            yield child
            yield from _drawn(child)


def _label(element: ElementTree.Element) -> Label:
    words = "".join(element.itertext())
    x, y, size = (float(element.get(key, "11")) for key in ("x", "y", "font-size"))
    wide = 0.5 * size * len(words)
    left = x - {"middle": wide / 2, "end": wide}.get(element.get("text-anchor", ""), 0.0)
    return Label(words, left + 1, y - 0.65 * size, left + wide - 1, y - 0.1 * size)


def _points(element: ElementTree.Element) -> list[Point]:
    match element.tag.removeprefix(_SVG):
        case "line":
            x1, y1, x2, y2 = (float(element.get(key, "0")) for key in ("x1", "y1", "x2", "y2"))
            return [(x1, y1), (x2, y2)]
        case "polyline":
            numbers = _numbers(element.get("points", ""))
            return list(zip(numbers[::2], numbers[1::2], strict=True))
        case "path" if element.get("fill") == "none":
            return _path(element.get("d", ""))
    return []


def _numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d*\.?\d+(?:e-?\d+)?", text)]


def _path(data: str) -> list[Point]:
    points: list[Point] = []
    x = y = 0.0
    for letter, rest in re.findall(r"([a-zA-Z])([^a-zA-Z]*)", data):
        numbers, base = _numbers(rest), (x, y) if letter.islower() else (0.0, 0.0)
        match letter.upper():
            case "M" | "L":
                for dx, dy in zip(numbers[::2], numbers[1::2], strict=True):
                    x, y = base[0] + dx, base[1] + dy
                    points.append((x, y))
                    base = (x, y) if letter.islower() else base
            case "H":
                x = base[0] + numbers[-1]
                points.append((x, y))
            case "V":
                y = base[1] + numbers[-1]
                points.append((x, y))
            case "C":
                (a, b, c, d, e, f), (u, v) = numbers[:6], base
                corners = ((x, y), (u + a, v + b), (u + c, v + d), (u + e, v + f))
                points += [_bezier(corners, at / _CURVE) for at in range(1, _CURVE + 1)]
                x, y = corners[-1]
    return points


def _bezier(corners: tuple[Point, ...], at: float) -> Point:
    weights = ((1 - at) ** 3, 3 * (1 - at) ** 2 * at, 3 * (1 - at) * at**2, at**3)
    x, y = (sum(w * c[side] for w, c in zip(weights, corners, strict=True)) for side in (0, 1))
    return x, y
