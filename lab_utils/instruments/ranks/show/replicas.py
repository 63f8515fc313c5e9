"""What replicas do that hide their messages behind backward as well as they can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab_utils.instruments.ranks.records import Diary


def replica_diary(given: Mapping[str, Any]) -> Diary:
    """What a rank does that starts each bucket as soon as it can, in two steps."""
    diary: Diary = []
    request = 0
    everybody = list(range(given["ranks"]))
    for _ in range(2):
        diary += [["compute", given["seconds"] / 2, f"F{n}"] for n in range(given["layers"])]
        ready: set[int] = set()
        started: list[int] = []
        waiting = [set(bucket) for bucket in given["buckets"]]
        for layer in reversed(range(given["layers"])):
            diary.append(["compute", given["seconds"], f"B{layer}"])
            ready |= {2 * layer, 2 * layer + 1}
            for bucket in [one for one in waiting if one <= ready]:
                waiting.remove(bucket)
                nbytes = sum(8 * given["width"] ** (2 - p % 2) for p in bucket)
                diary.append(["collective", request, "all_reduce", everybody, nbytes, "all"])
                started.append(request)
                request += 1
        diary += [["wait", one] for one in started]
    return diary
