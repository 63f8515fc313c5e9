"""When clones run if every node runs as soon as it can: not before backward needs them.

A clone must have a gradient before it, or a scheduler may run it in the forward pass. And
it must not run while backward is still at work on another block: the gradient
that enters its own block, or any later one, tells that its time has come.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch import fx

from lab_utils.kit.task import Finding
from lab_utils.labs.graphs.judge.rewrite import is_late
from lab_utils.labs.graphs.judge.timeline import Need, Timeline
from lab_utils.steps.graph import CycleError
from lab_utils.steps.kept import is_early
from lab_utils.steps.storage import is_operation


def wait_findings(line: Timeline) -> list[Finding]:
    """What runs too early, what is held up, or the circle that lets nothing run."""
    try:
        _ = line.order
    except CycleError as error:
        return [Finding(str(error), CycleError.wanted, error.look)]
    held = list(held_up(line))
    if held and not any(node in line.group for node in line.waits):
        return held  # the clones do not wait since what should hold them waits for them
    return [*held, *_too_early(line)]


def held_up(line: Timeline) -> Iterator[Finding]:
    """Nodes that wait and are no clones, unless for what they have to wait for anyway."""
    waits = [
        (other, node)
        for node, others in line.waits.items()
        if node not in line.group and not _is_marked(node)
        for other in others
    ]
    if not waits:
        return
    held = {node for _, node in waits}
    free = {n: line.reads[n] if n in held else line.before[n] for n in line.reads}
    forced = line.forced(set(waits), free)
    for other, node in waits:
        if (other, node) not in forced:
            yield Finding(
                f"{node.name} waits for {other.name}",
                "only clones wait",
                "Only clones may wait: add_control_dependency(clone, other), in this order.",
            )


def _is_marked(node: fx.Node) -> bool:
    return node.op == "call_function" and not is_early(node) and not is_late(node)


def _too_early(line: Timeline) -> Iterator[Finding]:
    nobody = not any(n in line.group for n in line.waits)
    early = early_clones(line)
    for clone, (need, free) in early.items():
        if (
            not is_operation(clone)
            or clone in line.faulty
            or any(read in early for read in line.reads[clone])
        ):
            continue  # it takes no time, or it or what it reads has been told of
        yield _early(line, clone, need, free, nobody)


def early_clones(line: Timeline) -> dict[fx.Node, tuple[Need, bool]]:
    """Clones that run before their time: what they should wait for, and whether nothing does."""
    some, real = line.after_gradients
    found: dict[fx.Node, tuple[Need, bool]] = {}
    for clone in line.order:
        need = line.needs.get(line.group[clone]) if clone in line.group else None
        if need is None:
            continue
        free = clone not in (some if need.early else real)
        if free or line.step[clone] <= need.after:
            found[clone] = need, free
    return found


def _early(line: Timeline, clone: fx.Node, need: Need, free: bool, nobody: bool) -> Finding:
    step, gradient = line.step[clone], need.gradient.name
    wanted = (
        f"{clone.name} waits for {gradient}, the gradient that enters its block, or a later one"
    )
    if not free:
        busy = "" if need.reader is None else f", before {need.reader.name} (step {need.after})"
        return Finding(
            f"{clone.name} runs at step {step}{busy}, which belongs to another block",
            wanted,
            f"{clone.name} lies in memory until its block is reached: make it wait for a "
            "gradient of its own block.",
        )
    when = f"in the forward pass (backward begins at step {line.begins})"
    if step >= line.begins:
        when = "whether backward has begun or not"
    look = f"{clone.name} waits for no gradient, so that it runs at once: what does it wait for?"
    if nobody:
        look = "No node waits for another: add_control_dependency(clone, gradient)."
    return Finding(f"{clone.name} runs at step {step}, {when}", wanted, look)


def repeated_waits(line: Timeline) -> list[tuple[fx.Node, fx.Node]]:
    """Control edges that only repeat what data edges force."""
    waits = [(other, node) for node, others in line.waits.items() for other in others]
    forced = line.forced(set(waits), line.reads) if waits else set()
    return [pair for pair in waits if pair in forced]
