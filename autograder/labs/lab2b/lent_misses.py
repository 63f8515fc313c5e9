"""A right version of task 1.1's function, lent to tasks 1.2 and 1.3 as text.

A search for Belady's anomaly calls it thousands of times. It gets into the process of a hand-in
only when all tasks have been asked once.
"""

from collections import OrderedDict
from collections.abc import Iterable


def misses(trace: Iterable[int], size: int, policy: str = "LRU") -> list[int]:
    """Places in the trace at which a buffer of ``size`` lines does not have the line."""
    held: OrderedDict[int, None] = OrderedDict()
    places = []
    for place, line in enumerate(trace):
        if line not in held:
            places.append(place)
            held[line] = None
            if len(held) > size:
                held.popitem(last=False)
        elif policy == "LRU":
            held.move_to_end(line)
    return places
