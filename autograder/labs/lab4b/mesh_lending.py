"""Right versions of notebook 1's functions, for the task that calls them."""

from __future__ import annotations

from typing import Any

from lab_utils.instruments.network.mesh import Link, Message
from lab_utils.instruments.network.show import packets, routes
from lab_utils.kit.errors import LabError
from lab_utils.kit.task import Case

LENT: dict[str, tuple[str, ...]] = {"1.5": ("route", "waiting_cycle", "arrivals")}
_MOST = 20_000  # nodes in all routes of a call


def lend(name: str, _case: Case, arguments: Any) -> Any:
    """What a right version answers.

    Raises:
        LabError, TypeError, ValueError: the arguments are none of an honest call.
    """
    if name == "route":
        src, dst, width, height = arguments
        if min(width, height) < 1 or width * height > _MOST:
            raise LabError("this is no mesh")
        if not (0 <= src < width * height and 0 <= dst < width * height):
            raise LabError("there is no such node")
        return routes.xy(src, dst, width)
    if name == "waiting_cycle":
        _small(arguments)
        return routes.circle([tuple(route) for route in arguments])
    if name == "arrivals":
        told, link = arguments
        _small([route for _, _, route in told])
        messages = [Message(start, nbytes, tuple(route)) for start, nbytes, route in told]
        return packets.arrivals(messages, Link(*link))
    raise LabError(f"{name} is not lent")


def _small(ways: Any) -> None:
    if sum(len(way) for way in ways) > _MOST:
        raise LabError("these routes are too long")
