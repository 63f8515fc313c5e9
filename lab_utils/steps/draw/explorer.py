"""The graph explorer: three lanes, blocks to open, a value followed from birth to death."""

from __future__ import annotations

from dataclasses import replace

from torch import fx

from lab_utils.kit.charts.colors import BLUE, RED
from lab_utils.kit.charts.live import Live, table, widgets
from lab_utils.kit.charts.svg import document, line, text
from lab_utils.kit.errors import LabError
from lab_utils.kit.words import listed, size
from lab_utils.steps.draw.blocks import WORK, Block, as_blocks, between, module_paths, parts, split
from lab_utils.steps.draw.boxes import Arrow, Picture, fold
from lab_utils.steps.draw.facts import facts_of
from lab_utils.steps.draw.graph_picture import draw_graph
from lab_utils.steps.draw.kinds import LETTER
from lab_utils.steps.draw.lanes import LANES, Emphasis, lanes_svg
from lab_utils.steps.memory import live_bytes
from lab_utils.steps.schedule import Schedule, program_order

ALL, ALL_PARTS = "all blocks", "all parts"
NOBODY = "(none)"
_BORN, _DIES = BLUE, RED


def explore(graph: fx.Graph, schedule: Schedule | None = None) -> Explorer:
    """Look around in ``graph``: open a block, select a node, filter by kind.

    Lifetimes are steps of ``schedule`` (program order, unless given).
    """
    return Explorer(graph, schedule)


class Explorer(Live):
    """The widget that ``explore`` returns; its controls are attributes."""

    def __init__(self, graph: fx.Graph, schedule: Schedule | None = None) -> None:
        w = widgets()
        self.picture = fold(graph)
        memory = live_bytes(graph, schedule or program_order(graph))
        self.steps = len(memory.schedule)
        order = {box.name: place for place, box in enumerate(self.picture.boxes)}
        self._place = order.__getitem__
        self.facts = facts_of(graph, memory)
        paths = module_paths(graph)
        found = split(self.picture.boxes, paths) if self.picture.boxes else []
        self.blocks = {block.label: block for block in found}
        self.parts = {
            label: {part.label: part for part in parts(block, paths)}
            for label, block in self.blocks.items()
        }
        self.static = draw_graph(graph)
        kinds = sorted({b.kind for b in self.picture.boxes}, key=list(LETTER).index)
        busy = [b.label for b in self.blocks.values() if any(x.lane in WORK for x in b.boxes)]
        self.block = w.Dropdown(options=[ALL, *busy], description="block")
        self.part = w.Dropdown(options=[ALL_PARTS], description="part")
        self.node = w.Select(options=[NOBODY], rows=9, description="node")
        self.kinds = {
            kind: w.ToggleButton(
                True, description=f"{LETTER[kind]} {kind}", layout={"width": "auto"}
            )
            for kind in kinds
        }
        self.control = w.Checkbox(
            True, description="control edges", indent=False, layout={"width": "auto"}
        )
        self.ends = w.Checkbox(
            not busy, description="weights and update", indent=False, layout={"width": "auto"}
        )
        self.lanes = w.HTML()
        self.about = w.HTML()
        self._quiet = False
        self.block.observe(lambda _: self._open(), "value")
        self.part.observe(lambda _: self._open_part(), "value")
        for control in (self.node, self.control, self.ends, *self.kinds.values()):
            control.observe(lambda _: self._draw(), "value")
        row = {"flex_flow": "row wrap", "align_items": "center"}
        waits = [self.control] if any(a.control for a in self.picture.arrows) else []
        self.widget = w.VBox(
            [
                w.HBox([self.block, self.part, *waits, self.ends], layout=row),
                w.HBox(list(self.kinds.values()), layout=row),
                self.lanes,
                w.HBox([self.node, self.about], layout=row),
            ]
        )
        self._open()

    def select(self, name: str) -> None:
        """Open the block of the node ``name`` and follow its value."""
        for label, block in self.blocks.items():
            if any(box.name == name for box in block.boxes):
                self.block.value = label if label in self.block.options else ALL
                inside = (p for p, one in self.parts[label].items() if name in _names(one))
                if len(self.part.options) > 1:
                    self.part.value = next(inside)
                if name not in self.node.options:
                    self.node.options = [*self.node.options, name]
                self.node.value = name
                return
        raise LabError(f"{name} is not in the picture: views are folded into what they look at")

    def _open(self) -> None:
        """Offer the parts of the block that was chosen; a small one is a single part."""
        found = list(self.parts.get(self.block.value, ()))
        several = len(found) > 1
        self._quiet = True
        self.part.options = [ALL_PARTS, *found] if several else [ALL_PARTS]
        self.part.value = ALL_PARTS
        self.part.layout.display = None if several else "none"
        self._quiet = False
        self._open_part()

    def _open_part(self) -> None:
        """Offer the nodes of what is open."""
        if self._quiet:
            return
        if self.block.value == ALL:
            names = [] if len(self.picture.boxes) > 400 else [b.name for b in self.picture.boxes]
        else:
            names = [] if self._folded() else sorted(self._inside(), key=self._place)
        self.node.options = [NOBODY, *names]
        self.node.value = NOBODY
        self._draw()

    def _folded(self) -> bool:
        """Whether a large block is open, and none of its parts."""
        return len(self.part.options) > 1 and self.part.value == ALL_PARTS

    def _inside(self) -> set[str]:
        """The names in the block, or in its part, that is open."""
        found = self.parts[self.block.value]
        return _names(found.get(self.part.value, self.blocks[self.block.value]))

    def _draw(self) -> None:
        name = self.node.value
        picture = self._shown(name)
        pale = {b.name for b in picture.boxes if not self.kinds[b.kind].value}
        arrows = [a for a in picture.arrows if self.control.value or not a.control]
        ringed: dict[str, str] = {}
        if name in self.facts:
            readers = [a.target for a in arrows if a.source == name and not a.control]
            beside = {name, *readers, *(a.source for a in arrows if a.target == name)}
            pale |= {b.name for b in picture.boxes if b.name not in beside}
            ringed = {name: _BORN} | ({readers[-1]: _DIES} if readers else {})
            arrows = [self._followed(a, name) for a in arrows]
        lanes = LANES if self.ends.value or self._is_given(name) else WORK
        present = [lane for lane in lanes if any(b.lane == lane for b in picture.boxes)]
        words = {n: str(f) for n, f in self.facts.items()} if len(picture.boxes) < 400 else {}
        emphasis = Emphasis(ringed, pale, words)
        self.lanes.value = lanes_svg(
            Picture(picture.boxes, tuple(arrows)), present, emphasis, alone=False
        )
        self.about.value = self._about(name)

    def _shown(self, name: str) -> Picture:
        """The blocks, or the nodes of one block and those that touch the selected value."""
        if self.block.value == ALL:
            if name not in self.facts:
                return as_blocks(self.picture, list(self.blocks.values()))
            inside: set[str] = {name}
        elif self._folded():
            return as_blocks(self.picture, list(self.parts[self.block.value].values()))
        else:
            inside = self._inside()
        near = {
            n
            for a in self.picture.arrows
            if name in (a.source, a.target)
            for n in (a.source, a.target)
        }
        return between(self.picture, inside | near)

    def _followed(self, arrow: Arrow, name: str) -> Arrow:
        follows = arrow.source == name and not arrow.control
        return replace(arrow, mark="followed") if follows else arrow

    def _is_given(self, name: str) -> bool:
        return name in self.facts and self.facts[name].operator == self.facts[name].kind

    def _about(self, name: str) -> str:
        if name not in self.facts:
            return "<i>Open a block and select a node; or rest the mouse on a box.</i>"
        facts = self.facts[name]
        rows = [
            ("operator", facts.operator),
            ("kind, phase", f"{facts.kind}, {facts.phase}"),
            ("shape", facts.shape),
            ("bytes", f"{size(facts.nbytes)}"),
            ("in memory", facts.lifetime),
            ("reads", listed(facts.reads)),
            ("read by", listed(facts.readers)),
        ]
        if facts.waits_for:
            rows.append(("waits for", listed(facts.waits_for)))
        return f"<b>{name}</b>{table(rows)}{self._life(name)}"

    def _life(self, name: str) -> str:
        """The steps of the schedule as a line, the value's life as a bar on it."""
        facts = self.facts[name]
        if facts.born is None or facts.dies is None:
            return ""
        width, last = 420, max(self.steps - 1, 1)

        def x(step: int) -> float:
            return 10 + step * (width - 20) / last

        long = max(x(facts.dies) - x(facts.born), 3)
        bar = f'<rect x="{x(facts.born):.1f}" y="8" width="{long:.1f}" '
        # Beside the bar on both sides, or above each other's ends where there is no room.
        left, right = x(facts.born), x(facts.dies)
        body = [
            line(x(0), 14, x(last), 14, stroke_opacity=0.5),
            bar + f'height="12" rx="3" fill="{_BORN}" fill-opacity="0.6"/>',
            text(max(left, 70), 34, f"born {facts.born} ", text_anchor="end", font_size=10),
            text(min(right, width - 80), 34, f" last read {facts.dies}", font_size=10),
        ]
        return document(width, 40, f"{name} is in memory in {facts.lifetime}", body, alone=False)


def _names(block: Block) -> set[str]:
    return {box.name for box in block.boxes}
