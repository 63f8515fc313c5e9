"""A training step as traces: a transformer, a strategy, and who must be met where.

What ranks send each other in a layer is not known here: a function says it (``Traffic``). The
loss, the embedding and the optimizer's step are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lab_utils.instruments.network.layer import Layer, Op, layer_of
from lab_utils.instruments.network.strategy import Strategy, Traffic
from lab_utils.instruments.network.traces import COLL, COMP, RECV, SEND, Node
from lab_utils.instruments.parallel import Job
from lab_utils.instruments.roofline import item_bytes
from lab_utils.instruments.shapes import Transformer
from lab_utils.kit.errors import LabError

LayerTraffic = Callable[[Transformer, Job, Strategy], Sequence[Traffic]]
Schedule = Sequence[Sequence[tuple[str, int]]]
"""For each stage, in order: ("F", micro-batch) for forward, ("B", micro-batch) for backward."""


def stage_traces(
    model: Transformer,
    job: Job,
    strategy: Strategy,
    traffic: LayerTraffic,
    schedule: Schedule | None = None,
) -> list[list[Node]]:
    """The trace of one rank of each stage; all ranks of a stage do the same.

    Args:
        model: what is trained.
        job: on how much.
        strategy: spread how.
        traffic: says what ranks send each other in a layer.
        schedule: what each stage of a pipeline does, in order; one stage needs none.

    Raises:
        LabError: the strategy cuts something into unequal parts, or a pipeline has no schedule.
    """
    layer, sent = layer_of(model, job, strategy), list(traffic(model, job, strategy))
    if schedule is None and strategy.pp == 1:
        schedule = [[(kind, n) for n in range(job.micro_batches) for kind in "FB"]]
    if schedule is None or len(schedule) != strategy.pp:
        raise LabError(f"a pipeline of {strategy.pp} stages needs a schedule with as many lists")
    return [
        _Stage(model, job, strategy, layer, sent, stage).trace(steps)
        for stage, steps in enumerate(schedule)
    ]


def groups_of(strategy: Strategy) -> dict[str, list[list[int]]]:
    """The ranks of every group: tp is innermost, then sp, dp and pp."""
    tp, sp, dp, pp = strategy.tp, strategy.sp, strategy.dp, strategy.pp
    every = range(strategy.ranks)

    def alike(inner: int, size: int) -> list[list[int]]:
        found: dict[tuple[int, int], list[int]] = {}
        for rank in every:
            found.setdefault((rank % inner, rank // (inner * size)), []).append(rank)
        return list(found.values())

    sizes = {"tp": (1, tp), "sp": (tp, sp), "copies": (tp, sp * dp), "pp": (tp * sp * dp, pp)}
    return {axis: alike(*at) for axis, at in sizes.items()}


class _Stage:
    """Writes the trace of one stage."""

    def __init__(
        self,
        model: Transformer,
        job: Job,
        strategy: Strategy,
        layer: Layer,
        traffic: Sequence[Traffic],
        stage: int,
    ) -> None:
        self.job, self.strategy, self.layer, self.stage = job, strategy, layer, stage
        self.layers = model.layers // strategy.pp
        rows = job.batch // strategy.dp // job.micro_batches * job.tokens // strategy.sp
        self.passing = rows * model.width * item_bytes(job.dtype)
        self.nodes: list[Node] = []
        self.sent: dict[tuple[str, str], list[Traffic]] = {}
        for one in traffic:
            self.sent.setdefault((one.phase, one.axis), []).append(one)

    def trace(self, steps: Sequence[tuple[str, int]]) -> list[Node]:
        """All nodes, of these steps."""
        for kind, micro in steps:
            if kind == "F":
                self._forward_pass(micro)
            else:
                self._backward_pass(micro, is_last=micro == self.job.micro_batches - 1)
        return self.nodes

    def _forward_pass(self, micro: int) -> None:
        last = self._message(RECV, f"F{micro}", self.stage - 1, -1)
        for number in range(self.layers):
            last = self._forward(f"l{number}", "forward", last)
        if self.stage == self.strategy.pp - 1:
            self._compute("head", self.layer.head, last)
        self._message(SEND, f"F{micro}", self.stage + 1, last)

    def _backward_pass(self, micro: int, is_last: bool) -> None:
        last = self._message(RECV, f"B{micro}", self.stage + 1, -1)
        if self.stage == self.strategy.pp - 1:
            self._compute("d_head_w", self.layer.head, last)
            last = self._compute("d_head", self.layer.head, last)
        for number in reversed(range(self.layers)):
            if self.strategy.recompute:
                last = self._forward(f"l{number}_again", "again", last)
            last = self._backward(f"l{number}_back", last, is_last)
        self._message(SEND, f"B{micro}", self.stage - 1, last)

    def _forward(self, name: str, phase: str, last: int) -> int:
        layer = self.layer
        own = self._chain(name, last, layer.norm, layer.qkv)
        gathered = self._meet(name, self.sent.get((phase, "sp"), ()), own)
        mixed = self._chain(name, gathered, *layer.core, layer.out)
        first, second = _halves(self.sent.get((phase, "tp"), ()))
        met = self._meet(name, first, mixed)
        made = self._chain(name, met, layer.norm, layer.up, layer.act, layer.down)
        return self._meet(name, second, made)

    def _backward(self, name: str, last: int, is_last: bool) -> int:
        """Gradients of the inputs first; those of the weights while others are under way."""
        layer = self.layer
        first, second = _halves(self.sent.get(("backward", "tp"), ()))
        tokens = self.sent.get(("backward", "sp"), ())
        before = [one for one in tokens if one.collective == "all_gather"]
        gathered = self._meet(name, before, last)
        made = self._chain(name, last, layer.down, layer.act, layer.up)
        met = self._meet(name, first, made)
        self._chain(f"{name}_w", last, layer.down)
        self._chain(f"{name}_w", made, layer.up)
        mixed = self._chain(name, met, layer.norm, layer.out)
        again, *rest = layer.core_back
        core = self._chain(name, self._compute(name, again, mixed, gathered), *rest)
        after = [one for one in tokens if one.collective != "all_gather"]
        scattered = self._meet(name, after, core)
        self._chain(f"{name}_w", mixed, layer.out)
        made = self._chain(name, scattered, layer.qkv)
        met = self._meet(name, second, made)
        weights = self._chain(f"{name}_w", scattered, layer.qkv)
        if is_last:
            self._meet(name, self.sent.get(("update", "copies"), ()), weights)
        return self._chain(name, met, layer.norm)

    def _chain(self, name: str, last: int, *ops: Op) -> int:
        for op in ops:
            last = self._compute(f"{name}_{op.name}", op, last)
        return last

    def _compute(self, name: str, op: Op, *waits: int) -> int:
        deps = tuple({one for one in waits if one >= 0})
        return self._add(Node(name, COMP, deps, num_ops=op.ops, tensor_size=op.nbytes))

    def _meet(self, name: str, traffic: Sequence[Traffic], last: int) -> int:
        for one in traffic:
            deps = (last,) if last >= 0 else ()
            told = f"{name}_{one.axis}_{one.collective}"
            last = self._add(
                Node(
                    told,
                    COLL,
                    deps,
                    comm_type=one.collective,
                    comm_size=one.nbytes,
                    group=one.axis,
                )
            )
        return last

    def _message(self, kind: str, what: str, peer: int, last: int) -> int:
        if not 0 <= peer < self.strategy.pp:
            return last
        ends = (self.stage, peer) if kind == SEND else (peer, self.stage)
        tag = f"{what} {ends[0]}-{ends[1]}"
        deps = (last,) if last >= 0 else ()
        return self._add(Node(what, kind, deps, comm_size=self.passing, peer=peer, tag=tag))

    def _add(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1


def _halves(traffic: Sequence[Traffic]) -> tuple[Sequence[Traffic], Sequence[Traffic]]:
    """What follows attention, and what follows the feed-forward part."""
    middle = (len(traffic) + 1) // 2
    return traffic[:middle], traffic[middle:]
