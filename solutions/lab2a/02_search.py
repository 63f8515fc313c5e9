# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 2A, notebook 2: memory, and the search for a design
#
# **3½ points, about 100 minutes.** You need numpy and pandas. SCALE-Sim is used where it is
# installed (run `%pip install 'scalesim==2.0.2'` in a cell, and take the cell out again); everything
# works without it. Nothing here hangs on notebook 1.
#
# An array is fed from three small memories, and these from a slow one. In this notebook you run a
# simulator that architects use, find out where its stalls come from, look at all 12,288 designs of
# a space, and ask what the "best" of them really is. Afterwards you can
#
# - write the files of a simulator, run it and read its reports;
# - tell how long a double buffer lets an array wait;
# - search a design space by an objective, and see through the objective;
# - find the designs that no other design beats: the Pareto front.
#
# ![Recorded designs: cycles against area, with the Pareto front](images/front.svg)
#
# Some designs of the space. The line joins those that no other one beats.

# %%
from pathlib import Path

import numpy as np

from lab_utils.instruments.systolic.designs import Conv, Design, Gemm
from lab_utils.labs.lab2a import (
    BANDWIDTH,
    CONVS,
    GEMMS,
    check,
    deviation,
    explore_designs,
    has_scalesim,
    model_rows,
    pareto_film,
    recorded,
    report,
    scale_sim_runs,
)

# %% [markdown]
# ## Task 2.1: a topology file (¼ point, about 8 lines)
#
# SCALE-Sim reads a network from a file of commas. The first line is a header and is skipped. Each
# layer is a row. **Every row ends with a comma**: what stands behind the last comma is not read.
# A network of convolutions has this form, which is LeNet's:
#
# ```
# Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,
# conv1, 40, 40, 3, 3, 3, 16, 1,
# conv2, 20, 20, 3, 3, 16, 4, 1,
# ```
#
# A network of products has the header `Layer name, M, N, K,` and rows such as `gemm1, 1, 32, 80,`.
# `layers` is a list of `Conv` or a list of `Gemm`; both are tuples that have their fields in the
# order of the header. Return the text of the file.
#
# <details><summary>Help: one function for both kinds?</summary>
# A row is <code>", ".join(map(str, layer))</code> and a comma, whatever the layer is. The header
# differs: <code>isinstance(layers[0], Conv)</code>.
# </details>


# %% solution=t21
def topology(layers: list[Conv] | list[Gemm]) -> str:
    """The text of a topology file."""
    ### BEGIN SOLUTION
    header = "Layer name, M, N, K,"
    if isinstance(layers[0], Conv):
        header = (
            "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, "
            "Channels, Num Filter, Strides,"
        )
    rows = [", ".join(map(str, layer)) + "," for layer in layers]
    return "\n".join([header, *rows]) + "\n"
    ### END SOLUTION


# %% test=t21_check points=0.25 check=2.1
check("2.1", topology)

# %%
Path("lenet_conv.csv").write_text(topology(list(CONVS)))
Path("lenet_gemm.csv").write_text(topology(list(GEMMS)))
print(Path("lenet_conv.csv").read_text())
print(Path("lenet_gemm.csv").read_text())

# %% [markdown]
# ## Task 2.2: a configuration file (¼ point, about 20 short lines)
#
# The design is in a second file, `system.cfg`. This one is for 8 × 8 PEs, output-stationary, with
# 2 kB of SRAM each for inputs (ifmap), weights (filter) and outputs (ofmap):
#
# ```
# [general]
# run_name = lenet
#
# [architecture_presets]
# ArrayHeight = 8
# ArrayWidth = 8
# IfmapSramSzkB = 2
# FilterSramSzkB = 2
# OfmapSramSzkB = 2
# IfmapOffset = 0
# FilterOffset = 10000000
# OfmapOffset = 20000000
# Dataflow = os
# Bandwidth = 50
#
# [run_presets]
# InterfaceBandwidth = USER
# ```
#
# `Bandwidth` is in words a cycle, for each of the three memories; a word is a byte. It counts only
# with `InterfaceBandwidth = USER`. Return such a text for a `design`, which has the fields
# `height`, `width`, `ifmap_kb`, `filter_kb`, `ofmap_kb` and `dataflow`.


# %% solution=t22
def system_cfg(design: Design, bandwidth: int) -> str:
    """The text of a configuration file."""
    ### BEGIN SOLUTION
    return f"""[general]
run_name = lenet

[architecture_presets]
ArrayHeight = {design.height}
ArrayWidth = {design.width}
IfmapSramSzkB = {design.ifmap_kb}
FilterSramSzkB = {design.filter_kb}
OfmapSramSzkB = {design.ofmap_kb}
IfmapOffset = 0
FilterOffset = 10000000
OfmapOffset = 20000000
Dataflow = {design.dataflow}
Bandwidth = {bandwidth}

[run_presets]
InterfaceBandwidth = USER
"""
    ### END SOLUTION


# %% test=t22_check points=0.25 check=2.2
check("2.2", system_cfg)

# %% [markdown]
# ## Run it
#
# Three designs, a few seconds each where SCALE-Sim is installed; elsewhere recorded runs are
# shown, and it says so. The products go in a run of their own: SCALE-Sim must be told that a file
# lists M, N, K (its option is `-i gemm`; the cell gives it). Without that option it takes a product
# for a convolution: mostly it stops then, but sometimes it goes on and reports nonsense.

# %%
designs = [next(one for one in recorded() if one.dataflow == flow) for flow in ("os", "ws", "is")]
configs = [system_cfg(design, BANDWIDTH) for design in designs]
Path("system.cfg").write_text(configs[0])
reports = scale_sim_runs(
    configs, Path("lenet_conv.csv").read_text(), Path("lenet_gemm.csv").read_text()
)
for design, (conv_report, gemm_report) in zip(designs, reports, strict=True):
    print(f"{design}\n{conv_report}{gemm_report}")

# %% [markdown]
# ## Task 2.3: two reports, one network (½ point, about 10 lines)
#
# Look at such a report closely. Each name but the first has a space in front. Each line ends with a
# comma, so pandas sees a last column without a name. `Total Cycles` is all the time that passes,
# stalls and all; `Mapping Efficiency %` is in per cent.
#
# `conv_report` and `gemm_report` are the texts of two reports of one network. Return three numbers:
# the cycles of the whole network, its stall cycles, and its mean mapping efficiency in per cent,
# **over all layers**: each layer counts the same, whichever file it is in.
#
# <details><summary>Help: how do I read a text as a table?</summary>
# By hand: <code>for line in text.splitlines()[1:]</code>, and <code>line.split(",")</code>. Or
# <code>pandas.read_csv(io.StringIO(text), skipinitialspace=True)</code>, which drops the spaces.
# </details>


# %% solution=t23
def totals(conv_report: str, gemm_report: str) -> tuple[int, int, float]:
    """Cycles, stall cycles, and mean mapping efficiency in per cent."""
    ### BEGIN SOLUTION
    rows = [
        [float(part) for part in line.split(",")[:5]]
        for text in (conv_report, gemm_report)
        for line in text.splitlines()[1:]
        if line.strip()
    ]
    cycles, stalls = sum(row[1] for row in rows), sum(row[2] for row in rows)
    return int(cycles), int(stalls), sum(row[4] for row in rows) / len(rows)
    ### END SOLUTION


# %% test=t23_check points=0.5 check=2.3
check("2.3", totals)

# %%
for design, texts in zip(designs, reports, strict=True):
    cycles, stalls, efficiency = totals(*texts)
    print(f"{design}: {cycles:,} cycles, {stalls:,} of them stalls, {efficiency:.2f} %")

# %% [markdown]
# ## Where stalls come from
#
# Each read memory is a **double buffer**. One half is in use; meanwhile the other half is filled
# with what comes next. What comes next is decided before the run: SCALE-Sim lists all addresses in
# the order in which it expects them, and fetches this list from top to bottom, over and over. When
# a demand is not in the half in use, the buffer moves on by half a buffer, as often as it takes. It
# never goes back. If the array asks for something that the buffer has *just* left, a whole round
# must be fetched.
#
# So which demand misses depends on addresses alone, not on time. And the halves arrive like trains:
# the first is there before cycle 0; half number k is there at `k * period - 1`, where `period` is
# the time to fetch a half (its words / bandwidth, rounded up, and one cycle more).
#
# ## Task 2.4: stalls behind a double buffer (½ point, about 3 lines)
#
# You get all misses of a layer as numpy arrays. `cycles[i]` is the cycle in which miss i is asked
# for **if nothing ever stalls**; `halves[i]` is the number k of the half that it waits for. A demand
# of cycle c is in time if its half is there at c + 1 or before. If not, it is late by the cycles
# from c + 1 to the arrival of its half: the *whole* array waits, and everything that follows
# happens later.
#
# Return how many cycles the array waits in all. If there is no miss at all, that is 0. Arrays, not
# loops: this runs for thousands of designs.
#
# <details><summary>Help: do I add up all delays?</summary>
# Say miss 1 is 10 cycles late, and so the array waits 10. Miss 2 would have been 12 late; but it is
# asked for 10 cycles later now, so it waits 2 more. In all: 12. What would you get if miss 2 had
# been only 7 late?
# </details>


# %% solution=t24
def stall_cycles(cycles: np.ndarray, halves: np.ndarray, period: int) -> int:
    """Cycles that the array waits."""
    ### BEGIN SOLUTION
    late = halves * period - 1 - (cycles + 1)
    return int(max(0, late.max(initial=0)))
    ### END SOLUTION


# %% test=t24_check points=0.5 check=2.4
check("2.4", stall_cycles)

# %% [markdown]
# SCALE-Sim finds the same number by walking through every cycle in Python: 4 to 14 seconds for this
# network as it comes, a third of that without its logs, which is how it ran above. Our model finds the misses with numpy and takes the maximum, as you did. Is it the same?
# The lab brings recorded runs of SCALE-Sim 2.0.2, spread over the whole space, at a bandwidth of
# 50. Here is how far the model is from them.

# %%
print(deviation())

# %% [markdown]
# ## All 12,288 designs
#
# The space of the course: arrays from 3 × 3 to 10 × 10, 1 to 4 kB for each of three memories, three
# dataflows. SCALE-Sim would need some 20 to 30 hours. The model takes about 20 seconds, since only
# 192 arrays ask for different things, and each memory misses for itself.

# %%
space = explore_designs()
space

# %% [markdown]
# > **A story about more memory.** A larger memory cannot hurt, can it? Look at output-stationary
# > arrays of 3 × 3 with 1 kB for weights. With 1 kB for inputs there are no stalls; with 2 kB
# > there are 22,209. The larger half ends at an unlucky place: one demand comes just after the
# > buffer has left it, in fold after fold, and costs a round each time. Some caches do the same:
# > that is Belady's anomaly, found in 1969. (And -1? Where both memories miss in one cycle and both
# > are there early, SCALE-Sim forgets to count the cycle. The model has that too.)

# %%
small = space.query("height == 3 and width == 3 and dataflow == 'os' and filter_kb == 1")
small.groupby("ifmap_kb")[["cycles", "stalls"]].first()

# %% [markdown]
# ## Task 2.5: two objectives (½ point, about 4 lines)
#
# The course asks for the design that maximises
#
# 1. **80000 / cycles + 8 · efficiency**, the efficiency in per cent, and
# 2. **17500 / cycles + 15000 / area**, where a PE takes 525 µm² and a kB of SRAM 1015.7 µm². All
#    three memories count. (The handout did not say which; two groups with the same design handed
#    in different areas.)
#
# Return both scores of a design.


# %% solution=t25
def scores(design: Design, cycles: int, efficiency: float) -> tuple[float, float]:
    """Both objectives; the efficiency is in per cent."""
    ### BEGIN SOLUTION
    kilobytes = design.ifmap_kb + design.filter_kb + design.ofmap_kb
    area = 525 * design.height * design.width + 1015.7 * kilobytes
    return 80000 / cycles + 8 * efficiency, 17500 / cycles + 15000 / area
    ### END SOLUTION


# %% test=t25_check points=0.5 check=2.5
check("2.5", scores)

# %% [markdown]
# ## Task 2.6: the ten best (½ point, about 6 lines)
#
# `scores` is a list of numbers, one for each design. Return the places (counted from 0) of the ten
# best, best first. **Equal scores count as one**: return one of their places, whichever you like.
# If there are fewer than ten different scores, return one place for each.


# %% solution=t26
def ten_best(scores: list[float]) -> list[int]:
    """Places of the ten highest scores, each score once, the highest first."""
    ### BEGIN SOLUTION
    first = {}
    for place, score in enumerate(scores):
        first.setdefault(score, place)
    return [first[score] for score in sorted(first, reverse=True)[:10]]
    ### END SOLUTION


# %% test=t26_check points=0.5 check=2.6
check("2.6", ten_best)

# %%
space_designs = [
    Design(*row) for row in space[list(Design._fields)].itertuples(index=False, name=None)
]
both = [
    scores(*one)
    for one in zip(
        space_designs, space["cycles"].tolist(), space["efficiency"].tolist(), strict=True
    )
]
for number in (0, 1):
    print(f"objective {number + 1}")
    # Rounded: two sums that are equal on paper may differ in their last digit.
    for rank, place in enumerate(ten_best([round(pair[number], 9) for pair in both]), 1):
        print(
            f"  {rank:2}  {both[place][number]:9.4f}  {space_designs[place]}, {space['cycles'][place]:,} cycles"
        )

# %% [markdown]
# The course wants these lists as files: `system1.cfg` for the best design, and so on, and a merged
# report of both runs, `COMPUTE_REPORT1.csv`. They go to a folder for each objective. The reports
# come from our model; you saw above how close it is. It leaves out SCALE-Sim's last column,
# `Compute Util %`, which no task needs. Run SCALE-Sim on one of the designs if you like.

# %%
for number in (0, 1):
    best = [space_designs[place] for place in ten_best([round(pair[number], 9) for pair in both])]
    folder = Path(f"objective{number + 1}")
    folder.mkdir(exist_ok=True)
    for rank, (design, rows) in enumerate(model_rows(best).items(), 1):
        (folder / f"system{rank}.cfg").write_text(system_cfg(design, BANDWIDTH))
        (folder / f"COMPUTE_REPORT{rank}.csv").write_text(report(rows))
print(Path("objective1/system1.cfg").read_text())
print(Path("objective1/COMPUTE_REPORT1.csv").read_text())

# %% [markdown]
# ## Task 2.7: what an objective asks for (¼ point, about 4 lines)
#
# Did the ten best surprise you? An objective is a sum of two terms, and it is easy to write one that
# asks for one thing alone. How much can each term move the score? Its **swing** is its largest
# value minus its smallest, over all designs. `first` and `second` are the values of the two terms,
# a number for each design. Return the share of each in both swings together, in per cent.


# %% solution=t27
def swings(first: list[float], second: list[float]) -> tuple[float, float]:
    """How much of what a score can move comes from each term, in per cent."""
    ### BEGIN SOLUTION
    spans = [max(terms) - min(terms) for terms in (first, second)]
    return 100 * spans[0] / sum(spans), 100 * spans[1] / sum(spans)
    ### END SOLUTION


# %% test=t27_check points=0.25 check=2.7
check("2.7", swings)

# %%
area = 525 * space["height"] * space["width"] + 1015.7 * space[
    ["ifmap_kb", "filter_kb", "ofmap_kb"]
].sum(axis=1)
terms = {
    "objective 1": (80000 / space["cycles"], 8 * space["efficiency"]),
    "objective 2": (17500 / space["cycles"], 15000 / area),
}
for name, (first, second) in terms.items():
    one, other = swings(first.tolist(), second.tolist())
    print(f"{name}: cycles decide {one:.1f} %, the other term {other:.1f} %")

# %% [markdown]
# ## Task 2.8: the Pareto front (½ point, about 6 lines)
#
# Nobody has to agree on an objective to throw away bad designs. A design is **beaten** if another
# one is at least as good in both, and better in one. Those that nobody beats are the Pareto front;
# every sensible objective chooses one of them.
#
# `points` is a list of pairs (cycles, area); less is better in both. Return the places of all that
# are not beaten, in any order. Points that are equal in both do not beat each other.
#
# <details><summary>Help: 12,288 designs against 12,288 is slow</summary>
# Sort by cycles, then by area. Walk through the list and remember the smallest area so far: whoever
# is not smaller is beaten. Take care of equal points.
# </details>


# %% solution=t28
def pareto(points: list[tuple[float, float]]) -> list[int]:
    """Places of the points that no other point beats."""
    ### BEGIN SOLUTION
    front, smallest, last = [], float("inf"), None
    for place in sorted(range(len(points)), key=lambda place: points[place]):
        if points[place][1] < smallest or points[place] == last:
            front.append(place)
            smallest, last = points[place][1], points[place]
    return front
    ### END SOLUTION


# %% test=t28_check points=0.5 check=2.8
check("2.8", pareto)

# %% [markdown]
# Choose a design on the front, and watch it work: its array and its dataflow, on a small product.

# %%
points = list(zip(space["cycles"].tolist(), area.tolist(), strict=True))
pareto_film(space_designs, points, pareto(points))

# %% [markdown] task=q29 points=0.25
# ### Question 2.9: a better objective (¼ point, about 60 words, in a new cell below)
#
# A person reads and grades this one. Objective 1 calls a chip good that is slow but has no idle PE;
# objective 2 prefers the smallest chip there is. Propose an objective that asks for both speed and
# a small chip. Say what it is, why neither part can drown the other (use `swings`, or argue), and
# which design it chooses here.
#
# ### BEGIN MARK SCHEME
# 0.1 a formula that can be computed, in which both cycles and area (or energy, or efficiency) count:
# for instance cycles x area, the product of speed-up and density, both terms divided by their
# smallest value or by their swing, or "fastest within a given area".
# 0.1 a reason why no part drowns the other: equal swings, a product (a factor of two counts the same
# in both), or a hard limit.
# 0.05 the design that it chooses, with its cycles and its area.
# ### END MARK SCHEME

# %% [markdown]
# ## What you built
#
# A search through a design space, and a reason to distrust its objective. MIT's Timeloop and
# KU Leuven's ZigZag search mappings and memories the same way; what you called lateness is how they
# overlap transfers with work. The front is what such tools hand to people, who then decide. And the
# swing of a term is the first thing to ask about any score that somebody wants to be paid by.
#
# Another year's handout had thresholds in place of scores: fewer than 17,500 cycles and less than
# 15,000 µm². Look at your front: one glance tells whether such a design exists.
