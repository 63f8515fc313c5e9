"""Yours beside what is wanted in notebook 1, a mesh and the messages on it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from lab_utils.instruments.network.mesh import LINK, MIB, Message
from lab_utils.instruments.network.show.film import TrafficFilm
from lab_utils.instruments.network.show.picture import Look, Pair, draw_mesh
from lab_utils.instruments.network.show.routes import xy, yx
from lab_utils.kit.charts.colors import BLUE, NEEDLESS, ORANGE, RED
from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.parts import PARTS
from lab_utils.kit.task import Case, Show

_BESIDE = "Blue: as wanted. Red: missing, or not wanted."


def links(case: Case, answer: Any) -> Drawing:
    """Task 1.1: all links, the wrong ones red."""
    given, wanted = _first(case)
    mine = answer[0] if PARTS in case.given else answer
    width, height = given["width"], given["height"]
    found, right = _pairs(mine), _pairs(wanted["links"])
    looks = {link: Look(BLUE if link in found else RED, 2.0) for link in right}
    looks |= {link: Look(RED, 3.0) for link in found - right}
    words = f"a mesh of {width} x {height}: {len(found & right)} of {len(right)} links, "
    words += f"{len(found - right)} that are not wanted"
    return draw_mesh(width, height, looks, f"{width} x {height}", words, _BESIDE)


def route(case: Case, answer: Sequence[Sequence[int]]) -> Drawing:
    """Task 1.2: the first route that is wrong, or else the longest one."""
    routes = case.wanted["routes"]
    wrong = [place for place, one in enumerate(answer) if list(one) != routes[place]]
    place = wrong[0] if wrong else max(range(len(routes)), key=lambda at: len(routes[at]))
    right, mine = set(pairwise(routes[place])), set(pairwise(answer[place]))
    looks = {link: Look(BLUE if link in mine else NEEDLESS, 3.0) for link in right}
    looks |= {link: Look(RED, 3.0) for link in mine - right}
    src, dst = case.given["pairs"][place]
    words = f"your route from {src} to {dst}: {' '.join(map(str, answer[place]))}"
    caption = "Blue: your route, as wanted. Red: yours, not wanted. Grey: wanted."
    return draw_mesh(case.given["width"], case.given["height"], looks, words, words, caption)


def circle(case: Case, answer: Any) -> Drawing | None:
    """Task 1.3: the links of the routes, and those of the circle."""
    given, _ = _first(case)
    mine = answer[0] if PARTS in case.given else answer
    if "width" not in given:
        return None
    used = {pair for way in given["routes"] for pair in pairwise(way)}
    looks = {link: Look(BLUE, 1.6, faint=True) for link in used}
    looks |= {link: Look(ORANGE, 3.5) for link in _pairs(mine)}
    words = f"{len(given['routes'])} routes; your circle has {len(_pairs(mine))} links"
    caption = "Blue: links that some route uses. Orange: your circle, each link waits for the next."
    return draw_mesh(given["width"], given["height"], looks, words, words, caption)


def own_routes(case: Case, answer: Sequence[Sequence[int]]) -> TrafficFilm:
    """Task 1.5: yours beside the two known ones."""
    width, pairs = case.given["width"], case.given["pairs"]
    runs = {
        "XY": [xy(src, dst, width) for src, dst in pairs],
        "YX": [yx(src, dst, width) for src, dst in pairs],
        "yours": answer,
    }
    messages = {title: [Message(0, MIB, way) for way in ways] for title, ways in runs.items()}
    return TrafficFilm(width, case.given["height"], messages, LINK)


def _first(case: Case) -> tuple[Any, Any]:
    """What is given and wanted; of a case with parts, of the first."""
    if PARTS in case.given:
        return case.given[PARTS][0], case.wanted[PARTS][0]
    return case.given, case.wanted


def _pairs(links: Sequence[Sequence[int]]) -> set[Pair]:
    return {(a, b) for a, b in links}


SHOW: dict[str, Show] = {"1.1": links, "1.2": route, "1.3": circle, "1.5": own_routes}
