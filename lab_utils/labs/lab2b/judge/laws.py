"""Laws that every answer must obey, whatever the machine; and task 2.4, which is about them.

Each law is a check of its own: it knows nothing of what is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.lab2b.machine import LAWS, Claim


def enough_cycles(claim: Claim) -> bool:
    """No fewer cycles than multiply-accumulates for each processing element."""
    return claim.cycles * claim.pes >= claim.macs


def enough_traffic(claim: Claim) -> bool:
    """Each line that is asked for misses at least once, in each level."""
    return min(claim.first, claim.second) >= claim.lines


def asked_first(claim: Claim) -> bool:
    """The second level is asked for what misses in the first, and for nothing else."""
    return claim.second <= claim.first


def one_level(claim: Claim) -> bool:
    """A second level that holds nothing: all that misses comes from memory."""
    return claim.l2 > 0 or claim.second == claim.first


def all_fits(claim: Claim) -> bool:
    """A second level that holds all lines: each comes from memory once."""
    return claim.l2 < claim.lines or claim.second == claim.lines


LAW: dict[str, Callable[[Claim], bool]] = dict(
    zip(LAWS, (enough_cycles, enough_traffic, asked_first, one_level, all_fits), strict=True)
)

_MISSED = {
    "macs": (
        "This many multiply-accumulates do not fit into these cycles: each processing element "
        "does one a cycle, and not even the last cycle can be used in part."
    ),
    "compulsory": (
        "Every line that is asked for has to be fetched once: neither level can miss less often "
        "than there are lines."
    ),
    "asked": "The second level is asked only when the first one misses: it cannot miss more often.",
    "no second level": "A second level of 0 lines has nothing: all that misses comes from memory.",
    "all fits": "If all lines fit into the second level, each comes from memory once, no more.",
}
_KEPT = {
    "macs": "These cycles are enough: cycles times processing elements reach the operations.",
    "compulsory": "Both levels miss at least as often as there are lines: that can be.",
    "asked": "The second level misses no more often than the first: that can be.",
    "no second level": "This law is about a second level of 0 lines, and is kept here.",
    "all fits": "This law is about a second level that holds all lines, and is kept here.",
}


def broken(claim: Claim) -> list[str]:
    """Names of the laws that a claim breaks."""
    return [name for name, holds in LAW.items() if not holds(claim)]


def judge_laws(case: Case, answer: Sequence[str]) -> list[Finding]:
    """Task 2.4: the laws that a claim breaks, each by its name."""
    wanted, mine = case.wanted["broken"], list(answer)
    if sorted(mine) == sorted(wanted):
        return []
    if strange := [name for name in mine if name not in LAW]:
        return [Finding(_found(mine), _right(wanted), _unknown(strange[0]))]
    missed = [_MISSED[name] for name in wanted if name not in mine]
    kept = [_KEPT[name] for name in mine if name not in wanted]
    return [Finding(_found(mine), _right(wanted), look) for look in (missed + kept)[:3]]


def _unknown(name: Any) -> str:
    return f"{name!r} is no name of a law: they stand in LAWS."


def _found(names: Iterable[str]) -> str:
    return f"laws that you find broken: {', '.join(names) or 'none'}"


def _right(names: Iterable[str]) -> str:
    return f"laws that are broken: {', '.join(names) or 'none'}"
