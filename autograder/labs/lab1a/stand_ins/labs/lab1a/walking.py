"""In place of the walk while a hand-in is graded: it would time operators and find ridges."""

from __future__ import annotations


def walk(*_arguments: object, **_options: object) -> None:
    """Say where the walk is to be seen."""
    print("The walk is shown in your own notebook.")
