"""Messages a second of the packet level, how the time grows, and the film."""

from __future__ import annotations

import random
from collections.abc import Iterator

from lab_utils.instruments.network.mesh import LINK, MIB, Message, transpose
from lab_utils.instruments.network.show.film import TrafficFilm
from lab_utils.instruments.network.show.packets import arrivals
from lab_utils.instruments.network.show.routes import xy, yx
from tests.benchmarks import Row, progress, timed

GOAL = 100_000  # messages a second on one core
GROWTH = 2.6  # times as long for twice as many messages: near-linear
SLIDER = 0.1  # seconds of a slider's step
SIDE = 8


def benchmarks() -> Iterator[Row]:
    """Random messages on 64 nodes; all of them at once; twice as many; a picture."""
    progress("200,000 random messages on an 8 x 8 mesh")
    many, spread = 200_000, 10**9
    messages = _random(many, spread)
    seconds = timed(lambda: arrivals(messages, LINK))
    hops = sum(len(message.route) - 1 for message in messages) / many
    yield Row(
        "network: messages a second",
        many / seconds,
        "what is wanted",
        GOAL,
        "messages/s",
        goal=1.0,
        higher_is_better=True,
        note=f"{hops:.1f} links each",
    )
    progress("all ready at once")
    crowd = [message._replace(start=0) for message in messages]
    yield Row(
        "network: all ready at once",
        many / timed(lambda: arrivals(crowd, LINK)),
        "what is wanted",
        GOAL,
        "messages/s",
        goal=1.0,
        higher_is_better=True,
    )
    progress("twice as many")
    twice = _random(2 * many, 2 * spread)
    longer = timed(lambda: arrivals(twice, LINK))
    yield Row("network: twice the messages", longer, "the time", seconds, "CPU s", goal=GROWTH)
    pairs = [pair for pair in transpose(6) for _ in range(4)]
    runs = {"XY": xy, "YX": yx}
    film = TrafficFilm(
        6,
        6,
        {title: [Message(0, MIB, way(a, b, 6)) for a, b in pairs] for title, way in runs.items()},
        LINK,
    )
    step = timed(lambda: film.at(20))
    yield Row("network: a picture of the film", step, "a slider's step", SLIDER, "CPU s", goal=1.0)


def _random(many: int, spread: int) -> list[Message]:
    """Messages of 4 KiB between any two nodes, ready within ``spread`` ns."""
    dice = random.Random(17)
    nodes = SIDE * SIDE
    return [
        Message(
            dice.randrange(spread), 4096, xy(dice.randrange(nodes), dice.randrange(nodes), SIDE)
        )
        for _ in range(many)
    ]
