"""Pictures of notebook 1 that code can draw."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from lab_utils.instruments.network.mesh import LINK, MIB, Message, transpose
from lab_utils.instruments.network.show.film import TrafficFilm
from lab_utils.instruments.network.show.picture import Look, Pair, draw_mesh
from lab_utils.instruments.network.show.routes import circle, xy, yx
from lab_utils.kit.charts.colors import BLUE, ORANGE

FOLDER = Path("solutions/lab4b/images")


def pictures() -> dict[Path, str]:
    """The text of every picture, by its path in the repository."""
    return {
        FOLDER / "traffic.svg": _traffic(),
        FOLDER / "circle.svg": _circle(),
        FOLDER / "mesh.svg": _mesh(),
    }


def _traffic() -> str:
    """The same messages by XY, and shared between XY and YX, at one moment."""
    pairs = [pair for pair in transpose(4) for _ in range(4)]
    ways = {
        "XY": [xy(src, dst, 4) for src, dst in pairs],
        "half of them YX": [
            (xy if place % 2 else yx)(src, dst, 4) for place, (src, dst) in enumerate(pairs)
        ],
    }
    messages = {title: [Message(0, MIB, way) for way in routes] for title, routes in ways.items()}
    return TrafficFilm(4, 4, messages, LINK).static.svg


def _circle() -> str:
    """Four messages that turn, each before the next."""
    routes = [[0, 1, 4], [1, 4, 3], [4, 3, 0], [3, 0, 1]]
    looks: dict[Pair, Look] = {link: Look(ORANGE, 3.5) for link in circle(routes)}
    words = (
        "four messages on four links around a square: 0 to 4, 1 to 3, 4 to 0 and 3 to 1; each "
        "waits for the link that the next one holds"
    )
    return draw_mesh(3, 2, looks, "who waits for whom", words).svg


def _mesh() -> str:
    """A small mesh with two routes."""
    looks: dict[Pair, Look] = {}
    for src, dst, colour in ((1, 11, BLUE), (8, 2, ORANGE)):
        way = xy(src, dst, 4)
        looks |= {(a, b): Look(colour, 3.0) for a, b in pairwise(way)}
    words = "a mesh of 4 x 3: nodes 0 to 11 row by row; XY routes 1 2 3 7 11 and 8 9 10 6 2"
    return draw_mesh(4, 3, looks, "4 x 3, two XY routes", words).svg
