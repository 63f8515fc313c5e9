"""The models on which tasks 1.1 to 1.3 are tried."""

from __future__ import annotations

import random
from collections.abc import Sequence

from autograder.authoring.derived import CaseData
from autograder.labs.lab1b.fusion import (
    fewest,
    greedy,
    moved_by_running,
    seconds_by_clock,
    table_of_times,
)
from lab_utils.instruments.roofline import A100, H100, ORIN_NANO
from lab_utils.labs.lab1b.models import Op, arrows_of, course_chain, transformer_layer

Model = tuple[list[Op], dict[str, int]]
Groups = list[list[str]]


def _model(sizes: dict[str, int], *ops: str) -> Model:
    """Operators as in ``"relu: x w -> y"``."""
    made = []
    for text in ops:
        name, _, rest = text.partition(": ")
        reads, _, makes = rest.partition(" -> ")
        made.append(Op(name, tuple(reads.split()), makes, 0.0))
    return made, sizes


SMALL = _model(
    {"x": 100, "w": 40, "a": 60, "b": 60, "y": 8},
    "multiply: x w -> a",
    "relu: a -> b",
    "sum: b -> y",
)
FORK = _model(
    {"x": 100, "a": 80, "w": 30, "b": 50, "c": 20},
    "norm: x -> a",
    "multiply: a w -> b",
    "mean: a -> c",
)
PUBLIC: dict[str, tuple[Model, Groups]] = {
    "three operators, none fused": (SMALL, []),
    "three operators, the first two fused": (SMALL, [["multiply", "relu"]]),
    "a value with two readers, one of them fused": (FORK, [["norm", "multiply"]]),
    "the course's six products, fused 1-2-3 and 4-5": (
        course_chain(),
        [["gemm1", "gemm2", "gemm3"], ["gemm4", "gemm5"]],
    ),
}
HIDDEN: dict[str, tuple[Model, Groups]] = {
    "a chain whose first value is needed at the end": (
        _model(
            {"x": 912, "u": 176, "w1": 344, "v": 252, "w2": 148, "s": 96, "t": 204, "y": 76},
            "first: x w1 -> u",
            "second: u -> v",
            "third: v w2 -> s",
            "fourth: s u -> t",
            "last: t t u -> y",
        ),
        [["first", "second", "third", "fourth"]],
    ),
    "a detour inside a group, and one out of it": (
        _model(
            {"x": 508, "w": 332, "p": 124, "q": 284, "r": 172, "z": 116},
            "a: x w -> p",
            "b: p -> q",
            "c: q p -> r",
            "d: r r q -> z",
        ),
        [["a", "b", "c"]],
    ),
    "a result in the middle of a group": (
        _model(
            {"x": 404, "w": 228, "h": 156, "aside": 84, "w3": 92, "o": 68},
            "up: x x w -> h",
            "tap: h -> aside",
            "down: h w3 -> o",
        ),
        [["up", "tap", "down"]],
    ),
    "a square of what another group makes": (
        _model(
            {"x": 716, "h": 364, "sq": 188, "w": 436, "o": 52},
            "make: x -> h",
            "square: h h -> sq",
            "scale: sq w -> o",
        ),
        [["square", "scale"]],
    ),
    "one weight for two operators of a group": (
        _model(
            {"x": 612, "w": 492, "h": 244, "g": 268, "o": 132, "n": 36},
            "one: x w -> h",
            "two: h w -> g",
            "three: g h -> o",
            "norm: g g -> n",
        ),
        [["one", "two"]],
    ),
    "two groups, one after the other": (
        _model(
            {"x": 812, "w1": 328, "a": 164, "b": 296, "w2": 412, "c": 212, "d": 108, "e": 44},
            "p1: x w1 -> a",
            "p2: a -> b",
            "q1: b w2 -> c",
            "q2: c a -> d",
            "tail: c d d -> e",
        ),
        [["p1", "p2"], ["q1", "q2"]],
    ),
    "a layer of a transformer with its attention fused": (
        transformer_layer(2, 8, 192, 256),
        [["logit", "softmax", "attend"]],
    ),
    "a group that is told from back to front": (
        _model(
            {"x": 308, "w": 516, "k": 136, "l": 264, "w9": 144, "m": 72, "s": 28},
            "i: x w -> k",
            "ii: k -> l",
            "iii: l k w9 -> m",
            "iv: l l -> s",
        ),
        [["iii", "ii", "i"]],
    ),
    "groups of one": (
        _model(
            {"x": 208, "w": 316, "k": 236, "l": 164, "j": 56},
            "i: x w -> k",
            "ii: k -> l",
            "iii: k k l -> j",
        ),
        [["i"], ["ii"], ["iii"]],
    ),
    "everything in one group": (
        _model(
            {"x": 1008, "w": 616, "k": 536, "l": 464, "w2": 384, "j": 156},
            "i: x w -> k",
            "ii: k x -> l",
            "iii: k l w2 -> j",
        ),
        [["i", "ii", "iii"]],
    ),
}


def _plain(ops: Sequence[Op]) -> list[list[object]]:
    return [[op.name, list(op.reads), op.makes, op.flops] for op in ops]


def traffic_cases(cases: dict[str, tuple[Model, Groups]]) -> list[CaseData]:
    """Task 1.1."""
    made = []
    for name, ((ops, nbytes), groups) in cases.items():
        moved = moved_by_running(ops, nbytes, groups)
        given = {"ops": _plain(ops), "nbytes": nbytes, "groups": groups}
        wanted = {"moved": {op: list(pair) for op, pair in moved.items()}}
        made.append({"name": name, "given": given, "wanted": wanted})
    return made


def _time_case(
    name: str, ops: list[Op], moved: dict[str, tuple[int, int]], rate: float, width: float
) -> CaseData:
    given = {
        "ops": _plain(ops),
        "moved": {op: list(pair) for op, pair in moved.items()},
        "rate": rate,
        "bandwidth": width,
    }
    seconds = float(seconds_by_clock(ops, moved, rate, width))
    return {"name": name, "given": given, "wanted": {"seconds": seconds}}


def public_times() -> list[CaseData]:
    """Task 1.2, with numbers that one can follow."""
    ops = [Op("add", ("x", "y"), "s", 20.0), Op("multiply", ("s", "w"), "z", 600.0)]
    moved = {"add": (400, 200), "multiply": (250, 50)}
    layer, nbytes = transformer_layer()
    unfused = moved_by_running(layer, nbytes, [])
    return [
        _time_case(
            "two operators, at 100 operations and 50 bytes a second", ops, moved, 100.0, 50.0
        ),
        _time_case(
            "a layer of a transformer on the A100",
            layer,
            unfused,
            A100.rates["bf16"],
            A100.bandwidth,
        ),
    ]


def hidden_times() -> list[CaseData]:
    """Task 1.2, on operators that wait and operators that compute."""
    draw = random.Random(15)
    made = []
    for number, machine in enumerate((A100, H100, ORIN_NANO) * 2, 1):
        rate, width = machine.rates["bf16"], machine.bandwidth
        ops, moved = [], {}
        for place in range(2 + number):
            name = f"op{place}"
            total = draw.randrange(10**5, 10**8)
            leaning = draw.choice((0.2, 0.4, 3.0, 6.0)) if place > 1 else (0.25, 4.0)[place]
            read = int(total * draw.uniform(0.3, 0.8))
            ops.append(Op(name, (), f"v{place}", round(leaning * total * rate / width, 1)))
            moved[name] = (read, total - read)
        made.append(
            _time_case(f"{len(ops)} operators, some of which wait", ops, moved, rate, width)
        )
    return made


def _fusion_case(name: str, model: Model, rate: float, width: float) -> CaseData:
    ops, nbytes = model
    arrows, times = arrows_of(ops), table_of_times(ops, nbytes, rate, width)
    time, many, _sets = fewest(arrows, times)
    given = {"arrows": [list(arrow) for arrow in arrows], "times": times}
    return {"name": name, "given": given, "wanted": {"time": time, "count": many}}


def _tree(draw: random.Random, many: int) -> Model:
    """A model without detours: each operator but the first reads what one earlier makes."""
    nbytes, ops = {"x": 1000}, []
    for place in range(many):
        source = "x" if not place else f"v{draw.randrange(max(place - 2, 0), place)}"
        weight, made = f"w{place}", f"v{place}"
        nbytes |= {weight: draw.randrange(10, 2000), made: draw.randrange(100, 5000)}
        ops.append(Op(f"op{place}", (source, weight), made, float(draw.randrange(100, 6000))))
    return ops, nbytes


def _trees(wanted: int) -> list[Model]:
    """Models on which taking the best arrow each time ends with more than the fewest."""
    draw, found = random.Random(7), list[Model]()
    while len(found) < wanted:
        model = _tree(draw, 5 + len(found) % 3)
        arrows, times = arrows_of(model[0]), table_of_times(*model, 1e6, 1e6)
        _time, many, _sets = fewest(arrows, times)
        if 2 <= many < len(arrows) and len(greedy(arrows, times)) > many:
            found.append(model)
    return found


def public_fusions() -> list[CaseData]:
    """Task 1.3, on a model of three operators and on the layer of the text."""
    ops, nbytes = SMALL
    small = [op._replace(flops=flops) for op, flops in zip(ops, (150.0, 10.0, 10.0), strict=True)]
    return [
        _fusion_case("three operators in a row", (small, nbytes), 1e6, 1e6),
        _fusion_case(
            "a layer of a transformer on the A100",
            transformer_layer(),
            A100.rates["bf16"],
            A100.bandwidth,
        ),
    ]


#: More trees than other models: greed must not pay in half of the cases.
_ORDINALS = ("a", "a second", "a third", "a fourth", "a fifth", "a sixth")


def hidden_fusions() -> list[CaseData]:
    """Task 1.3: other machines and lengths, models where nothing or all is worth fusing."""
    busy, nbytes = _tree(random.Random(3), 5)
    busy = [op._replace(flops=op.flops + 9000) for op in busy]
    idle, sizes = _tree(random.Random(4), 5)
    idle = [op._replace(flops=1.0) for op in idle]
    h100, orin = H100.rates["bf16"], ORIN_NANO.rates["bf16"]
    return [
        _fusion_case(
            "a layer with a long text", transformer_layer(1, 16, 4096, 1024), h100, H100.bandwidth
        ),
        _fusion_case(
            "a layer on a small machine",
            transformer_layer(1, 12, 512, 768),
            orin,
            ORIN_NANO.bandwidth,
        ),
        _fusion_case(
            "a layer with few words", transformer_layer(4, 8, 32, 512), h100, H100.bandwidth
        ),
        _fusion_case("all operators compute", (busy, nbytes), 1e6, 1e6),
        _fusion_case("all operators wait", (idle, sizes), 1e6, 1e6),
        *(
            _fusion_case(f"{name} tree of {len(model[0])} operators", model, 1e6, 1e6)
            for name, model in zip(_ORDINALS, _trees(len(_ORDINALS)), strict=True)
        ),
    ]
