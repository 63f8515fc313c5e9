"""The pictures of notebook 2, drawn from what the oracles count."""

from __future__ import annotations

from pathlib import Path

from autograder.reference.job.search import priced
from autograder.reference.training.memory import schedule
from lab_utils.kit.charts.colors import BLUE, ORANGE
from lab_utils.kit.charts.svg import document, rectangle, text
from lab_utils.labs.lab4b.rows import Row
from lab_utils.labs.lab4b.show.triangles import map_svg
from lab_utils.labs.lab4b.systems import JOB, LLAMA_70B, SYSTEM_1

FOLDER = Path("solutions/lab4b/images")
_BEAT, _LANE, _LEFT, _TOP = 24, 34, 64, 30  # pixels


def pictures() -> dict[Path, str]:
    """The text of every picture, by its path in the repository."""
    found = priced(LLAMA_70B, JOB, SYSTEM_1, 16)
    rows = [Row(strategy, *price) for strategy, price in found.items()]
    return {
        FOLDER / "strategies.svg": map_svg(SYSTEM_1.name, rows, 80, alone=True),
        FOLDER / "stages.svg": _stages(3, 4),
    }


def _stages(stages: int, micros: int) -> str:
    """Lanes of a pipeline under 1F1B; backward takes twice as long as forward."""
    steps = [schedule(stage, stages, micros) for stage in range(stages)]
    done: dict[tuple[str, int, int], int] = {}
    free, at, under_way, most = ([0] * stages for _ in range(4))
    body = []
    while any(at[stage] < len(steps[stage]) for stage in range(stages)):
        for stage in range(stages):
            if at[stage] == len(steps[stage]):
                continue
            kind, micro = steps[stage][at[stage]]
            before = (kind, stage + (-1 if kind == "F" else 1), micro)
            outside = not 0 <= before[1] < stages
            if not outside and before not in done:
                continue
            start = max(free[stage], 0 if outside else done[before])
            long = 1 if kind == "F" else 2
            free[stage] = done[kind, stage, micro] = start + long
            at[stage] += 1
            under_way[stage] += 1 if kind == "F" else -1
            most[stage] = max(most[stage], under_way[stage])
            x, y = _LEFT + start * _BEAT, _TOP + stage * _LANE
            colour = BLUE if kind == "F" else ORANGE
            look = {"fill": colour, "fill_opacity": 0.35, "stroke": colour, "rx": 3}
            body.append(rectangle(x + 1, y, long * _BEAT - 2, _LANE - 10, **look))
            body.append(text(x + long * _BEAT / 2, y + 16, f"{kind}{micro}", text_anchor="middle"))
    right = _LEFT + max(free) * _BEAT + 8
    for stage in range(stages):
        y = _TOP + stage * _LANE + 16
        body.append(text(_LEFT - 8, y, f"stage {stage}", text_anchor="end"))
        body.append(text(right, y, f"at most {most[stage]} under way"))
    body.append(text(_LEFT, 18, "time →", font_size=10))
    words = (
        f"{stages} stages and {micros} micro-batches under 1F1B; under way at most: "
        + ", ".join(f"{many} in stage {stage}" for stage, many in enumerate(most))
    )
    return document(right + 130, _TOP + stages * _LANE + 6, words, body, alone=True)
