"""What is read from the log of a simulator, by the names of the course."""

from __future__ import annotations

METRICS = (
    "wall_time",
    "gpu_time",
    "comm_time",
    "per_comp_bound",
    "comp_util",
    "mem_util",
    "op_intensity",
    "peak_memory_usage",
)
"""Times in cycles (of 1 ns), shares in percent, intensity in operations a byte, memory in bytes."""
