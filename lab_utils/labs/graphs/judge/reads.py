"""Who reads what: backward the clones, forward the originals, and nothing else is touched."""

from __future__ import annotations

from collections.abc import Iterator

from torch import fx

from lab_utils.kit.task import Finding
from lab_utils.labs.graphs.judge.clones import changed, left_out
from lab_utils.labs.graphs.judge.rewrite import Rewrite, is_late
from lab_utils.steps.graph import phase


def forward_reads(rewrite: Rewrite) -> Iterator[Finding]:
    """Forward nodes that read a clone."""
    for reader in rewrite.after.nodes:
        if rewrite.is_stored(reader):
            for _, read in rewrite.after.facts[reader].reads:
                if read in rewrite.clones:
                    original = rewrite.original.get(read)
                    wanted = "the original" if original is None else original.name
                    yield Finding(
                        f"{reader.name} ({phase(reader)}) now reads {read.name}",
                        f"{reader.name} still reads {wanted}",
                        "A forward reader keeps the original: the clone does not exist yet.",
                    )


def stored_reads(rewrite: Rewrite) -> Iterator[Finding]:
    """Backward nodes that still read what was let go."""
    for reader in rewrite.late:
        for _, read in rewrite.after.facts[reader].reads:
            original = rewrite.base_of.get(read)
            if original in rewrite.lost and rewrite.is_stored(read):
                clone = rewrite.clone_of(original) if original is not None else None
                yield still_reads(reader, read, clone)


def still_reads(reader: fx.Node, read: fx.Node, clone: fx.Node | None) -> Finding:
    """That ``reader`` keeps the stored ``read`` alive."""
    wanted = f"a clone of {read.name}" if clone is None else clone.name
    return Finding(
        f"{reader.name} still reads {read.name}",
        f"{reader.name} reads {wanted}",
        f"As long as one backward node reads {read.name}, it stays in memory.",
    )


def late_changes(rewrite: Rewrite) -> Iterator[Finding]:
    """Nodes of backward and of the update that are gone, new, or do something else."""
    look = "In backward only what is read changes: the clone in place of its original."
    for node in rewrite.base.nodes:
        if is_late(node) and node not in rewrite.after_of:
            yield Finding(f"{node.name} is gone", f"{node.name}, as in the graph given", look)
    excused = left_out(rewrite)
    for node in rewrite.late:
        given = rewrite.base_of.get(node)
        if given is None:
            yield Finding(f"{node.name} is new", "no new node but clones", look)
        else:
            yield from changed(rewrite, node, given, look, excused)


def rewire_findings(rewrite: Rewrite) -> list[Finding]:
    """All of it: every backward reader of a value that was let go reads its clone."""
    return [*forward_reads(rewrite), *stored_reads(rewrite), *late_changes(rewrite)]
