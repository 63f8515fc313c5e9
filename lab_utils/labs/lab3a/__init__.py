"""Lab 3A, reading the graph of a model: what the kit knows of it."""

from __future__ import annotations

from lab_utils.kit.lab import Lab
from lab_utils.kit.task import Task
from lab_utils.labs.lab3a.files import FILES

LAB = Lab(
    home=__name__,
    noun="case",
    packages=("graphs",),
    tasks=(
        Task(
            "1.1",
            "multiply becomes divide",
            1,
            "transform",
            "module, tracer_class",
            "a GraphModule",
        ),
        Task(
            "1.2",
            "arguments with their values",
            2,
            "with_values",
            "argument, values",
            "the argument, with values in place of nodes",
        ),
        Task(
            "1.3",
            "time an operator",
            1,
            "timed",
            "run, once",
            "the value of the first run, and milliseconds",
        ),
        Task(
            "1.4",
            "values and shapes",
            2,
            "NodeProp",
            "module",
            "an object whose propagate(*args) returns the module's output and notes every shape",
        ),
        Task(
            "1.5",
            "latencies",
            1,
            "NodeProp",
            "module",
            "an object whose propagate(*args) notes every latency",
        ),
        Task(
            "1.6",
            "the three slowest",
            0.5,
            "findHeavyOps",
            "module",
            "three pairs (name, latency), the slowest first",
        ),
        Task(
            "1.7", "the file nodes.csv", 0.25, "nodes.csv", returns="the name of the file nodes.csv"
        ),
    ),
    files=FILES,
    names={
        "gpt_layer": ".layers",
        "changes_its_input": ".nodes",
        "write_nodes": ".nodes",
        "draw_nodes": ".drawing",
        "against_the_roof": ".roof",
    },
)
check, public_cases, __getattr__ = LAB.check, LAB.public_cases, LAB.named
