"""Task 2.3: cycles of a row-stationary convolution."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lab_utils.instruments.systolic.designs import Conv
from lab_utils.kit.task import Case, Finding
from lab_utils.labs.lab2b.judge.latency import too_few


class Parts(NamedTuple):
    """The numbers that the cycles are made of; a mistake changes one of them."""

    loads: int
    rows: int
    columns: int
    width: int
    drain: int
    filter_width: int
    channels: int
    filter_folds: int
    filter_groups: int

    @property
    def cycles(self) -> int:
        """All passes, one after the other."""
        strips = math.ceil(self.rows / self.width)
        strip = self.filter_width * self.columns + self.drain
        passes = self.channels * self.filter_folds * self.filter_groups
        return passes * (self.loads + strips * strip)


def parts_of(conv: Conv, height: int, width: int) -> Parts:
    """The definition in the text of the task."""
    high, long, stride = conv.filter_height, conv.filter_width, conv.stride
    set_rows, sets = min(high, height), max(1, height // high)
    return Parts(
        loads=long,
        rows=(conv.height - high) // stride + 1,
        columns=(conv.width - long) // stride + 1,
        width=width,
        drain=set_rows - 1,
        filter_width=long,
        channels=conv.channels,
        filter_folds=math.ceil(high / set_rows),
        filter_groups=math.ceil(conv.filters / sets),
    )


def judge_row_stationary(case: Case, answer: float) -> list[Finding]:
    """Task 2.3: cycles, exactly: the text defines each of them."""
    wanted = case.wanted["cycles"]
    if answer == wanted:
        return []
    conv, (h, w) = Conv("layer", *case.given["conv"]), _array(case.given)
    named = next((look for guess, look in _mistakes(conv, h, w) if answer == guess != wanted), "")
    law = too_few(answer, case.wanted["macs"], case.given)
    return [Finding(f"{answer:,} cycles", f"{wanted:,} cycles", named or law or _BY_HAND)]


def _array(given: Mapping[str, Any]) -> tuple[int, int]:
    return given["height"], given["width"]


def _mistakes(conv: Conv, h: int, w: int) -> Iterator[tuple[int, str]]:
    """What each mistake would answer, and what to say of it."""
    right, high, stride = parts_of(conv, h, w), conv.filter_height, conv.stride
    sets = max(1, h // high)
    strips = math.ceil(right.rows / w)
    passes = right.channels * right.filter_folds * right.filter_groups
    yield right._replace(rows=conv.height).cycles, _INPUT_ROWS
    yield right._replace(rows=conv.height, columns=conv.width).cycles, _INPUT_ROWS
    plain = Conv(*conv[:7], 1)
    yield parts_of(plain, h, w).cycles, _STRIDE
    tall = math.ceil((conv.height - high) / stride) + 1
    wide = math.ceil((conv.width - conv.filter_width) / stride) + 1
    yield right._replace(rows=tall, columns=wide).cycles, _ROUNDED_UP
    turned = Conv("", conv.width, conv.height, conv.filter_width, high, *conv[5:])
    yield parts_of(turned, h, w).cycles, _TURNED
    yield parts_of(conv._replace(height=conv.width, width=conv.height), h, w).cycles, _TURNED
    filters = conv._replace(filter_height=conv.filter_width, filter_width=high)
    if filters.filter_height <= conv.height and filters.filter_width <= conv.width:
        yield parts_of(filters, h, w).cycles, _TURNED
    yield parts_of(conv, w, h).cycles, _ARRAY_TURNED
    yield right._replace(channels=1).cycles, _CHANNELS
    yield right._replace(filter_groups=1).cycles, _FILTERS
    swapped = conv._replace(channels=conv.filters, filters=conv.channels)
    yield parts_of(swapped, h, w).cycles, _SWAPPED
    yield right._replace(filter_groups=conv.filters).cycles, _SETS
    down, parted = max(1, conv.filters // sets), math.ceil(conv.filters * high / max(h, high))
    either = down == parted
    yield right._replace(filter_groups=parted).cycles, _WHOLE if either else _WHOLE_SETS
    yield right._replace(filter_groups=down).cycles, _GROUPS_UP
    yield right._replace(filter_folds=1).cycles, _FOLDS
    yield right._replace(filter_folds=1, drain=high - 1).cycles, _FOLDS
    yield right._replace(drain=high - 1).cycles, _FOLD_DRAIN
    yield right._replace(drain=h - 1).cycles, _SET_DRAIN
    strip = conv.filter_width * right.columns + right.drain
    yield passes * strips * (right.loads + strip), _LOAD_ONCE
    yield right._replace(loads=right.loads * (right.drain + 1)).cycles, _LOAD_ROWS
    yield right._replace(drain=0).cycles, _DRAIN
    yield right._replace(drain=right.drain + 1).cycles, _DRAIN
    yield right._replace(loads=0).cycles, _LOAD
    yield right._replace(loads=0, drain=0).cycles, _LOAD
    yield passes * right.loads + strips * strip, _ONE_PASS
    yield right.loads + passes * strips * strip, _LOAD_EACH
    yield passes * (right.loads + strips * (right.columns + right.drain)), _ONE_MAC
    yield (
        passes * (right.loads + strips * (conv.filter_width * right.columns) + right.drain),
        (_DRAIN_EACH),
    )
    floored = max(1, right.rows // w)
    yield passes * (right.loads + floored * strip), _STRIPS_UP
    yield passes * (right.loads + right.rows * strip), _COLUMNS
    # The answer that went round: see the story in the notebook.
    famous = math.ceil(conv.width / 5) * (conv.filter_width + high + 3 + conv.height - 2)
    yield famous * conv.channels * conv.filters, _FAMOUS


_BY_HAND = "Watch the film of a small layer: which cycles are paid for by which part?"
_INPUT_ROWS = (
    "A strip makes as many output rows as the array is wide: count output rows, not input."
)
_STRIDE = "The stride is left out: there are fewer output rows, and fewer outputs in a row."
_ROUNDED_UP = "You round the size of the output up: a window that does not fit makes no output."
_TURNED = "Height and width are mixed up: a filter row has as many weights as the filter is wide."
_ARRAY_TURNED = "Height and width of the array are swapped: output rows lie across its width."
_CHANNELS = "Each input channel has a filter row of its own: passes for all channels are needed."
_FILTERS = "Each filter needs passes of its own: only so many sets fit on the array at once."
_SWAPPED = "Channels and filters are swapped: the sets above each other work on different filters."
_SETS = "If the array is high enough, several filters are worked on at once, one in each set."
_WHOLE_SETS = "Only whole sets work: rows of the array that are left over idle."
_WHOLE = (
    "Only whole sets work: rows of the array that are left over idle. And a last group of filters "
    "that is not full takes a pass too: round up."
)
_GROUPS_UP = "A last group of filters that is not full takes a pass too: round up."
_FOLDS = "The filter is higher than the array: its rows come in several folds, each with a pass."
_FOLD_DRAIN = "Sums climb only through the rows that a set has on the array, not the whole filter."
_SET_DRAIN = "Each set drains by itself: sums climb through the rows of one set."
_DRAIN = "The top row begins one cycle later for each row below it: one less than the set has rows."
_LOAD = "Filter rows have to be loaded before anything streams: one weight a cycle."
_LOAD_ONCE = "Filter rows stay: they are loaded once for all strips, that is the point of it."
_LOAD_ROWS = "All rows of the array are loaded at once, one weight a cycle each."
_LOAD_EACH = "Each channel and each group of filters has new filter rows to load."
_ONE_PASS = "The strips are run again for each channel and each group of filters."
_ONE_MAC = "An element does one product a cycle: an output takes as many as the filter row is long."
_DRAIN_EACH = "Every strip drains before the next one begins."
_STRIPS_UP = "A last strip that is not full takes as long as the others: round up."
_COLUMNS = "A strip makes several output rows at once: one in each column of the array."
_FAMOUS = (
    "This is the answer that went round. Divide the multiply-accumulates by the elements: no array "
    "is done so early."
)
