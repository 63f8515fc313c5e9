"""Time as limits count it: the same however busy or slow the machine is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from autograder.grading.sandbox import Limits
from autograder.grading.sandbox.host.limits import most_of
from autograder.grading.sandbox.host.speed import slowness
from autograder.grading.sandbox.inside.clock import Clock, Moment
from autograder.grading.sandbox.inside.family import Family

TICK = 0.1
LIMITS = Limits(cell_seconds=60, idle_seconds=30)


def moments(share: float, asleep: bool = False, every: float = TICK) -> Iterator[Moment]:
    """A notebook that gets this share of a processor, looked at again and again."""
    number = 0
    while True:
        yield Moment(number * every, number * every * share, asleep)
        number += 1


def until_late(looks: Iterator[Moment], limits: Limits = LIMITS) -> tuple[str, int]:
    """What is used up first, and after how many seconds."""
    clock = Clock(limits.allowance(limits.cell_seconds), next(looks))
    for now in looks:
        if late := clock.look(now):
            return late, round(now.time)
    raise AssertionError


def test_work_is_counted_and_waiting_for_a_processor_is_not() -> None:
    assert until_late(moments(share=1)) == ("cpu", 60)
    assert until_late(moments(share=1 / 8)) == ("cpu", 480)


def test_sleep_is_counted_even_if_it_is_interrupted_by_a_little_work() -> None:
    assert until_late(moments(share=0, asleep=True)) == ("idle", 30)

    def short_sleeps() -> Iterator[Moment]:
        for number, now in enumerate(moments(share=0, asleep=True)):
            yield now._replace(cpu=number // 10 * 0.01)

    late, when = until_late(short_sleeps())
    assert late == "idle"
    assert when < 40


def test_nothing_takes_for_ever() -> None:
    late, when = until_late(moments(share=0))
    assert late == "wall"
    assert when < 1000


def test_looks_that_come_late_do_not_make_a_sleeper() -> None:
    """Who is kept waiting for ten seconds tells that the machine is busy, and no more."""
    assert until_late(moments(share=0, asleep=True, every=10))[1] >= 10 * 30


def test_a_slow_machine_has_more_time() -> None:
    assert until_late(moments(share=1), LIMITS.on_machine(3)) == ("cpu", 180)
    assert 1 <= slowness() <= 8


def test_tasks_of_several_labs_have_the_highest_of_their_limits() -> None:
    several = [Limits(cell_seconds=5, threads=2), Limits(cell_seconds=90)]
    assert most_of(several) == Limits(cell_seconds=90, threads=2)
    assert most_of([]) == Limits()


def test_time_is_paid_for_once() -> None:
    looks = moments(share=1)
    clock = Clock(LIMITS.allowance(60), next(looks))
    clock.look(Moment(1, 1, False))  # at work
    clock.look(Moment(1.5, 1, True))  # asleep
    assert clock.spent == 1.5
    clock.paused = True
    clock.look(Moment(9, 1, True))  # for the grader
    assert clock.spent == 1.5
    clock.paused = False
    clock.look(Moment(9.1, 50, False))  # who ends is seen in its parent, too
    assert clock.spent <= 1.5 + 0.1 * (os.cpu_count() or 1)
    clock.look(Moment(9.2, 0, False))  # it has ended, and nobody waited for it
    before = clock.spent
    clock.look(Moment(9.3, 0.1, False))
    assert clock.spent == pytest.approx(before + 0.1)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_the_work_of_all_children_is_seen_while_they_run_and_when_they_are_gone() -> None:
    family = Family(alone=False, linux=True)
    start = family.now().cpu
    # The kernel tells what a process has used in hundredths, and cuts off the rest.
    code = "import time\nwhile time.process_time() < 0.6: pass\ninput()"
    again = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"
    with subprocess.Popen([sys.executable, "-c", again], stdin=subprocess.PIPE) as child:
        while (now := family.now()).cpu < start + 0.5 or not now.asleep:
            assert child.poll() is None
        assert len(now.processes) >= 2
        child.communicate(b"\n")
    assert family.now().cpu >= start + 0.5
