"""The same misses, fast: for searching through thousands of designs, and for whole curves."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def lru_missed(trace: Ints, size: int) -> Ints:
    """Places of the accesses that miss in one buffer of ``size`` lines under LRU."""
    if size <= 0:
        return np.arange(len(trace))
    held: OrderedDict[int, None] = OrderedDict()
    places = []
    for place, line in enumerate(trace.tolist()):
        if line in held:
            held.move_to_end(line)
            continue
        places.append(place)
        held[line] = None
        if len(held) > size:
            held.popitem(last=False)
    return np.array(places, dtype=np.int64)


def stack_distances(trace: Sequence[int]) -> Ints:
    """For each access, how many different lines were used since this one was used last.

    Under LRU a buffer of ``size`` lines has exactly the lines with a distance below ``size``:
    one pass tells the misses of every size. A first use has a distance larger than any size.
    """
    names = np.unique(np.array(trace, dtype=np.int64), return_inverse=True)[1]
    last = np.full(int(names.max(initial=-1)) + 1, -1)
    found = np.full(len(names), np.iinfo(np.int64).max)
    for place, line in enumerate(names.tolist()):
        if (before := last[line]) >= 0:
            found[place] = np.count_nonzero(last > before)
        last[line] = place
    return found


def lru_curve(trace: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Misses under LRU for every size, from one pass."""
    distances = stack_distances(trace)
    return [int(np.count_nonzero(distances >= size)) for size in sizes]
