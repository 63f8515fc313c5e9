"""Lab 2B, memory hierarchy and dataflow latency: what the kit knows of it."""

from __future__ import annotations

from lab_utils.kit.lab import Lab
from lab_utils.kit.task import Task

LAB = Lab(
    home=__name__,
    noun="case",
    tasks=(
        Task(
            "1.1",
            "what misses",
            1,
            "misses",
            "trace, size, policy",
            "the places in the trace at which a line was not there",
        ),
        Task(
            "1.2",
            "two levels",
            1,
            "two_levels",
            "addresses, l1, l2",
            "two numbers of lines: missed in the first level, and in both",
        ),
        Task(
            "1.3",
            "more room, more misses",
            0.5,
            "anomaly",
            "size",
            "a list of numbers of lines",
        ),
        Task(
            "1.4",
            "cycles of a double buffer",
            0.5,
            "total_cycles",
            "compute, first, second, near, far",
            "a number of cycles",
        ),
        Task(
            "1.5",
            "the ten best designs",
            1,
            "top_ten",
            "points, goal",
            "a list of up to ten points, the best first",
        ),
        Task(
            "2.1",
            "a convolution as a product",
            0.5,
            "as_product",
            "conv",
            "three numbers: M, N, K",
        ),
        Task(
            "2.2",
            "three dataflows",
            1,
            "latency",
            "product, dataflow, height, width",
            "a number of cycles",
        ),
        Task(
            "2.3",
            "row stationary",
            1.5,
            "row_stationary",
            "conv, height, width",
            "a number of cycles",
        ),
        Task(
            "2.4",
            "what cannot be",
            1,
            "broken_laws",
            "claim",
            "the names of the laws that the claim breaks",
        ),
    ),
    names={
        "LENET": ".machine",
        "LINE": ".machine",
        "WORD": ".machine",
        "NEAR": ".machine",
        "FAR": ".machine",
        "Point": ".machine",
        "Claim": ".machine",
        "LAWS": ".machine",
        "layer_stages": ".explore",
        "stalls_behind": ".explore",
        "design_space": ".explore",
        "design_chart": ".explore",
    },
)
check, public_cases, __getattr__ = LAB.check, LAB.public_cases, LAB.named
