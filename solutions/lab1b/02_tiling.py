# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 1B, notebook 2: tiling and data types
#
# **4 points and a bonus of 1, about 90 minutes.** You need numpy. Nothing here hangs on
# notebook 1.
#
# A product of two large matrices does not fit on a chip. So it is cut into tiles, and how often
# each tile crosses the wires depends on nothing but the *order* in which they are visited. In
# this notebook you count that, better it, and then make every byte that still moves smaller.
# Afterwards you can
#
# - say what an order that keeps one operand on chip fetches and writes;
# - write an order that moves less, and the one that moves least of all;
# - choose tile sizes for a given on-chip memory;
# - tell what a smaller data type gains in compute and in memory time, and measure what it costs.
#
# ![The same product in two orders. If A stays, each tile of A is fetched once, of B four times,
# and C is read back; if C stays, tiles of A are fetched three times, of B four times, and C is
# never read](images/tiles.svg)
#
# The same product in two orders. A number says how often a tile was fetched.

# %%
import math
from itertools import product

import numpy as np
import pandas as pd
from IPython.display import display

from lab_utils.instruments.roofline import A100
from lab_utils.instruments.tiles import ATTENTION, tile_film
from lab_utils.labs.lab1b import (
    COLUMNS,
    attention_chart,
    check,
    curves,
    tiny_language_model,
    write_tiling,
    write_types,
)

# %% [markdown]
# ## Tiles, steps and slots
#
# C = A · B, where A is M × K, B is K × N and C is M × N. M is cut into Tm parts, N into Tn, K
# into Tk. One **step** (m, n, k) adds one product of tiles: `C[m, n] += A[m, k] @ B[k, n]`.
# There are Tm · Tn · Tk steps, and they may come in any order.
#
# On chip there is one **slot** for a tile of A, one for B and one for C. A tile that is in its
# slot already costs nothing. Another one is fetched, and takes its place. A tile of C is a sum:
#
# - it **starts on chip as zero**; its first visit reads nothing;
# - when it has to leave its slot it is **written**; the last one is written at the end;
# - when it comes back, so that more can be added, it is **read**.
#
# Here are three loop nests, for Tm, Tn, Tk = 4, 3, 2. In each the innermost loop runs over the
# index that one of the operands does not have: that operand stays. Press play, or drag the
# slider, and compare.

# %%
TM, TN, TK = 4, 3, 2
a_stays = [(m, n, k) for m in range(TM) for k in range(TK) for n in range(TN)]
b_stays = [(m, n, k) for n in range(TN) for k in range(TK) for m in range(TM)]
c_stays = [(m, n, k) for m in range(TM) for n in range(TN) for k in range(TK)]
tile_film({"A stays": a_stays, "C stays": c_stays})

# %% [markdown]
# ## Task 2.1: one operand stays (1½ points, about 10 lines)
#
# Find, for each of the three loop nests above, how many **elements** cross the wires: of A read,
# of B read, of C read, and of C written. `keep` is `"A"`, `"B"` or `"C"`; `shape` is (M, N, K);
# `tiles` is (Tm, Tn, Tk), each at least 2, and M, N, K can be divided by them without rest.
#
# In the film above a tile of A is M/4 × K/2 elements: a number of tiles is not yet a number of
# elements.
#
# <details><summary>Help: where do I begin?</summary>
# With one tile. A tile A[m, k] is needed for every n: that is Tn times. Is it still in its slot
# when it is needed next?
# </details>
# <details><summary>Help: what about C?</summary>
# A tile of C is visited Tk times. If something else is in its slot between two visits, it has
# been written and must be read back. The first visit reads nothing.
# </details>


# %% solution=t21
def stationary(
    keep: str, shape: tuple[int, int, int], tiles: tuple[int, int, int]
) -> tuple[int, int, int, int]:
    """Elements of A read, of B read, of C read and of C written while ``keep`` stays on chip."""
    ### BEGIN SOLUTION
    m, n, k = shape
    tm, tn, tk = tiles
    a, b, c = m * k, k * n, m * n
    if keep == "A":
        return a, tm * b, (tk - 1) * c, tk * c
    if keep == "B":
        return tn * a, b, (tk - 1) * c, tk * c
    return tn * a, tm * b, 0, c
    ### END SOLUTION


# %% test=t21_check points=1.5 check=2.1
check("2.1", stationary)

# %% [markdown]
# > **A story about one number for two things.** The handout that this task comes from asks for
# > the traffic as f·|A| + g·|B| + h·|C|, with one factor for C. Its own example fetches C even
# > before anything was added to it and counts reads and writes together; its hint says that one of
# > the three factors is always 1. Both cannot be true: if C stays, and is fetched and written, its
# > factor is 2. Two solutions that went round had h = Tk and h = 2·Tk, and nobody could say which
# > was right. Four numbers, and one sentence about how C starts, settle it.
#
# ## Task 2.2: a better order (1 point, about 8 lines)
#
# Loops are not the only order. Return a list of all steps (m, n, k), each once, that moves
# **fewer tiles** than each of the three loop nests: reads of A, B and C and writes of C,
# together. Tn and Tk are at least 2; Tm may be 1.
#
# Watch the film where C stays, at the end of a row: k jumps from its last value back to 0, and
# both A and B are thrown away. What if it did not jump?
#
# <details><summary>Help: how does a loop turn round?</summary>
# <code>range(TK)</code> runs up, <code>reversed(range(TK))</code> down. Keep a list of the steps,
# and turn k round each time that n changes.
# </details>
#
# ### Task 2.3: the best order (bonus, 1 point)
#
# The same function gets one point more if no order at all moves fewer tiles, whatever Tm, Tn and
# Tk are; here Tn and Tk may be 1 as well. Two neighbouring steps share a tile only if they differ in one index alone, and then exactly one. So which tile
# is worth most, and can *every* step share one?
#
# <details><summary>Help: where does my order lose?</summary>
# Show it in the film below, and look for steps with three frames: there nothing was kept.
# Keep C over all k; when k is through, change n and begin with the k where you are; when n is
# through, change m and stay where you are in n and in k.
# </details>


# %% solution=t22
def tile_order(tm: int, tn: int, tk: int) -> list[tuple[int, int, int]]:
    """All steps (m, n, k) in an order that moves few tiles."""
    ### BEGIN SOLUTION
    order, columns, depths = [], list(range(tn)), list(range(tk))
    for m in range(tm):
        for n in columns:
            order += [(m, n, k) for k in depths]
            depths.reverse()
        columns.reverse()
    return order
    ### END SOLUTION


# %% test=t22_check points=1 check=2.2
check("2.2", tile_order)

# %% test=t23_check points=1 bonus check=2.3
check("2.3", tile_order)

# %%
tile_film({"C stays": c_stays, "yours": tile_order(TM, TN, TK)})

# %% [markdown]
# Why can it not be better? Say Tm·Tn·Tk = V. If no step shared anything, there would be V
# fetches of A, V of B, V writes of C and V − Tm·Tn reads. A step that shares C saves two of
# these, a write and a read; a step that shares A or B saves one. There are V − 1 steps after the
# first, and at most Tm·Tn·(Tk − 1) of them can share C. Whoever walks through the grid like an ox
# over a field, never jumping, gets all of it. (That no order does better was also found by trying
# them all, on grids of up to a dozen steps.)
#
# ## Task 2.4: tiles that fit (½ point, about 8 lines)
#
# Now the sizes. A tile of A, one of B and one of C must be on chip together: with tiles of
# m × k, k × n and m × n that is `m*k + k*n + m*n <= budget` elements. C stays, in the loop nest
# above, so the traffic is what you found in task 2.1: N/n times A, M/m times B, and C once. Take
# this formula for every size, 1 included.
#
# Return the sizes (m, n, k) of tiles that move the fewest elements. They divide M, N and K
# without rest. Try all that do; if several move equally few, any of them will do.
#
# <details><summary>Help: how do I get all divisors?</summary>
# <code>[d for d in range(1, M + 1) if M % d == 0]</code>, and <code>product</code> of three such
# lists gives all sizes.
# </details>


# %% solution=t24
def best_tiles(m: int, n: int, k: int, budget: int) -> tuple[int, int, int]:
    """Sizes of the tiles that fit into ``budget`` elements and move the fewest."""
    ### BEGIN SOLUTION
    divisors = [[d for d in range(1, size + 1) if size % d == 0] for size in (m, n, k)]
    best, least = (1, 1, 1), math.inf
    for i, j, deep in product(*divisors):
        moved = n // j * m * k + m // i * k * n + m * n
        if i * deep + deep * j + i * j <= budget and moved < least:
            best, least = (i, j, deep), moved
    return best
    ### END SOLUTION


# %% test=t24_check points=0.5 check=2.4
check("2.4", best_tiles)

# %% [markdown]
# Did you notice that the best k is small? Its length along K changes nothing in the traffic, so
# all the room goes to C. With m = n and k = 1 the budget S is nearly m², and the traffic is
# 2·M·N·K / √S and a little more. **No order and no tiles can do better than 2·M·N·K / √S** as the
# matrices grow: this has been proved, by counting how many products one can form from what is on
# chip between two fetches. Four times as much on-chip memory halves the traffic, whatever you do.

# %%
M = N = K = 256
found, bound = [], []
for S in (2**power for power in range(6, 15)):
    m, n, k = best_tiles(M, N, K, S)
    found.append((4.0 * S, 4.0 * (N // n * M * K + M // m * K * N + M * N)))
    bound.append((4.0 * S, 4.0 * 2 * M * N * K / math.sqrt(S)))
curves(
    {"your tiles": found, "nobody can do better": bound}, "on-chip memory (bytes)", "bytes moved"
)

# %% [markdown]
# ## Task 2.5: smaller numbers, less time (½ point, about 4 lines)
#
# What still moves can be made smaller. A type has a size in memory and, on each machine, a rate
# of arithmetic; **the two need not be of the same type**. A model whose weights are stored in
# int8 is often computed in bf16: each number is turned into the larger type on chip.
#
# For C = A · B of `shape` (M, N, K), return two numbers of seconds: the time to compute and the
# time to move A, B and C once each, all three of the type `stored`. A multiplication and an
# addition are two operations. `rates` has operations a second by type, `bandwidth` is in bytes
# a second.
#
# | type | bytes |
# |---|---|
# | `fp64` | 8 |
# | `fp32` | 4 |
# | `bf16` | 2 |
# | `int8` | 1 |


# %% solution=t25
def gemm_times(
    shape: tuple[int, int, int],
    stored: str,
    computed: str,
    rates: dict[str, float],
    bandwidth: float,
) -> tuple[float, float]:
    """Seconds to compute a product, and seconds to move its three matrices."""
    ### BEGIN SOLUTION
    m, n, k = shape
    size = {"fp64": 8, "fp32": 4, "bf16": 2, "int8": 1}[stored]
    return 2 * m * n * k / rates[computed], (m * k + k * n + m * n) * size / bandwidth
    ### END SOLUTION


# %% test=t25_check points=0.5 check=2.5
check("2.5", gemm_times)

# %%
print(
    f"{'stored':>7} {'computed':>9} {'compute':>10} {'memory':>10}   a product of 1024 x 4096 x 1024 on the A100"
)
for stored, computed in product(("fp64", "fp32", "bf16", "int8"), A100.rates):
    compute, memory = gemm_times(
        (1024, 4096, 1024), stored, computed, dict(A100.rates), A100.bandwidth
    )
    print(f"{stored:>7} {computed:>9} {compute * 1e6:>7.1f} µs {memory * 1e6:>7.1f} µs")

# %% [markdown]
# ### The tables of the course
#
# Your functions fill the course's other nine tables, which are handed in with the notebooks:
#
# - `output_b3a.csv`, `b3b`, `b3c`: a product of 4096 × 1024 × 6144 in 4, 2 and 3 parts, where A,
#   B and C stay;
# - `output_b4a.csv`, `b4b`, `b4c`: three products in bf16 whose numbers are *stored* in int8, bf16
#   and fp64;
# - `output_b5a.csv`, `b5b`, `b5c`: the same *computed* in int8, fp32 and fp64 as well.

# %%
for letter, keep in zip("abc", "ABC", strict=True):
    b3 = write_tiling(f"output_b3{letter}.csv", (4096, 1024, 6144), (4, 2, 3), keep, stationary)
gemms = [(1024, 128, 512), (128, 256, 128), (1024, 512, 256)]
for letter, stored in zip("abc", ("int8", "bf16", "fp64"), strict=True):
    b4 = write_types(f"output_b4{letter}.csv", gemms, stored, "bf16", A100, gemm_times)
for letter, both in zip("abc", ("int8", "fp32", "fp64"), strict=True):
    b5 = write_types(f"output_b5{letter}.csv", gemms, both, both, A100, gemm_times)
for file in b3, b5:
    table = pd.read_csv(file)
    for column in table:
        print(f"{column:16} {COLUMNS[column]}")
    display(table)

# %% [markdown]
# > **A story about a rule of thumb.** The handout says: bf16 runs at X, int8 at 2X, fp32 at X/2,
# > fp64 at X/4; each doubling of the bytes halves the rate. Look at the A100's own sheet, which is
# > in the table above. int8 is indeed 2X. But fp32 is X/16, not X/2: tensor cores do not take it.
# > What runs at X/2 is TF32, fp32 numbers of which 13 bits are ignored while they are multiplied.
# > A rule that is right once is not yet a rule.
#
# ## Task 2.6: a weight in 8 bits (½ point, about 4 lines)
#
# Fewer bytes have a price. To store a weight in int8, each **row** (each output of the layer) gets
# a `scale`, and each number w of the row becomes a whole number q from −127 to 127, so that
# w ≈ scale · q. The largest magnitude of the row becomes 127 or −127; everything else the *nearest*
# whole number. A row of zeros gets scale 1.
#
# `weight` is a numpy array of rows and columns. Return `q`, an array of the same shape and of type
# int8, and `scale`, one number for each row.
#
# <details><summary>Help: how do I divide each row by its own number?</summary>
# <code>weight / scale[:, None]</code>: with None the scales stand as a column, one for each row.
# </details>


# %% solution=t26
def quantize(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers from -127 to 127, and a scale for each row."""
    ### BEGIN SOLUTION
    scale = np.abs(weight).max(axis=1) / 127
    scale[scale == 0] = 1
    return np.round(weight / scale[:, None]).astype(np.int8), scale
    ### END SOLUTION


# %% test=t26_check points=0.5 check=2.6
check("2.6", quantize)

# %% [markdown]
# What does that cost a real model? The next cell trains a very small one in a few seconds: it has
# read a part of Python's manual and guesses the next letter. Then each of its matrices is stored in
# a quarter of the bytes, once with a scale for each row and once with one scale for the matrix.
#
# Large language models grow a few rows that are far larger than all others. The second half of the
# table has one such row, made so that the model computes exactly what it did before.

# %%
model = tiny_language_model()


def in_int8(weight):
    """A weight after it was stored in int8, with a scale for each row."""
    q, scale = quantize(weight)
    return q * scale[:, None]


def one_scale(weight):
    """The same with one scale for the whole matrix."""
    return in_int8(weight.reshape(1, -1)).reshape(weight.shape)


print(f"{'':28} {'loss':>8}  (nats a letter, on text it has not seen)")
for title, weights in ("as trained", model.weights), ("with one large row", model.with_outlier()):
    for way, store in (
        ("fp32", lambda w: w),
        ("int8, a scale a row", in_int8),
        ("int8, one scale", one_scale),
    ):
        stored = {name: store(weight) for name, weight in weights.items()}
        print(f"{title:18} {way:20} {model.loss(stored):.4f}")

# %% [markdown]
# As trained, all rows are of like size, and a quarter of the bytes costs nothing that one could
# see, with many scales or with one. One large row changes that: a single scale has to reach as far
# as the largest weight, and what is left for all other rows is a few coarse steps. With a scale for
# each row, only the large row pays.
#
# ## Where all three meet: flash attention
#
# Attention makes a score for each pair of tokens. Written to memory and read back they are most of
# what it moves: notebook 1 found that logit, softmax and attend should be fused. But a row of
# scores is as long as the text, and does not fit on chip. So it is cut into tiles. The step (i, j)
# takes a block of queries and a block of keys and values, and adds to a block of the output, which
# stays as C does; a softmax that is not complete yet can be corrected later by one factor a row.
# The film shows its loop nest, by the same interpreter; the chart counts one head of attention.

# %%
tile_film([(i, j) for i in range(4) for j in range(6)], ATTENTION)

# %%
attention_chart(tokens=4096, head=64)

# %% [markdown]
# With 16 KB on chip flash attention moves as much as attention that writes its scores; with the
# 192 KB that each processor of an A100 has, it moves about an eighth. And if keys and values are
# stored in a byte each, the wires carry about half of that again: fusion, tiling and data types, in
# one kernel.
#
# ## What you built
#
# The three levers of every fast kernel. Loop orders and tile sizes are what Timeloop searches for
# accelerators, what `tl.dot` in a Triton kernel and the *swizzle* of CUTLASS choose: a swizzle
# visits tiles that share an operand one after the other, as your order does. FlashAttention (Dao et al., 2022) is
# the chart above, and its paper has the curve as a theorem. Weights in int8 with a scale a row are
# what LLM.int8() and most engines that serve models ship; the large rows are why it keeps a few of
# them in 16 bits. In Lab 2 the same loop nests run on an array of processors with memories of its
# own.
