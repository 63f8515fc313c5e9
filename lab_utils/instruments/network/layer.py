"""What one rank computes in a transformer layer: operators with their operations and bytes.

An operator reads its inputs and weights once and writes its output once; add and multiply are two
operations. Norms and other work on single numbers is cut by tp as well (along the tokens).
Attention writes its scores to memory and does not keep them: backward makes them again.
"""

from __future__ import annotations

from typing import NamedTuple

from lab_utils.instruments.network.strategy import Strategy, check_even
from lab_utils.instruments.parallel import Job
from lab_utils.instruments.roofline import item_bytes
from lab_utils.instruments.shapes import Transformer


class Op(NamedTuple):
    """An operator: operations, and bytes that it reads and writes."""

    name: str
    ops: float
    nbytes: float


class Layer(NamedTuple):
    """The operators of one layer on one rank, for one micro-batch."""

    norm: Op
    qkv: Op
    scores: Op
    softmax: Op
    mix: Op
    out: Op
    up: Op
    act: Op
    down: Op
    head: Op
    """Of the last stage alone: the product with the table of words."""

    @property
    def core(self) -> tuple[Op, ...]:
        """What happens between queries, keys and values, forward."""
        return self.scores, self.softmax, self.mix

    @property
    def core_back(self) -> tuple[Op, ...]:
        """The same backward: scores again, then two products for each one of forward."""
        back = Op("softmax", self.softmax.ops, 1.5 * self.softmax.nbytes)
        products = (self.mix, self.mix, back, self.scores, self.scores)
        return (self.scores, self.softmax, *products)


def layer_of(model: Transformer, job: Job, strategy: Strategy) -> Layer:
    """The operators that one rank of a strategy runs.

    Raises:
        LabError: the strategy cuts something into unequal parts.
    """
    check_even(model, job, strategy)
    e, tp = item_bytes(job.dtype), strategy.tp
    sequences = job.batch // strategy.dp // job.micro_batches
    rows = sequences * (job.tokens // strategy.sp)
    queries, pairs = model.heads * model.head // tp, 2 * model.kv_heads * model.head // tp
    hidden, first = model.hidden // tp, 2 if model.gated else 1

    def product(name: str, inner: int, outer: int) -> Op:
        moved = rows * inner + inner * outer + rows * outer
        return Op(name, 2.0 * rows * inner * outer, e * moved)

    def each(name: str, numbers: float) -> Op:
        return Op(name, numbers, e * numbers)

    table = rows * job.tokens * model.heads / tp  # a number for each head, query and key
    other = rows * queries + sequences * job.tokens * pairs // 2  # queries and keys, or alike
    return Layer(
        norm=each("norm", 2 * rows * model.width / tp),
        qkv=product("qkv", model.width, queries + pairs),
        scores=Op("scores", 2.0 * rows * job.tokens * queries, e * (other + table)),
        softmax=each("softmax", 2 * table),
        mix=Op("mix", 2.0 * rows * job.tokens * queries, e * (other + table)),
        out=product("out", queries, model.width),
        up=product("up", model.width, first * hidden),
        act=each("act", (first + 1) * rows * hidden),
        down=product("down", hidden, model.width),
        head=product("head", model.width, -(-model.vocab // tp)),
    )
