"""Pictures of the notebooks of Homework 5, part A, that code can draw."""

from __future__ import annotations

from pathlib import Path

from lab_utils.instruments.ranks.records import DEFAULT
from lab_utils.instruments.ranks.replicas import replica
from lab_utils.instruments.ranks.show.clock import replay
from lab_utils.instruments.ranks.show.lanes import draw
from lab_utils.instruments.ranks.show.replicas import replica_diary
from lab_utils.instruments.ranks.show.ring_film import RingFilm
from lab_utils.kit.charts.bars import Bar, Row, draw_bars, length
from lab_utils.labs.hw5.published import RESNET18, RTX8000

FOLDER = Path("solutions/hw5/images")


def pictures() -> dict[Path, str]:
    """The text of every picture, by its path in the repository."""
    return {
        FOLDER / "too_fast.svg": _too_fast(),
        FOLDER / "ring.svg": RingFilm(4).static.svg,
        FOLDER / "overlap.svg": _overlap(),
    }


def _too_fast() -> str:
    """What a published table would mean, in operations a second."""
    work = 6 * RESNET18.macs * RESNET18.images
    rows = [
        Row(f"batch {batch}", (Bar(length(work / seconds / 1e12), None, 16.3),))
        for batch, seconds in RTX8000.items()
        if seconds
    ]
    caption = "The dashed mark is all that the card can do."
    return draw_bars(["operations a second (TFLOP/s)"], rows, caption).svg


def _overlap() -> str:
    """Backward of four layers, with buckets that leave while it goes on."""
    given = {"ranks": 2, "layers": 4, "width": 60, "rows": [2, 2], "seed": 0, "seconds": 1e-4}
    last = 2 * given["layers"] - 1  # type: ignore[operator]
    buckets = [[last - 2 * k, last - 2 * k - 1] for k in range(4)]
    assert len(replica(given)) == last + 1
    diaries = [replica_diary({**given, "buckets": buckets}) for _ in range(2)]
    return draw({"two steps, a bucket for each layer": replay(diaries, DEFAULT)}).svg
