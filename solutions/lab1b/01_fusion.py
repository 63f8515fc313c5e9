# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 1B, notebook 1: fusion
#
# **4 points, about 60 minutes.** You need Lab 1A's idea of a roof: an operator waits for
# arithmetic or for memory, whichever takes longer. No PyTorch in this notebook.
#
# Lab 1A placed operators under the roof of a machine. Many of them waited for memory. In this
# lab you make them wait less, in three ways: move fewer values (fusion), move each value less
# often (tiling), and make the values smaller (data types). After this notebook you can
#
# - say which bytes still move when operators are fused, and which only seem to;
# - tell how long a model takes, operator by operator;
# - find the few fusions that are worth the trouble, and say why the others are not.
#
# ![A layer of a transformer on the A100, operator by operator: unfused, three operators around
# softmax wait for memory and it takes 156 microseconds; with two arrows fused it takes
# 97](images/fusion.svg)
#
# Two of seven arrows are fused here, and the layer is 1.6 times as fast. Fusing the other five
# as well would gain nothing. Which two, and why no more: that is this notebook.

# %%
from itertools import combinations

import pandas as pd

from lab_utils.instruments.roofline import A100
from lab_utils.labs.lab1b import (
    COLUMNS,
    Op,
    arrows_of,
    check,
    course_chain,
    fusion_film,
    groups_of,
    transformer_layer,
    write_fusion,
)

# %% [markdown]
# ## A model as operators and values
#
# An `Op` has a `name`, the names of the values that it `reads`, the name of the one value that
# it `makes`, and the number of its operations (`flops`). A second table says how many bytes
# each value has. Values that nobody makes are inputs and weights; they lie in memory. A value
# that nobody reads is a result of the model.

# %%
ops = [
    Op("multiply", ("x", "w"), "a", flops=150),
    Op("relu", ("a",), "b", flops=10),
    Op("sum", ("b",), "y", flops=10),
]
nbytes = {"x": 100, "w": 40, "a": 60, "b": 60, "y": 8}
arrows_of(ops)

# %% [markdown]
# An **arrow** goes from the operator that makes a value to one that reads it. Unfused, each
# operator reads all it needs from memory and writes what it makes. The 60 bytes of `a` cross
# the wires twice: `multiply` writes them, and `relu` reads them back at once.
#
# ## Task 1.1: what a fused model still moves (1½ points, about 8 lines)
#
# **Fused** operators run as one program, a *group*, and hand values to each other on chip. For
# each operator, tell how many bytes it still reads from memory and how many it still writes.
# The rules are those of the machine:
#
# - what an operator of the same group has made is on chip, and is not read from memory,
#   however many operators lie between the two;
# - everything else is read: weights, inputs, and what other groups made. Each operator fetches
#   what it needs itself, and a value that it uses twice it fetches once;
# - a value has to be written if anybody outside the group reads it, or if nobody reads it at
#   all, since then it is a result.
#
# `groups` is a list of lists of names, in any order. An operator in no group stands alone.
# Return a dict: by the name of each operator a pair (bytes read, bytes written).
#
# By hand, with `groups = [["multiply", "relu"]]`: `multiply` reads 140 and writes 0, `relu`
# reads 0 and writes 60, `sum` reads 60 and writes 8.
#
# <details><summary>Help: how do I find out who is in whose group?</summary>
# Give every operator the number of its group first:
# <code>group = {name: i for i, names in enumerate(groups) for name in names}</code>. For one
# that is in none, its own name will do: <code>group.get(op.name, op.name)</code>.
# </details>
# <details><summary>Help: when is a value written?</summary>
# Collect the groups of all who read it. If there are none, or if one of them is not the
# maker's own, the value has to be in memory.
# </details>


# %% solution=t11
def traffic(
    ops: list[Op], nbytes: dict[str, int], groups: list[list[str]]
) -> dict[str, tuple[int, int]]:
    """Bytes that each operator reads from memory and writes to it, by its name."""
    ### BEGIN SOLUTION
    group = {op.name: op.name for op in ops}
    group |= {name: number for number, names in enumerate(groups) for name in names}
    maker = {op.makes: group[op.name] for op in ops}
    readers = {
        op.makes: {group[other.name] for other in ops if op.makes in other.reads} for op in ops
    }
    moved = {}
    for op in ops:
        own = group[op.name]
        read = sum(nbytes[value] for value in set(op.reads) if maker.get(value) != own)
        moved[op.name] = (read, 0 if readers[op.makes] == {own} else nbytes[op.makes])
    return moved
    ### END SOLUTION


# %% test=t11_check points=1.5 check=1.1
check("1.1", traffic)

# %% [markdown]
# The last case is from the handout of the course that this lab grew from: six products in a
# row, of which the second makes a very wide value that the third sums up. Count what fusing
# saves there:

# %%
chain, chain_bytes = course_chain()
for groups in [], [["gemm1", "gemm2", "gemm3"], ["gemm4", "gemm5"]]:
    moved = traffic(chain, chain_bytes, groups)
    print(f"{sum(map(sum, moved.values())):>10,} bytes  {groups or 'nothing fused'}")

# %% [markdown]
# > **A story about half a saving.** A solution of that course's handout that went round dropped
# > the *read* of each fused consumer and kept the *write* of each producer. Its tables looked
# > plausible: they were smaller than before. But a write that nobody ever reads costs as much as
# > any other. Your check names it, because it is the mistake nearly everybody makes once.
#
# ## Task 1.2: the time of a model (½ point, about 3 lines)
#
# An operator computes for `flops / rate` seconds and moves bytes for `bytes / bandwidth`
# seconds, and does both at once: it takes as long as the slower of the two. Operators run one
# after the other, fused or not; fusing changes what an operator moves, not what it computes.
#
# `moved` has for each operator a pair (bytes read, bytes written), as in task 1.1.
# `rate` is in operations a second, `bandwidth` in bytes a second. Return the seconds of the
# whole model.


# %% solution=t12
def model_time(
    ops: list[Op], moved: dict[str, tuple[int, int]], rate: float, bandwidth: float
) -> float:
    """Seconds that the operators take, one after the other."""
    ### BEGIN SOLUTION
    return sum(max(op.flops / rate, sum(moved[op.name]) / bandwidth) for op in ops)
    ### END SOLUTION


# %% test=t12_check points=0.5 check=1.2
check("1.2", model_time)

# %% [markdown]
# ## A layer of a transformer
#
# Here is the layer of the picture above: one sequence of 1024 tokens, 1024 wide, 16 heads, in
# bf16. `logit` multiplies queries by keys, `attend` mixes values by the softmax of the result.
# Between them lie the scores: one number for each pair of tokens and each head, 34 MB of
# them, made only to be read once.

# %%
layer, layer_bytes = transformer_layer()
arrows = arrows_of(layer)


def costs(fused):
    """Seconds that each operator computes and moves bytes, when these arrows are fused."""
    moved = traffic(layer, layer_bytes, groups_of(fused))
    return {
        op.name: (op.flops / A100.rate("bf16"), sum(moved[op.name]) / A100.bandwidth)
        for op in layer
    }


def time(fused=()):
    """Microseconds of the whole layer, when these arrows are fused."""
    moved = traffic(layer, layer_bytes, groups_of(fused))
    return round(model_time(layer, moved, A100.rate("bf16"), A100.bandwidth) * 1e6, 4)


print(f"nothing fused {time():.1f} µs, everything fused {time(arrows):.1f} µs")
for arrow in arrows:
    print(f"  {' -> '.join(arrow):22} alone {time([arrow]):.1f} µs")

# %% [markdown]
# ## Task 1.3: the fewest fusions with the full gain (1½ points, about 6 lines)
#
# Every fusion is work: somebody writes and tests a kernel that does two things, and two
# operators' values must fit on chip together. So we want the whole gain with as few fusions as
# possible.
#
# `arrows` is the list of a model's arrows. `time(fused)` says how many microseconds the model
# takes when the arrows in the list `fused` are fused. Find the shortest list of arrows for
# which the time is as small as it can be, and return it. If several lists are equally short,
# any of them will do. If no fusion gains anything, the list is empty.
#
# A model has at most eight arrows here, so you can try every set of them. (Trying them one by
# one and always keeping the best next one is faster, and sometimes ends with more arrows than
# it takes.)
#
# <details><summary>Help: how do I go through all sets?</summary>
# <code>combinations(arrows, n)</code> gives all sets of <code>n</code> arrows. Go through n = 0,
# 1, 2, … up to <code>len(arrows)</code>, and remember a set only if it is really faster than the
# best so far: then of equally fast ones the shortest stays.
# </details>


# %% solution=t13
def fewest_fusions(arrows: list[tuple[str, str]], time) -> list[tuple[str, str]]:
    """The shortest list of arrows with which the model is as fast as it can be."""
    ### BEGIN SOLUTION
    sets = [fused for n in range(len(arrows) + 1) for fused in combinations(arrows, n)]
    return list(min(sets, key=time))  # of equally fast ones, min takes the first: the shortest
    ### END SOLUTION


# %% test=t13_check points=1.5 check=1.3
check("1.3", fewest_fusions)

# %% [markdown]
# Now for the layer, with your own three functions. Move the slider: each arrow that is fused
# takes bytes away from two operators. Watch which of them stop waiting.

# %%
best = fewest_fusions(arrows, time)
print("worth fusing:", *(" -> ".join(arrow) for arrow in best), sep="\n  ")
others = [arrow for arrow in arrows if arrow not in best]
fusion_film(layer, [*best, *others], costs)

# %% [markdown]
# ### The tables of the course
#
# Your functions fill the first two tables that the course collects: the six products with the
# fusions of the handout (`output_b1.csv`), and this layer with yours (`output_b2.csv`). They are
# handed in with the notebooks. This is what their columns mean:


# %%
def write(file, ops, nbytes, groups):
    """A table of what each operator moves on the A100, and how long that takes."""
    moved = traffic(ops, nbytes, groups)

    def seconds(op):
        return model_time([op], moved, A100.rate("bf16"), A100.bandwidth)

    return write_fusion(file, ops, groups, moved, seconds)


b1 = write("output_b1.csv", *course_chain(), [["gemm1", "gemm2", "gemm3"], ["gemm4", "gemm5"]])
b2 = write("output_b2.csv", layer, layer_bytes, groups_of(best))
table = pd.read_csv(b2)
for column in table:
    print(f"{column:16} {COLUMNS[column]}")
table

# %% [markdown]
# > **A story about a figure.** The handout that this task comes from draws softmax before
# > attend, and lists them in its code the other way round. Whoever fused by number fused two
# > operators that no arrow joins. It also counted a multiplication and an addition as one
# > operation in `logit` and `attend` and as two everywhere else, so that attention looked half
# > as expensive as it is. Names in place of numbers, and one way of counting, keep both away.
#
# %% [markdown] task=q14 points=0.5
# ### Question 1.4: why no more? (½ point, about 80 words, in a new cell below)
#
# A person reads and grades this one. Say why exactly these fusions give the whole gain and the
# other arrows give nothing. Then change one thing about the layer or the machine (fewer tokens,
# another machine, other numbers) so that more fusions are worth it, and say which and why; the
# functions above let you try it.
#
# ### BEGIN MARK SCHEME
# 0.25: logit, softmax and attend wait for memory because of the scores; once these stay on chip
# all operators compute longer than they move bytes, and less traffic gains nothing.
# 0.25: a change that works and its reason: few tokens (or a small batch) make the products wait
# for weights and activations; a machine with a higher ridge (more operations a second for each
# byte a second, such as the H100 or int8) moves operators to the left of the ridge. 0.1 if the
# reason is missing.
# ### END MARK SCHEME

# %% [markdown]
# ## What you built
#
# The decision that a compiler for deep learning makes. XLA and PyTorch's Inductor fuse along
# arrows by rules much like yours: a value is written if somebody outside needs it. They have one
# rule more, since their graphs have detours: a group must not contain two operators with a third
# one between them outside the group. FlashAttention is the fusion that you found, logit with
# softmax with attend, written by hand, because no compiler of its time could find a way to
# keep the softmax on chip. How it does that takes the second half of this lab: tiles.
#
# One thing is simpler here than in a GPU: we let each operator of a group wait for its own
# bytes. A real fused kernel can overlap one operator's arithmetic with another's transfers, and
# then gains a little more.
