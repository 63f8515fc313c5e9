"""Task 1.4: when messages arrive."""

from __future__ import annotations

from collections.abc import Sequence

from lab_utils.kit.task import Case, Finding

_LOOKS = {
    "alone": (
        "These are the times of messages that are alone. A link takes one message after the other: "
        "who finds it busy waits until it is free."
    ),
    "whole hop": (
        "A link is busy for link.busy(nbytes), not for link.hop(nbytes): while a message is still "
        "on its way, the link can take the next one."
    ),
    "two-way": (
        "Messages in opposite directions do not share a link: (a, b) and (b, a) are two links."
    ),
    "list order": (
        "The first message of the list was sent over its whole route before the others began. A "
        "link serves who comes first: always go on with what happens next in time."
    ),
    "from zero": "A message is not there before its start: begin with message.start, not with 0.",
    "no waiting time": (
        "A link becomes free `busy` ns after it took the message, and it may have taken it later "
        "than the message came."
    ),
    "last come": (
        "The message that came last was served first. A link serves who came first, and of two "
        "that come together the one with the lower number."
    ),
}


def judge_arrivals(case: Case, answer: Sequence[float]) -> list[Finding]:
    """Every message arrives at its nanosecond."""
    right = case.wanted["arrivals"]
    if len(answer) != len(right):
        look = "Return one time for each message, in the order of the messages."
        return [Finding(f"{len(answer)} times", f"{len(right)} times", look)]
    for place, (got, wanted) in enumerate(zip(answer, right, strict=True)):
        if got != wanted:
            yours = f"message {place} arrives at {got:,} ns"
            return [Finding(yours, f"{wanted:,} ns", _why(case, list(answer), place))]
    return []


def _why(case: Case, answer: list[float], place: int) -> str:
    for name, look in _LOOKS.items():
        if answer == case.wanted["slips"].get(name):
            return look
    start, _, route = case.given["messages"][place]
    if len(route) == 1:
        return "Its route is one node: it is there from the start."
    if answer[place] <= start:
        return "It arrives before it can have left: add link.hop(nbytes) for every link."
    if answer[place] < case.wanted["slips"].get("alone", case.wanted["arrivals"])[place]:
        return (
            "It is faster than a message that is alone. Store and forward: all of it must be at "
            "a node before the next link takes it, link.hop(nbytes) later."
        )
    return (
        "Play it by hand: who comes to a link, when is the link free, when does the message "
        "arrive? Take what happens first in time first."
    )
