"""Messages on links: the event queue, a clock that looks at every nanosecond, and the film."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.labs.lab4b.mesh_oracles import arrivals_by_clock, can_stand_still, grid, row_first
from lab_utils.instruments.network.mesh import (
    LINK,
    MIB,
    Link,
    Message,
    all_to_all,
    hot_spot,
    ring,
    traffic_film,
    transpose,
)
from lab_utils.instruments.network.show.packets import arrivals, hops
from lab_utils.instruments.network.show.picture import neighbours
from lab_utils.instruments.network.show.routes import circle, xy, yx
from lab_utils.instruments.network.show.traffic import Take, areas, frame, traffic_svg
from lab_utils.kit.errors import LabError

#: Small, and of any shape: store and forward knows nothing of meshes.
WAYS = st.lists(st.integers(0, 3), min_size=1, max_size=5).map(
    lambda way: [a for n, a in enumerate(way) if n == 0 or a != way[n - 1]]
)
MESSAGES = st.lists(st.builds(Message, st.integers(0, 30), st.integers(0, 99), WAYS), max_size=8)
LINKS = st.builds(Link, st.integers(1, 15), st.sampled_from([0.5, 1, 3]))


@given(MESSAGES, LINKS)
@settings(max_examples=80, deadline=None)
def test_the_event_queue_and_the_clock_agree(messages: list[Message], link: Link) -> None:
    assert arrivals(messages, link) == arrivals_by_clock(messages, link)


@given(MESSAGES, LINKS)
@settings(max_examples=40, deadline=None)
def test_every_link_carries_what_was_sent_over_it(messages: list[Message], link: Link) -> None:
    """Bytes are conserved, links take one message at a time, and in the order of asking."""
    played = hops(messages, link)
    sent: Counter[Any] = Counter()
    carried: Counter[Any] = Counter()
    for message in messages:
        for pair in pairwise(message.route):
            sent[pair] += message.nbytes
    for hop in played:
        carried[hop.link] += messages[hop.message].nbytes
    assert carried == sent
    for pair in {hop.link for hop in played}:
        ours = sorted((hop for hop in played if hop.link == pair), key=lambda hop: hop.began)
        assert [hop.asked for hop in ours] == sorted(hop.asked for hop in ours)
        assert all(first.freed <= second.began for first, second in pairwise(ours))
    for number, message in enumerate(messages):
        mine = [hop for hop in played if hop.message == number]
        assert [hop.link for hop in mine] == list(pairwise(message.route))
        assert all(first.arrived == second.asked for first, second in pairwise(mine))


def test_published_arrivals_to_the_nanosecond() -> None:
    assert (LINK.busy(MIB), LINK.hop(MIB)) == (19_531, 20_031)
    pairs = ((1, 7), (5, 14), (11, 5), (15, 4))
    messages = [Message(0, MIB, xy(src, dst, 4)) for src, dst in pairs]
    assert arrivals(messages, LINK) == [60_093, 60_093, 60_093, 100_155]
    assert max(Counter(hop.link for hop in hops(messages, LINK)).values()) == 1  # no contention


def test_a_link_without_latency_is_refused() -> None:
    with pytest.raises(LabError, match="at least 1 ns"):
        arrivals([Message(0, 1, [0, 1])], Link(0, 1))


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 99), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_routes_and_links_are_those_of_networkx(width: int, height: int, a: int, b: int) -> None:
    src, dst = a % (width * height), b % (width * height)
    assert xy(src, dst, width) == row_first(src, dst, width, height)
    assert yx(src, dst, width) == row_first(dst, src, width, height)[::-1]
    assert sorted(neighbours(width, height)) == sorted(grid(width, height).to_directed().edges)


@given(st.lists(WAYS, max_size=7))
@settings(max_examples=60, deadline=None)
def test_circles_are_those_of_networkx(routes: list[list[int]]) -> None:
    assert bool(circle(routes)) is can_stand_still(routes)


def test_patterns_of_traffic() -> None:
    assert transpose(2) == [(1, 2), (2, 1)]
    assert hot_spot(4, 1) == [(0, 1), (2, 1), (3, 1)]
    assert len(all_to_all(5)) == 20
    assert ring(3) == [(0, 1), (1, 2), (2, 0)]


def film() -> Any:
    pairs = [pair for pair in transpose(3) for _ in range(3)]
    runs = {
        "XY": [Message(0, MIB, xy(src, dst, 3)) for src, dst in pairs],
        "<YX>": [Message(0, MIB, yx(src, dst, 3)) for src, dst in pairs],
    }
    return traffic_film(3, 3, runs)


def test_the_film_follows_its_slider_and_lists_a_link() -> None:
    shown = film()
    shown.moment.value = 0
    start = shown.at(0)
    assert start.words.startswith("XY: 0 of 157,748 ns; 6 links at work, 12 messages wait")
    assert "aria-label" in start.svg
    assert "&lt;YX&gt;" in start.html
    assert start.html in shown.picture.value or len(start.html) == len(shown.picture.value)
    shown.moment.value = 60
    assert "all arrived after" in shown.at(60).words
    assert shown.listed.value == ""
    shown.link.value = (1, 0)
    assert "6 messages over 1 → 0" in shown.listed.value
    assert "1 → 3" in shown.listed.value
    assert "<YX>" not in shown.listed.value
    assert shown.static.words


def test_a_click_on_a_link_lists_it_as_often_as_it_is_clicked() -> None:
    shown = film()
    for _ in range(2):
        shown.clicks.value = (1, (3, 0))
        assert shown.link.value == (3, 0)
        assert "6 messages over 3 → 0" in shown.listed.value
        shown.link.value = ()
    assert len(shown.clicks.options) == 2 * len(neighbours(3, 3))
    assert shown.clicks.tooltips[0] == "XY: 0 → 1, 0 messages"


@pytest.mark.parametrize("shape", [(4, 3), (1, 5), (2, 6)])
def test_the_places_to_click_do_not_overlap_and_lie_on_their_lines(shape: tuple[int, int]) -> None:
    found = areas(2, shape)
    wide, high = frame(2, shape)
    drawn = traffic_svg(2 * [Take("still", [], [])], shape, 0, None, alone=False)
    lines = re.findall(r"<title>(\d+) → (\d+)</title><path d=\"M([^\"]*)\"", drawn)
    assert len(lines) == len(found)
    seen: Counter[tuple[int, int]] = Counter()
    for a, b, path in lines:
        link = int(a), int(b)
        here = found[seen[link], link]
        seen[link] += 1
        for point in path.split("L"):
            x, y = map(float, point.split())
            assert here.left <= x <= here.left + here.wide
            assert here.top <= y <= here.top + here.high
    for (place, link), here in found.items():
        assert 0 <= here.left <= wide - here.wide
        assert 0 <= here.top <= high - here.high
        for other in set(found) - {(place, link)}:
            there = found[other]
            apart = min(
                min(here.left + here.wide, there.left + there.wide) - max(here.left, there.left),
                min(here.top + here.high, there.top + there.high) - max(here.top, there.top),
            )
            assert apart <= 4, (link, other)  # a corner at most, where two of them meet at a node


def test_a_film_of_nothing_and_of_wrong_routes_is_told_in_words() -> None:
    with pytest.raises(LabError, match="at least one run"):
        traffic_film(2, 2, {})
    with pytest.raises(LabError, match="from 0 to 3, and these are no neighbours"):
        traffic_film(2, 2, {"mine": [Message(0, 1, [0, 3])]})
    assert traffic_film(2, 2, {"still": [Message(5, 1, [0])]}) is not None
