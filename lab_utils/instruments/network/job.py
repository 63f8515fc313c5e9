"""A training step on a system: traces, run on the parts of the network that a strategy has."""

from __future__ import annotations

from lab_utils.instruments.network.dims import Dim, System, divide
from lab_utils.instruments.network.run import CollectiveSeconds, Step, run_traces
from lab_utils.instruments.network.strategy import Strategy
from lab_utils.instruments.network.workload import LayerTraffic, Schedule, stage_traces
from lab_utils.instruments.parallel import Job
from lab_utils.instruments.shapes import Transformer
from lab_utils.kit.errors import LabError


def axes_of(system: System, strategy: Strategy) -> dict[str, tuple[Dim, ...]]:
    """The part of the network that each axis of a strategy has.

    Raises:
        LabError: the strategy takes another number of ranks, or cuts a dimension unevenly.
    """
    if strategy.ranks != system.ranks:
        raise LabError(f"{strategy} takes {strategy.ranks} ranks, {system.name} has {system.ranks}")
    degrees = {"tp": strategy.tp, "sp": strategy.sp, "dp": strategy.dp, "pp": strategy.pp}
    parts = divide(system.dims, degrees)
    joint = {"tp": strategy.tp, "copies": strategy.sp * strategy.dp}
    return {**parts, "copies": divide(system.dims, joint)["copies"]}


def simulate(
    model: Transformer,
    job: Job,
    strategy: Strategy,
    system: System,
    traffic: LayerTraffic,
    seconds: CollectiveSeconds,
    schedule: Schedule | None = None,
) -> Step:
    """The seconds of a training step.

    Args:
        model: what is trained.
        job: on how much.
        strategy: spread how.
        system: on what.
        traffic: says what ranks send each other in a layer.
        seconds: says what a collective takes on a part of the network.
        schedule: what each stage of a pipeline does, in order; one stage needs none.

    Raises:
        LabError: the strategy does not fit the model, the job or the system.
    """
    axes = axes_of(system, strategy)
    traces = stage_traces(model, job, strategy, traffic, schedule)
    link = axes["pp"][0] if axes["pp"] else None
    return run_traces(traces, system, job.dtype, axes, seconds, link)
