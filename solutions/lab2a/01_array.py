# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 2A, notebook 1: the array
#
# **2½ points, about 60 minutes.** You need numpy.
#
# A GPU fetches both operands of every multiplication from a register file. A **systolic array**
# does not: a grid of small processing elements (PEs) hands numbers on from neighbour to neighbour,
# one step a cycle, like a heart that pumps. Each number is fetched once and used many times. Chips
# such as Google's TPU are built so. In this notebook you find out how many cycles such an array
# needs, and how many of its PEs have work. Afterwards you can
#
# - write a convolution as a product of two matrices;
# - say what lies where in an array, for three dataflows;
# - count the cycles of one fold and of a whole layer, to the cycle;
# - say which share of the PEs has work.
#
# ![The same product on 4 x 4 PEs in three dataflows, cycle 7: output-stationary is draining, the
# other two still fill](images/array.svg)
#
# The same product on the same 4 × 4 PEs, three dataflows, after seven cycles.

# %%
import math

from lab_utils.instruments.systolic import systolic_film
from lab_utils.instruments.systolic.designs import Conv
from lab_utils.labs.lab2a import CONVS, GEMMS, check

# %% [markdown]
# ## Watch it first
#
# C = A · B, where A (inputs) is M × K, B (weights) is K × N and C is M × N. An array of H × W PEs
# can do it in three ways:
#
# | dataflow | stays in a PE | moves right | moves down |
# |---|---|---|---|
# | output-stationary, `os` | a sum: an element of C | inputs | weights |
# | weight-stationary, `ws` | a weight | inputs | sums |
# | input-stationary, `is` | an input | weights | sums |
#
# Everything that moves, moves by one PE a cycle. Row 2 gets its numbers one cycle after row 1, so
# that they meet what comes from above: the inputs are **skewed**. If the product is larger than
# the array, it is cut into **folds**, one after the other. Press play. Watch the wavefront cross
# the array, and look for the PEs that do nothing.

# %%
systolic_film((6, 4, 5), 4, 4)  # (M, N, K), then the rows and columns of the array

# %% [markdown]
# The film is a simulation of every register of the array. It also multiplies: what comes out is
# A · B. Three things cost time without multiplying: what stays must be **loaded**, the wavefront
# must **fill** the array, and it must **drain**.
#
# ## Task 1.1: a convolution is a product (½ point, about 4 lines)
#
# The array multiplies matrices. A convolution becomes one if each position of the window is a row
# of A (all numbers that the window sees) and each filter is a column of B. So
#
# - **M** is the number of positions of the window, down times across,
# - **N** is the number of filters,
# - **K** is how many numbers one window holds, over all channels.
#
# There is no padding. The window moves on by `stride`, down and across; a window that would hang
# over the edge does not count. `conv` has the fields `height`, `width`, `filter_height`,
# `filter_width`, `channels`, `filters` and `stride`. Return (M, N, K).
#
# <details><summary>Help: how many positions are there?</summary>
# Along one side of length 9, a window of 3 with stride 2 starts at 0, 2, 4 and 6: that is
# <code>(9 - 3) // 2 + 1</code>.
# </details>


# %% solution=t11
def gemm_of(conv: Conv) -> tuple[int, int, int]:
    """M, N and K of the product that a convolution is."""
    ### BEGIN SOLUTION
    down = (conv.height - conv.filter_height) // conv.stride + 1
    across = (conv.width - conv.filter_width) // conv.stride + 1
    window = conv.filter_height * conv.filter_width * conv.channels
    return down * across, conv.filters, window
    ### END SOLUTION


# %% test=t11_check points=0.5 check=1.1
check("1.1", gemm_of)

# %% [markdown]
# > **A story about one row of pixels.** SCALE-Sim, the simulator that you will run in notebook 2,
# > rounds *up* where PyTorch rounds down: with an image of 10, a window of 3 and stride 2 it counts
# > five positions, and the last of them hangs over the edge. Nobody noticed for long, since most
# > layers have stride 1. A simulator is a program like any other: ask somebody else as well.
#
# ## Task 1.2: what lies where (½ point, about 5 lines)
#
# Each of M, N and K has one place in the array: along its **rows**, along its **columns**, or in
# **time** (one step after the other). Return three numbers in this order, for `dataflow` `"os"`,
# `"ws"` or `"is"`.
#
# Look at the film and ask two questions. What stays: which two of M, N, K number its elements? And
# which way do the sums go? Sums that move down a column add up what lies along the rows.
#
# <details><summary>Help: output-stationary</summary>
# PE (i, j) makes C[i, j]. So M lies along the rows and N along the columns. It gets one product
# after the other: K goes by in time.
# </details>
# <details><summary>Help: weight-stationary</summary>
# PE (i, j) holds B[i, j], and B is K x N. Each row of A goes by once.
# </details>
# <details><summary>Help: input-stationary</summary>
# A stays, and A is M x K. But sums move down, as with weights: so what is summed, K, lies along
# the rows, and A is stored on its side.
# </details>


# %% solution=t12
def mapped(dataflow: str, m: int, n: int, k: int) -> tuple[int, int, int]:
    """What lies along the rows, along the columns, and in time."""
    ### BEGIN SOLUTION
    return {"os": (m, n, k), "ws": (k, n, m), "is": (k, m, n)}[dataflow]
    ### END SOLUTION


# %% test=t12_check points=0.5 check=1.2
check("1.2", mapped)

# %% [markdown]
# ## Task 1.3: the cycles of one fold (½ point, about 4 lines)
#
# One fold fills the array (`height` × `width`) once and runs `steps` steps through it. How many
# cycles pass from its first to its last? Follow the last step to the last PE, the one at the bottom
# right: it enters the first row when all steps before it have entered, and then needs one cycle
# for each row and one for each column that it has to cross.
#
# With `ws` and `is` what stays is loaded first, one row a cycle; only then does anything move. With
# `os` nothing is loaded, and a sum may leave in the cycle of its last addition.
#
# Even if a fold uses only some rows and columns, it takes as long as a full one: the array does not
# know that they are empty.
#
# <details><summary>Help: I am off by one or two</summary>
# Count a tiny one by hand: 1 x 1 PE and 1 step is 1 cycle with os, and 2 with ws. Then 2 x 1.
# </details>


# %% solution=t13
def fold_cycles(dataflow: str, height: int, width: int, steps: int) -> int:
    """Cycles from the first to the last of one fold."""
    ### BEGIN SOLUTION
    load = 0 if dataflow == "os" else height
    return load + (height - 1) + (width - 1) + steps
    ### END SOLUTION


# %% test=t13_check points=0.5 check=1.3
check("1.3", fold_cycles)

# %% [markdown]
# > **A story about draining.** The article that introduced the simulator writes
# > 2·H + W + T − 2 for output-stationary arrays as well: it lets the finished sums move down through
# > the array, one row a cycle. Its program does not. It has each sum leave where it is made, and
# > even lets the bottom row leave *before* it is finished. The cycles above are what the program
# > counts; the register-level film agrees with them if sums may leave at once. When you read a
# > number of cycles, ask what it lets happen for free.
#
# ## Task 1.4: all folds (½ point, about 3 lines)
#
# What is mapped has `rows` × `columns`; the array has `height` × `width`; one fold takes `fold`
# cycles. Folds run one after the other and do not overlap. What is left over at the edges needs
# folds of its own.
#
# Return the number that **SCALE-Sim reports**. It numbers the cycles of the layer from 0, all
# folds in a row, and reports the number of the last one. So it is one less than the cycles that
# pass in all.


# %% solution=t14
def compute_cycles(rows: int, columns: int, height: int, width: int, fold: int) -> int:
    """What SCALE-Sim reports for all folds, if memory is never late."""
    ### BEGIN SOLUTION
    return math.ceil(rows / height) * math.ceil(columns / width) * fold - 1
    ### END SOLUTION


# %% test=t14_check points=0.5 check=1.4
check("1.4", compute_cycles)

# %% [markdown]
# ## Task 1.5: PEs that have work (½ point, about 4 lines)
#
# A product of 6 × 4 on an array of 4 × 4 needs two folds; the second uses two rows of four. Over
# both folds, 24 of 32 places are used: the **mapping efficiency** is 75 per cent. Return it in
# per cent. (It says nothing about time: while an array fills, PEs that have work still wait for
# it.)


# %% solution=t15
def mapping_efficiency(rows: int, columns: int, height: int, width: int) -> float:
    """Share of the places in all folds that are used, in per cent."""
    ### BEGIN SOLUTION
    down, across = math.ceil(rows / height), math.ceil(columns / width)
    return 100 * rows * columns / (down * height * across * width)
    ### END SOLUTION


# %% test=t15_check points=0.5 check=1.5
check("1.5", mapping_efficiency)

# %% [markdown]
# ## The whole network
#
# Here is the network of the course, a relative of LeNet: two convolutions and three products. The
# next cell puts your five functions together. With 8 × 8 PEs and `os` SCALE-Sim reports 14,841
# cycles and 99.72 % for conv1, without stalls. Do you?

# %%
LAYERS = {
    **{conv.name: gemm_of(conv) for conv in CONVS},
    **{gemm.name: (gemm.m, gemm.n, gemm.k) for gemm in GEMMS},
}


def layer_on_array(dataflow: str, gemm: tuple[int, int, int], height: int, width: int):
    """Cycles without stalls, and mapping efficiency in per cent."""
    rows, columns, steps = mapped(dataflow, *gemm)
    fold = fold_cycles(dataflow, height, width, steps)
    return (
        compute_cycles(rows, columns, height, width, fold),
        mapping_efficiency(rows, columns, height, width),
    )


for dataflow in ("os", "ws", "is"):
    print(f"\n{dataflow} on 8 x 8          cycles   efficiency")
    for name, gemm in LAYERS.items():
        cycles, percent = layer_on_array(dataflow, gemm, 8, 8)
        print(f"  {name:8} {gemm!s:>16} {cycles:>9,} {percent:>9.2f} %")

# %% [markdown]
# Look at the three products. With M = 1 an output-stationary array uses one row of eight: a batch
# of one wastes seven eighths of the chip. That is why inference servers wait for a few requests and
# run them together.
#
# > **A story about a network that does not fit together.** The handout lists the products as
# > M, N, K = (1, 32, 80), (1, 80, 120), (1, 120, 10). What does the first one make? A row of N = 32
# > numbers. And what does the second one take? K = 120. Read "N" as inputs and "K" as outputs, and
# > all is well: 32 → 80 → 120 → 10. Somebody swapped two letters, and a whole class simulated a
# > network that could not exist. The course's figures are those of the file as it is, so we keep
# > it; now you know.
#
# Try other products and arrays in the film, which takes (M, N, K), rows, columns. Which array and
# dataflow would you choose for a product with K = 2? And for N = 1?

# %%
systolic_film((3, 9, 2), 3, 3)

# %% [markdown]
# ## What you built
#
# Five small functions that agree to the cycle with a simulation of every register, and with a
# simulator that many papers use. Architects call such a thing an analytical model. Google's
# TPU v1 is a weight-stationary array of 256 × 256: loading takes 256 cycles, which is why it has a
# second set of weight registers that is loaded while the first one works. In notebook 2 memory
# begins to be late.
