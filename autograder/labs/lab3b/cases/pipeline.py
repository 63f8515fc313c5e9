"""Cases of notebook 2, pipeline and data parallel.

Schedules are played, micro-batches and buckets are tried one by one; gradients the judge gets
from one process.
"""

from __future__ import annotations

from typing import Any

from autograder.authoring.derived import CaseData, in_parts
from autograder.labs.lab3b.cases.ranks import FAR, FAST, SLOW
from autograder.labs.lab3b.schedules import best_end, fewest_micros, gpipe, one_f_one_b


def public() -> dict[str, list[CaseData]]:
    """By task, what students have."""
    return {
        "2.1": [_schedule(2, 3), _schedule(3, 4)],
        "2.2": [_schedule(2, 3), _schedule(3, 4), _schedule(4, 2)],
        "2.3": [_micros(4, 50), _micros(4, 30), _micros(8, 10)],
        "2.4": [
            _stage("2 stages, 3 micro-batches, GPipe", gpipe(2, 3), 3, 31),
            _stage("3 stages, 4 micro-batches, 1F1B", one_f_one_b(3, 4), 4, 32),
        ],
        "2.5": [_tied(2, [3, 2], 41), _tied(3, [2, 2], 42)],
        "2.6": [
            _buckets("four layers", [40, 8, 40, 8, 40, 8, 40, 8], 100),
            _buckets("a large one, and one just full", [44, 20, 500, 20, 44], 64),
        ],
        "2.7": [
            _overlap("2 ranks, a bucket a layer", 2, 3, [[5, 4], [3, 2], [1, 0]], 51),
            _overlap("2 ranks, two buckets", 2, 4, [[7, 6, 5, 4], [3, 2, 1, 0]], 52),
        ],
    }


def hidden() -> dict[str, list[CaseData]]:
    """By task, what decides.

    What costs nothing has parts, so that each mistake shows in at least half of the cases. What
    starts ranks is asked on few of them.
    """
    return {
        "2.1": [
            in_parts("4 and 5 stages", [_schedule(4, 8), _schedule(5, 5)]),
            in_parts("many micro-batches", [_schedule(3, 9), _schedule(8, 12)]),
            in_parts("few micro-batches", [_schedule(6, 2), _schedule(4, 3)]),
            in_parts("one stage, and seven", [_schedule(1, 4), _schedule(7, 4)]),
        ],
        "2.2": [
            in_parts("4 stages", [_schedule(4, 8), _schedule(4, 1)]),
            in_parts("5 and 6 stages", [_schedule(5, 5), _schedule(6, 2)]),
            in_parts("3 and 7 stages", [_schedule(3, 9), _schedule(7, 4)]),
            in_parts("8 stages", [_schedule(8, 12), _schedule(8, 3)]),
        ],
        "2.3": [
            in_parts("few stages", [_micros(2, 25), _micros(3, 33), _micros(1, 5)]),
            in_parts("many stages", [_micros(16, 7), _micros(12, 3), _micros(2, 50)]),
            in_parts("5 and 9 stages", [_micros(5, 20), _micros(9, 15), _micros(2, 99)]),
            in_parts("6 and 7 stages", [_micros(6, 60), _micros(7, 13), _micros(1, 99)]),
        ],
        "2.4": [
            _stage("4 stages, fewer micro-batches", one_f_one_b(4, 3), 3, 813, FAST),
            _stage("backward in the other order", _turned(gpipe(3, 5)), 5, 814),
            _stage("2 stages, 5 micro-batches, far away", gpipe(2, 5), 5, 815, FAR),
        ],
        "2.5": [_tied(3, [4, 3], 821), _tied(4, [2, 7], 822), _tied(3, [6], 823)],
        "2.6": [
            in_parts(
                "twelve layers",
                [
                    _buckets("twelve layers", [70, 7] * 12, 200),
                    _buckets("just full", [25, 25, 50, 50, 25, 75], 100),
                ],
            ),
            in_parts(
                "all in one",
                [
                    _buckets("all in one", [5, 6, 7, 8], 1000),
                    _buckets("just all in one", [5, 6, 7, 8], 26),
                    _buckets("two buckets", [9, 20, 30, 31], 60),
                ],
            ),
            in_parts(
                "too large ones",
                [
                    _buckets("one", [17], 16),
                    _buckets("a byte", [90, 1], 60),
                    _buckets("each too large", [90, 80, 70], 60),
                    _buckets("large and small", [12, 90, 30, 20, 10, 75, 4, 56], 60),
                ],
            ),
            in_parts(
                "of all sizes",
                [
                    _buckets("a byte first", [7, 9, 1], 10),
                    _buckets("many", [3, 141, 59, 26, 53, 58, 97, 93, 23, 84], 150),
                    _buckets("few", [40, 60, 30, 70], 100),
                ],
            ),
        ],
        "2.7": [
            _overlap("3 ranks, a bucket a layer", 3, 5, _by_layers(5, 1), 831, FAST),
            _overlap("buckets across layers", 2, 4, [[7, 6, 5], [4, 3, 2], [1, 0]], 834),
            _overlap("3 ranks, far away", 3, 6, _by_layers(6, 2), 835, FAR),
        ],
    }


def _schedule(stages: int, micros: int) -> CaseData:
    name = f"{stages} stages, {micros} micro-batches"
    given = {"stages": stages, "micros": micros}
    return {"name": name, "given": given, "wanted": {"end": best_end(stages, micros)}}


def _micros(stages: int, percent: int) -> CaseData:
    given = {"stages": stages, "percent": percent}
    wanted = {"micros": fewest_micros(stages, percent)}
    return {"name": f"{stages} stages, at most {percent} %", "given": given, "wanted": wanted}


def _stage(
    name: str, schedule: Any, micros: int, seed: int, link: tuple[float, float] = SLOW
) -> CaseData:
    given = {
        "ranks": len(schedule),
        "micros": micros,
        "schedule": schedule,
        "rows": 2,
        "width": 3,
        "forward": 1e-3,
        "backward": 2e-3,
        "seed": seed,
        "link": list(link),
    }
    return {"name": name, "given": given, "wanted": {}}


def _turned(schedule: Any) -> Any:
    """The same with the micro-batches of the backward steps in the other order."""
    return [
        [s for s in steps if s[0] == "F"] + [s for s in reversed(steps) if s[0] == "B"]
        for steps in schedule
    ]


def _tied(ranks: int, shape: list[int], seed: int) -> CaseData:
    given = {"ranks": ranks, "shape": shape, "seed": seed, "link": list(SLOW)}
    return {"name": f"{ranks} stages", "given": given, "wanted": {}}


def _buckets(name: str, nbytes: list[int], most: int) -> CaseData:
    wanted = {"buckets": fullest_first(nbytes, most)}
    return {"name": name, "given": {"nbytes": nbytes, "most": most}, "wanted": wanted}


def fullest_first(nbytes: list[int], most: int) -> list[list[int]]:
    """Buckets from the last parameter to the first; the longest that fits is taken."""
    order, buckets = list(reversed(range(len(nbytes)))), []
    while order:
        for many in range(len(order), 0, -1):
            if many == 1 or sum(nbytes[p] for p in order[:many]) <= most:
                break
        buckets.append(order[:many])
        order = order[many:]
    return buckets


def _by_layers(layers: int, each: int) -> list[list[int]]:
    last_first = list(reversed(range(2 * layers)))
    return [last_first[at : at + 2 * each] for at in range(0, 2 * layers, 2 * each)]


def _overlap(
    name: str,
    ranks: int,
    layers: int,
    buckets: list[list[int]],
    seed: int,
    link: tuple[float, float] = SLOW,
) -> CaseData:
    given = {
        "ranks": ranks,
        "layers": layers,
        "rows": 3,
        "width": 4,
        "buckets": buckets,
        "seconds": 1e-4,
        "seed": seed,
        "link": list(link),
    }
    return {"name": name, "given": given, "wanted": {}}
