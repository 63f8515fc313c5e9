# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 1A, notebook 1: what does an operator cost?
#
# **4 points, about 60 minutes.** You need Python and the school's algebra; no GPU, no PyTorch.
#
# Whether a model is fast, fits, or pays for itself is decided by two counts: how many
# **operations** it takes, and how many **numbers must travel** between memory and chip. In this
# notebook you count both, for the four operators of which a transformer is made. Afterwards you
# can
#
# - say how many elements an operator reads and writes, and why a weight is special;
# - write down its operations exactly, not "about";
# - check such a formula with numbers that count themselves.
#
# ![A dot product of two vectors of four as a tree: four multiplications, then three
# additions](images/dot_product.svg)
#
# One number of a matrix product: four multiplications, and **three** additions.

# %%
from lab_utils.instruments.counting import Tally, added_up
from lab_utils.kit.carry import save_work
from lab_utils.labs.lab1a import INSTANCES, check, write_counts

# %% [markdown]
# ## The four operators
#
# | operator | dims | reads, and makes |
# |---|---|---|
# | `"softmax"` | `[B, L]` | B vectors of length L; makes as many |
# | `"layernorm"` | `[B, X, Y]` | B · X vectors of length Y; makes as many |
# | `"gemm"` | `[B, M, N, K]` | an input `[B, M, K]`, **one** weight `[K, N]`; makes `[B, M, N]` |
# | `"attention"` | `[B, M, N, K]` | an input `[B, M, K]`, three weights `[K, N]`; makes `[B, M, N]` |
#
# Mind the order of the last two: **N before K**. N is what is made, K is what is summed over.
#
# ## Task 1.1: how many elements? (1 point, about 8 lines)
#
# Return three numbers for an operator: the elements of its input, of its weight (0 if it has
# none) and of its output. Count only what *must* travel between memory and chip:
#
# - every element once, however often the operator uses it: the chip remembers it;
# - what an operator makes for itself and uses up again (queries, keys, values, scores, a mean)
#   stays on the chip.
#
# <details><summary>Help: what does the batch do to a weight?</summary>
# Nothing. All items of a batch are multiplied by the same weight: this is why one batches.
# </details>
# <details><summary>Help: how do I take dims apart?</summary>
# <code>B, M, N, K = dims</code>
# </details>


# %% solution=t11
def elements(operator: str, dims: list[int]) -> tuple[int, int, int]:
    """Elements of input, weight and output of an operator such as "gemm" with [B, M, N, K]."""
    ### BEGIN SOLUTION
    if operator == "softmax":
        B, L = dims
        return B * L, 0, B * L
    if operator == "layernorm":
        B, X, Y = dims
        return B * X * Y, 0, B * X * Y
    B, M, N, K = dims
    weights = {"gemm": 1, "attention": 3}[operator]
    return B * M * K, weights * K * N, B * M * N
    ### END SOLUTION


# %% test=t11_check points=1 check=1.1
check("1.1", elements)

# %% [markdown]
# ## Numbers that count
#
# From here on we count operations. Who counts by hand is off by one sooner or later, so here is
# a referee: numbers that note every operation that is done with them. A `Tally` keeps the score.

# %%
tally = Tally()
a, b = tally.array("a", 4), tally.array("b", 4)
added_up(x * y for x, y in zip(a, b, strict=True))
print("a dot product of length 4:", tally)

tally = Tally()
sum(tally.array("a", 4))
print("Python's sum of 4 numbers:", tally)

# %% [markdown]
# Four numbers have **three** plus signs between them; `added_up` does these three. Python's own
# `sum` does four, since it begins with `0 + a[0]`. Which of the two one means must be said: in
# this notebook it is three.
#
# ## Task 1.2: operations of a GEMM (¾ point, about 1 line)
#
# A GEMM multiplies each of B matrices `[M, K]` by the weight `[K, N]`. Every number that it makes
# is a dot product of length K. How many operations are all of them together?
#
# (Hardware people say "2K for each output" and call that FLOPs, as a chip adds each product to
# a sum that begins at zero. We come to that in notebook 2. Here you count what the mathematics
# needs.)


# %% solution=t12
def gemm_ops(B: int, M: int, N: int, K: int) -> int:
    """Operations of [B, M, K] times [K, N]."""
    ### BEGIN SOLUTION
    return B * M * N * (2 * K - 1)
    ### END SOLUTION


# %% test=t12_check points=0.75 check=1.2
check("1.2", gemm_ops)

# %% [markdown]
# ## Some operations are heavier: `w`
#
# A multiplication is one instruction. A division, a square root or an exponential is a little
# program of several steps. So we weigh them: additions, subtractions and multiplications count
# **1**; divisions, square roots and exponentials count **w**.
#
# What `w` is depends on the chip. In this course it depends on you: `w = X + 3`, where X is the
# last digit of your student number. Your functions take `w` as an argument.
#
# ## Task 1.3: operations of SoftMax (¾ point, about 1 line)
#
# For every vector x of length L, plainly and without subtracting a maximum first:
#
# | step | |
# |---|---|
# | exponentials | pᵢ = exp(xᵢ), for each of the L numbers |
# | their sum | s = p₁ + p₂ + … + p_L |
# | quotients | yᵢ = pᵢ / s, for each of them |
#
# Each pᵢ is computed once and kept.
#
# <details><summary>Help: let me count a small one.</summary>
# Write it down with numbers that count, and compare with your formula:
# <pre>from lab_utils.instruments.counting import exp
# tally = Tally()
# for x in tally.array("x", 2, 5):          # B = 2, L = 5
#     ...                                   # exp(number), added_up(numbers), number / number
# print(tally, tally.operations(w=12))</pre>
# </details>


# %% solution=t13
def softmax_ops(B: int, L: int, w: int) -> int:
    """Operations of SoftMax over B vectors of length L."""
    ### BEGIN SOLUTION
    return B * (L * w + (L - 1) + L * w)
    ### END SOLUTION


# %% test=t13_check points=0.75 check=1.3
check("1.3", softmax_ops)

# %% [markdown]
# ## Task 1.4: operations of LayerNorm (¾ point, about 5 lines)
#
# For every vector $x$ of length Y (there are B · X of them), without a scale or a shift behind
# it, and without an epsilon:
#
# | step | |
# |---|---|
# | mean | μ = (x₁ + x₂ + … + x_Y) / Y |
# | differences | dᵢ = xᵢ − μ, for each of the Y numbers |
# | variance | v = (d₁·d₁ + d₂·d₂ + … + d_Y·d_Y) / Y |
# | deviation | σ = √v |
# | quotients | yᵢ = dᵢ / σ, for each of them |
#
# Each dᵢ is computed once and kept; so is σ. Y itself is known and costs nothing.
#
# **A story.** For `[2, 8, 512]` and w = 12 a solution that has gone round for years says 131,632.
# It is wrong by 16, and there are 16 vectors. Which plus sign does not exist?
#
# <details><summary>Help: I am off by a little.</summary>
# Count each of the five steps by itself, for one vector. Two of them are sums of Y numbers.
# </details>


# %% solution=t14
def layernorm_ops(B: int, X: int, Y: int, w: int) -> int:
    """Operations of LayerNorm over B * X vectors of length Y."""
    ### BEGIN SOLUTION
    mean = (Y - 1) + w
    differences = Y
    variance = Y + (Y - 1) + w
    deviation = w
    quotients = Y * w
    return B * X * (mean + differences + variance + deviation + quotients)
    ### END SOLUTION


# %% test=t14_check points=0.75 check=1.4
check("1.4", layernorm_ops)

# %% [markdown]
# ## Task 1.5: operations of attention (¾ point, about 6 lines)
#
# One head, with its three projections. For each item `x` of the batch, `[M, K]`: M tokens of K
# numbers:
#
# 1. queries, keys and values: three products of `x` with a weight `[K, N]`, each `[M, N]`;
# 2. scores: each query with each key, a dot product of length N: `[M, M]`;
# 3. every score is divided by √c. The constant c is the same for all, so its root is
#    computed **once** for the whole batch;
# 4. SoftMax of every row of the scores: M vectors of length M;
# 5. mixing: `[M, M]` times the values `[M, N]`.
#
# You may call `gemm_ops` and `softmax_ops`. (If these are not right yet, you do not pay for it
# here: your work is also tried with right ones.)
#
# <details><summary>Help: are the scores a GEMM?</summary>
# Almost: their second factor is no weight, each item of the batch has its own. For operations
# that makes no difference; <code>gemm_ops(B, M, M, N)</code> counts them.
# </details>


# %% solution=t15
def attention_ops(B: int, M: int, N: int, K: int, w: int) -> int:
    """Operations of attention with its projections: [B, M, K] becomes [B, M, N]."""
    ### BEGIN SOLUTION
    projections = 3 * gemm_ops(B, M, N, K)
    scores = gemm_ops(B, M, M, N)
    scaling = w + w * B * M * M
    soft = softmax_ops(B * M, M, w)
    mixing = gemm_ops(B, M, N, M)
    return projections + scores + scaling + soft + mixing
    ### END SOLUTION


# %% test=t15_check points=0.75 check=1.5
check("1.5", attention_ops)

# %% [markdown]
# ## Your table
#
# The course wants a file of eight operators, two of each: name, elements, operations. Put your
# own X into the cell; the file is handed in with the notebooks.

# %%
X = 9  # the last digit of your student number
w = X + 3


def operations(operator: str, dims: list[int]) -> int:
    """Operations of any of the four, with your own w."""
    if operator == "gemm":
        return gemm_ops(*dims)
    counts = {"softmax": softmax_ops, "layernorm": layernorm_ops, "attention": attention_ops}
    return counts[operator](*dims, w)


write_counts("output_a1.csv", elements, operations)
for name, dims in INSTANCES:
    moved = sum(elements(name, dims))
    print(
        f"{name:10} {dims!s:22} {operations(name, dims):>15,} operations"
        f"  {operations(name, dims) / moved:9.1f} for each element"
    )

# %% [markdown]
# Look at the last column. SoftMax and LayerNorm do about ten operations for each element that
# travels, however large they are. A GEMM does more, the larger it is: the small one 12, the large
# one 910. Notebook 2 shows what that means in time. It uses your functions:

# %%
save_work(elements, operations)

# %% [markdown]
# ## What you built
#
# A cost model, exact to the last addition. Compilers carry one inside: XLA's *HLO cost analysis*
# and PyTorch's `FlopCounterMode` walk through a model and add up such formulas for each operator,
# to decide what to fuse, what to recompute and where to run it. And the habit of checking a
# formula against a machine that counts is how one finds that a published number is 16 too high.
