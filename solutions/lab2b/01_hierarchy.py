# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 2B, notebook 1: a memory behind the memory
#
# **4 points, about 90 minutes.** You need plain Python. Lab 2A's idea of an array that is fed from
# small memories helps; nothing of its code is needed.
#
# An array of multipliers eats numbers faster than memory can bring them. So a small buffer stands
# beside it (L1), and often a larger one behind that (L2). In this notebook you build both, find out
# what they fetch and how long the array waits for it, and then choose among 6,912 designs.
# Afterwards you can
#
# - follow a trace of addresses through a buffer, line by line, under LRU and FIFO;
# - say what a second level sees, and name four laws that every result must obey;
# - show that a *larger* FIFO can miss *more*, and why LRU cannot;
# - tell how long an array waits if the next lines come while it computes;
# - search a design space for two goals, and say what each goal really asks for.
#
# ![Misses of one trace against the size of the buffer. Under LRU the line falls from 12 to 5 and
# never rises. Under FIFO it rises once: 9 misses with three lines, 10 with four](images/anomaly.svg)
#
# One trace, buffers of one to six lines. Somewhere the dashed line goes *up*.

# %%
import random

from lab_utils.instruments.buffers import buffer_film, miss_curve
from lab_utils.labs.lab2b import (
    FAR,
    LENET,
    LINE,
    NEAR,
    WORD,
    Point,
    check,
    design_chart,
    design_space,
    layer_stages,
    stalls_behind,
)

# %% [markdown]
# ## Lines, hits, misses
#
# Memory is cut into **lines** of 16 numbers. What moves, moves in whole lines. A buffer holds a
# few lines, any line in any place, and begins empty. Who asks for a line finds it there (a **hit**)
# or not (a **miss**). After a miss the line is fetched and put into the buffer. If the buffer is
# full, one line leaves:
#
# | policy | who leaves |
# |---|---|
# | `"LRU"` | the line that was *used* longest ago; a hit is a use |
# | `"FIFO"` | the line that *came* first; a hit changes nothing |
#
# Watch both on one trace. The leftmost line of a buffer is the next to leave.

# %%
trace = [1, 2, 3, 1, 4, 2, 5, 1, 2, 3]
buffer_film(trace, {"LRU, 3 lines": (3, 0, "LRU"), "FIFO, 3 lines": (3, 0, "FIFO")})

# %% [markdown]
# ## Task 1.1: what misses (1 point, about 12 lines)
#
# `trace` is a list of numbers of lines, in the order in which they are asked for. Return the
# **places** in the trace, counted from 0, at which the line was not there, as a list in ascending
# order. `size` is the number of lines that the buffer holds. A buffer of 0 lines holds nothing:
# every access misses.
#
# In the film above LRU misses at places 0, 1, 2, 4, 5, 6, 7, 9 and FIFO at 0, 1, 2, 4, 6, 7, 8, 9.
#
# <details><summary>Help: how do I keep an order?</summary>
# A list will do: the first of it is the next to leave (<code>held.pop(0)</code>), a new line goes
# to its end (<code>held.append(line)</code>). Under LRU a line that is hit goes to the end as well:
# remove it, append it.
# </details>


# %% solution=t11
def misses(trace: list[int], size: int, policy: str) -> list[int]:
    """Places in the trace at which a buffer of ``size`` lines does not have the line."""
    ### BEGIN SOLUTION
    held: list[int] = []
    places = []
    for place, line in enumerate(trace):
        if line in held:
            if policy == "LRU":
                held.remove(line)
                held.append(line)
            continue
        places.append(place)
        held.append(line)
        if len(held) > size:
            held.pop(0)
    return places
    ### END SOLUTION


# %% test=t11_check points=1 check=1.1
check("1.1", misses)

# %% [markdown]
# ## Task 1.2: two levels (1 point, about 6 lines)
#
# Now there is a second level behind the first. **It is asked only for what misses in the first.**
# A line that misses in both comes from memory, and is put into both. Each level has its own order;
# both use LRU. A line that leaves the first level just leaves; the second is not told.
#
# `addresses` are numbers of *words* this time: word 35 is in line 35 // 16 = 2. `l1` and `l2` are
# sizes in lines; `l2` may be 0. Return two numbers of lines: how many miss in the first level, and
# how many miss in both.
#
# Your `misses` of task 1.1 does the work of a level. (If it is not right yet, this task is tried
# with a right one.)
#
# <details><summary>Help: what is the trace of the second level?</summary>
# The lines at the places where the first level missed:
# <code>[lines[place] for place in misses(lines, l1, "LRU")]</code>.
# </details>


# %% solution=t12
def two_levels(addresses: list[int], l1: int, l2: int) -> tuple[int, int]:
    """Lines that miss in the first level, and lines that miss in both."""
    ### BEGIN SOLUTION
    lines = [address // LINE for address in addresses]
    asked = [lines[place] for place in misses(lines, l1, "LRU")]
    return len(asked), len(misses(asked, l2, "LRU"))
    ### END SOLUTION


# %% test=t12_check points=1 check=1.2
check("1.2", two_levels)

# %%
buffer_film([0, 1, 2, 0, 3, 1, 4, 0, 2, 1, 3, 0], {"LRU, 2 lines and 4 lines": (2, 4, "LRU")})

# %% [markdown]
# ### Four laws
#
# Whatever the trace, these hold. They need no right answer to compare with, so they find mistakes
# where nobody knows what is right. The next cell tries them on your function with 200 random traces.
#
# 1. **Compulsory**: every line misses at least once in each level.
# 2. **Asked**: the second level misses no more often than the first.
# 3. **No second level**: with `l2 = 0` both numbers are equal. One level is a special case of two.
# 4. **All fits**: if `l2` holds all lines, exactly the compulsory misses come from memory.

# %%
rng = random.Random(0)
broken = 0
for _ in range(200):
    addresses = [rng.randrange(400) for _ in range(rng.randrange(1, 200))]
    different = len({address // LINE for address in addresses})
    l1, l2 = rng.randrange(1, 12), rng.randrange(1, 24)
    first, second = two_levels(addresses, l1, l2)
    nothing, everything = two_levels(addresses, l1, 0), two_levels(addresses, l1, different)
    broken += not different <= second <= first
    broken += nothing != (first, first) or everything != (first, different)
print(f"{broken} laws broken on 200 traces")

# %% [markdown]
# ## Task 1.3: more room, more misses (½ point, about 8 lines)
#
# A larger buffer should never miss more. **For LRU that is a law.** At every moment a buffer of n
# lines holds the n lines that were used last; one of n + 1 lines holds the same and one more. So
# what the small one has, the large one has too (this is the *stack property*: one pass over a trace
# tells the misses of all sizes at once).
#
# For FIFO it is not a law, and in 1969 Bélády, Nelson and Shedler found that nobody had noticed.
# Find it yourself: return a trace on which a FIFO of `size + 1` lines misses **more** often than
# one of `size` lines. `size` is 3 to 10.
#
# You may think, or let the machine search: try random traces until one does it. Take a few more
# different lines than fit, and traces of some dozens of accesses; within some thousand trials one
# turns up. The check counts the misses of your trace itself. But a search stands on your `misses`:
# with a FIFO that is not right yet it never ends, or finds the wrong thing. So pass task 1.1 first,
# and let the search give up after 20,000 trials. (If `misses` is still wrong when you hand in, this
# task is tried with a right one.)
#
# <details><summary>Help: my search takes long</summary>
# <code>size + 3</code> different lines and about <code>10 * size</code> accesses are good. Give the random numbers a seed, so that the result is the same every time.
# </details>
# <details><summary>Help: I would rather think</summary>
# The small FIFO is lucky if it has just thrown away what is not needed for long. First ask for
# size + 1 lines in order. Then ask again for these, but for the last two. Then ask for a new line,
# and then for all lines in order, the new one last.
# </details>


# %% solution=t13
def anomaly(size: int) -> list[int]:
    """A trace on which a FIFO of ``size + 1`` lines misses more often than one of ``size``."""
    ### BEGIN SOLUTION
    rng = random.Random(0)
    while True:
        trace = [rng.randrange(size + 3) for _ in range(10 * size)]
        if len(misses(trace, size + 1, "FIFO")) > len(misses(trace, size, "FIFO")):
            return trace
    ### END SOLUTION


# %% test=t13_check points=0.5 check=1.3
check("1.3", anomaly)

# %%
miss_curve(anomaly(4), range(1, 9))

# %% [markdown]
# ## The machine
#
# Now the real thing. Lab 2A's network runs on an array of H x W elements. Numbers are bf16: 2 bytes,
# so a line is 32 bytes, and a buffer of 5 kB has 160 lines. Inputs and weights have an L1 each, and
# behind each an **L2 of twice its size**. (Outputs have one level, which is never in the way here.)
#
# A layer runs in **stages**. In a stage up to 16 rows stream through the array. It needs some lines
# of the input and some of the weights, each asked for once, in ascending order. What stays in the
# array is asked for in the first stage of its fold; folds go down the columns of the array first,
# then on. An image lies in memory row by row, pixel by pixel, the channels of a pixel together; the
# weights of a filter follow each other.

# %%
conv1 = LENET[0]
stages = layer_stages(conv1, "ws", 5, 4)
for stage in stages[:3]:
    print(stage)
print(f"… {len(stages)} stages, {sum(stage.cycles for stage in stages):,} cycles without waiting")

# %% [markdown]
# ## Task 1.4: cycles of a double buffer (½ point, about 4 lines)
#
# Buffers work ahead: **while a stage is computed, the lines of the next one come.** Only before the
# first stage is there nothing to compute. A stage begins when the one before it is computed *and*
# its own lines are there.
#
# Lines come over two wires that **carry at the same time**, for inputs and weights together: a line
# takes `near` cycles from L2 to L1, and `far` cycles from memory to L2. So a stage's fetch takes as
# long as the slower of the two: `near` times the lines that missed in L1, or `far` times the lines
# that missed in both.
#
# `compute`, `first` and `second` are lists with a number for each stage: its cycles in the array,
# its lines that miss in L1, and those of them that miss in L2 too. Return the cycles of all stages
# together, from the first fetch to the end of the last computation.
#
# By hand, with `near = 1` and `far = 4`: three stages compute 10, 8 and 3 cycles. 3, 1 and 5 of
# their lines miss in L1, and 1, 0 and 1 in L2 too. So their fetches take 4, 1 and 5 cycles, and all
# together 4 + 10 + 8 + 3 = 25: only the first fetch is waited for.
#
# <details><summary>Help: what does the last stage overlap with?</summary>
# With nothing: after it there is nothing to fetch. Think of one more fetch that takes 0 cycles.
# </details>


# %% solution=t14
def total_cycles(
    compute: list[int], first: list[int], second: list[int], near: int, far: int
) -> int:
    """Cycles of all stages when the lines of the next stage come while one is computed."""
    ### BEGIN SOLUTION
    fetch = [max(near * a, far * b) for a, b in zip(first, second, strict=True)]
    coming = [*fetch[1:], 0]
    return fetch[0] + sum(max(pair) for pair in zip(compute, coming, strict=True))
    ### END SOLUTION


# %% test=t14_check points=0.5 check=1.4
check("1.4", total_cycles)

# %% [markdown]
# With your three functions, any design can be tried. `levels=1` leaves the second level out. What
# does it gain?


# %%
def network(dataflow, height, width, ifmap_kb, filter_kb, levels=2):
    """Cycles of the whole network, by your functions."""
    total = 0
    for layer in LENET:
        stages = layer_stages(layer, dataflow, height, width)
        first, second = [0] * len(stages), [0] * len(stages)
        for operand, kilobytes in ("ifmap", ifmap_kb), ("filter", filter_kb):
            size = kilobytes * 1024 // (LINE * WORD)
            asked = [
                (n, line) for n, stage in enumerate(stages) for line in getattr(stage, operand)
            ]
            missed = [asked[place] for place in misses([line for _, line in asked], size, "LRU")]
            behind = 2 * size if levels == 2 else 0
            again = misses([line for _, line in missed], behind, "LRU")
            for n, _ in missed:
                first[n] += 1
            for place in again:
                second[missed[place][0]] += 1
        if stages:
            compute = [stage.cycles for stage in stages]
            total += total_cycles(compute, first, second, NEAR, FAR)
    return total


for design in ("ws", 10, 8, 5, 5), ("ws", 10, 8, 6, 5), ("os", 10, 8, 6, 5):
    one, two = (network(*design, levels=levels) for levels in (1, 2))
    print(f"{design}: {one:,} cycles with L1 alone, {two:,} with L2 behind it")

# %% [markdown]
# Look at the first two rows. One kilobyte more changes nothing without L2; with it, four tenths of
# the cycles are gone. The array sweeps over the image again and again. **LRU is at its worst in a loop that is
# one line too long**: it always throws away what is needed next, and hits nothing at all. Only when
# the whole sweep fits, and for this array it fits into 2 x 6 kB but not into 2 x 5, everything
# changes at once. Memory sizes do not reward you step by step.
#
# ### The same law, behind Lab 2A's buffers
#
# Lab 2A had buffers of another kind: no caches, but windows that move along a list, as SCALE-Sim
# has them. A second level can stand behind them too. The law *no second level* says what must come
# out for a size of 0: the stalls of Lab 2A, to the cycle. For the first layer on 8 x 8 elements,
# outputs stationary, 2 kB and 10 bytes a cycle, SCALE-Sim itself reports 123,163.

# %%
for times in 0, 2, 8, 20:
    stalls = stalls_behind(conv1, "os", 8, 8, kilobytes=2, times=times)
    print(f"a second level of {times:2} x 2 kB: {stalls} stalls")

# %% [markdown]
# There it is again: a loop that is too long, and a second level of 2 or 8 times the first hits
# nothing.
#
# ## All of them
#
# Three dataflows, arrays of 3 to 10 by 3 to 10, buffers of 5 to 10 kB for inputs and for weights:
# 6,912 designs. Your functions would need some minutes; ours do the same with fewer steps (each
# trace only once for many designs). About ten seconds.

# %%
points = design_space()
for point in points[2000::2400]:
    mine = network(point.dataflow, point.height, point.width, point.ifmap, point.filter)
    print(f"{point}\n    by your functions: {mine:,} cycles", "" if mine == point.cycles else "(!)")

# %% [markdown]
# ## Task 1.5: the ten best designs (1 point, about 10 lines)
#
# Every `Point` has `height`, `width`, `dataflow`, `ifmap` and `filter` (kB of L1), `efficiency` (in
# per cent, the mean over the five layers) and `cycles` (stalls included). The area of a design is
#
# > 525 µm² for each element, and 1015.7 µm² for each kB of buffer: L1 **and** L2, for inputs and
# > for weights. L2 has twice as much as L1.
#
# `goal` says what is best:
#
# | goal | score, the larger the better | equal scores |
# |---|---|---|
# | `"efficiency"` | the efficiency | the smallest area |
# | `"combined"` | 17500 / cycles + 15000 / area | any |
#
# Return the ten best points, the best first. **Round scores to 6 digits; of points with equal scores
# return one.** If there are fewer than ten different scores, return one point for each.
#
# <details><summary>Help: how do I get one point for each score?</summary>
# Sort by score (largest first), then by area. Go through the list and keep a point if its score
# has not been seen yet. <code>sorted(points, key=lambda p: (-score(p), area(p)))</code>
# </details>


# %% solution=t15
def top_ten(points: list[Point], goal: str) -> list[Point]:
    """Up to ten points with different scores, the best first."""

    ### BEGIN SOLUTION
    def area(p):
        return 525 * p.height * p.width + 1015.7 * 3 * (p.ifmap + p.filter)

    def score(p):
        worth = p.efficiency if goal == "efficiency" else 17500 / p.cycles + 15000 / area(p)
        return round(worth, 6)

    best = {}
    for point in sorted(points, key=lambda p: (-score(p), area(p))):
        best.setdefault(score(point), point)
    return list(best.values())[:10]
    ### END SOLUTION


# %% test=t15_check points=1 check=1.5
check("1.5", top_ten)

# %%
for goal in "efficiency", "combined":
    print(goal)
    for point in top_ten(points, goal)[:5]:
        print("   ", *point)

# %%
design_chart(points, top_ten(points, "efficiency"))

# %% [markdown]
# The most efficient design of all is the 5 x 4 weight-stationary array. Now look where it lies in
# the picture: many designs are as small and faster. **Mapping efficiency says how full an array is,
# not how fast**: it does not even know that there is a memory. The combined goal does:

# %%
design_chart(points, top_ten(points, "combined"))

# %% [markdown]
# And one law for all of them: an array of P elements does P multiply-accumulates a cycle, so no
# design can be faster than the multiply-accumulates of the network divided by P.

# %%
MACS = 38 * 38 * 27 * 16 + 18 * 18 * 144 * 4 + 32 * 80 + 80 * 120 + 120 * 10
if points:
    closest = min(points, key=lambda p: p.cycles * p.height * p.width)
    share = MACS / (closest.cycles * closest.height * closest.width)
    print(f"{MACS:,} multiply-accumulates; at best {share:.0%} of all cycles are used: {closest}")

# %% [markdown]
# ## What you built
#
# A two-level cache simulator, and what architects do with one. Stack distances in one pass are from
# Mattson et al. (IBM, 1970) and still drive tools that size caches. Bélády's anomaly is in every
# book on operating systems; LRU and its cheap approximations are why you never meet it. Google's TPU
# answers the loop that is one line too long in another way: it has no caches at all. Its compiler
# knows every address ahead, and moves tiles by hand into scratchpads, two at a time, as in task 1.4.
# In notebook 2 the array itself is taken apart, cycle by cycle.
