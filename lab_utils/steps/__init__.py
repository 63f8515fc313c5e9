"""The graph of a training step: trace, storage, schedule, memory, run, read, write, compare, draw.

Its values draw themselves. How, is told by ``draw.values``, which is loaded when one is shown.
"""

from lab_utils.kit.charts.drawn import picture_book

picture_book("lab_utils.steps.draw.values")
