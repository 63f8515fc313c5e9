"""Lab 2A, designing a systolic accelerator: what the kit knows of it."""

from __future__ import annotations

from lab_utils.kit.lab import Lab, Small
from lab_utils.kit.task import Task

LAB = Lab(
    home=__name__,
    noun="case",
    small=Small("LAB2A_SIZE", "small", "small"),  # recorded runs, and a corner of the space
    optional=("accelerator",),  # SCALE-Sim, for real runs; scikit-learn, for notebook 3
    tasks=(
        Task("1.1", "a convolution is a product", 0.5, "gemm_of", "conv", "M, N and K"),
        Task(
            "1.2",
            "what lies where in the array",
            0.5,
            "mapped",
            "dataflow, m, n, k",
            "three numbers: along the rows, along the columns, in time",
        ),
        Task(
            "1.3",
            "the cycles of one fold",
            0.5,
            "fold_cycles",
            "dataflow, height, width, steps",
            "a number of cycles",
        ),
        Task(
            "1.4",
            "all folds",
            0.5,
            "compute_cycles",
            "rows, columns, height, width, fold",
            "the number of cycles that SCALE-Sim reports",
        ),
        Task(
            "1.5",
            "PEs that have work",
            0.5,
            "mapping_efficiency",
            "rows, columns, height, width",
            "a number of per cent",
        ),
        Task("2.1", "a topology file", 0.25, "topology", "layers", "the text of a file"),
        Task(
            "2.2",
            "a configuration file",
            0.25,
            "system_cfg",
            "design, bandwidth",
            "the text of a file",
        ),
        Task(
            "2.3",
            "two reports, one network",
            0.5,
            "totals",
            "conv_report, gemm_report",
            "cycles, stall cycles and mean efficiency in per cent",
        ),
        Task(
            "2.4",
            "stalls behind a double buffer",
            0.5,
            "stall_cycles",
            "cycles, halves, period",
            "a number of cycles",
        ),
        Task(
            "2.5",
            "two objectives",
            0.5,
            "scores",
            "design, cycles, efficiency",
            "two scores",
        ),
        Task("2.6", "the ten best", 0.5, "ten_best", "scores", "places in the list, best first"),
        Task(
            "2.7",
            "what an objective asks for",
            0.25,
            "swings",
            "first, second",
            "two numbers of per cent",
        ),
        Task("2.8", "the Pareto front", 0.5, "pareto", "points", "places in the list"),
        Task(
            "3.1",
            "how wrong is a prediction?",
            0.25,
            "relative_error",
            "predicted, cycles",
            "a number of per cent",
        ),
        Task("3.2", "a split without leaks", 0.5, "split", "designs", "two lists of places"),
        Task(
            "3.3",
            "predict cycles",
            1,
            "predict",
            "configs, cycles, asked",
            "a number of cycles for each file that is asked for",
        ),
    ),
    names={
        "BANDWIDTH": ".network",
        "CONVS": ".network",
        "GEMMS": ".network",
        "read_config": ".records",
        "recorded": ".records",
        "scale_sim": ".simulators",
        "scale_sim_runs": ".simulators",
        "has_scalesim": ".simulators",
        "model_rows": ".simulators",
        "explore_designs": ".simulators",
        "deviation": ".simulators",
        "table": ".simulators",
        "report": ".records",
        "stall_free_cycles": ".records",
        "pareto_film": ".pareto_plot",
    },
)
check, public_cases, __getattr__ = LAB.check, LAB.public_cases, LAB.named
