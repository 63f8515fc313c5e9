"""Tasks 1.1 to 1.4: what misses in buffers, and the cycles that this costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from lab_utils.instruments.buffers.show.walk import Misses, count, missed
from lab_utils.kit.task import Case, Finding
from lab_utils.labs.lab2b.machine import LINE


def judge_misses(case: Case, answer: Sequence[int]) -> list[Finding]:
    """Task 1.1: the places at which a line was not there."""
    wanted, mine = case.wanted["places"], list(answer)
    if mine == wanted:
        return []
    look = _misses_wrong(case.given, mine, wanted)
    return [Finding(_places(mine), _places(wanted), look)]


def _misses_wrong(given: Mapping[str, Any], mine: list[int], wanted: list[int]) -> str:
    trace, size, policy = given["trace"], given["size"], given["policy"]
    if mine == [trace[place] for place in wanted]:
        return "These are numbers of lines: the places in the trace are wanted, counted from 0."
    if mine == [place + 1 for place in wanted]:
        return "Places are counted from 0."
    if sorted(set(range(len(trace))) - set(mine)) == wanted:
        return "These are the hits: the misses are wanted."
    if not size:
        return "A buffer of 0 lines holds nothing: every access misses."
    first = [place for place, line in enumerate(trace) if line not in trace[:place]]
    if set(first) - set(mine):
        return "Law: the first access to a line always misses, since the buffer begins empty."
    if mine == first:
        return "Nothing ever leaves your buffer: a full one must let a line go for each new one."
    other = "LRU" if policy == "FIFO" else "FIFO"
    if mine == missed(trace, size, other):
        if policy == "FIFO":
            return "This is LRU. In a FIFO a hit changes nothing: who came first leaves first."
        return "This is FIFO. Under LRU a hit makes a line the newest again."
    if mine == missed(trace, size + 1, policy):
        return "Your buffer holds one line more than it should."
    if mine == missed(trace, size - 1, policy):
        return "Your buffer holds one line less than it should."
    place = next(a if b is None else b if a is None else min(a, b) for a, b in _pairs(mine, wanted))
    return f"Follow it by hand to place {place}: which lines are there, and which left last?"


def _pairs(mine: list[int], wanted: list[int]) -> list[tuple[Any, Any]]:
    return [(a, b) for a, b in zip_longest(mine, wanted) if a != b]


def _places(places: Sequence[int]) -> str:
    shown = ", ".join(map(str, places[:12]))
    more = f", … ({len(places)} in all)" if len(places) > 12 else ""
    return f"misses at {shown}{more}" if places else "no misses"


def judge_two_levels(case: Case, answer: Sequence[float]) -> list[Finding]:
    """Task 1.2: misses of the first level, and of both."""
    wanted = case.wanted["misses"]
    if list(answer) == wanted:
        return []
    look = _two_levels_wrong(case.given, (answer[0], answer[1]), Misses(*wanted))
    return [Finding(_both(answer), _both(wanted), look)]


def _two_levels_wrong(given: Mapping[str, Any], mine: tuple[float, float], wanted: Misses) -> str:
    words, l1, l2 = given["addresses"], given["l1"], given["l2"]
    lines = [word // LINE for word in words]

    def level(trace: list[int], size: int) -> int:
        return count(trace, size, 0, "LRU").first

    first, second = mine
    if second == wanted.first and first == wanted.second and first != second:
        return "They are turned round: the misses of the first level come first."
    if mine == tuple(count(words, l1, l2, "LRU")) or first == level(words, l1) != wanted.first:
        return "These are words: what misses is fetched as a whole line, for all words in it."
    if first == len(words) - wanted.first:
        return "These are hits: the misses are wanted."
    if first != wanted.first and first == count(lines, l1, 0, "FIFO").first:
        return "The first level evicts as a FIFO: both levels use LRU."
    if first < len(set(lines)):
        return "Law: every line that is asked for misses at least once in the first level."
    if first != wanted.first:
        return "The first level is a buffer of task 1.1 over the numbers of the lines."
    if not l2:
        return "Law: a second level of 0 lines has nothing, so all that misses comes from memory."
    if second == level(lines, l2):
        return (
            "Your second level sees every access. It is asked only when the first level misses: "
            "its trace is what the first level missed."
        )
    if second in (wanted.first - wanted.second, first + wanted.second):
        return "The second number is what misses in the second level too, and comes from memory."
    if second == level(lines, l1 + l2):
        return "The two levels are not one large buffer: each keeps its own order."
    if second > first:
        return "Law: the second level is asked only for what missed in the first."
    if second < len(set(lines)):
        return "Law: every line has to come from memory at least once."
    if second == count(lines, l1, l2, "FIFO").second:
        return "The second level evicts as a FIFO: both levels use LRU."
    return "The second level is a buffer of its own: its trace is what the first level missed."


def _both(pair: Sequence[float]) -> str:
    return f"{pair[0]:,} miss in the first level, {pair[1]:,} in both"


def judge_anomaly(case: Case, answer: Sequence[int]) -> list[Finding]:
    """Task 1.3: a trace on which a larger FIFO misses more."""
    size, trace = case.given["size"], list(answer)
    small, large = (count(trace, lines, 0, "FIFO").first for lines in (size, size + 1))
    if large > small:
        return []
    wanted = f"more misses with {size + 1} lines than with {size}"
    if not trace:
        look = "The trace is empty: nothing is asked for, and nothing misses."
    elif len(set(trace)) <= size + 1:
        look = "All lines of this trace fit into the larger buffer: it takes one line more."
    elif large == small:
        look = "Equally many: close. Let the order in which lines return come out badly."
    else:
        look = "The larger buffer misses less, as one would think. Search on: some trace is odd."
    return [Finding(f"{small:,} misses with {size} lines, {large:,} with {size + 1}", wanted, look)]


def judge_cycles(case: Case, answer: float) -> list[Finding]:
    """Task 1.4: cycles of all stages."""
    wanted = case.wanted["cycles"]
    if answer == wanted:
        return []
    mine, right = f"{answer:,} cycles", f"{wanted:,} cycles"
    return [Finding(mine, right, _cycles_wrong(case.given, answer, wanted))]


def _cycles_wrong(given: Mapping[str, Any], mine: float, wanted: int) -> str:
    compute, near, far = given["compute"], given["near"], given["far"]
    upper = [near * lines for lines in given["first"]]
    lower = [far * lines for lines in given["second"]]
    slower = [max(pair) for pair in zip(upper, lower, strict=True)]
    added = [sum(pair) for pair in zip(upper, lower, strict=True)]

    def ahead(fetch: list[int]) -> int:
        coming = [*fetch[1:], 0]
        return sum(fetch[:1]) + sum(map(max, compute, coming))

    def behind(fetch: list[int]) -> int:
        return sum(map(max, compute, fetch))

    guesses: list[tuple[Callable[[], int], str]] = [
        (lambda: ahead(added), _ADDED),
        (lambda: behind(slower), _OWN),
        (lambda: ahead(slower) - slower[0], _FIRST),
        (lambda: sum(compute) + sum(slower), _NOTHING_OVERLAPS),
        (lambda: ahead(slower) - compute[-1], _LAST),
        (lambda: slower[0] + sum(map(max, compute, slower[1:])), _LAST),
        (lambda: max(sum(compute), sum(upper), sum(lower)), _SUMS),
        (lambda: max(sum(compute), sum(slower)), _SUMS),
        (lambda: slower[0] + max(sum(compute), sum(slower[1:])), _SUMS),
        (lambda: ahead(slower) - sum(compute), _STALLS),
        (lambda: ahead(upper), _UPPER),
        (lambda: ahead(lower), _LOWER),
        (lambda: sum(compute) + sum(added), _NOTHING_OVERLAPS),
        (lambda: behind(added), _ADDED),
    ]
    for guess, look in guesses:
        if mine == guess() != wanted:
            return look
    if mine < sum(compute):
        return "Law: the array computes for the sum of all stages, and cannot be done earlier."
    return "Draw a line for the array and one for the wires, and step through two stages by hand."


_ADDED = (
    "You add the times of the two wires. They carry at the same time: the slower of the two "
    "decides how long a fetch takes."
)
_OWN = (
    "A stage overlaps with the fetch of the next one, not with its own: it cannot begin before "
    "its own lines are there."
)
_FIRST = "Before the first stage nothing is there: the array waits for the whole first fetch."
_NOTHING_OVERLAPS = "While a stage computes, the lines of the next one come: take the slower."
_SUMS = "Stage after stage: a stage that waits cannot get the time back from one that does not."
_STALLS = "These are the stalls alone: the cycles of the array belong to it too."
_UPPER = "The wire from memory is forgotten: the slower of the two decides."
_LOWER = "The wire between the two levels is forgotten: the slower of the two decides."
_LAST = "The last stage fetches nothing more, but it has to be computed."
