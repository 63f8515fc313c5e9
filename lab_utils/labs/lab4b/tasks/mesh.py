"""Tasks of notebook 1, a mesh and the messages on it."""

from __future__ import annotations

from lab_utils.kit.task import Task

NAMES = {"METRICS": ".metrics"}
"""What the notebook imports besides ``check``, by the module that has it."""
TASKS: tuple[Task, ...] = (
    Task(
        "1.1",
        "the links of a mesh",
        0.5,
        "connect",
        "width, height",
        "a collection of links, each a pair (from, to)",
    ),
    Task(
        "1.2",
        "x first, then y",
        0.75,
        "route",
        "src, dst, width, height",
        "a list of node numbers, both ends included",
    ),
    Task(
        "1.3",
        "who waits for whom",
        0.75,
        "waiting_cycle",
        "routes",
        "a list of links that wait in a circle; an empty list if there is none",
    ),
    Task(
        "1.4",
        "messages on a clock",
        1,
        "arrivals",
        "messages, link",
        "a time in ns for each message",
    ),
    Task(
        "1.5",
        "better than XY",
        0.5,
        "my_routes",
        "pairs, width, height",
        "a list of routes, one for each pair",
    ),
    Task(
        "1.6",
        "the simulator's log",
        0.5,
        "read_log",
        "text",
        "a dict of eight numbers",
    ),
)
