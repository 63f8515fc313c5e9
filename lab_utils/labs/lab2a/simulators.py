"""What notebooks run: SCALE-Sim where it is installed, recorded results elsewhere, our model.

Where a hand-in is graded there is neither simulator nor model: recorded results stand in, and
that is said. ``LAB2A_SIZE=small`` tries all this in seconds.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from lab_utils.instruments.systolic.designs import Conv, Design, Gemm, design_space
from lab_utils.kit.errors import LabError
from lab_utils.kit.guard import refuse_while_asked
from lab_utils.kit.machine.terminal import typed
from lab_utils.kit.progress import Bar
from lab_utils.labs.lab2a.network import BANDWIDTH, CONVS, GEMMS
from lab_utils.labs.lab2a.records import Row, read_config, recorded, report

if TYPE_CHECKING:
    from pandas import DataFrame

_SHOW = "lab_utils.instruments.systolic.show"


def _is_small() -> bool:
    """Whether the lab is only tried, or looked at: nothing that takes half a minute is run."""
    return os.environ.get("LAB2A_SIZE") == "small"


def has_scalesim() -> bool:
    """Whether SCALE-Sim can run here."""
    if find_spec(_SHOW) is None or _is_small():
        return False
    from lab_utils.instruments.systolic.show.peer import installed

    return installed()


def scale_sim(config: str, topology: str, gemm: bool = False) -> str:
    """The text of COMPUTE_REPORT.csv: a real run, or a recorded one where that cannot be.

    Args:
        config: text of a ``system.cfg``.
        topology: text of a topology file.
        gemm: whether the topology lists M, N, K: SCALE-Sim's option ``-i gemm``.

    Raises:
        LabError: SCALE-Sim cannot read the texts, this design was not recorded, or a task asks
            for this.
    """
    refuse_while_asked("scale_sim")
    _right_kind(topology, gemm)
    if has_scalesim():
        from lab_utils.instruments.systolic.show.peer import compute_report

        return compute_report(config, topology, gemm)
    design = read_config(config)
    if design not in recorded():
        install = typed("install 'scalesim==2.0.2'", "pip")
        raise LabError(
            f"SCALE-Sim does not run here, and {design} is not among the recorded runs: "
            f"take one of list(recorded()), or run {install}"
        )
    print(f"SCALE-Sim does not run here: this is a recorded run of {design}.")
    rows = recorded()[design]
    return report(rows[len(CONVS) :] if gemm else rows[: len(CONVS)])


def _right_kind(topology: str, gemm: bool) -> None:
    """A product taken for a convolution, or the reverse, stops SCALE-Sim or misleads it.

    Raises:
        LabError: the file is of the other kind.
    """
    rows = [line.rstrip(", ") for line in topology.splitlines()[1:] if line.strip()]
    lists_products = all(row.count(",") == len(Gemm._fields) - 1 for row in rows)
    if rows and lists_products and not gemm:
        raise LabError(
            "this topology lists M, N, K, and would be read as convolutions: pass gemm=True, which "
            "is SCALE-Sim's option -i gemm"
        )
    if rows and gemm and not lists_products:
        raise LabError("this topology lists convolutions: leave gemm=True (-i gemm) away")


def scale_sim_runs(
    configs: Sequence[str], conv_topology: str, gemm_topology: str
) -> list[tuple[str, str]]:
    """Both reports of each ``system.cfg``, with a bar that tells how far it is."""
    bar = Bar("SCALE-Sim", total=len(configs))
    reports = []
    for config in configs:
        bar.tell(str(read_config(config)))
        reports.append((scale_sim(config, conv_topology), scale_sim(config, gemm_topology, True)))
        bar.advance()
    return reports


def model_rows(designs: Sequence[Design], bar: Bar | None = None) -> dict[Design, list[Row]]:
    """Our own model of the same network: rows as SCALE-Sim reports them.

    Where a hand-in is graded only recorded designs are known.

    Raises:
        LabError: a task asks for this.
    """
    refuse_while_asked("model_rows")
    if find_spec(_SHOW) is None:
        known = recorded()
        return {design: known[design] for design in designs if design in known}
    from lab_utils.instruments.systolic.show.space import explore

    advance = bar.advance if bar else lambda: None
    layers: tuple[Conv | Gemm, ...] = (*CONVS, *GEMMS)
    macs = [_macs(layer) for layer in layers]
    found = {}
    for design, outcomes in explore(layers, designs, BANDWIDTH, advance).items():
        pes = design.height * design.width
        found[design] = [
            Row(
                layer.name,
                one.total,
                one.stalls,
                100 * work / (one.total * pes),
                one.efficiency,
            )
            for layer, one, work in zip(layers, outcomes, macs, strict=True)
        ]
    return found


def _macs(layer: Conv | Gemm) -> int:
    from lab_utils.instruments.systolic.show.traffic import addresses

    a, b = addresses(layer)
    return a.shape[0] * a.shape[1] * b.shape[1]


def explore_designs() -> DataFrame:
    """All 12,288 designs: a row each, with cycles, stalls and mean efficiency (per cent).

    About half a minute. Where a hand-in is graded: the recorded designs alone.
    """
    designs = design_space()
    if find_spec(_SHOW) is None:
        print("The whole space is explored in your own notebook; here are the recorded designs.")
        return table(recorded())
    if _is_small():
        print("LAB2A_SIZE=small: only arrays of up to 5 x 5.")
        designs = [one for one in designs if max(one.height, one.width) <= 5]
    arrays = len({(one.dataflow, one.height, one.width) for one in designs})
    return table(model_rows(designs, Bar("arrays", total=arrays)))


def table(found: dict[Design, list[Row]]) -> DataFrame:
    """Sums and means over the layers of each design."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                **design._asdict(),
                "cycles": sum(row.total for row in rows),
                "stalls": sum(row.stall for row in rows),
                "efficiency": sum(row.mapping_efficiency for row in rows) / len(rows),
            }
            for design, rows in found.items()
        ]
    )


def deviation() -> str:
    """How far our model is from SCALE-Sim over all recorded runs, in words."""
    known = recorded()
    if _is_small():
        known = dict(list(known.items())[:8])
    ours = model_rows(list(known))
    pairs = [
        (mine, theirs)
        for design, rows in known.items()
        for mine, theirs in zip(ours[design], rows, strict=True)
    ]
    if find_spec(_SHOW) is None:
        return "The model is compared with SCALE-Sim in your own notebook."
    off = [abs(mine.total - theirs.total) / theirs.total for mine, theirs in pairs]
    share = max(abs(m.mapping_efficiency - t.mapping_efficiency) for m, t in pairs)
    same = sum(m.total == t.total and m.stall == t.stall for m, t in pairs)
    return (
        f"{len(known)} designs, {len(pairs)} layer runs: {same} equal to the cycle; largest "
        f"deviation of the total {100 * max(off):.3g} %, mean {100 * sum(off) / len(off):.3g} %; "
        f"largest deviation of the mapping efficiency {share:.1e} per cent."
    )
