"""How the tasks of Lab 2B are asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab_utils.instruments.systolic.designs import Conv
from lab_utils.kit.answers import collection, described, fields_told, number, numbers
from lab_utils.kit.borrow import lent_as_text
from lab_utils.kit.errors import BadAnswer
from lab_utils.kit.parts import asked_in_parts
from lab_utils.kit.task import Ask, Borrow
from lab_utils.labs.lab2b.machine import Claim, Point

_LONGEST = 20_000  # numbers in an answer


def ask_misses(function: Any, given: Mapping[str, Any]) -> list[int]:
    """Task 1.1: places in the trace."""
    told = function(list(given["trace"]), given["size"], given["policy"])
    return _whole_numbers(told, "what you return", "a place in the trace")


def ask_two_levels(function: Any, given: Mapping[str, Any]) -> list[float]:
    """Task 1.2: two numbers of lines."""
    told = function(list(given["addresses"]), given["l1"], given["l2"])
    return numbers(told, "what you return", 2)


def ask_anomaly(function: Any, given: Mapping[str, Any]) -> list[int]:
    """Task 1.3: a trace."""
    return _whole_numbers(function(given["size"]), "what you return", "a line")


def ask_cycles(function: Any, given: Mapping[str, Any]) -> float:
    """Task 1.4: a number of cycles."""
    lists = (list(given[name]) for name in ("compute", "first", "second"))
    return _cycles(function(*lists, given["near"], given["far"]))


def ask_top_ten(function: Any, given: Mapping[str, Any]) -> list[list[Any]]:
    """Task 1.5: points, the best first."""
    points = [Point(*row) for row in given["points"]]
    told = []
    for point in collection(function(points, given["goal"]), "what you return"):
        told.append(fields_told(point, "one of the points", Point))
        if len(told) > _LONGEST:
            raise BadAnswer("your list goes on and on", "At most ten points are wanted.")
    return told


def ask_product(function: Any, given: Mapping[str, Any]) -> list[float]:
    """Task 2.1: M, N and K."""
    return numbers(function(Conv("layer", *given["conv"])), "what you return", 3)


def ask_latency(function: Any, given: Mapping[str, Any]) -> float:
    """Task 2.2: a number of cycles."""
    told = function(tuple(given["product"]), given["dataflow"], given["height"], given["width"])
    return _cycles(told)


def ask_row_stationary(function: Any, given: Mapping[str, Any]) -> float:
    """Task 2.3: a number of cycles."""
    return _cycles(function(Conv("layer", *given["conv"]), given["height"], given["width"]))


def ask_laws(function: Any, given: Mapping[str, Any]) -> list[str]:
    """Task 2.4: names of laws."""
    told = [*collection(function(Claim(*given["claim"])), "what you return")]
    for one in told:
        if not isinstance(one, str):
            look = "The names of laws are wanted, as in LAWS."
            raise BadAnswer(f"you return a collection with {described(one)} in it", look)
    return sorted(set(told))


def _cycles(value: Any) -> float:
    told = number(value, "what you return")
    return int(told) if told.is_integer() else told


def _whole_numbers(value: Any, what: str, each: str) -> list[int]:
    told: list[int] = []
    for one in collection(value, what):
        found = number(one, each)
        if not found.is_integer():
            raise BadAnswer(f"{each} is {described(one)}", "Whole numbers are wanted there.")
        told.append(int(found))
        if len(told) > _LONGEST:
            raise BadAnswer("your list goes on and on", "It is much longer than needed.")
    return told


ASK: dict[str, Ask] = {
    "1.1": asked_in_parts(ask_misses),
    "1.2": asked_in_parts(ask_two_levels),
    "1.3": ask_anomaly,
    "1.4": asked_in_parts(ask_cycles),
    "1.5": asked_in_parts(ask_top_ten),
    "2.1": ask_product,
    "2.2": asked_in_parts(ask_latency),
    "2.3": asked_in_parts(ask_row_stationary),
    "2.4": asked_in_parts(ask_laws),
}


BORROWED: dict[str, Borrow] = {"misses": lent_as_text("misses")}
