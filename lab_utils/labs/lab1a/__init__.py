"""Lab 1A, operators and the roofline: what the kit knows of it."""

from __future__ import annotations

from lab_utils.kit.lab import Lab
from lab_utils.kit.task import Task
from lab_utils.labs.lab1a.tables import FILES

_NUMBER = "a number of operations"
_TABLE = "a dict with a number for each operator"

LAB = Lab(
    home=__name__,
    noun="case",
    tasks=(
        Task("1.1", "elements", 1, "elements", "operator, dims", "(input, weight, output)"),
        Task("1.2", "operations of a GEMM", 0.75, "gemm_ops", "B, M, N, K", _NUMBER),
        Task("1.3", "operations of SoftMax", 0.75, "softmax_ops", "B, L, w", _NUMBER),
        Task("1.4", "operations of LayerNorm", 0.75, "layernorm_ops", "B, X, Y, w", _NUMBER),
        Task("1.5", "operations of attention", 0.75, "attention_ops", "B, M, N, K, w", _NUMBER),
        Task(
            "2.1",
            "times on a machine",
            0.75,
            "times",
            "operations, elements, dtype, machine, compute_eff, memory_eff",
            "Times(compute, memory, execution, intensity, bound)",
        ),
        Task(
            "2.2",
            "a network as a list of operators",
            0.5,
            "network",
            "batch, tokens, d_in, d_model, d_ff",
            "a list of pairs (operator, dims)",
        ),
        Task(
            "2.3",
            "a row of the course's table",
            0.25,
            "table_row",
            "operations, moved, took, clock",
            "a dict with an entry for each column of ROW",
        ),
        Task(
            "2.4",
            "FLOPs of a real layer",
            0.75,
            "layer_flops",
            "model, batch, new, past",
            _TABLE,
        ),
        Task(
            "2.5",
            "elements that a real layer moves",
            0.5,
            "layer_elements",
            "model, batch, new, past",
            _TABLE,
        ),
        Task(
            "2.6",
            "does it fit?",
            0.25,
            "memory_needed",
            "model, batch, context, dtype",
            "(bytes of weights, bytes of the cache)",
        ),
        Task(
            "2.7",
            "the batch at the ridge",
            0.5,
            "ridge_batch",
            "K, N, dtype, machine",
            "a whole number, or None",
        ),
    ),
    files=FILES,
    names={
        "Times": ".records",
        "layer_names": ".records",
        "COLUMNS": ".tables",
        "ROW": ".tables",
        "INSTANCES": ".tables",
        "HANDOUT": ".tables",
        "write_counts": ".tables",
        "write_table": ".tables",
        "walk": ".walking",
        "measure": ".measured",
        "beside": ".measured",
    },
)
check, public_cases, __getattr__ = LAB.check, LAB.public_cases, LAB.named
