# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 1A, notebook 2: under the roof
#
# **4 points, about 90 minutes.** You need notebook 1's idea of counting; its code helps, and
# is not required.
#
# A chip computes and, at the same time, moves numbers. Whichever takes longer decides. That is
# the whole **roofline model**, and it explains why the same model on the same GPU is fast when it
# reads your question and slow when it writes its answer. Afterwards you can
#
# - tell for any operator on any machine how long it takes at best, and what it waits for;
# - count the FLOPs and bytes of a real decoder layer, as exactly as PyTorch does;
# - say which models fit into which memory, and at which batch decoding begins to use the chip.
#
# ![The roofline of an A100: in prefill the weights' products stand on the flat part, in decode
# everything stands far down the slope](images/roofline.svg)
#
# The same layer twice: reading a prompt (*prefill*) and writing one token (*decode*).

# %%
import math

import pandas as pd
from IPython.display import display

from lab_utils.instruments.roofline import A100, H100, MACHINES, ORIN_NANO, Machine, item_bytes
from lab_utils.instruments.shapes import GPT3_175B, LLAMA3_8B, LLAMA_7B, Transformer
from lab_utils.kit.carry import load_work
from lab_utils.labs.lab1a import (
    COLUMNS,
    HANDOUT,
    INSTANCES,
    ROW,
    Times,
    beside,
    check,
    layer_names,
    measure,
    walk,
    write_table,
)

# %% [markdown]
# ## Machines
#
# A machine is a few numbers: how many operations a second it does at best with each data type,
# how many bytes a second come out of its memory, how many bytes fit. All in plain units.

# %%
rows = {
    name: {
        **{f"{t} (T/s)": rate / 1e12 for t, rate in m.rates.items()},
        "GB/s": m.bandwidth / 1e9,
        "memory (GB)": m.memory / 1e9,
    }
    for name, m in MACHINES.items()
}
pd.DataFrame(rows).T.round(2)

# %% [markdown]
# | you want | you write |
# |---|---|
# | operations a second with a data type | `machine.rate("bf16")` |
# | bytes a second | `machine.bandwidth` |
# | operations a byte at which both take equally long | `machine.ridge("bf16")` |
# | bytes of one element | `item_bytes("bf16")` |
#
# ## Task 2.1: how long does it take? (¾ point, about 6 lines)
#
# An operator does `operations`, and moves `elements` of type `dtype`. No machine reaches its
# best: it does `compute_eff` of its operations a second (0.75 is usual) and moves `memory_eff` of
# its bytes. Return `Times`, with
#
# - `compute`: seconds that the arithmetic takes;
# - `memory`: seconds that the bytes take;
# - `execution`: seconds until it is done. Both go on **at the same time**, perfectly;
# - `intensity`: operations for each byte (a property of the operator, not of the machine);
# - `bound`: `"compute"` if the arithmetic takes longer, else `"memory"`.
#
# <details><summary>Help: where does an efficiency belong?</summary>
# To the machine: it makes the rate smaller, and so the time longer.
# </details>


# %% solution=t21
def times(
    operations: int,
    elements: int,
    dtype: str,
    machine: Machine,
    compute_eff: float,
    memory_eff: float,
) -> Times:
    """How long an operator takes on a machine, and what it waits for."""
    ### BEGIN SOLUTION
    nbytes = elements * item_bytes(dtype)
    compute = operations / (machine.rate(dtype) * compute_eff)
    memory = nbytes / (machine.bandwidth * memory_eff)
    bound = "compute" if compute > memory else "memory"
    return Times(compute, memory, max(compute, memory), operations / nbytes, bound)
    ### END SOLUTION


# %% test=t21_check points=0.75 check=2.1
check("2.1", times)

# %% [markdown]
# ## Your own computer
#
# It has a roof as well. The next cell finds it in a few seconds: the best matrix product that
# PyTorch reaches on one core, and the best copy. Then it times some operators, and shows each
# under the roof.

# %%
computer = measure()
if computer is not None:
    display(beside(computer))
    for work in computer.works:
        print(f"{work.name:20} {computer.share(work):5.0%} of the roof above it")

# %% [markdown]
# The large products touch the roof. What stays below has a reason:
#
# - **`gemm 16`** is tiny. Calling it takes longer than doing it: *launch overhead*. The roof knows
#   nothing of that.
# - **`softmax`** computes exponentials, and each is many instructions: your `w` of notebook 1.
# - **`gemv`** or `softmax` may even stand *above* the slope, if what they read still lies in a
#   cache: a second, steeper roof that we did not draw.
#
# ## Task 2.2: a network as a list (½ point, about 8 lines)
#
# The course draws one layer of a transformer as six operators in a row. An input
# `[batch, tokens, d_in]` goes through
#
# > LayerNorm → attention, makes `d_model` → GEMM, makes `d_ff` → GEMM, makes `d_model` →
# > LayerNorm → SoftMax over each token's vector
#
# Return the list of pairs `(operator, dims)`, with names and dims as in notebook 1: `"softmax"`
# `[B, L]`, `"layernorm"` `[B, X, Y]`, `"gemm"` and `"attention"` `[B, M, N, K]`.
#
# **A story.** In a hand-in that has been copied a lot, the second GEMM of LLaMA sums over 4096,
# where it receives 11008 numbers a token. Such a network cannot run: what leaves an operator is
# what enters the next.
#
# <details><summary>Help: what is B of the SoftMax?</summary>
# SoftMax takes B vectors of length L. Here each token of each item of the batch is one.
# </details>


# %% solution=t22
def network(
    batch: int, tokens: int, d_in: int, d_model: int, d_ff: int
) -> list[tuple[str, tuple[int, ...]]]:
    """The six operators of one layer as the course draws it."""
    ### BEGIN SOLUTION
    return [
        ("layernorm", (batch, tokens, d_in)),
        ("attention", (batch, tokens, d_model, d_in)),
        ("gemm", (batch, tokens, d_ff, d_model)),
        ("gemm", (batch, tokens, d_model, d_ff)),
        ("layernorm", (batch, tokens, d_model)),
        ("softmax", (batch * tokens, d_model)),
    ]
    ### END SOLUTION


# %% test=t22_check points=0.5 check=2.2
check("2.2", network)

# %% [markdown]
# ## Task 2.3: a row of the course's table (¼ point, about 15 lines)
#
# The course collects its results in tables with fifteen columns. Their units are the handout's,
# and odd. This is what the columns mean:

# %%
for column, meaning in COLUMNS.items():
    print(f"{column:20} {meaning}")

# %% [markdown]
# The first two are the operator and its dims. You write the other thirteen, those in `ROW`.
# Return a dict: by the name of each column its letter (`Bound`) or its number, not rounded. You
# get
#
# - `operations`: how many there are;
# - `moved`: the elements of input, weight and output;
# - `took`: the `Times` of task 2.1 (`took.compute`, `took.memory` and `took.execution` in seconds,
#   `took.bound` as a word);
# - `clock`: cycles of the machine in a second.
#
# <details><summary>Help: what does a unit do to a number?</summary>
# 3,000,000 operations "in units of 10⁶" are 3: divide by the unit. A thousandth of a second is a
# unit too: 0.002 s are 2 of them.
# </details>


# %% solution=t23
def table_row(
    operations: int, moved: tuple[int, int, int], took: Times, clock: float
) -> dict[str, str | float]:
    """What the course's table says of an operator, by column."""
    ### BEGIN SOLUTION
    everything = sum(moved)
    input_a, input_w, output = moved
    return {
        "Bound": "C" if took.bound == "compute" else "M",
        "C/M ratio": took.compute / took.memory,
        "Op Intensity": operations / everything,
        "Latency (msec)": took.execution * 1e3,
        "Cycles": took.execution * clock,
        "Num ops (MFLOP)": operations / 1e6,
        "Input_a (MB)": input_a / 2**20,
        "Input_w (MB)": input_w / 2**20,
        "Output (MB)": output / 2**20,
        "Total Data (MB)": everything / 2**20,
        "Throughput (Tflops)": operations / took.execution / 1e12,
        "Compute Cycles": took.compute * clock,
        "Memory Cycles": took.memory * clock,
    }
    ### END SOLUTION


# %% test=t23_check points=0.25 check=2.3
check("2.3", table_row)

# %% [markdown]
# With your functions of both notebooks, the course's tables now write themselves: the eight
# operators of notebook 1 (`output_a2.csv`); then LLaMA-7B reading 512 tokens (`i`) and GPT-3
# writing one (`ii`), with batch 64 on an A100 (`output_a3…`) and with batch 4 on a Jetson
# (`output_a4…`). They are handed in with the notebooks.

# %%
my_elements = load_work("elements", instead="no tables of the course")
my_operations = load_work("operations", instead="no tables of the course")
if my_elements and my_operations:
    counts = (my_elements, my_operations, times, table_row)
    write_table("output_a2.csv", INSTANCES, *counts, HANDOUT["A100"])
    for part, batch, name in (("a3", 64, "A100"), ("a4", 4, "Jetson Nano")):
        llama = network(batch, 512, 4096, 4096, 11008)
        gpt3 = network(batch, 1, 2048, 12288, 49152)
        write_table(f"output_{part}i.csv", llama, *counts, HANDOUT[name])
        write_table(f"output_{part}ii.csv", gpt3, *counts, HANDOUT[name])
    for file in ("output_a3i.csv", "output_a3ii.csv", "output_a4i.csv", "output_a4ii.csv"):
        table = pd.read_csv(file)
        print(file, " ".join(table["Bound"]), f"{table['Latency (msec)'].sum():12.4f} ms")

# %% [markdown]
# ### What is wrong with these tables
#
# The handout is good practice in reading numbers with care. Row by row:
#
# | the handout | is |
# |---|---|
# | halves the FLOPS, "since a multiply-add is one" | counted twice: your counts have both already. Its roof is half as high as the machine's |
# | takes 312 TFLOPS for 4-byte numbers | the rate of **bf16** on tensor cores. FP32 has 19.5, one sixteenth of that |
# | "FLOPs/Byte" on the axis | operations for each *element* |
# | a GB of 2³⁰ bytes | 10⁹ in every data sheet: 7 % more bandwidth than there is |
# | "Jetson Nano", 20 TFLOPS | a Jetson **Orin** Nano; 20 are INT8 operations with half of the weights zero. bf16: 5 |
# | GPT-3 with an input of 2048 | 2048 is its longest *context*. Its width is 12288 |
# | decode without a past | attention then looks at one token, itself |
#
# The same list, in honest units:

# %%
if my_elements and my_operations:
    for name, dims in network(64, 512, 4096, 4096, 11008):
        work, moved = my_operations(name, dims), sum(my_elements(name, dims))
        real = times(work, moved, "bf16", A100, 0.75, 0.7)
        print(
            f"{name:10} {dims!s:24} {1e3 * real.execution:9.3f} ms  bound by {real.bound:8}"
            f" {real.intensity:8.1f} operations a byte"
        )

# %% [markdown]
# ## A real layer
#
# Now without the word "like". A layer of Llama computes, for `new` tokens of each of `batch`
# sequences, whose `past` tokens it has seen before:
#
# | name | product |
# |---|---|
# | `q`, `k`, `v` | every new token's vector (`width`) becomes queries for `heads` heads, keys and values for `kv_heads` heads, each head `head` numbers |
# | `scores` | each query with each key of its sequence: those of the past lie in the **KV cache**, those of the new tokens have just been added |
# | `mix` | each row of scores with the values, as many as keys |
# | `o` | all heads of a token, one behind the other, become a vector of `width` again |
# | `gate`, `up`, `down` | the feed-forward part: from `width` to `hidden`, twice, and back. Without a gate (`model.gated` is false) there are only `up` and `down` |
#
# Three things to mind. *Grouped queries*: with `kv_heads < heads` several query heads share one
# key head and one value head, but each still has scores of its own. *The mask*: a token must not
# look into the future, so some scores are thrown away, after the product has computed them all.
# *The heads* together have `heads * head` numbers, which need not be `width`.
#
# (RMSNorm, SiLU and SoftMax are left out here: they are few operations and, when fused, few bytes.)

# %%
for model in (LLAMA_7B, LLAMA3_8B, GPT3_175B):
    print(model)
print(layer_names(LLAMA_7B))

# %% [markdown]
# ## Task 2.4: FLOPs of a real layer (¾ point, about 12 lines)
#
# Return a dict with the FLOPs of each product of `layer_names(model)`. From here on we count as
# hardware does: a product of `[M, K]` and `[K, N]` is **2 · M · N · K**, with an addition for each
# multiplication. PyTorch's `FlopCounterMode` is the judge.
#
# <details><summary>Help: how many rows does q have?</summary>
# <code>batch * new</code>: every new token of every sequence is a row of one large product.
# </details>
# <details><summary>Help: scores, for one head of one sequence?</summary>
# [new, head] times [head, past + new].
# </details>


# %% solution=t24
def layer_flops(model: Transformer, batch: int, new: int, past: int) -> dict[str, int]:
    """FLOPs of each matrix product of one decoder layer, by name."""
    ### BEGIN SOLUTION
    tokens = batch * new
    inside, shared = model.heads * model.head, model.kv_heads * model.head
    attention = 2 * batch * model.heads * new * (past + new) * model.head
    flops = {
        "q": 2 * tokens * model.width * inside,
        "k": 2 * tokens * model.width * shared,
        "v": 2 * tokens * model.width * shared,
        "scores": attention,
        "mix": attention,
        "o": 2 * tokens * inside * model.width,
    }
    for name in layer_names(model):
        flops.setdefault(name, 2 * tokens * model.width * model.hidden)
    return flops
    ### END SOLUTION


# %% test=t24_check points=0.75 check=2.4
check("2.4", layer_flops)

# %% [markdown]
# All of LLaMA-7B reading 512 tokens: 32 layers, and the product that turns vectors into words.
# Beside it, PyTorch runs the real model from Hugging Face on the *meta* device, where tensors have
# a shape and no data, and counts. (Ten seconds, most of them for loading the library.)

# %%
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import LlamaConfig, LlamaForCausalLM

tokens = 512
mine = LLAMA_7B.layers * sum(layer_flops(LLAMA_7B, 1, tokens, 0).values())
mine += 2 * tokens * LLAMA_7B.width * LLAMA_7B.vocab
with torch.device("meta"):
    llama = LlamaForCausalLM(LlamaConfig())  # its defaults are LLaMA-7B
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        llama(torch.zeros(1, tokens, dtype=torch.long))
print(f"yours   {mine:,} FLOPs\nPyTorch {counter.get_total_flops():,} FLOPs")
parameters = sum(p.numel() for p in llama.parameters())
print(f"a rule of thumb: 2 FLOPs for each parameter and token are {2 * parameters * tokens:,}")

# %% [markdown]
# ## Task 2.5: what a real layer moves (½ point, about 12 lines)
#
# The same names; now the elements that each product moves: its first factor, its second factor
# and what it makes, each element once. Every product stands alone here, and writes what the next
# one reads.
#
# The second factor is a **weight** for most, and the **cache** for `scores` (keys) and `mix`
# (values). That is the whole difference between the two: one weight serves all sequences, but
# every sequence has a cache of its own.


# %% solution=t25
def layer_elements(model: Transformer, batch: int, new: int, past: int) -> dict[str, int]:
    """Elements that each matrix product of one decoder layer reads and writes, by name."""
    ### BEGIN SOLUTION
    tokens, every = batch * new, past + new
    inside, shared = model.heads * model.head, model.kv_heads * model.head

    def product(inputs: int, outputs: int) -> int:
        return tokens * inputs + inputs * outputs + tokens * outputs

    attention = tokens * inside + batch * every * shared + batch * model.heads * new * every
    moved = {
        "q": product(model.width, inside),
        "k": product(model.width, shared),
        "v": product(model.width, shared),
        "scores": attention,
        "mix": attention,
        "o": product(inside, model.width),
    }
    for name in layer_names(model):
        moved.setdefault(name, product(model.width, model.hidden))
    return moved
    ### END SOLUTION


# %% test=t25_check points=0.5 check=2.5
check("2.5", layer_elements)

# %% [markdown]
# ## Walk along the roof
#
# These are **your** operators. Move the sliders, and predict before you look:
#
# 1. *decode*, batch from 1 to 1024: who walks up to the ridge, and who stays behind?
# 2. *prefill*, batch 1: what happens to `scores` and `mix` when the context grows?
# 3. another data type, another machine: does a dot move, or the roof?
#
# The pale band is the way from batch 1 to 1024.

# %%
walk(layer_flops, layer_elements, LLAMA_7B, also=[computer.machine] if computer else [])

# %% [markdown]
# Batching makes the weights' products walk, since one weight serves all. Attention stays: each new
# sequence brings its own cache, bytes and operations grow together, and **no batch** gets it to
# the ridge. Grouped queries help there, as several heads share what is read. Try it:

# %%
walk(layer_flops, layer_elements, LLAMA3_8B)

# %% [markdown]
# ## Task 2.6: does it fit? (¼ point, about 8 lines)
#
# Before time comes space. Return two numbers of **bytes** for a model of the Llama family in a
# data type:
#
# - its weights: a table of words (`vocab` by `width`), the matrices of all layers, two norms of
#   `width` in each layer and one at the end, and a matrix from `width` back to `vocab`;
# - its cache for `batch` sequences of `context` tokens: keys and values, of every layer.


# %% solution=t26
def memory_needed(model: Transformer, batch: int, context: int, dtype: str) -> tuple[int, int]:
    """Bytes of the weights, and bytes of the KV cache."""
    ### BEGIN SOLUTION
    inside, shared = model.heads * model.head, model.kv_heads * model.head
    feed_forward = (3 if model.gated else 2) * model.width * model.hidden
    layer = 2 * model.width * inside + 2 * model.width * shared + feed_forward + 2 * model.width
    weights = 2 * model.vocab * model.width + model.layers * layer + model.width
    cache = 2 * model.layers * batch * context * shared
    return weights * item_bytes(dtype), cache * item_bytes(dtype)
    ### END SOLUTION


# %% test=t26_check points=0.25 check=2.6
check("2.6", memory_needed)

# %%
for model in (LLAMA_7B, LLAMA3_8B, GPT3_175B):
    weights, cache = memory_needed(model, 1, model.context, "bf16")
    for machine in (A100, ORIN_NANO):
        room = (machine.memory - weights) // cache
        told = f"{room:.0f} full sequences beside them" if room >= 0 else "does not fit"
        print(f"{model.name:11} {weights / 1e9:6.1f} GB on {machine.name:17}: {told}")

# %% [markdown]
# GPT-3 on one A100, the course's own exercise, does not fit: it takes five of them for the
# weights alone (Lab 3B is about that). A roofline does not tell: look at the space first.
#
# ## Task 2.7: the batch at the ridge (½ point, about 6 lines)
#
# In decode, a weight's product is `[b, K]` times `[K, N]`: one row a sequence. How large must the
# batch b be, so that arithmetic takes **at least as long** as memory, on a machine at its best?
# Return the smallest such b, as a whole number, or `None` if no batch is large enough. Count
# 2 · b · K · N operations; the bytes are those of both factors and of the result.
#
# A closed form is wanted, not a search: write operations and bytes as functions of b, set their
# quotient to the ridge, and solve for b.
#
# <details><summary>Help: when is there none?</summary>
# Inputs and outputs grow with b as well. If they alone are too many bytes for the operations that
# they bring, more of them does not help: the divisor of your formula is then 0 or less.
# </details>


# %% solution=t27
def ridge_batch(K: int, N: int, dtype: str, machine: Machine) -> int | None:
    """The smallest batch at which [b, K] times [K, N] is no longer bound by memory."""
    ### BEGIN SOLUTION
    bytes_needed = machine.ridge(dtype) * item_bytes(dtype)
    gain = 2 * K * N - bytes_needed * (K + N)
    return math.ceil(bytes_needed * K * N / gain) if gain > 0 else None
    ### END SOLUTION


# %% test=t27_check points=0.5 check=2.7
check("2.7", ridge_batch)

# %%
for machine in (A100, H100, ORIN_NANO):
    batches = {t: ridge_batch(4096, 4096, t, machine) for t in ("fp32", "bf16", "int8")}
    print(f"{machine.name:17} 4096 by 4096 crosses at batch {batches}")

# %% [markdown] task=q28 points=0.5
# ### Question 2.8: which hardware helps? (½ point, about 120 words, in a new cell below)
#
# A person reads and grades this one. Use numbers of your own from above.
#
# 1. The same network on an A100 and on a Jetson Orin Nano: does what an operator is bound by
#    change? Why, or why not?
# 2. You serve GPT-3 (decode, contexts of 2048). You may double one: the operations a second, the
#    bytes a second, or the bytes of memory. Which one helps most at batch 1? And which at a batch
#    that is as large as memory allows? Say for the weights' products and for attention.
#
# ### BEGIN MARK SCHEME
# 0.2: hardly. Intensity belongs to the operator; the ridges are close in bf16 (161 and 147
# operations a byte), though the machines differ by 60 in everything else. Operators between the
# two ridges change (0.1 for the reason, 0.1 for a number or an example).
# 0.15: batch 1: bandwidth, for both kinds; operations a second do nothing.
# 0.15: large batch: the weights' products cross the ridge near 170, then operations a second help
# them; attention still waits for bandwidth; memory allows a larger batch, which helps the weights'
# products until they cross. Any two of the three.
# ### END MARK SCHEME

# %% [markdown]
# ## What you built
#
# This is how serving is planned. vLLM batches as many sequences as the cache leaves room for:
# decode without a batch, as you have seen, uses less than one percent of what the chip can do.
# Llama 3 has grouped queries, since attention never crosses the ridge by itself. *Speculative
# decoding* lets a small model guess several tokens, so that the large one reads its weights once
# for all of them: it moves the dot to the right without a batch. The roofline itself is from Williams, Waterman and Patterson,
# *Roofline: An Insightful Visual Performance Model for Multicore Architectures* (2009); "How to
# Scale Your Model" of Google's TPU team plans whole clusters with it.
#
# In Lab 1B you move the dots: by fusing operators, by choosing
# what stays on the chip, and by taking smaller numbers.
