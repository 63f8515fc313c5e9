"""All strategies, and what they take on a system: by trying every one."""

from __future__ import annotations

from itertools import product

from autograder.reference.job.held import device_memory
from autograder.reference.job.schedules import seconds
from lab_utils.instruments.network.dims import System
from lab_utils.instruments.network.job import simulate
from lab_utils.instruments.network.strategy import COLLECTIVES, Strategy, Traffic
from lab_utils.instruments.parallel import Job, Memory
from lab_utils.instruments.roofline import item_bytes
from lab_utils.instruments.shapes import Transformer


def strategies(ranks: int) -> list[Strategy]:
    """Every strategy without a pipeline that uses all ranks."""
    degrees = [n for n in range(1, ranks + 1) if ranks % n == 0]
    return [
        Strategy(dp, tp, sp, 1, again)
        for dp, tp, sp, again in product(degrees, degrees, degrees, (False, True))
        if dp * tp * sp == ranks
    ]


def layer_traffic(model: Transformer, job: Job, strategy: Strategy) -> list[Traffic]:
    """What a layer sends; ``sharded`` counts the same by running it, for models that are small."""
    item, tp = item_bytes(job.dtype), strategy.tp
    sequences = job.batch // strategy.dp // job.micro_batches
    passing = item * sequences * job.tokens // strategy.sp * model.width
    pairs = item * sequences * job.tokens * 2 * model.kv_heads * model.head // tp
    kinds = 3 if model.gated else 2
    matrices = 2 * model.width * (model.heads + model.kv_heads) * model.head
    matrices = (matrices + kinds * model.width * model.hidden) // tp
    reduce, gather, scatter = COLLECTIVES
    found = []
    for phase in ("forward", "again") if strategy.recompute else ("forward",):
        found += [(phase, gather, "sp", pairs)] + 2 * [(phase, reduce, "tp", passing)]
    found += [] if strategy.recompute else [("backward", gather, "sp", pairs)]
    found += [("backward", scatter, "sp", pairs)] + 2 * [("backward", reduce, "tp", passing)]
    found += [("update", reduce, "copies", item * matrices)]
    ranks = {"tp": tp, "sp": strategy.sp, "copies": strategy.sp * strategy.dp}
    return [Traffic(*one) for one in found if ranks[one[2]] > 1]


def counted_memory(model: Transformer, job: Job, strategy: Strategy, state: int) -> Memory:
    """What a device holds, at once; ``held`` finds the same by asking autograd."""
    e, tp = item_bytes(job.dtype), strategy.tp
    rows = job.batch // strategy.dp // job.micro_batches * (job.tokens // strategy.sp)
    words = -(-model.vocab // tp)
    matrices = 2 * model.width * (model.heads + model.kv_heads) * model.head
    matrices += (3 if model.gated else 2) * model.width * model.hidden
    token = 4 * model.width + 2 * (model.heads + model.kv_heads) * model.head
    token += (4 if model.gated else 2) * model.hidden
    whole, given = rows * (e * token + 16) // tp, rows * e * model.width // tp
    kept = (model.layers - 1) * (given if strategy.recompute else whole) + whole
    numbers = model.layers * (matrices // tp) + words * model.width
    return Memory(state * numbers, kept, 12 * rows * words)


def priced(
    model: Transformer, job: Job, system: System, state: int
) -> dict[Strategy, tuple[float, int]]:
    """Of every strategy the seconds of a step, and the bytes of a device."""
    found = {}
    for strategy in strategies(system.ranks):
        step = simulate(model, job, strategy, system, layer_traffic, seconds)
        found[strategy] = (step.wall, device_memory(model, job, strategy, state).total)
    return found
