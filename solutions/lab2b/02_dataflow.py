# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 2B, notebook 2: four dataflows, cycle by cycle
#
# **4 points, about 90 minutes.** You need plain Python. Nothing here hangs on notebook 1.
#
# How long does a convolution take on an array of H x W elements? That depends on what *stays* in
# the elements and what *moves*: the dataflow. In this notebook you find the exact number of cycles
# for four of them, and check claims of others. Afterwards you can
#
# - turn a convolution with a stride into a product of matrices;
# - say how many cycles it takes if outputs, weights or inputs stay;
# - do the same if *rows* stay, which is how the Eyeriss chip did it;
# - see at a glance that a claimed result is impossible.
#
# ![Nine processing elements in three rows. Each keeps a row of the filter and holds three inputs.
# Inputs of one row of the image have one colour and lie on a diagonal; sums move up. Above, the
# formula of the time, with the term that this cycle pays lit](images/rows.svg)
#
# One cycle of a row-stationary array: every register, and what this cycle is paid for.

# %%
import math

from lab_utils.instruments.systolic import systolic_film
from lab_utils.instruments.systolic.designs import Conv
from lab_utils.instruments.systolic.rows import row_film
from lab_utils.labs.lab2b import LAWS, Claim, check

# %% [markdown]
# ## Task 2.1: a convolution as a product (½ point, about 4 lines)
#
# A `Conv` has `height` and `width` (of the input), `filter_height` and `filter_width`, `channels`
# (of the input), `filters` (how many), and `stride`. The window moves by `stride` pixels in both
# directions, stays inside the input (no padding), and a window that does not fit whole makes no
# output.
#
# Each output is a sum over one window; so the layer is a product of an M x K and a K x N matrix:
#
# - **M**: how many outputs each filter makes;
# - **N**: how many filters there are;
# - **K**: how long a sum is, over the whole window and all channels.
#
# Return M, N, K. An input of 8 pixels, a filter of 3, a stride of 2: windows begin at pixels 0, 2
# and 4, so there are 3; one that begins at 6 would stick out.


# %% solution=t21
def as_product(conv: Conv) -> tuple[int, int, int]:
    """M, N and K of the product that a convolution is."""
    ### BEGIN SOLUTION
    down = (conv.height - conv.filter_height) // conv.stride + 1
    across = (conv.width - conv.filter_width) // conv.stride + 1
    return down * across, conv.filters, conv.filter_height * conv.filter_width * conv.channels
    ### END SOLUTION


# %% test=t21_check points=0.5 check=2.1
check("2.1", as_product)

# %% [markdown]
# ## Task 2.2: three dataflows (1 point, about 6 lines)
#
# Here is what every cycle does, for the three dataflows of Lab 2A. The product is cut into
# **folds**: parts that fill the array once. Folds run one after the other and do not overlap.
#
# | dataflow | what stays | rows of the array take | columns take | streams, one a cycle |
# |---|---|---|---|---|
# | `"os"` | outputs | M | N | K |
# | `"ws"` | weights | K | N | M |
# | `"is"` | inputs | K | M | N |
#
# In a fold
#
# 1. `ws` and `is` load what stays: it moves down into the array, one row a cycle, H cycles. `os`
#    loads nothing: sums begin as zero.
# 2. Then the stream enters at the edge, **skewed**: each row one cycle after the row above it, and
#    each value moves one element to the right a cycle. So element (i, j) begins i + j cycles after
#    element (0, 0). If T values stream, element (0, 0) works for T cycles.
# 3. The fold ends with the last element's last cycle. Then sums are complete, and leave at once.
#
# **The array does not know that a part of it is empty**: every fold takes as long as a full one, H
# and W are those of the array.
#
# `product` is (M, N, K). Return the cycles of all folds. (Lab 2A's simulator numbers cycles from 0
# and reports the number of the last one, so it says one less.)
#
# By hand, for 3 x 4 times 4 x 2 on 2 x 2 elements: `os` takes 12 cycles, `ws` 14, `is` 24. Count
# them in the film.

# %%
systolic_film((3, 2, 4), 2, 2)

# %% [markdown]
# <details><summary>Help: how many cycles is one fold?</summary>
# The last element is (H − 1, W − 1): it begins H + W − 2 cycles after the first and then works for
# T cycles. Before that comes loading, if there is any.
# </details>
# <details><summary>Help: how many folds are there?</summary>
# For os: <code>math.ceil(M / H) * math.ceil(N / W)</code>. Rows and columns are cut apart.
# </details>


# %% solution=t22
def latency(product: tuple[int, int, int], dataflow: str, height: int, width: int) -> int:
    """Cycles of a product on an array of ``height`` x ``width`` elements."""
    ### BEGIN SOLUTION
    m, n, k = product
    rows, columns, streamed = {"os": (m, n, k), "ws": (k, n, m), "is": (k, m, n)}[dataflow]
    folds = math.ceil(rows / height) * math.ceil(columns / width)
    load = 0 if dataflow == "os" else height
    return folds * (load + height + width - 2 + streamed)
    ### END SOLUTION


# %% test=t22_check points=1 check=2.2
check("2.2", latency)

# %% [markdown]
# What is wanted here comes from an array that is simulated register by register, and whose product
# has to be right; no formula is involved.
#
# ## Rows stay
#
# In a product, every window is copied out: a pixel that lies in nine windows is fetched nine times.
# A **row-stationary** array does not make a product of it. It keeps the convolution a convolution:
#
# - Element (i, j) keeps **row i of a filter**. It slides it over one row of the input, and works for
#   **row j of the output**. Row j of the output needs row `stride * j + i` of the input.
# - It does one multiply-accumulate a cycle. So one output takes as many cycles as a filter row is
#   long, and a whole output row takes *filter width x output width* cycles.
# - A column adds up: an output is the sum over all filter rows. The **lowest** element of a column
#   begins; each element above begins one cycle later. When an element finishes an output, it adds
#   what the element below hands up, in the same cycle, and hands the sum on. So sums climb one
#   element a cycle, and never wait.
# - Elements on a diagonal need the same row of the input. So it comes from the buffer once, and
#   then moves up and to the right from element to element, arriving just when it is needed. (With a
#   stride the next element on the diagonal is `stride` rows up, and it takes `stride` cycles.)
#
# Press play and follow one colour: that is one row of the input. The formula on top says what each
# cycle is paid for.

# %%
row_film(Conv("small", 6, 7, 3, 3, 1, 1), height=3, width=3)

# %% [markdown]
# ## Task 2.3: row stationary (1½ points, about 12 lines)
#
# Return the cycles of a whole layer. Here is all that the film does not show.
#
# **Sets.** A *set* is the rows of the array that work on one filter: as many as the filter has rows.
#
# - If the array is higher than a filter, as many whole sets as fit stand above each other. They
#   work at the same time, each on **another filter**. Rows that are left over idle.
# - If a filter is higher than the array, there is one set, as high as the array, and the filter's
#   rows come in **folds**, as many as it takes. What a fold makes is added to the outputs.
#
# **Strips.** An array of width W makes W output rows at a time. That is a strip. If the output has
# more rows, there are more strips; a last one that is not full takes as long as the others.
#
# **Order.** For each group of filters (one filter in each set), for each channel, for each fold:
#
# 1. *Load* the filter rows, all rows of the array at once, one weight a cycle.
# 2. For each strip: *stream*, and *drain*. A strip is over when the top row of the sets is; then the
#    next one begins. **Filter rows stay** for all strips.
#
# Nothing overlaps. A group, a fold or a strip that is not full takes as long as a full one.
#
# The film above: 6 x 7 pixels, a 3 x 3 filter, one channel, 3 x 3 elements. Its output has 4 rows of
# 5, so two strips. Loading takes 3 cycles, and each strip 3 · 5 of streaming and 2 of draining:
# 3 + 2 · (15 + 2) = 37.
#
# <details><summary>Help: I do not know where to begin</summary>
# Five numbers: rows of a set, sets, folds, strips, groups of filters. Each is one line, with
# <code>min</code>, <code>max</code>, <code>//</code> or <code>math.ceil</code>. Then put them
# together from the inside out: a strip, all strips of a load, all loads.
# </details>
# <details><summary>Help: how long does a strip take?</summary>
# The lowest row of a set takes filter width x output width cycles. The top row begins later by one
# cycle for each row of the set below it, and takes as long.
# </details>


# %% solution=t23
def row_stationary(conv: Conv, height: int, width: int) -> int:
    """Cycles of a convolution on a row-stationary array of ``height`` x ``width`` elements."""
    ### BEGIN SOLUTION
    rows = (conv.height - conv.filter_height) // conv.stride + 1
    columns = (conv.width - conv.filter_width) // conv.stride + 1
    set_rows = min(conv.filter_height, height)
    sets = max(1, height // conv.filter_height)
    folds = math.ceil(conv.filter_height / set_rows)
    groups = math.ceil(conv.filters / sets)
    strips = math.ceil(rows / width)
    strip = conv.filter_width * columns + set_rows - 1
    return groups * conv.channels * folds * (conv.filter_width + strips * strip)
    ### END SOLUTION


# %% test=t23_check points=1.5 check=2.3
check("2.3", row_stationary)

# %% [markdown]
# Which dataflow is best? It depends on the layer and on the array. `share` is how much of the
# array's time is spent on multiply-accumulates; the rest is loading, skew, and empty elements.

# %%
layers = [
    Conv("first layer: large image, few channels", 40, 40, 3, 3, 3, 16),
    Conv("late layer: small image, many channels", 6, 6, 3, 3, 64, 64),
    Conv("with a stride", 41, 41, 5, 5, 8, 16, 2),
]
for layer in layers:
    m, n, k = as_product(layer)
    print(layer.name)
    for height, width in (3, 3), (6, 8), (12, 14):
        times = {name: latency((m, n, k), name, height, width) for name in ("os", "ws", "is")}
        times["rs"] = row_stationary(layer, height, width)
        shares = (f"{name} {m * n * k / (t * height * width):4.0%}" for name, t in times.items())
        print(f"    {height:2} x {width:2}: share", ", ".join(shares))

# %% [markdown]
# The last array is Eyeriss' own, 12 x 14. Row stationary was chosen there not for its cycles but for
# what it does *not* move: each row of the input crosses the array on a diagonal instead of coming
# from the buffer nine times, and a fetch from memory costs as much energy as some hundred
# multiplications.
#
# > **A story about 376 cycles.** The course that this lab grew from asks for row-stationary cycles,
# > within 2 %, of 3 x 3 filters on 3 x 3 elements. One answer can be found in public:
# > `ceil(Y/5) * (S + R + 3 + X - 2) * C * K`. For an image of 40 x 40, a filter of 3 x 3 and nine
# > elements it gives 376. It looks like a formula: it has the right letters in it. Count: the
# > output has 38 x 38 pixels, each takes 9 multiply-accumulates, that is 12,996; nine elements do
# > nine a cycle. Not even an array that never waits for anything could be done before cycle 1,444.
# > Three times nine multipliers could not.
# >
# > One division would have shown it. Before you believe a number, ask what it cannot be.

# %%
famous = math.ceil(40 / 5) * (3 + 3 + 3 + 40 - 2) * 1 * 1
one = Conv("one channel, one filter", 40, 40, 3, 3, 1, 1)
print(f"the famous answer: {famous:,}, the law: at least {38 * 38 * 9 / 9:,.0f}", end=", ")
print(f"your array: {row_stationary(one, 3, 3):,} cycles")

# %% [markdown]
# ## Task 2.4: what cannot be (1 point, about 10 lines)
#
# Write the function that does this division, and more. A `Claim` says what a design is said to do on
# a layer:
#
# | field | is |
# |---|---|
# | `macs`, `pes` | multiply-accumulates of the layer; elements, each does one a cycle |
# | `cycles` | that it is said to take |
# | `lines` | different lines that the layer asks for (see notebook 1) |
# | `l2` | lines that the second level holds; 0 if there is none |
# | `first`, `second` | lines that are said to miss in L1; and in L2 too, so that they come from memory |
#
# Return the names of **all** laws that it breaks, in any order; an empty list if it may be true.
#
# | name | the law |
# |---|---|
# | `"macs"` | no fewer cycles than multiply-accumulates for each element |
# | `"compulsory"` | each of the lines misses at least once, in L1 and in L2 |
# | `"asked"` | L2 is asked only for what misses in L1, so it cannot miss more often |
# | `"no second level"` | if `l2` is 0, all that misses in L1 comes from memory: as many, no fewer, no more |
# | `"all fits"` | if `l2` holds all lines, exactly `lines` come from memory |
#
# <details><summary>Help: a division with a rest</summary>
# 10 multiply-accumulates on 3 elements take more than 3 cycles. Compare products instead of
# dividing: <code>cycles * pes</code> with <code>macs</code>.
# </details>


# %% solution=t24
def broken_laws(claim: Claim) -> list[str]:
    """Names of the laws that a claim breaks."""
    ### BEGIN SOLUTION
    holds = {
        "macs": claim.cycles * claim.pes >= claim.macs,
        "compulsory": claim.first >= claim.lines and claim.second >= claim.lines,
        "asked": claim.second <= claim.first,
        "no second level": claim.l2 > 0 or claim.second == claim.first,
        "all fits": claim.l2 < claim.lines or claim.second == claim.lines,
    }
    return [name for name in LAWS if not holds[name]]
    ### END SOLUTION


# %% test=t24_check points=1 check=2.4
check("2.4", broken_laws)

# %% [markdown]
# ## What you built
#
# An analytic model of four dataflows that agrees with a register-level simulation to the cycle, and
# a referee for the models of others. Output and weight stationary are in SCALE-Sim, and weight
# stationary in the TPU (256 x 256 elements, where loading a fold takes 256 cycles: that is why it
# wants long streams, so large batches). Row stationary is Eyeriss (Chen et al., 2016). Timeloop and
# MAESTRO compute such numbers for any loop nest, and their authors check them as you did: against
# lower bounds, and against something that really runs.
#
# Left out of the original: its hand-in file `dataflow.py` is your functions of this notebook; its row
# stationary was only asked for 3 x 3 filters on 3 x 3 elements, here it is for all.
