# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 3B, notebook 3: what it costs
#
# **4 points, about 90 minutes.** It stands alone: nothing from notebooks 1 and 2 is needed but
# their ideas (tensor, pipeline and data parallel).
#
# A famous course gives its students two H100s for a day and asks: which way of spreading a GPT is
# fastest, and how large a model fits? You have no H100. You have something better: a model on
# paper that answers for *any* cluster in a millisecond. In this notebook you build it, hold it
# against seven measurements from those two H100s, and let it search. Afterwards you can
#
# - say what fills a card in training, to the byte, and what each kind of parallelism does to it;
# - say how long a step takes, and where the time goes;
# - choose a plan for a cluster, and write it down for Megatron-LM.
#
# ![Predicted memory of the seven measured configurations as stacked bars of state, kept
# activations and logits; a mark shows what was measured](images/reality.svg)
#
# The bars are predictions, the marks are measurements. One kind of row is far off: we come to it.

# %%
from dataclasses import replace
from itertools import product
from pathlib import Path

import torch
from torch.autograd.graph import saved_tensors_hooks

from lab_utils.instruments.parallel import Cluster, Job, Memory, Plan, Work
from lab_utils.instruments.roofline import H100, item_bytes
from lab_utils.instruments.shapes import GPT_2560, Transformer
from lab_utils.labs.lab3b import (
    ALL_REDUCES,
    CLUSTER,
    GPT_JOB,
    MIB,
    TABLE,
    check,
    memory_beside,
    room,
    time_beside,
)

# %% [markdown]
# ## Model, job, plan
#
# | what | fields |
# |---|---|
# | a `Transformer` | `layers`, `width`, `heads`, `hidden` (inside the feed-forward part), `vocab`, `context` (its longest sequence). Here always as GPT-2 is: biases everywhere, no gate |
# | a `Job` | `tokens` of a sequence, `batch` (sequences of the whole step), `micro_batches` (into how many parts each replica cuts its share), `dtype` |
# | a `Plan` | the degrees `tp`, `pp`, `dp`; `recompute` (`"none"`, `"selective"`, `"full"`); `sequence_parallel` |
#
# What is cut is always cut evenly: `tp` divides heads and hidden, `pp` the layers, `dp *
# micro_batches` the batch. A plan takes `tp * pp * dp` cards.

# %%
print(GPT_2560)
print(GPT_JOB)
print(repr(Plan(tp=2, recompute="selective")), "is called", Plan(tp=2, recompute="selective"))

# %% [markdown]
# ## Task 3.1: parameters of a rank (½ point, about 12 lines)
#
# First what must be there even when nothing runs. Return a list: for each stage of the pipeline,
# the parameters of **one** of its ranks. This is what Megatron puts there:
#
# - **a layer**: two LayerNorms (weight and bias), and four linears with biases: `qkv` (from width
#   to 3 width), `out` (width to width), `up` (width to hidden), `down` (hidden to width). Tensor
#   parallel as in notebook 1: `qkv` and `up` are *column* parallel, `out` and `down` *row*
#   parallel. A row parallel linear adds its bias after the ranks' sums have met: the bias is whole;
# - **the first stage** also has the table of words and the table of positions (`context` by
#   `width`). Tensor parallel ranks share the words, not the positions;
# - **the last stage** also has one more LayerNorm, and the head. The head *is* the table of words
#   (their weights are tied). On one stage it is the same tensor. With `pp > 1` the last stage has
#   a copy;
# - the table of words has `vocab` rows, **padded** to the next multiple of `128 * tp`, so that
#   every rank gets a round number of them.
#
# Each stage has equally many layers.
#
# <details><summary>Help: I am not sure what is split</summary>
# Of a layer: all four matrices, and the biases of qkv and up. Not: the norms, the biases of out
# and down.
# </details>
# <details><summary>Help: the next multiple?</summary>
# <code>-(-vocab // (128 * tp)) * (128 * tp)</code>: dividing the negative number rounds up.
# </details>


# %% solution=t31
def rank_parameters(model: Transformer, tp: int, pp: int) -> list[int]:
    """Parameters of one rank of each stage."""
    ### BEGIN SOLUTION
    width, hidden, pad = model.width, model.hidden, 128 * tp
    words = -(-model.vocab // pad) * pad // tp
    matrices = (4 * width * width + 2 * width * hidden) // tp
    layer = matrices + (3 * width + hidden) // tp + 2 * width + 4 * width
    stages = [model.layers // pp * layer for _ in range(pp)]
    stages[0] += words * width + model.context * width
    stages[-1] += 2 * width
    if pp > 1:
        stages[-1] += words * width
    return stages
    ### END SOLUTION


# %% test=t31_check points=0.5 check=3.1
check("3.1", rank_parameters)

# %% [markdown]
# In the profiler's trace of the real run with tensor parallel on two H100s there is one all-reduce
# of a tensor with **148,492,800** numbers: all gradients of a rank. Is it yours?

# %%
print(f"{rank_parameters(GPT_2560, 1, 1)[0]:,} parameters on one card")
print(f"{rank_parameters(GPT_2560, 2, 1)[0]:,} on each of two that share the layers")

# %% [markdown]
# More than half: the norms and positions are on both. And without the padding to 256 it would be
# 163,840 less.
#
# ## What a layer keeps
#
# Forward makes numbers that backward needs. PyTorch can tell which: `saved_tensors_hooks` calls a
# function of ours with every tensor that autograd keeps. We count their bytes, each storage once,
# and leave parameters out. This is **the judge of the next task**: it does the same with a whole
# transformer layer.


# %%
def kept_bytes(run, parameters=()):
    """Bytes that autograd keeps while `run()` goes forward."""
    kept = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        kept[storage._cdata] = storage
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        run()
    own = {parameter.untyped_storage()._cdata for parameter in parameters}
    return sum(storage.nbytes() for key, storage in kept.items() if key not in own)


# On the meta device tensors have a shape and no data: nothing is computed, at any size.
with torch.device("meta"):
    x = torch.empty(10, 3, 8, requires_grad=True)  # tokens, batch, width
    norm, up = torch.nn.LayerNorm(8), torch.nn.Linear(8, 32)
numbers = 10 * 3 * 8
print(kept_bytes(lambda: norm(x), norm.parameters()), "bytes: input, and two numbers a token")
print(kept_bytes(lambda: up(x), up.parameters()), f"bytes: input, {numbers} numbers")
print(kept_bytes(lambda: torch.nn.functional.gelu(x)), "bytes: input")
print(kept_bytes(lambda: torch.softmax(x, -1)), "bytes: output")
print(kept_bytes(lambda: torch.native_dropout(x, 0.1, True)), "bytes: a mask, one byte a number")
print(kept_bytes(lambda: x + x), "bytes: a sum needs nothing")

# %% [markdown]
# ## Task 3.2: what a layer keeps (¾ point, about 15 lines)
#
# This is the layer of Megatron, with what each step keeps. `e` is the size of a number in the
# job's dtype (`item_bytes(dtype)`).
#
# | step | keeps |
# |---|---|
# | LayerNorm | its input; mean and 1/deviation of each token, **always in FP32** |
# | `qkv` | its input, which is the norm's output |
# | scores: queries times keys, scaled, masked | queries and keys |
# | softmax, of every head for every pair of tokens | its output |
# | dropout | a mask of **one byte** for each number |
# | mix: what dropout made, times the values | both |
# | `out` | its input |
# | dropout, residual sum | a mask of one byte for each number |
# | LayerNorm | as above |
# | `up` | its input |
# | GELU | its input |
# | `down` | its input |
# | dropout, residual sum | a mask of one byte for each number |
#
# (Scaling, masking and sums keep nothing. Queries, keys and values are one tensor of `3 width`.)
#
# Return the bytes that **one rank** keeps of one layer, for `batch` sequences of `tokens` tokens:
#
# - **tensor parallel**: ranks share the heads (softmax, its dropout, the mix), queries, keys and
#   values, the input of `out`, and the `hidden` numbers. Norms, the inputs of `qkv` and `up`, and
#   the two dropouts before the residual sums are whole on every rank;
# - `plan.sequence_parallel` cuts just these along the tokens: then each rank has 1/tp of them too
#   (`tp` divides the tokens; the inputs of `qkv` and `up` are gathered again in backward);
# - `plan.recompute == "selective"` runs **the core of attention** again: scores, softmax, its
#   dropout, mix. It keeps queries, keys and values, and of the core nothing else;
# - `"full"` runs the whole layer again: it keeps the input of the layer and nothing else. (That is
#   the input of the first norm, so `sequence_parallel` cuts it as well.)
#
# <details><summary>Help: one card, FP32, nothing again?</summary>
# With n = tokens · batch · width: inputs of two norms and two column parallel linears are 16 n
# bytes, two masks 2 n, queries, keys, values and out's input 16 n, statistics 16 · tokens · batch.
# GELU's input and output are 8 · tokens · batch · hidden. The core: 4 + 1 + 4 bytes for every head
# and pair of tokens.
# </details>


# %% solution=t32
def layer_bytes(model: Transformer, tokens: int, batch: int, dtype: str, plan: Plan) -> int:
    """Bytes that one rank keeps of one layer between forward and backward."""
    ### BEGIN SOLUTION
    e, pairs = item_bytes(dtype), tokens * batch
    numbers = pairs * model.width
    shared = plan.tp if plan.sequence_parallel else 1
    if plan.recompute == "full":
        return e * numbers // shared
    everywhere = (4 * e + 2) * numbers + 16 * pairs
    split = e * (4 * numbers + 2 * pairs * model.hidden)
    if plan.recompute == "none":
        split += (2 * e + 1) * model.heads * tokens * pairs
    return everywhere // shared + split // plan.tp
    ### END SOLUTION


# %% test=t32_check points=0.75 check=3.2
check("3.2", layer_bytes)

# %%
for dtype in ("fp32", "bf16"):
    for plan in (
        Plan(),
        Plan(tp=2),
        Plan(tp=2, sequence_parallel=True),
        Plan(tp=2, recompute="selective"),
        Plan(tp=2, recompute="selective", sequence_parallel=True),
        Plan(tp=2, recompute="full"),
    ):
        kept = layer_bytes(GPT_2560, 2048, 4, dtype, plan)
        print(f"{dtype}  {plan!s:14} {kept / 2**20:8.1f} MiB")

# %% [markdown]
# In BF16 this is the formula of Korthikanti et al. (2022), `sbh (34 + 5 as/h)`, where s is tokens,
# b batch, h width and a heads; only the statistics of the norms are new. Look at how much of it is
# the core of attention: selective recomputation drops just that, and it is little work to make
# again. (FlashAttention never writes these numbers to memory at all.)
#
# ## Task 3.3: the peak of a rank (½ point, about 15 lines)
#
# Return a list: for each stage `Memory(state, kept, logits)`, the bytes of one of its ranks when
# it is fullest.
#
# - `state`: parameter, gradient and AdamW's two moments, FP32 each: **16 bytes** a parameter.
#   (Mixed precision needs the same: 2 + 2 for the half-size copies, 4 + 4 + 4 for master weights
#   and moments.) Each replica has all of it; ZeRO would share it, and is not used here;
# - `kept`: every layer of the stage keeps `layer_bytes`, for **every micro-batch in flight**.
#   A micro-batch has `batch / dp / micro_batches` sequences. Under 1F1B (notebook 2) stage i, the first
#   being 0, has at most `min(micro_batches, pp - i)` of them in flight. And while a layer is worked on in
#   backward, it is **whole**: what was to be made again is there, for one layer and one
#   micro-batch at a time;
# - `logits`: only in the last stage. Three buffers are alive: the logits, their softmax, their
#   gradient. Each has a number for every token of the micro-batch and every row of the (padded,
#   split) table of words, and is **FP32** whatever the dtype.
#
# The number three is the one thing in this model that was **fitted**, by looking at three of the
# measurements below (one card, TP2, DP2): with two buffers the model is 11 % too low in all three,
# with three buffers 3 to 5 %. Left out: the input of the last norm, the embedding's dropout,
# and what backward needs for a moment.
#
# <details><summary>Help: the layer in work?</summary>
# It adds <code>layer_bytes</code> without recomputation minus <code>layer_bytes</code> with it,
# once. <code>replace(plan, recompute="none")</code> is the plan without.
# </details>


# %% solution=t33
def peak_memory(model: Transformer, job: Job, plan: Plan) -> list[Memory]:
    """Bytes of one rank of each stage at its fullest."""
    ### BEGIN SOLUTION
    micro = job.batch // plan.dp // job.micro_batches
    at = (model, job.tokens, micro, job.dtype)
    kept = layer_bytes(*at, plan)
    in_work = layer_bytes(*at, replace(plan, recompute="none")) - kept
    pad = 128 * plan.tp
    words = -(-model.vocab // pad) * pad // plan.tp
    found = []
    for stage, parameters in enumerate(rank_parameters(model, plan.tp, plan.pp)):
        in_flight = min(job.micro_batches, plan.pp - stage)
        held = in_flight * (model.layers // plan.pp) * kept + in_work
        logits = 3 * 4 * job.tokens * micro * words if stage == plan.pp - 1 else 0
        found.append(Memory(16 * parameters, held, logits))
    return found
    ### END SOLUTION


# %% test=t33_check points=0.5 check=3.3
check("3.3", peak_memory)

# %% [markdown]
# ## Reality, part one
#
# Your model beside two real H100s: the GPT above, FP32, a batch of 4 sequences of 2048 tokens, one
# micro-batch. "AR" is selective recomputation.

# %%
memory_beside(peak_memory)

# %% [markdown]
# The fullest rank of every configuration is within 7 %, and always a little low, as it should be:
# we left things out. What nobody fitted is what recomputation **saves**. It cannot save the layer
# in work. So with two layers it saves one core of attention, and with one layer in each stage (the
# pipeline) nothing:

# %%
rows = {row.plan: row for row in TABLE}
for plan in (Plan(tp=2), Plan(dp=2), Plan(pp=2)):
    again = replace(plan, recompute="selective")
    mine = [max(m.total for m in peak_memory(GPT_2560, GPT_JOB, p)) / MIB for p in (plan, again)]
    real = rows[plan].peak - rows[again].peak
    print(f"{plan}: predicted saving {mine[0] - mine[1]:6,.0f} MiB, measured {real:6,} MiB")

# %% [markdown]
# One row is **wrong by a third**: stage 0 of the pipeline. It has no logits, so the model says
# 9 GiB, and 14 were measured. A model that fails tells you where to look. Stage 0 is fullest at
# another moment: in the backward of attention, when gradients as large as the scores live for a
# moment, one of what dropout made and one of the softmax.

# %%
scores = 4 * GPT_2560.heads * GPT_JOB.tokens**2 * GPT_JOB.batch
first = peak_memory(GPT_2560, GPT_JOB, Plan(pp=2))[0].total
print(f"model                   {first / MIB:8,.0f} MiB")
print(f"with two more buffers   {(first + 2 * scores) / MIB:8,.0f} MiB")
print(f"measured                {rows[Plan(pp=2)].peaks[0]:8,} MiB")

# %% [markdown]
# That explains most of it. But mind: we looked first and explained then. It is an explanation, not
# a prediction, and so it is not part of the model.
#
# ### How deep a model fits?
#
# Your function, and sliders. The dashed line is the card. Predict before you look: which of state,
# kept and logits shrinks with TP, with PP, with DP?

# %%
room(peak_memory)

# %% [markdown]
# ## Task 3.4: FLOPs of a rank (¼ point, about 12 lines)
#
# Now the time, and first the work. Return a list: for each stage `Work(dense, attention)`, the
# FLOPs of **one rank for one micro-batch**: its forward, its backward, and what runs again.
#
# - A product of `[M, K]` and `[K, N]` is 2 · M · N · K; `tp` ranks share each evenly.
# - `dense`: the four linears of every layer of the stage, and in the last stage the head (every
#   token meets every row of the padded table of words).
# - `attention`: scores and mix, all pairs of tokens (the mask comes after the product).
# - Backward takes **two** products for each one of forward: for the gradients of both factors.
# - `"selective"` runs the attention of every layer forward once more, `"full"` all of every layer
#   (never the head).
#
# PyTorch's `FlopCounterMode` is the judge.


# %% solution=t34
def rank_work(model: Transformer, job: Job, plan: Plan) -> list[Work]:
    """FLOPs of one rank of each stage for one micro-batch: forward, backward, what runs again."""
    ### BEGIN SOLUTION
    micro = job.batch // plan.dp // job.micro_batches
    pairs, layers = job.tokens * micro, model.layers // plan.pp
    pad = 128 * plan.tp
    words = -(-model.vocab // pad) * pad
    linears = 2 * pairs * (4 * model.width**2 + 2 * model.width * model.hidden) // plan.tp
    core = 4 * pairs * job.tokens * model.width // plan.tp
    dense = layers * linears * (4 if plan.recompute == "full" else 3)
    attention = layers * core * (3 if plan.recompute == "none" else 4)
    head = 3 * 2 * pairs * model.width * words // plan.tp
    return [
        Work(dense + (head if stage == plan.pp - 1 else 0), attention) for stage in range(plan.pp)
    ]
    ### END SOLUTION


# %% test=t34_check points=0.25 check=3.4
check("3.4", rank_work)

# %% [markdown]
# ## The cards, and the link between them
#
# A `Cluster` has a `machine` (Lab 1A's roofline: `cluster.machine.rate(dtype)` is operations a
# second), a number of `cards`, the `latency` and the bandwidth (`link`) of a message, and two
# shares of the rate that real code reaches: `dense` and `attention`. Where do they come from?
#
# **The shares** are read off the run on *one* card: 394.5 ms for a step, 24.5 ms of it in the
# forward core of attention (backward: twice that).

# %%
work = rank_work(GPT_2560, GPT_JOB, Plan())[0]
core = rows[Plan()].core / 1e3
rest = rows[Plan()].iteration / 1e3 - 3 * core
rate = H100.rate("fp32")
print(
    f"all of it  {sum(work) / 1e12:.1f} TFLOP in a step, the card's best is {rate / 1e12:.0f} T/s"
)
print(f"dense      {work.dense / rest / rate:.3f} of the rate")
print(f"attention  {work.attention / (3 * core) / rate:.3f} of the rate")
moved = 8.25 * 4 * GPT_2560.heads * GPT_JOB.tokens**2 * GPT_JOB.batch * GPT_2560.layers
roof = H100.attainable(work.attention / 3 / moved, "fp32")
print(f"the roof over attention: {roof / rate:.3f} of the rate")

# %% [markdown]
# Why is attention so slow? Lab 1A knows: this run writes the scores to memory and reads them back
# step after step (product, mask, softmax, dropout, mix: about 8 passes). It is bound by memory, and
# cannot reach more than half of the rate.
#
# **The link** is a line through two measured all-reduces. A ring over n ranks takes 2 (n − 1)
# steps with 1/n of the bytes each, so on two cards it is `2 * latency + bytes / link`. The third
# measurement was not used. Does the line meet it?

# %%
(small, quick), (large, slow), (gradients, seen) = ALL_REDUCES
link = (large - small) / (slow - quick) * 1e3
latency = (quick / 1e3 - small / link) / 2
print(f"link {link / 1e9:.1f} GB/s, latency {latency * 1e6:.1f} µs")
print(f"all gradients: predicted {1e3 * (2 * latency + gradients / link):.2f} ms, seen {seen} ms")
for name in ("cards", "latency", "link", "dense", "attention"):
    print(f"CLUSTER.{name} = {getattr(CLUSTER, name):g}")

# %% [markdown]
# ## Task 3.5: the time of a step (½ point, about 20 lines)
#
# Return the seconds of one step. Nothing overlaps but the stages of the pipeline.
#
# 1. **A stage, one micro-batch**: dense FLOPs at `rate * cluster.dense`, attention FLOPs at
#    `rate * cluster.attention`. And the all-reduces of the tensor parallel ranks, each of
#    one activation (tokens times sequences of the micro-batch times width, in the job's dtype):
#    **4** for each layer (two forward, two backward), 2 more for each layer with `"full"`, since
#    forward runs again with its all-reduces; the first stage has 1 more (the embedding), the last
#    stage 1 more (the head).
# 2. **The pipeline**: the first micro-batch goes through all stages, one after the other. Each
#    further one costs as much as the **slowest** stage. From stage to stage an activation goes
#    forward and a gradient comes back: `2 (pp - 1)` messages of one activation, each
#    `latency + bytes / link`. Count those of one micro-batch alone: those of the others travel
#    while the stages work.
# 3. **At the end**: the replicas add up their gradients, FP32, an all-reduce over `dp` ranks; the
#    stage with the most parameters decides. With `pp > 1` the two copies of the table of words
#    (one rank's share of it, FP32) then meet in an all-reduce over 2 ranks.
#
# An all-reduce over n ranks is a ring: 2 (n − 1) steps, each `latency + bytes / n / link`. Over
# one rank it is nothing.


# %% solution=t35
def step_time(model: Transformer, job: Job, plan: Plan, cluster: Cluster) -> float:
    """Seconds of one training step."""

    ### BEGIN SOLUTION
    def all_reduce(nbytes: float, ranks: int) -> float:
        return 2 * (ranks - 1) * (cluster.latency + nbytes / ranks / cluster.link)

    micro = job.batch // plan.dp // job.micro_batches
    activation = job.tokens * micro * model.width * item_bytes(job.dtype)
    rate = cluster.machine.rate(job.dtype)
    stages = []
    for stage, work in enumerate(rank_work(model, job, plan)):
        compute = work.dense / cluster.dense + work.attention / cluster.attention
        meetings = (6 if plan.recompute == "full" else 4) * (model.layers // plan.pp)
        meetings += (stage == 0) + (stage == plan.pp - 1)
        stages.append(compute / rate + meetings * all_reduce(activation, plan.tp))
    seconds = sum(stages) + (job.micro_batches - 1) * max(stages)
    seconds += 2 * (plan.pp - 1) * (cluster.latency + activation / cluster.link)
    seconds += all_reduce(4 * max(rank_parameters(model, plan.tp, plan.pp)), plan.dp)
    if plan.pp > 1:
        pad = 128 * plan.tp
        table = -(-model.vocab // pad) * pad // plan.tp * model.width
        seconds += all_reduce(4 * table, 2)
    return seconds
    ### END SOLUTION


# %% test=t35_check points=0.5 check=3.5
check("3.5", step_time)

# %% [markdown]
# ## Reality, part two

# %%
time_beside(step_time)

# %% [markdown]
# The first row is exact because we made it so. The rest is prediction. PP2 gains **nothing**: one
# micro-batch is in one stage at a time. Recomputation costs one more forward pass of attention
# (measured: 14, 14 and 26 ms; predicted: 12, 12 and 25). Two cards that share the work are 8 %
# slower than we say. The matrix products are not to blame: their 304 ms became 153 and 157. What
# does not halve must be something else; launching kernels, AdamW over all parameters (DP), norms
# and dropouts on all tokens (TP) are candidates.
#
# With more micro-batches the pipeline fills:

# %%
for micro_batches in (1, 2, 4, 8, 16, 32):
    job = Job(2048, 32, micro_batches)
    alone = step_time(GPT_2560, job, Plan(), CLUSTER)
    gain = alone / step_time(GPT_2560, job, Plan(pp=2), CLUSTER)
    print(f"{micro_batches:3} micro-batches: PP2 is {gain:.2f} times as fast as one card")

# %% [markdown]
# It stays far below 2, whatever the bubble: the head makes the second stage twice as long.
#
# ## Task 3.6: the best plan (½ point, about 15 lines)
#
# Return the **fastest** `Plan` whose **every** rank fits on its card (at most
# `cluster.machine.memory` bytes), or `None` if there is none. Try everything: all `tp`, `pp`, `dp`
# with `tp * pp * dp == cluster.cards` that cut heads, hidden, layers and batch evenly (see *Model,
# job, plan*), with `recompute` `"none"` and `"selective"`, not sequence parallel. Of several that
# are equally fast, any will do.
#
# <details><summary>Help: what must fit?</summary>
# <code>max(rank.total for rank in peak_memory(model, job, plan))</code> is what the fullest rank
# needs. A card is not shared.
# </details>


# %% solution=t36
def best_plan(model: Transformer, job: Job, cluster: Cluster) -> Plan | None:
    """The fastest plan that fits, or None."""
    ### BEGIN SOLUTION
    best, least = None, float("inf")
    degrees = [n for n in range(1, cluster.cards + 1) if cluster.cards % n == 0]
    for tp, pp, recompute in product(degrees, degrees, ("none", "selective")):
        if cluster.cards % (tp * pp) or model.heads % tp or model.hidden % tp or model.layers % pp:
            continue
        plan = Plan(tp, pp, cluster.cards // (tp * pp), recompute)
        if job.batch % (plan.dp * job.micro_batches):
            continue
        if max(rank.total for rank in peak_memory(model, job, plan)) > cluster.machine.memory:
            continue
        seconds = step_time(model, job, plan, cluster)
        if seconds < least:
            best, least = plan, seconds
    return best
    ### END SOLUTION


# %% test=t36_check points=0.5 check=3.6
check("3.6", best_plan)

# %% [markdown]
# Another network, another winner:

# %%
deep = replace(GPT_2560, layers=48)
job = Job(2048, 32, 8, "bf16")
for name, link in (("NVLink", 339.5e9), ("PCIe", 25e9), ("Ethernet", 1.2e9)):
    cluster = replace(CLUSTER, cards=8, link=link)
    plan = best_plan(deep, job, cluster)
    print(f"{name:9} {plan!s:12}", f"{step_time(deep, job, plan, cluster):6.2f} s" if plan else "")

# %% [markdown]
# ## Task 3.7: the largest model (¼ point, about 12 lines)
#
# Return `(layers, plan)`: the most layers that fit (a multiple of `step`), and a plan in which
# every rank fits; or `None` if not even `step` layers do. Which plan, if several hold them, is
# yours to choose. The plans are those of task 3.6. `step` is a multiple of the number of cards, so
# every pipeline cuts every depth evenly. Then a plan that has no room for some depth has none for
# a larger one.


# %% solution=t37
def largest_model(
    model: Transformer, job: Job, cluster: Cluster, step: int
) -> tuple[int, Plan] | None:
    """The most layers that fit, and a plan that holds them."""
    ### BEGIN SOLUTION
    found, layers = None, step
    while True:
        deeper = replace(model, layers=layers)
        fits = []
        for tp, pp in product(range(1, cluster.cards + 1), repeat=2):
            if cluster.cards % (tp * pp) or model.heads % tp or model.hidden % tp or layers % pp:
                continue
            dp = cluster.cards // (tp * pp)
            if job.batch % (dp * job.micro_batches) == 0:
                plans = (Plan(tp, pp, dp, recompute) for recompute in ("none", "selective"))
                for plan in plans:
                    fullest = max(rank.total for rank in peak_memory(deeper, job, plan))
                    fits += [plan] if fullest <= cluster.machine.memory else []
        if not fits:
            return found
        found, layers = (layers, fits[0]), layers + step
    ### END SOLUTION


# %% test=t37_check points=0.25 check=3.7
check("3.7", largest_model)

# %%
for tokens in (1024, 2048):
    found = largest_model(GPT_2560, Job(tokens, 4), CLUSTER, 24)
    if found:
        layers, plan = found
        size = sum(rank_parameters(replace(GPT_2560, layers=layers), 1, 1)) / 1e9
        print(f"{tokens} tokens: {layers} layers, {size:.1f} billion parameters, {plan}")

# %% [markdown]
# The students of that course found **72 layers**, 5.8 billion parameters, on sequences of "2048".
# Your model says 48. Who is right? Both: their training script cuts every sequence to the limit of
# GPT-2's tokenizer, 1024 tokens, without a word. A model on paper found what a log did not show.
#
# ## Task 3.8: a file for Megatron (¼ point, about 20 lines)
#
# On a real cluster, Accelerate reads a YAML file and starts Megatron-LM. These two are given:

# %%
SINGLE = """\
compute_environment: LOCAL_MACHINE
distributed_type: MEGATRON_LM
megatron_lm_config:
  megatron_lm_gradient_clipping: 1.0
  megatron_lm_num_micro_batches: 1
  megatron_lm_pp_degree: 1
  megatron_lm_recompute_activations: false
  megatron_lm_sequence_parallelism: false
  megatron_lm_tp_degree: 1
mixed_precision: 'no'
num_machines: 1
num_processes: 1
"""
TP2 = SINGLE.replace("tp_degree: 1", "tp_degree: 2").replace("num_processes: 1", "num_processes: 2")
print(TP2)

# %% [markdown]
# Return the text of such a file for any plan and job:
#
# - one process for each card. **There is no key for dp**: Megatron takes what is left of
#   `num_processes` after `tp` and `pp`;
# - `megatron_lm_recompute_activations: true` is selective recomputation (`"full"` is not asked for
#   here);
# - `mixed_precision` is `bf16`, `fp16`, or for FP32 `'no'`. The quotes matter: a bare `no` is the
#   truth value *false* in YAML.


# %% solution=t38
def megatron_yaml(plan: Plan, job: Job) -> str:
    """The text of Accelerate's file for this plan."""
    ### BEGIN SOLUTION
    precision = {"fp32": "'no'"}.get(job.dtype, job.dtype)
    return f"""\
compute_environment: LOCAL_MACHINE
distributed_type: MEGATRON_LM
megatron_lm_config:
  megatron_lm_gradient_clipping: 1.0
  megatron_lm_num_micro_batches: {job.micro_batches}
  megatron_lm_pp_degree: {plan.pp}
  megatron_lm_recompute_activations: {str(plan.recompute == "selective").lower()}
  megatron_lm_sequence_parallelism: {str(plan.sequence_parallel).lower()}
  megatron_lm_tp_degree: {plan.tp}
mixed_precision: {precision}
num_machines: 1
num_processes: {plan.cards}
"""
    ### END SOLUTION


# %% test=t38_check points=0.25 check=3.8
check("3.8", megatron_yaml)

# %% [markdown]
# The five files that the course asks for, beside this notebook:

# %%
for plan in (
    Plan(pp=2),
    Plan(dp=2),
    Plan(tp=2, recompute="selective"),
    Plan(pp=2, recompute="selective"),
    Plan(dp=2, recompute="selective"),
):
    file = Path(f"{str(plan).lower().replace('+', '_')}.yaml")
    file.write_text(megatron_yaml(plan, GPT_JOB), encoding="utf-8")
    print(file, end="  ")

# %% [markdown]
# ## Task 3.9: the ideal speed-up (¼ point, about 2 lines)
#
# The course ends with five questions. This one has an answer that can be computed: if
# communication cost **nothing**, how many times as fast as one card would `dp` replicas of a
# pipeline of `pp` stages be? All stages take equally long, every replica cuts its share into
# `micro_batches`.


# %% solution=t39
def ideal_speedup(dp: int, pp: int, micro_batches: int) -> float:
    """How many times as fast as one card, if communication cost nothing."""
    ### BEGIN SOLUTION
    return dp * pp * micro_batches / (micro_batches + pp - 1)
    ### END SOLUTION


# %% test=t39_check points=0.25 check=3.9
check("3.9", ideal_speedup)

# %% [markdown] task=q310 points=0.25
# ### Question 3.10: the other four (¼ point, about 120 words, in a new cell below)
#
# A person reads and grades this one. Use numbers of your own from above.
#
# 1. Which configuration on two cards has the highest, which the lowest speed-up, and why?
# 2. Why would anybody use a plan that makes nothing faster?
# 3. Do the ranks of tensor parallel run the same operators? On the same shapes?
# 4. And the stages of a pipeline?
#
# ### BEGIN MARK SCHEME
# 0.1: highest TP2 and DP2 (both 1.81 measured; predicted 1.96), lowest PP2+AR (0.93), or PP2 (0.99)
# without recomputation: with one micro-batch only one stage works at a time (bubble 1/2), and
# recomputation adds a pass of attention. Both ends with a reason.
# 0.05: memory: PP2+AR (or TP2+AR) holds 72 layers where one card holds 24 or so; a slow network;
# more micro-batches fill the pipeline. Any one, with a number.
# 0.05: yes, the same operators in the same order, on shapes that are 1/tp in heads, hidden numbers
# and words (norms and residuals are whole).
# 0.05: no: the first has the embedding, the last the final norm, head and loss; in between the
# layers are the same. They also send and receive in different directions.
# ### END MARK SCHEME

# %% [markdown]
# ## What you built
#
# This is how large runs are planned. Megatron-LM's authors publish such formulas with every
# release (Narayanan et al., *Efficient Large-Scale Language Model Training on GPU Clusters*, 2021;
# Korthikanti et al., *Reducing Activation Recomputation in Large Transformer Models*, 2022), and
# Llama 3's paper has a table of `tp`, `cp`, `pp`, `dp` that came out of a search like yours.
# *How to Scale Your Model* and the *Ultra-Scale Playbook* do it for other machines.
#
# Left out on purpose: ZeRO and FSDP (sharing the state among replicas), overlap of communication
# with work, FlashAttention (it makes the core of attention disappear from `kept`), and networks of
# many levels. Lab 4B puts the network in. The course's sheet of profiler readings is not asked
# for, since there is no card to read: its seven rows are the measurements that you met. Its rows
# for kernels and host time are not used.
