"""Large graphs as blocks: operators of one module, or of a run of modules, as one box."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from torch import fx

from lab_utils.steps.draw.boxes import Box, Picture
from lab_utils.steps.graph import Kind, Phase, outputs, phase

MOST = 14  # blocks in one picture
WORK = ("forward", "recompute", "backward")  # the lanes in which a student's work lies
FINE = 40  # a block of fewer operators is not divided
PAGE = 90  # boxes that are drawn one by one; more are parts first


@dataclass(frozen=True)
class Block:
    """Boxes that are drawn as one, in each lane."""

    label: str
    boxes: tuple[Box, ...]


def module_paths(graph: fx.Graph) -> dict[str, str]:
    """The module to which each node belongs, by name: also where only its neighbours tell it.

    A gradient belongs to the module whose weight it is of, or which it reads; where there is
    none, to that of the node before it.
    """
    results = {node: label for label, node in outputs(graph).items()}
    found: dict[str, str] = {}
    before = ""
    for node in graph.nodes:
        told = node.meta.get("module") or _parameter(str(node.meta.get("source") or ""))
        if not told and node.op == "call_function" and phase(node) is Phase.LOSS:
            told = "loss"
        told = told or _parameter(results.get(node, ""))
        reads = [found[n.name] for n in node.all_input_nodes if n.meta.get("kind") is Kind.WEIGHT]
        told = told or (reads[0] if reads else "")
        if node.op == "placeholder":
            found[node.name] = told or "inputs"
            continue
        before = found[node.name] = told or before or "start"
    return found


def _parameter(label: str) -> str:
    """The module of ``param:PATH.weight`` or ``grad:PATH.weight``; nothing for others."""
    what, _, path = label.partition(":")
    below = {"param": 1, "grad": 1, "buffer": 1, "state": 2}.get(what)
    return ".".join(path.split(".")[:-below]) if below else ""


def split(boxes: Sequence[Box], paths: Mapping[str, str]) -> list[Block]:
    """At most ``MOST`` blocks, the largest divided first along the tree of modules."""
    runs = [tuple(boxes)]
    while len(runs) < MOST:
        runs.sort(key=_work, reverse=True)
        if _work(runs[0]) <= FINE:
            break
        parts = _children(runs[0], paths)
        room = MOST - len(runs) + 1
        if len(parts) > room:  # neighbours together
            edges = [i * len(parts) // room for i in range(room + 1)]
            chunks = [parts[a:b] for a, b in pairwise(edges)]
            parts = [tuple(b for part in chunk for b in part) for chunk in chunks]
        if len(parts) < 2:
            break
        runs[:1] = parts
    order = {box.name: place for place, box in enumerate(boxes)}
    runs.sort(key=lambda run: order[run[0].name])
    known = {paths[box.name] for box in boxes}
    return [Block(_label(run, paths, known), run) for run in runs]


def parts(block: Block, paths: Mapping[str, str]) -> list[Block]:
    """A large block divided once more, along its modules and then into pages; else itself."""
    if len(block.boxes) <= PAGE:
        return [block]
    found = []
    for part in split(block.boxes, paths):
        pages = -(-len(part.boxes) // PAGE)
        edges = [i * len(part.boxes) // pages for i in range(pages + 1)]
        for number, (a, b) in enumerate(pairwise(edges), 1):
            label = part.label if pages == 1 else f"{part.label} ({number} of {pages})"
            found.append(Block(label, part.boxes[a:b]))
    return found


def _work(run: Sequence[Box]) -> int:
    return sum(box.lane in WORK for box in run)


def _children(run: Sequence[Box], paths: Mapping[str, str]) -> list[tuple[Box, ...]]:
    """The run by the next part of the modules' paths, in order of first appearance."""
    shared = _shared([paths[box.name] for box in run])
    parts: dict[str, list[Box]] = {}
    for box in run:
        words = paths[box.name].split(".")
        parts.setdefault(".".join(words[: len(shared) + 1]), []).append(box)
    return [tuple(part) for part in parts.values()]


def _shared(paths: Sequence[str]) -> list[str]:
    first, *rest = (path.split(".") for path in dict.fromkeys(paths))
    length = len(first)
    for words in rest:
        same = [a == b for a, b in zip(first, words, strict=False)]
        length = min(length, same.index(False) if False in same else len(same))
    return first[:length]


def _label(run: Sequence[Box], paths: Mapping[str, str], all_paths: set[str]) -> str:
    """The module that the run is, or the first and the last of those that it joins."""
    told = list(dict.fromkeys(paths[box.name] for box in run))
    shared = _shared(told)
    inside = {path for path in all_paths if path.split(".")[: len(shared)] == shared}
    if shared and inside == set(told):
        return ".".join(shared)
    ends = [".".join(path.split(".")[: len(shared) + 1]) for path in (told[0], told[-1])]
    return " … ".join(dict.fromkeys(ends))


def as_blocks(picture: Picture, blocks: Sequence[Block]) -> Picture:
    """The picture with one box for each block in each lane, and the arrows between them."""
    home: dict[str, str] = {}
    boxes: list[Box] = []
    for block in blocks:
        lanes: dict[str, list[Box]] = {}
        for box in block.boxes:
            lanes.setdefault(box.lane, []).append(box)
        for lane, inside in lanes.items():
            name = f"{block.label} ({lane})"
            home |= {box.name: name for box in inside}
            boxes.append(_joined(name, block.label, inside))
    order = {box.name: place for place, box in enumerate(picture.boxes)}
    first = {name: order[inside] for inside, name in reversed(home.items())}
    boxes.sort(key=lambda box: first[box.name])
    arrows = {
        replace(arrow, source=home[arrow.source], target=home[arrow.target]): None
        for arrow in picture.arrows
        if arrow.source in home and arrow.target in home
    }
    return Picture(tuple(boxes), tuple(a for a in arrows if a.source != a.target))


def _joined(name: str, label: str, inside: list[Box]) -> Box:
    bytes_of: Counter[Kind] = Counter()
    for box in inside:
        bytes_of[box.kind] += box.nbytes
    given = inside[0].lane == "given"
    kind = inside[0].kind if given else bytes_of.most_common(1)[0][0]
    what = ("value" if given else "operator") + "s" * (len(inside) > 1)
    if "…" in label:
        what = what.replace("operator", "op")
    return Box(
        name,
        str(kind) if given else "BLOCK",
        kind,
        inside[0].phase,
        sum(bytes_of.values()),
        False,
        len(inside),
        f"{label}: {len(inside)} {what}",
    )


def between(picture: Picture, names: set[str]) -> Picture:
    """The part of the picture with these boxes, and the arrows between them."""
    return Picture(
        tuple(box for box in picture.boxes if box.name in names),
        tuple(a for a in picture.arrows if {a.source, a.target} <= names),
    )
