"""The machines and the models of a famous course, as its own files describe them."""

from __future__ import annotations

import json

from lab_utils.instruments.network.astrasim import read_system
from lab_utils.instruments.parallel import Job
from lab_utils.instruments.shapes import Transformer

GB = 1e9

NETWORK_1 = """\
topology: [ Ring, Ring, Ring ]
npus_count: [ 4, 4, 4 ]
bandwidth: [ 100.0, 100.0, 100.0 ]  # GB/s of a link
latency: [ 50.0, 50.0, 50.0 ]  # ns
"""
NETWORK_2 = NETWORK_1.replace("100.0", "2000.0")


def _system_json(peak: float, memory: float) -> str:
    rings = ["ring", "ring", "ring"]
    told = {
        "scheduling-policy": "LIFO",
        "endpoint-delay": 10,
        "active-chunks-per-dimension": 4,
        "preferred-dataset-splits": 10,
        "all-reduce-implementation": rings,
        "all-gather-implementation": rings,
        "reduce-scatter-implementation": rings,
        "all-to-all-implementation": rings,
        "collective-optimization": "localBWAware",
        "local-mem-bw": memory,
        "boost-mode": 0,
        "roofline-enabled": 1,
        "peak-perf": peak,
        "trace-enabled": 1,
        "track-local-mem": 1,
    }
    return json.dumps(told, indent=2)


SYSTEM_JSON = _system_json(450, 3000)
SYSTEM_1 = read_system("System 1", NETWORK_1, SYSTEM_JSON, 80 * GB)
SYSTEM_2 = read_system("System 2", NETWORK_2, _system_json(45, 300), 80 * GB)

JOB = Job(1024, 512, 1, "bf16")
#: As the course has them: as many key heads as query heads, two matrices in the feed-forward part.
LLAMA_70B = Transformer("Llama-70B", 80, 8192, 64, 64, 128, 28672, False, 32000, 1024)
GPT_175B = Transformer("GPT-175B", 96, 12288, 96, 96, 128, 49152, False, 50257, 1024)
