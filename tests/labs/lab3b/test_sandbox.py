"""Ranks inside the sandbox, at every level of isolation: eight of them, and a deadlock."""

from __future__ import annotations

import pytest

from autograder.grading.sandbox import Executor, Isolation
from autograder.labs.lab3b.hidden import HIDDEN
from tests.grading.test_executor import run, text_of

pytestmark = pytest.mark.slow

CELL = """
import torch, torch.distributed as dist
from lab_utils.instruments.ranks import RanksFailed, run_ranks, run_times
from lab_utils.labs.lab3b.ask.pipeline import ask_tied

def add_up():
    total = torch.tensor([1.0 + dist.get_rank()], requires_grad=True)
    (3 * total).backward()
    dist.all_reduce(total.grad)
    return total.grad.item()

def stuck():
    dist.recv(torch.zeros(1), (dist.get_rank() + 1) % dist.get_world_size())

done = run_ranks(8, add_up)
print(done.results[7], run_times(done)[0])
try:
    run_ranks(3, stuck)
except RanksFailed as error:
    print(error)
try:
    print(run_ranks(2, add_up, backend="gloo").results)
except Exception as error:
    print("no gloo")
"""


@pytest.mark.parametrize("level", list(Isolation))
def test_ranks_work_at_every_level(level: Isolation) -> None:
    with Executor(level, limits=HIDDEN.limits, jobs=1, preload=HIDDEN.preload) as executor:
        if executor.reached.level is not level:
            pytest.skip(str(executor.reached))
        said = text_of(run(executor, CELL)).splitlines()
    assert said[0] == "24.0 nan"
    assert said[1].startswith("a deadlock: rank 0 waits in recv for rank 1 to send, rank 1 waits")
    if level in (Isolation.FULL, Isolation.NAMESPACES):
        assert said[2] == "[6.0, 6.0]"
