"""A second level behind the double buffers: none is one level, one for all is compulsory."""

from __future__ import annotations

from itertools import pairwise

import pytest

from lab_utils.instruments.systolic.designs import Conv
from lab_utils.instruments.systolic.show.levels import BackedLayer
from lab_utils.instruments.systolic.show.stalls import KILO

LAYER = Conv("conv", 20, 20, 3, 3, 16, 4)
ARRAYS = [("os", 4, 4), ("os", 8, 8), ("ws", 5, 4), ("is", 4, 6), ("ws", 8, 9)]


@pytest.mark.parametrize("array", ARRAYS, ids=str)
@pytest.mark.parametrize("bandwidth", [12, 50])
def test_a_second_level_of_size_0_is_one_level(array: tuple[str, int, int], bandwidth: int) -> None:
    behind = BackedLayer(LAYER, *array)
    for ifmap, weights in ((1, 1), (2, 1), (1, 3)):
        one = behind.stall_cycles(ifmap, weights, 4, bandwidth)
        assert behind.stalls_behind(ifmap, weights, bandwidth, 4 * bandwidth, times=0) == one


@pytest.mark.parametrize("array", ARRAYS, ids=str)
def test_a_second_level_for_everything_fetches_each_piece_once(
    array: tuple[str, int, int],
) -> None:
    behind = BackedLayer(LAYER, *array)
    cut = behind._streams[0].pieces(KILO)
    none, everything = (int(behind.fetched(0, 1, times).sum()) for times in (0, 1000))
    halves = behind._misses(0, 1).halves[-1]
    assert none == halves * cut.step
    assert everything == min(none, cut.many - cut.active), "compulsory, and no more"


@pytest.mark.parametrize("array", ARRAYS, ids=str)
def test_a_larger_second_level_never_stalls_more(array: tuple[str, int, int]) -> None:
    """LRU has the stack property, whatever asks."""
    behind = BackedLayer(LAYER, *array)
    stalls = [behind.stalls_behind(1, 1, 12, 48, times) for times in (0, 2, 8, 40, 200)]
    assert all(a >= b for a, b in pairwise(stalls))
