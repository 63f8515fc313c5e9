"""The rows of a CSV file of notebook 06 as bars, with what is missing or wrong marked."""

from __future__ import annotations

from collections.abc import Mapping

from lab_utils.kit.charts.bars import Bar, Row, draw_bars, length
from lab_utils.kit.charts.colors import RIGHT, WRONG
from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.task import Case
from lab_utils.labs.project.judge.result_problems import (
    TIMES,
    baseline_problems,
    latency_problems,
    recomputed_problems,
)
from lab_utils.labs.project.judge.results import Key, Missing, Problems, Results

Answer = Mapping[str, str]


def baseline(_case: Case, answer: Answer) -> Drawing:
    """The peak of each model and batch size."""
    data = Results(answer, "models")
    problems = baseline_problems(data)
    rows = []
    for key in data.keys("none"):
        bar = Bar(length(data.value(key, "peak_bytes")), colour=_colour(key, problems))
        rows.append(Row(_name(key), (bar,), _mark(key, problems)))
    caption = f"Rows of {data.file}. A larger batch holds more."
    return draw_bars(["peak without recomputation (bytes)"], rows, caption)


def recomputed(_case: Case, answer: Answer) -> Drawing:
    """The peak of each plan, and the one without it as an outline around it."""
    data = Results(answer, "models")
    problems = recomputed_problems(data)
    rows = []
    for key in data.keys("recomputed"):
        before = key._replace(method="none")
        peaks = [data.value(one, "peak_bytes") for one in (key, before)]
        dropped = data.value(key, "dropped_bytes")
        bars = (
            Bar(length(peaks[0]), tick=peaks[1], colour=_colour(key, problems)),
            Bar(length(dropped), colour=_colour(key, problems)),
        )
        without = _mark(before, problems)
        rows.append(Row(_name(key), bars, _mark(key, problems) or (without and f"none: {without}")))
    caption = (
        f"Rows of {data.file}. Dotted tick: the peak without recomputation. A plan ends before "
        "it, by no more than it drops."
    )
    return draw_bars(["peak with recomputation (bytes)", "dropped (bytes)"], rows, caption)


def latency(_case: Case, answer: Answer) -> Drawing:
    """The time of a step: from the shortest to the longest, the median as a tick."""
    data = Results(answer, "timed")
    problems = latency_problems(data)
    rows = []
    for plain in data.keys("none"):
        pair = [plain, plain._replace(method="recomputed")]
        marks = [f"{key.method}: {mark}" for key in pair if (mark := _mark(key, problems))]
        rows.append(
            Row(_name(plain), tuple(_time(data, key, problems) for key in pair), "; ".join(marks))
        )
    caption = f"Rows of {data.file}. From the shortest to the longest run; dotted tick: median."
    return draw_bars(["nothing recomputed (ms)", "recomputed (ms)"], rows, caption)


def _time(data: Results, key: Key, problems: Problems) -> Bar:
    low, median, high = (data.value(key, column) for column in TIMES)
    span = None if low is None or high is None else (1e3 * low, 1e3 * high)
    tick = None if median is None else 1e3 * median
    return Bar(span, tick=tick, colour=_colour(key, problems))


def _name(key: Key) -> str:
    return f"{key.model}, batch {key.batch}"


def _colour(key: Key, problems: Problems) -> str:
    return WRONG if key in problems else RIGHT


def _mark(key: Key, problems: Problems) -> str:
    """What is wrong with a row, in a few words; the verdict has all of them."""
    if key not in problems:
        return ""
    if isinstance(problems[key], Missing):
        return "missing"
    wanted = problems[key].wanted
    return f"wanted: {wanted}" if len(wanted) < 30 else "wrong"
