"""Models, clusters and plans on which notebook 3 is tried: public ones, and hidden ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autograder.reference.training.search import peak
from lab_utils.instruments.parallel import FULL, SELECTIVE, Cluster, Job, Plan
from lab_utils.instruments.roofline import A100, H100
from lab_utils.instruments.shapes import GPT_2560, Transformer
from lab_utils.labs.lab3b.h100 import CLUSTER, GPT_JOB


def _gpt(
    name: str, layers: int, heads: int, head: int, hidden: int, vocab: int, context: int
) -> Transformer:
    """As GPT-2 is: as many key heads as query heads, no gate."""
    return Transformer(
        name, layers, heads * head, heads, heads, head, hidden, False, vocab, context
    )


TINY = _gpt("tiny", 4, 4, 2, 24, 200, 16)
SMALL = _gpt("small", 12, 12, 64, 3072, 50257, 1024)
ODD = _gpt("odd", 6, 8, 12, 320, 1100, 64)
WIDE = _gpt("wide", 8, 16, 48, 4096, 32000, 512)
NARROW = _gpt("narrow", 24, 24, 40, 2400, 51300, 1024)
LARGE = _gpt("large", 96, 96, 128, 49152, 50257, 2048)
MIDDLE = _gpt("middle", 48, 32, 80, 10240, 50257, 2048)

FOUR_SMALL = Cluster(replace(A100, memory=40e9), 4, 2e-5, 200e9, 0.6, 0.25)
EIGHT = replace(CLUSTER, cards=8)
FAR_APART = Cluster(H100, 8, 3e-3, 2e9, 0.5, 0.2)
TWELVE = Cluster(replace(H100, memory=8e9), 12, 1e-5, 400e9, 0.5, 0.3)
LONG_WAY = Cluster(replace(A100, memory=16e9), 6, 4e-3, 25e9, 0.7, 0.3)
ONE = replace(CLUSTER, cards=1)

AR = SELECTIVE

CROOKED = _gpt("crooked", 10, 12, 64, 3080, 50257, 1024)
"""Three cards can share its heads, and nothing else of it."""
ODD_HEADS = _gpt("odd heads", 10, 10, 64, 3072, 50257, 1024)
"""Three cards can share what is between up and down, and nothing else of it."""
FIVE_HEADS = _gpt("five heads", 2, 5, 64, 1280, 1100, 512)
ODD_HIDDEN = _gpt("odd hidden", 2, 4, 64, 1023, 1100, 512)


def _just(cluster: Cluster, model: Transformer, job: Job, plan: Plan) -> Cluster:
    """The same with cards that have exactly the memory that the plan needs."""
    machine = replace(cluster.machine, memory=float(peak(model, job, plan)))
    return replace(cluster, machine=machine)


def _just_deep(model: Transformer, layers: int) -> Cluster:
    """Two cards on which so many layers fit exactly, as two stages that run attention again."""
    plan = Plan(pp=2, recompute=AR)
    return _just(CLUSTER, replace(model, layers=layers), Job(512, 12, 4), plan)


THREE = replace(CLUSTER, cards=3)
Settings = dict[str, dict[str, tuple[Any, ...] | list[tuple[Any, ...]]]]
"""By task and case, the arguments; a list of them for a case of several parts.

A hidden case has parts so that every usual mistake shows in at least half of the cases.
"""

PUBLIC: Settings = {
    "3.1": {
        "tiny, one card": (TINY, 1, 1),
        "tiny, TP2": (TINY, 2, 1),
        "tiny, PP2": (TINY, 1, 2),
        "the course's GPT, TP2": (GPT_2560, 2, 1),
    },
    "3.2": {
        "tiny, one card": (TINY, 4, 1, "fp32", Plan()),
        "tiny, bf16": (TINY, 4, 3, "bf16", Plan()),
        "tiny, TP2": (TINY, 6, 2, "fp32", Plan(tp=2)),
        "tiny, TP2, sequence parallel": (TINY, 6, 2, "fp32", Plan(tp=2, sequence_parallel=True)),
        "tiny, selective": (TINY, 6, 2, "bf16", Plan(tp=2, recompute=AR)),
        "tiny, full": (TINY, 6, 2, "fp32", Plan(tp=2, recompute=FULL)),
        "the course's GPT": (GPT_2560, 2048, 4, "fp32", Plan()),
    },
    "3.3": {
        "tiny, one card": (TINY, Job(8, 2), Plan()),
        "tiny, PP2, four micro-batches": (TINY, Job(8, 8, 4), Plan(pp=2)),
        "tiny, TP2 and DP2, bf16": (TINY, Job(8, 4, 1, "bf16"), Plan(tp=2, dp=2)),
        "tiny, PP2+AR": (TINY, Job(8, 4, 2), Plan(pp=2, recompute=AR)),
        "the course's GPT": (GPT_2560, GPT_JOB, Plan()),
    },
    "3.4": {
        "tiny, one card": (TINY, Job(8, 2), Plan()),
        "tiny, TP2 and PP2": (TINY, Job(8, 4, 2), Plan(tp=2, pp=2)),
        "tiny, DP2+AR": (TINY, Job(8, 4), Plan(dp=2, recompute=AR)),
        "the course's GPT": (GPT_2560, GPT_JOB, Plan()),
    },
    "3.5": {
        "the course's GPT": (GPT_2560, GPT_JOB, Plan(), CLUSTER),
        "the course's GPT, TP2": (GPT_2560, GPT_JOB, Plan(tp=2), CLUSTER),
        "the course's GPT, DP2": (GPT_2560, GPT_JOB, Plan(dp=2), CLUSTER),
        "the course's GPT, PP2": (GPT_2560, GPT_JOB, Plan(pp=2), CLUSTER),
        "tiny, TP2, PP2, DP2, two micro-batches": (
            TINY,
            Job(8, 8, 2),
            Plan(tp=2, pp=2, dp=2),
            EIGHT,
        ),
    },
    "3.6": {
        "the course's GPT on two cards": (GPT_2560, GPT_JOB, CLUSTER),
        "48 layers on eight cards": (MIDDLE, Job(2048, 32, 8, "bf16"), EIGHT),
        "48 layers on one card": (MIDDLE, Job(2048, 4), ONE),
    },
    "3.7": {
        "two cards, 1024 tokens": (GPT_2560, Job(1024, 4), CLUSTER, 24),
        "one card, 2048 tokens": (GPT_2560, GPT_JOB, ONE, 4),
    },
    "3.8": {
        "single": (Plan(), Job(2048, 4)),
        "TP2": (Plan(tp=2), Job(2048, 4)),
        "PP2+AR": (Plan(pp=2, recompute=AR), Job(2048, 4)),
    },
    "3.9": {
        "two replicas": (2, 1, 1),
        "two stages, one micro-batch": (1, 2, 1),
        "two stages, four micro-batches": (1, 2, 4),
    },
}

HIDDEN: Settings = {
    "3.1": {
        "another model": [(ODD, 1, 1), (ODD, 4, 1), (ODD, 1, 3)],
        "two by two": [(NARROW, 1, 1), (NARROW, 2, 2), (NARROW, 8, 3)],
        "a large one": [(replace(LARGE, layers=12), 1, 1), (LARGE, 8, 12)],
        "hidden is not four times as wide": [(WIDE, 2, 1), (WIDE, 8, 4)],
    },
    "3.2": {
        "another model": [
            (ODD, 20, 3, "fp32", Plan()),
            (ODD, 20, 3, "bf16", Plan(tp=4)),
            (ODD, 24, 2, "bf16", Plan(tp=4, sequence_parallel=True)),
            (ODD, 40, 2, "fp32", Plan(tp=2, recompute=AR)),
            (ODD, 40, 2, "bf16", Plan(tp=2, recompute=FULL)),
        ],
        "a wide one": [
            (WIDE, 128, 5, "fp32", Plan(tp=2, recompute=AR)),
            (WIDE, 256, 2, "bf16", Plan(tp=8)),
            (WIDE, 64, 3, "fp32", Plan(tp=4, sequence_parallel=True)),
            (WIDE, 64, 3, "fp32", Plan(tp=4, recompute=FULL, sequence_parallel=True)),
        ],
        "a narrow one": [
            (NARROW, 256, 2, "bf16", Plan(tp=2)),
            (NARROW, 512, 1, "fp32", Plan(tp=4, recompute=AR, sequence_parallel=True)),
            (NARROW, 128, 1, "bf16", Plan(tp=2, recompute=FULL)),
        ],
        "a large one": [
            (LARGE, 2048, 1, "bf16", Plan(tp=8)),
            (LARGE, 1024, 2, "bf16", Plan(tp=8, recompute=AR)),
            (LARGE, 1024, 2, "fp32", Plan(tp=4, sequence_parallel=True)),
            (LARGE, 512, 1, "bf16", Plan(tp=2, recompute=FULL, sequence_parallel=True)),
        ],
    },
    "3.3": {
        "more micro-batches than stages": (ODD, Job(32, 24, 6), Plan(1, 3, 2, AR)),
        "fewer micro-batches than stages": (ODD, Job(32, 8, 2), Plan(1, 6, 2, AR)),
        "everything at once": (NARROW, Job(512, 32, 4, "bf16"), Plan(2, 4, 2, AR)),
        "everything again": (WIDE, Job(256, 16, 4), Plan(4, 2, 2, FULL)),
        "replicas": (SMALL, Job(1024, 8, 1, "bf16"), Plan(tp=2, dp=4)),
        "sequence parallel": (
            NARROW,
            Job(256, 12, 3, "bf16"),
            Plan(tp=4, pp=3, dp=2, sequence_parallel=True),
        ),
        "deep, selective": (MIDDLE, Job(1024, 8, 2, "bf16"), Plan(2, 4, 2, AR)),
    },
    "3.4": {
        "another model": [(ODD, Job(32, 6), Plan()), (ODD, Job(40, 4), Plan(4, 1, 1, FULL))],
        "everything at once": [
            (NARROW, Job(512, 32, 4, "bf16"), Plan(2, 4, 2, AR)),
            (NARROW, Job(256, 16, 2), Plan(2, 2, 2, FULL)),
        ],
        "everything again": [
            (WIDE, Job(256, 16, 4), Plan(4, 2, 2, FULL)),
            (WIDE, Job(256, 4), Plan(recompute=AR)),
        ],
        "three stages": [
            (SMALL, Job(1024, 12, 6), Plan(pp=3, dp=2, recompute=AR)),
            (SMALL, Job(512, 4), Plan(tp=2)),
        ],
    },
    "3.5": {
        "everything at once": [
            (NARROW, Job(512, 32, 4, "bf16"), Plan(2, 4, 2, AR), replace(EIGHT, cards=16)),
            (NARROW, Job(512, 16, 2, "bf16"), Plan(2, 2, 2, FULL), EIGHT),
        ],
        "everything again": [
            (WIDE, Job(256, 16, 4), Plan(4, 2, 2, FULL), replace(FAR_APART, cards=16)),
            (WIDE, Job(512, 4), Plan(tp=4), replace(FAR_APART, cards=4)),
        ],
        "three stages, far apart": [
            (SMALL, Job(1024, 12, 6), Plan(pp=3, dp=2), LONG_WAY),
            (SMALL, Job(512, 4, 2), Plan(tp=4, recompute=FULL), FOUR_SMALL),
        ],
        "four replicas": [
            (SMALL, Job(1024, 16, 1, "bf16"), Plan(dp=4), FOUR_SMALL),
            (MIDDLE, Job(1024, 16, 4, "bf16"), Plan(2, 2, 2), EIGHT),
        ],
    },
    "3.6": {
        "small and large cards": [
            (NARROW, Job(1024, 24, 2, "bf16"), TWELVE),
            (SMALL, Job(512, 4), Cluster(H100, 4, 1e-7, 900e9, 0.5, 0.2)),
            (SMALL, Job(512, 4), _just(ONE, SMALL, Job(512, 4), Plan(recompute=AR))),
        ],
        "far apart": [
            (MIDDLE, Job(1024, 32, 16, "bf16"), FAR_APART),
            (MIDDLE, Job(2048, 12, 1), LONG_WAY),
            (CROOKED, Job(512, 4), THREE),
            (ODD_HEADS, Job(512, 4), THREE),
        ],
        "four cards": [
            (_gpt("deep", 40, 32, 64, 8192, 50257, 1024), Job(1024, 8), FOUR_SMALL),
            (replace(MIDDLE, layers=24), Job(2048, 4), CLUSTER),
            (SMALL, Job(512, 4), ONE),
        ],
        "uneven": [
            (_gpt("uneven", 18, 20, 96, 7680, 32000, 2048), Job(1024, 12, 2), LONG_WAY),
            (replace(MIDDLE, layers=24), Job(2048, 8), CLUSTER),
            (SMALL, Job(512, 4), _just(CLUSTER, SMALL, Job(512, 4), Plan(dp=2))),
        ],
    },
    "3.7": {
        "four cards of 40 GB": [
            (replace(MIDDLE, layers=24), Job(1024, 8, 2, "bf16"), FOUR_SMALL, 24),
            (replace(WIDE, layers=12), Job(512, 36, 2), LONG_WAY, 12),
        ],
        "two cards, longer sequences": [
            (GPT_2560, Job(4096, 4), CLUSTER, 8),
            (replace(WIDE, layers=6), Job(512, 24, 2), LONG_WAY, 6),
            (FIVE_HEADS, Job(512, 12, 4), _just_deep(FIVE_HEADS, 24), 4),
        ],
        "far apart": [
            (_gpt("broad", 8, 32, 160, 16384, 32000, 512), Job(512, 16, 4), FAR_APART, 16),
            (replace(LARGE, layers=1), Job(2048, 8), CLUSTER, 24),
        ],
        "six small cards": [
            (replace(WIDE, layers=12), Job(512, 48, 2), LONG_WAY, 6),
            (GPT_2560, Job(2048, 8), ONE, 1),
            (ODD_HIDDEN, Job(512, 12, 4), _just_deep(ODD_HIDDEN, 18), 2),
        ],
    },
    "3.8": {
        "DP2": [(Plan(dp=2), Job(2048, 4)), (Plan(dp=2, recompute=AR), Job(2048, 4))],
        "eight cards": [
            (Plan(2, 2, 2, AR), Job(2048, 32, 4, "bf16")),
            (Plan(tp=8), Job(1024, 8, 2)),
        ],
        "sequence parallel": [
            (Plan(tp=4, sequence_parallel=True), Job(1024, 8, 1, "fp16")),
            (Plan(2, 1, 3, AR), Job(1024, 6)),
        ],
        "sixteen cards": [
            (Plan(1, 4, 4), Job(512, 64, 8, "bf16")),
            (Plan(1, 8, 2), Job(512, 64, 16)),
        ],
    },
    "3.9": {
        "one micro-batch": [(1, 8, 1), (2, 3, 1)],
        "many of both": [(2, 4, 32), (1, 6, 24)],
        "replicas of a pipeline": [(3, 5, 7), (12, 1, 6)],
        "two of each": [(2, 2, 2), (1, 3, 9)],
    },
}
