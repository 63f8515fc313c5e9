# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 4B, notebook 2: a training job on a network
#
# **6 points, about 140 minutes.** It stands alone: nothing from notebook 1 is needed. It goes on
# where Labs 1A (the roofline) and 3B (ranks, rings, memory) ended.
#
# Somebody gives you 64 devices and a model. 56 ways to spread the training over them come to mind.
# The best takes 7 seconds a step, the worst 45. A famous course lets its students run 20 of the 56
# in AstraSim, a simulator, for ten to twenty minutes **each**. You will build a simulator of your
# own that tries all 56 in less than two seconds, hold it against what AstraSim said, and ask it
# what no table can answer: *what if*. Afterwards you can
#
# - write a collective for any network, run it on data, and say what it costs;
# - say what each kind of parallelism sends, and what it holds;
# - find the best strategy for a machine that you have never seen, and say **why** it is the best.
#
# ![56 strategies as two triangles of cells, coloured by the time of a step. A thick line surrounds
# the few cells that fit into 80 GB, all of them with recomputation and much tensor
# parallelism](images/strategies.svg)
#
# The map at the end of your way: bright is fast, and only what is inside the line fits.

# %%
from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path

import numpy as np

from lab_utils.instruments.network.astrasim import read_system
from lab_utils.instruments.network.dims import Dim, System
from lab_utils.instruments.network.job import axes_of, simulate
from lab_utils.instruments.network.schedule import (
    Send,
    ring_all_reduce,
    run_schedule,
    schedule_seconds,
    sent_by,
    whose_numbers,
)
from lab_utils.instruments.network.strategy import Strategy, Traffic
from lab_utils.instruments.network.traces import read_traces, write_traces
from lab_utils.instruments.network.workload import groups_of, stage_traces
from lab_utils.instruments.parallel import Job, Memory
from lab_utils.instruments.roofline import item_bytes
from lab_utils.instruments.shapes import LLAMA2_70B, Transformer
from lab_utils.labs.lab4b import (
    ASTRASIM,
    ASTRASIM_IN_PARTS,
    GPT_175B,
    JOB,
    LLAMA_70B,
    NETWORK_1,
    PUBLISHED,
    SYSTEM_1,
    SYSTEM_2,
    SYSTEM_JSON,
    Row,
    StageLoad,
    check,
    public_cases,
    rank_correlation,
    strategy_map,
)

# %% [markdown]
# ## A collective is a list of messages
#
# In Lab 3B you wrote a ring all-reduce that ran on ranks. Here a collective is **data**: a list of
# steps, each a list of messages. Everybody's data is cut into as many chunks as there are ranks.
#
# `Send(src, dst, chunks, add)`: rank `src` sends these chunks to rank `dst`. With `add=True` the
# receiver adds them to its own, with `add=False` it puts them in their place. All messages of a
# step leave before any arrives.
#
# This is the ring, for three ranks:

# %%
ring = ring_all_reduce(3)
for number, step in enumerate(ring):
    print(number, *(f"{m.src}→{m.dst}: {m.chunks} {'add' if m.add else 'put'};" for m in step))

# %% [markdown]
# Data can be run. Rank r starts with the number 10ʳ in every chunk, so that a sum shows who is in
# it: 111 is everybody, once.

# %%
start = np.array([[10**rank] * 3 for rank in range(3)])
print(run_schedule(start, ring[:2]), "after two steps: one complete chunk on each rank")
print(run_schedule(start, ring), "in the end")
print("chunks that each rank sends:", sent_by(3, ring))

# %% [markdown]
# ## Task 2.1: everybody to everybody (½ point, about 5 lines)
#
# On a **fully connected** network each pair of ranks has a link of its own. A ring leaves most of
# them idle. The *direct* all-reduce uses all of them, in **two steps**:
#
# 1. rank r is responsible for chunk r: everybody sends it there, and r adds up;
# 2. everybody sends the chunk that it is responsible for to everybody else.
#
# Return the list of the two steps.
#
# <details><summary>Help: which chunk goes from a to b?</summary>
# In step 1 the chunk of the receiver, (b,), to be added. In step 2 the chunk of the sender, (a,).
# It is complete: it replaces what b has.
# </details>


# %% solution=t21
def direct(ranks: int) -> list[list[Send]]:
    """An all-reduce in two steps, each rank sending to all others."""
    ### BEGIN SOLUTION
    pairs = [(a, b) for a in range(ranks) for b in range(ranks) if a != b]
    add_up = [Send(a, b, (b,), True) for a, b in pairs]
    hand_out = [Send(a, b, (a,), False) for a, b in pairs]
    return [add_up, hand_out]
    ### END SOLUTION


# %% test=t21_check points=0.5 check=2.1
check("2.1", direct)

# %% [markdown]
# ## Task 2.2: halving and doubling (½ point, about 15 lines)
#
# Behind a **switch** a rank has one link: it can send to anybody, but to one at a time. A ring
# would take 2 (n − 1) steps. If n is a power of two, 2 log₂ n are enough:
#
# - **halving**: at distance n/2, then n/4, … 1, each rank meets the partner `rank ^ distance`. Both
#   split the chunks that they are still responsible for into two halves. Each gives one half away
#   (`add=True`) and stays responsible for the other;
# - then every rank has one complete chunk. **Doubling**: the same meetings in the opposite order.
#   Each gives the partner all that it has complete (`add=False`).
#
# With four ranks rank 0 sends two chunks to rank 2, one to rank 1, one to rank 1, two to rank 2.
#
# <details><summary>Help: who keeps which half?</summary>
# Both partners must agree. Keep the chunks c whose bit is as your own:
# <code>c & distance == rank & distance</code>. In the end rank r is responsible for chunk r.
# </details>
# <details><summary>Help: doubling</summary>
# Turn the list of halving steps round. Where a message went from a to b with some chunks, now b
# sends the same chunks to a, complete.
# </details>


# %% solution=t22
def halving_doubling(ranks: int) -> list[list[Send]]:
    """An all-reduce in 2 log2(ranks) steps; each rank sends to one other at a time."""
    ### BEGIN SOLUTION
    halving = []
    mine = {rank: list(range(ranks)) for rank in range(ranks)}
    distance = ranks // 2
    while distance >= 1:
        step = []
        for rank in range(ranks):
            given = [c for c in mine[rank] if c & distance != rank & distance]
            step.append(Send(rank, rank ^ distance, tuple(given), True))
            mine[rank] = [c for c in mine[rank] if c & distance == rank & distance]
        halving.append(step)
        distance //= 2
    doubling = [[Send(m.dst, m.src, m.chunks, False) for m in step] for step in halving[::-1]]
    return halving + doubling
    ### END SOLUTION


# %% test=t22_check points=0.5 check=2.2
check("2.2", halving_doubling)

# %% [markdown]
# Both send as little as the ring, in far fewer steps. What is it worth? Count: a step costs the
# latency, and the bytes of its longest message over the bandwidth. (Through a switch a message
# takes two links, so it pays the latency twice.) AstraSim's published times for 1 MiB on 8 ranks:

# %%
for (kind, size), name, make in (
    (("Ring", 8), "ring", ring_all_reduce),
    (("Switch", 8), "halving-doubling", halving_doubling),
    (("FullyConnected", 8), "direct", direct),
):
    dim = Dim(kind, size, 50 * 2**30, 500e-9)
    nanoseconds = 1e9 * schedule_seconds(2**20, 8, make(8), dim)
    said = next(ns for dims, ns in ASTRASIM if dims == ((kind, size),))
    print(f"{name:16} {len(make(8)):2} steps: counted {nanoseconds:7,.0f} ns, AstraSim {said:,} ns")

# %% [markdown]
# AstraSim is 2 to 5 % above the count: it adds a delay at the end points, some 130 ns a step. So
# the count is good. But look again at the first two rows. Fewer steps gained next to nothing: at
# this size **bytes** decide, not steps. What would you expect for 1 KiB?

# %%
for nbytes in (2**10, 2**20, 2**30):
    slow, quick = (
        1e6 * schedule_seconds(nbytes, 8, make(8), Dim(kind, 8, 50 * 2**30, 500e-9))
        for kind, make in (("Ring", ring_all_reduce), ("Switch", halving_doubling))
    )
    print(f"{nbytes:13,} bytes: ring {slow:12,.1f} µs, halving-doubling {quick:12,.1f} µs")

# %% [markdown]
# ## Task 2.3: dimension by dimension (½ point, about 20 lines)
#
# Large networks have **dimensions**: eight devices in a box, boxes in a rack, racks in a hall. A
# rank has a coordinate in each: `rank = x0 + size0 * (x1 + size1 * (x2 …))`. Links go along
# dimensions: two ranks can talk if they differ in **one** coordinate.
#
# An all-reduce goes through the dimensions in their order, then back:
#
# - along dimension 0, add up all chunks, so that each rank of the row is responsible for 1/size0
#   of them;
# - along dimension 1, add up **only what you are responsible for**; and so on;
# - then hand out in the opposite order: the last dimension first.
#
# So the first dimension carries most, and the last one, which is the slowest, least. Return the
# steps for dimensions of these sizes (`[4, 2]`: eight ranks, eight chunks). How you add up along a
# dimension is yours to choose; *direct* is the shortest to write.
#
# <details><summary>Help: the ranks of a row</summary>
# With <code>inner</code> the product of the sizes before this dimension, the coordinate is
# <code>rank // inner % size</code>, and a rank whose coordinate is larger by 1 has a number that
# is larger by <code>inner</code>.
# </details>
# <details><summary>Help: a plan</summary>
# Keep a list of chunks that each rank is responsible for: all of them at first. For each
# dimension cut it into <code>size</code> equal parts: part i belongs to the rank of the row with
# coordinate i. Send the others' parts away. The way back is the same list of steps, turned round,
# as in task 2.2.
# </details>


# %% solution=t23
def hierarchical(sizes: list[int]) -> list[list[Send]]:
    """An all-reduce along one dimension after the other, and back."""
    ### BEGIN SOLUTION
    ranks, inner, there = prod(sizes), 1, []
    mine = {rank: list(range(ranks)) for rank in range(ranks)}
    for size in sizes:
        step = []
        for rank in range(ranks):
            place = rank // inner % size
            share = len(mine[rank]) // size
            parts = [mine[rank][i * share : (i + 1) * share] for i in range(size)]
            for other in range(size):
                if other != place:
                    to = rank + (other - place) * inner
                    step.append(Send(rank, to, tuple(parts[other]), True))
            mine[rank] = parts[place]
        there.append(step)
        inner *= size
    back = [[Send(m.dst, m.src, m.chunks, False) for m in step] for step in there[::-1]]
    return there + back
    ### END SOLUTION


# %% test=t23_check points=0.5 check=2.3
check("2.3", hierarchical)

# %%
print("everybody, once:", (whose_numbers(24, 24, hierarchical([4, 3, 2])) == 1).all())

# %% [markdown]
# ## Task 2.4: the time of a collective (¾ point, about 20 lines)
#
# For 64 devices and gigabytes nobody wants to count messages. You know enough for a formula.
# Return the seconds of a collective on some dimensions. Of S bytes on a dimension of n ranks, to
# add up (**reduce-scatter**) costs
#
# | `dim.kind` | algorithm | steps | one step |
# |---|---|---|---|
# | `"Ring"` | ring | n − 1 | `latency + S / n / ways / bandwidth` |
# | `"FullyConnected"` | direct | 1 | `latency + S / n / bandwidth` |
# | `"Switch"` | halving | log₂ n | `2 * latency` + S/2, then S/4, then S/8 … over `bandwidth` |
#
# (`ways` is 2 where a ring sends one half of every chunk clockwise and the other half back.) To
# hand out (**all-gather**) costs the same. Then:
#
# - `"reduce_scatter"`: dimension by dimension; of S bytes in the first only S / n go on to the
#   second. The times add up;
# - `"all_gather"` is the same backwards, with S the bytes that everybody has in the **end**: it
#   takes as long;
# - `"all_reduce"` is one after the other.
#
# A dimension of 1 rank costs nothing. No dimension at all: 0 seconds.


# %% solution=t24
def collective_seconds(collective: str, nbytes: float, dims: tuple[Dim, ...]) -> float:
    """Seconds of a collective, by latency and bandwidth."""
    ### BEGIN SOLUTION
    seconds = 0.0
    for dim in dims:
        n = dim.size
        if n > 1 and dim.kind == "Ring":
            seconds += (n - 1) * (dim.latency + nbytes / n / dim.ways / dim.bandwidth)
        elif n > 1 and dim.kind == "FullyConnected":
            seconds += dim.latency + nbytes / n / dim.bandwidth
        elif n > 1:
            part = nbytes / 2
            while n > 1:
                seconds += 2 * dim.latency + part / dim.bandwidth
                n, part = n // 2, part / 2
        nbytes /= dim.size
    return 2 * seconds if collective == "all_reduce" else seconds
    ### END SOLUTION


# %% test=t24_check points=0.75 check=2.4
check("2.4", collective_seconds)

# %% [markdown]
# Beside AstraSim, the ring of rings included. In the last row the data is cut into four parts that
# go one after the other (`preferred-dataset-splits`): four times as many steps, and the latency of
# each. Parts pay only where several are under way at once.

# %%
for kinds, said in ASTRASIM:
    dims = tuple(Dim(kind, size, 50 * 2**30, 500e-9) for kind, size in kinds)
    mine = 1e9 * collective_seconds("all_reduce", 2**20, dims)
    print(f"{' x '.join(f'{k} {n}' for k, n in kinds):18} {mine:7,.0f} ns, AstraSim {said:,} ns")
parts, said = ASTRASIM_IN_PARTS
ring_of_8 = (Dim("Ring", 8, 50 * 2**30, 500e-9),)
mine = parts * 1e9 * collective_seconds("all_reduce", 2**20 / parts, ring_of_8)
print(f"Ring 8, {parts} parts    {mine:7,.0f} ns, AstraSim {said:,} ns")

# %% [markdown]
# ## The machine, as AstraSim describes it
#
# Two files describe a machine to AstraSim. We read the same files, so what you build here you can
# take to the real simulator.

# %%
print(NETWORK_1)
print(SYSTEM_JSON[:330], "…")
system = read_system("from its files", NETWORK_1, SYSTEM_JSON, memory=80e9)
print(*system.dims, sep="\n")
print(f"{system.ranks} devices of {system.machine.rate('bf16') / 1e12:.0f} TFLOP/s")

# %% [markdown]
# System 2 is odd on purpose: links 20 times as fast, devices 10 times as slow.

# %% [markdown]
# ## A strategy has its part of the network
#
# A `Strategy(dp, tp, sp, pp, recompute)` is called `dp_tp_sp_pp_ar`, as in the course.
#
# | degree | ranks share | |
# |---|---|---|
# | `tp` | every matrix | tensor parallel, as in Lab 3B |
# | `sp` | the tokens of every sequence | here the whole layer works on a part of the sequence, attention too (others call it *context parallel*) |
# | `dp` | the batch | data parallel |
# | `pp` | the layers | pipeline; 1 until task 2.12 |
#
# tp talks most, so it gets neighbours: ranks count along tp first, then sp, then dp. `axes_of`
# says which part of which dimension an axis gets. `copies` are all ranks with the same weights: dp
# times sp.

# %%
for strategy in (Strategy(dp=8, tp=8), Strategy(dp=2, tp=2, sp=16)):
    print(strategy)
    for axis, dims in axes_of(SYSTEM_1, strategy).items():
        print(f"  {axis:6}", " and ".join(f"{d.size} of a ring, {d.ways} way(s)" for d in dims))

# %% [markdown]
# A part of a ring is a line: what comes back blocks the other direction. Only a whole ring sends
# both ways.
#
# ## Task 2.5: what a layer sends (¾ point, about 25 lines)
#
# Return what **one** transformer layer makes a rank send for **one micro-batch** (the update: for
# the step): a list of `Traffic(phase, collective, axis, nbytes)`. `nbytes` is always the whole:
# what is added up, or what everybody has after a gather. Numbers take `item_bytes(job.dtype)`.
#
# A rank has `batch / dp / micro_batches` sequences, and of each `tokens / sp` tokens.
#
# | phase | axis | what |
# |---|---|---|
# | forward | tp | **two** all-reduces (after attention, after the feed-forward part) of the activations: a rank's tokens times `width` |
# | forward | sp | queries stay, but attention needs keys and values of **all** tokens: one all-gather of both. They are `2 * kv_heads * head` numbers for every token of the rank's sequences; tp ranks share them |
# | again | both | with `recompute`, forward runs again with all of the above (a phase of its own) |
# | backward | tp | two all-reduces of gradients, as large as forward's |
# | backward | sp | the gradients of keys and values go back: one reduce-scatter, as large as the gather. And nobody kept the gathered keys and values: **without** `recompute` they are gathered once more. (With it, `again` has just done so) |
# | update | copies | the gradients of the layer's matrices: one all-reduce over all ranks with the same weights. Matrices: `q` and `out` (`width` by `heads * head`), `k` and `v` (`width` by `kv_heads * head`), and two (`gated`: three) of `width` by `hidden`. tp ranks share them |
#
# Leave out what meets nobody: no tp traffic with tp = 1, none of sp with sp = 1, no update with
# dp · sp = 1. The order does not matter for the check; the simulator below takes the collectives
# of a phase and an axis in your order.
#
# **How is it judged?** By running it. The judge has a layer that runs on all ranks at once, with
# shards of weights and tokens, whose gradients equal those of one device to 14 digits. It counts
# what its collectives carry.
#
# <details><summary>Help: an example</summary>
# width 16, 4 heads of 4, hidden 24, no gate, BF16; 4 sequences of 8 tokens; tp = 2 alone. Forward
# and backward: 2 all-reduces each, of 4 · 8 · 16 numbers = 1,024 bytes. Nothing else.
# </details>


# %% solution=t25
def layer_traffic(model: Transformer, job: Job, strategy: Strategy) -> list[Traffic]:
    """What one layer makes a rank send."""
    ### BEGIN SOLUTION
    item, again = item_bytes(job.dtype), strategy.recompute
    tokens = job.batch // strategy.dp // job.micro_batches * job.tokens
    activations = tokens // strategy.sp * model.width * item
    pairs = tokens * 2 * model.kv_heads * model.head * item // strategy.tp
    weights = 2 * model.width * (model.heads + model.kv_heads) * model.head
    weights += (3 if model.gated else 2) * model.width * model.hidden
    found = []
    for phase in ("forward", "again", "backward"):
        if phase == "again" and not again:
            continue
        if strategy.sp > 1 and not (phase == "backward" and again):
            found.append(Traffic(phase, "all_gather", "sp", pairs))
        if strategy.sp > 1 and phase == "backward":
            found.append(Traffic(phase, "reduce_scatter", "sp", pairs))
        if strategy.tp > 1:
            found += 2 * [Traffic(phase, "all_reduce", "tp", activations)]
    if strategy.dp * strategy.sp > 1:
        found.append(Traffic("update", "all_reduce", "copies", weights // strategy.tp * item))
    return found
    ### END SOLUTION


# %% test=t25_check points=0.75 check=2.5
check("2.5", layer_traffic)

# %% [markdown]
# ## A job is a file
#
# The simulator does not know your functions. It reads **execution traces**, after Chakra, the
# format that AstraSim reads: for each rank a list of nodes (compute, collective, message), each
# with the nodes that it waits for. Yours decide which collectives stand in it. Compute nodes say
# how many operations and bytes they need, for Lab 1A's roofline. (The fields are listed in
# `lab_utils/instruments/network/traces.py`.)

# %%
small = Transformer("small", 2, 64, 4, 4, 16, 256, False, 1000, 64)
strategy = Strategy(dp=2, tp=2)
traces = stage_traces(small, Job(64, 8, 1, "bf16"), strategy, layer_traffic)
everybody = [traces[0]] * strategy.ranks  # without a pipeline all ranks do the same
files = write_traces(Path("traces"), "small", everybody, groups_of(strategy))
print(*(file.name for file in files))
print(*files[0].read_text(encoding="utf-8").splitlines()[:7], "…", sep="\n")
print(read_traces(Path("traces"), "small") == everybody)

# %% [markdown]
# Running them takes one rule: a rank has a queue for compute and one for each group that it meets;
# a queue works in program order, and queues work beside each other. So an all-reduce of gradients
# travels while the next layer computes, and the time that nobody can hide is what hurts.

# %%
for strategy in (Strategy(dp=32, sp=2), Strategy(dp=8, tp=8), Strategy(tp=64)):
    step = simulate(LLAMA_70B, JOB, strategy, SYSTEM_1, layer_traffic, collective_seconds)
    print(
        f"{strategy!s:11} {step.wall:6.2f} s: computes {step.gpu:5.2f} s, "
        f"sends {step.comm:5.2f} s, of which {step.exposed:5.2f} s cannot be hidden"
    )

# %% [markdown]
# ## Do you believe it?
#
# Twenty strategies were run in AstraSim and published. **Before you run the next cell**, write
# down a guess: in how many of all pairs do the two agree which one is faster?

# %%
mine = [
    simulate(LLAMA_70B, JOB, point.strategy, SYSTEM_1, layer_traffic, collective_seconds)
    for point in PUBLISHED
]
for point, step in zip(PUBLISHED, mine, strict=True):
    print(f"{point.strategy!s:11} AstraSim {point.wall:6.2f} s, yours {step.wall:6.2f} s")
walls = rank_correlation([step.wall for step in mine], [point.wall for point in PUBLISHED])
pairs = [(a, b) for a in range(20) for b in range(a)]
agree = sum(
    (mine[a].wall < mine[b].wall) == (PUBLISHED[a].wall < PUBLISHED[b].wall) for a, b in pairs
)
print(f"rank correlation {walls:.3f}; {agree} of {len(pairs)} pairs in the same order")

# %% [markdown]
# No number was fitted: each is from a data sheet, a shape, or a count. (Three choices of the model
# were made with these runs in sight: attention writes its scores to memory, the parts of an axis
# are taken fastest first, and a whole ring sends both ways.) The order is nearly the same. But all
# of yours take about **twice as long**. Count who is right:

# %%
weights = 80 * (4 * 8192**2 + 2 * 8192 * 28672)
tokens = 512 * 1024
print(f"6 · weights · tokens / devices / rate = {6 * weights * tokens / 64 / 450e12:.2f} s")

# %% [markdown]
# No machine of 450 TFLOP/s does this step in 3.2 seconds. So the published runs count otherwise, and
# the program that wrote their workloads (STAGE, public) tells how. A product of matrices has m · n · k
# operations there: a multiplication **and** its addition are one. And the size of a tensor is how many
# numbers it has, which AstraSim takes for bytes: a number is one byte. Such rules are a part of a
# system's description. State them, and run it again:

# %%
their_machine = read_system("theirs", NETWORK_1, SYSTEM_JSON, memory=80e9, multiply_add=1)
their_job = replace(JOB, dtype="int8")
for place in (0, 5, 10, 15, 19):
    point = PUBLISHED[place]
    how = (point.strategy, their_machine, layer_traffic, collective_seconds)
    step = simulate(LLAMA_70B, their_job, *how)
    print(
        f"{point.strategy!s:11} wall {point.wall:5.2f} s, by their rules yours {step.wall:5.2f} s; "
        f"compute {point.gpu:.2f} s, yours {step.gpu:.2f} s"
    )

# %% [markdown]
# Compute is now 8 to 23 % above theirs. (Their layer lacks the matrix behind attention, `out`: 10 of
# 11 parts of the work. And where it recomputes, it does not run all of a layer again.) Both sides of
# the race, compute and messages, became twice as fast, so the **order** is the same by either rule.
# Trust a simulator's ranking before its seconds, and ask what it counts before you trust either.
# (Their "Llama-70B" has no gate and no shared keys; so has ours here.)
#
# ## Task 2.6: what a device holds (½ point, about 15 lines)
#
# Return `Memory(state, kept, logits)`, bytes of one device at its fullest. It is Lab 3B's model,
# made shorter: no biases, no dropout, no pipeline (pp = 1).
#
# - `state`: `state` bytes (16 in training with Adam) for each number in the **matrices** of all
#   layers (see task 2.5) and the table of words (`width` numbers for each word; it is the head as
#   well). tp ranks share them all; of the words a rank has `vocab / tp`, rounded up.
# - `kept`: of every token that the rank has in a layer, 1/tp of this (Megatron's sequence
#   parallel cuts what tensor parallel leaves whole):
#
# | kept for a token | numbers |
# |---|---|
# | input of both norms, input of `qkv`, input of `up` | `4 * width` |
# | queries, keys, values, what attention made | `2 * (heads + kv_heads) * head` |
# | inside the feed-forward part | `2 * hidden`; gated: `4 * hidden` |
# | means and deviations of two norms, in FP32 | 16 **bytes** |
#
#   (Scores are made again in backward, always.) With `recompute` a layer keeps its input alone,
#   `width` numbers for a token, also 1/tp of them; but the layer **in work** is whole: one layer.
# - `logits`: three buffers of FP32, a number for each of the rank's tokens and each of its words.
#
# The rank's tokens: `batch / dp / micro_batches * tokens / sp`.


# %% solution=t26
def device_memory(model: Transformer, job: Job, strategy: Strategy, state: int) -> Memory:
    """Bytes of one device when it is fullest."""
    ### BEGIN SOLUTION
    item, tp = item_bytes(job.dtype), strategy.tp
    tokens = job.batch // strategy.dp // job.micro_batches * job.tokens // strategy.sp
    attention = (model.heads + model.kv_heads) * model.head
    matrices = 2 * model.width * attention
    matrices += (3 if model.gated else 2) * model.width * model.hidden
    words = -(-model.vocab // tp)
    numbers = model.layers * matrices // tp + words * model.width
    inner = (4 if model.gated else 2) * model.hidden
    whole = tokens * (item * (4 * model.width + 2 * attention + inner) + 16) // tp
    kept = tokens * item * model.width // tp if strategy.recompute else whole
    return Memory(state * numbers, model.layers * kept + whole - kept, 12 * tokens * words)
    ### END SOLUTION


# %% test=t26_check points=0.5 check=2.6
check("2.6", device_memory)

# %% [markdown]
# ## Task 2.7: all strategies (¼ point, about 6 lines)
#
# Return every `Strategy` with dp · tp · sp = `ranks` and pp = 1, without and with recomputation,
# each once. For 64 ranks there are 56.


# %% solution=t27
def strategies(ranks: int) -> list[Strategy]:
    """Every strategy without a pipeline that uses all ranks."""
    ### BEGIN SOLUTION
    degrees = [n for n in range(1, ranks + 1) if ranks % n == 0]
    return [
        Strategy(dp, tp, ranks // (dp * tp), 1, recompute)
        for dp, tp, recompute in product(degrees, degrees, (False, True))
        if ranks % (dp * tp) == 0
    ]
    ### END SOLUTION


# %% test=t27_check points=0.25 check=2.7
check("2.7", strategies)


# %% [markdown]
# All of them, on both machines, with both models:


# %%
def explore(model: Transformer, system: System, job: Job = JOB, state: int = 16) -> list[Row]:
    """Every strategy with the seconds of a step and the bytes of a device."""
    rows = []
    for strategy in strategies(system.ranks):
        step = simulate(model, job, strategy, system, layer_traffic, collective_seconds)
        rows.append(Row(strategy, step.wall, device_memory(model, job, strategy, state).total))
    return rows


maps = {
    f"{model.name}, {system.name}": explore(model, system)
    for model in (LLAMA_70B, GPT_175B)
    for system in (SYSTEM_1, SYSTEM_2)
}
for name, rows in maps.items():
    seconds = [row.seconds for row in rows]
    print(f"{name:20} {len(rows)} strategies, {min(seconds):7.2f} to {max(seconds):7.2f} s")

# %% [markdown]
# ## Task 2.8: the best that fits (¼ point, about 4 lines)
#
# `rows` is a list of `Row(strategy, seconds, nbytes)`, `room` the memory of a device in **GB**
# (10⁹ bytes), or `None` for endless memory. Return the fastest strategy that fits (a device may be
# filled to the last byte), or `None` if none does. Of equally fast ones any will do.


# %% solution=t28
def best_strategy(rows: list[Row], room: float | None) -> Strategy | None:
    """The fastest strategy that fits."""
    ### BEGIN SOLUTION
    fits = [row for row in rows if room is None or row.nbytes <= room * 1e9]
    if not fits:
        return None
    return min(fits, key=lambda row: row.seconds).strategy
    ### END SOLUTION


# %% test=t28_check points=0.25 check=2.8
check("2.8", best_strategy)

# %%
for name, rows in maps.items():
    print(f"{name:20} endless {best_strategy(rows, None)}, 80 GB {best_strategy(rows, 80)}")

# %% [markdown]
# ## See it
#
# Choose a machine; move the memory. **Before you move it:** where will the frontier go first, to
# the right (sp), down (tp), or to the other triangle?

# %%
strategy_map(maps)

# %% [markdown]
# The published answer to "best with endless memory" is `32_1_2_1_0`. It is the best of the twenty
# that were run; `64_1_1_1_0` was not among them. The published answer to "best with 80 GB" is
# `8_1_8_1_1`, with a peak of 67 GB. Yours says that it needs nearly a terabyte. Count again:

# %%
told = Strategy(dp=8, sp=8, recompute=True)
honest = device_memory(LLAMA_70B, JOB, told, 16)
print(f"yours: state {honest.state / 1e9:.0f} GB, kept {honest.kept / 1e9:.0f} GB")
theirs = device_memory(LLAMA_70B, replace(JOB, dtype="int8"), told, 1)
print(f"one byte for everything, no optimizer: {(theirs.state + theirs.kept) / 1e9:.0f} GB")

# %% [markdown]
# Weights of 60 billion numbers in BF16 are 119 GB before anything runs, and training needs
# gradients and Adam's moments too. With one byte a number and no optimizer you are within a GB of
# the published 67. A strategy that does not cut the weights (tp = 1, no ZeRO) never fits into 80 GB.
#
# ## Task 2.9: how much faster the links would have to be (¼ point, about 15 lines)
#
# *Why* does a strategy win? A good answer can be tested: change the cause, and the winner must
# change. Tensor parallel loses on System 1, we say, **because of the links**. Then there is a
# factor by which links would have to be faster for it to win. If there is none, we were wrong.
#
# `one` and `other` are functions: `one(factor)` is the seconds of a step when all links carry
# `factor` times as much. Return the factor between 1/1024 and 1024 at which both take equally long
# (to one part in a thousand), or `None` if the same one is faster everywhere in between. They cross
# at most once.
#
# <details><summary>Help: how?</summary>
# Who is faster at 1/1024, and who at 1024? If it is the same, None. Else try the middle,
# <code>(low * high) ** 0.5</code>, see who is faster there, and go on in that half where it
# changes: 40 times are plenty.
# </details>


# %% solution=t29
def turning_point(one, other) -> float | None:
    """The factor of bandwidth at which two strategies take equally long."""
    ### BEGIN SOLUTION
    low, high = 2.0**-10, 2.0**10
    first = one(low) < other(low)
    if (one(high) < other(high)) == first:
        return None
    for _ in range(40):
        middle = (low * high) ** 0.5
        if (one(middle) < other(middle)) == first:
            low = middle
        else:
            high = middle
    return (low * high) ** 0.5
    ### END SOLUTION


# %% test=t29_check points=0.25 check=2.9
check("2.9", turning_point)


# %%
def with_links(strategy: Strategy, model: Transformer = LLAMA_70B, system: System = SYSTEM_1):
    """Seconds of a step as a function of how much faster the links are."""

    def seconds(factor: float) -> float:
        faster = system.with_links(factor)
        return simulate(model, JOB, strategy, faster, layer_traffic, collective_seconds).wall

    return seconds


for winner, rival in (
    (Strategy(dp=4, tp=16, recompute=True), Strategy(tp=64)),
    (Strategy(dp=8, sp=8, recompute=True), Strategy(sp=64)),
    (Strategy(dp=32, sp=2), Strategy(dp=8, tp=8)),
    (Strategy(dp=64), Strategy(dp=8, tp=8)),
):
    factor = turning_point(with_links(winner), with_links(rival))
    words = f"equally fast with links {factor:.3g} times as fast" if factor else "no factor helps"
    print(f"{winner} and {rival}: {words}")

# %% [markdown]
# In the first two rows the winner recomputes and the rival does not: with faster links it is better
# to send more than to compute twice. The last row is different: more copies send least **and**
# compute least. Not the links, but the memory keeps everybody from using them.

# %% [markdown]
# ## Task 2.10: a file for AstraSim (¼ point, about 6 lines)
#
# Now a machine that you have not seen: boxes of eight fully connected devices, eight boxes behind a
# switch. To try it in the real simulator you would need its `network.yml`. Return the text of such
# a file for any dimensions: four lines like those of System 1 above. Mind the units: AstraSim's
# bandwidth is in GB a second, where a GB is **2³⁰** bytes; its latency is in **nanoseconds**. `Dim`
# has bytes and seconds. Comments are not needed, and neither is `ways`.


# %% solution=t210
def network_yml(dims: tuple[Dim, ...]) -> str:
    """The text of AstraSim's description of a network."""
    ### BEGIN SOLUTION
    lists = {
        "topology": [dim.kind for dim in dims],
        "npus_count": [dim.size for dim in dims],
        "bandwidth": [dim.bandwidth / 2**30 for dim in dims],
        "latency": [dim.latency * 1e9 for dim in dims],
    }
    return "".join(f"{key}: [ {', '.join(map(str, values))} ]\n" for key, values in lists.items())
    ### END SOLUTION


# %% test=t210_check points=0.25 check=2.10
check("2.10", network_yml)

# %% [markdown]
# ## Task 2.11: the winner on a machine that you have not seen (½ point, about 6 lines)
#
# Here are the two files of that machine. Its devices compute as those of System 1.

# %%
files = public_cases("2.11")[0].given
print(files["network"])
third = read_system("boxes of eight", files["network"], files["system"], memory=141e9)
print(*third.dims, sep="\n")

# %% [markdown]
# **Predict, and write it down** (question 2.13 asks for it): which strategy wins here for Llama-70B
# with endless memory, which with 141 GB, which with 80 GB? Which degree must fit into a box?
#
# Then turn what you know into a function. From the texts of a machine's two files, a model, a job and
# the `room` of a device (GB, or `None`) it returns the strategy that wins: the fastest that fits, with
# 16 bytes of state for a number and pp = 1; or `None` if nothing fits. You may use all functions from
# above, `explore` too.
#
# It is judged on **machines that you do not see**: other dimensions, other links, other jobs. What
# wins on System 1 loses on most of them, and even with endless memory it is not always dp alone. Within
# a thousandth of the best is good enough.
#
# <details><summary>Help: where do I start?</summary>
# read_system makes a System of the two texts (it wants a name and the bytes of a device as well; both
# change nothing here). explore tries every strategy on it, and best_strategy chooses.
# </details>


# %% solution=t211
def winner(
    network: str, system: str, model: Transformer, job: Job, room: float | None
) -> Strategy | None:
    """The strategy that wins on the machine of these two files."""
    ### BEGIN SOLUTION
    machine = read_system("a machine", network, system, memory=80e9)
    rows = []
    for strategy in strategies(machine.ranks):
        step = simulate(model, job, strategy, machine, layer_traffic, collective_seconds)
        rows.append(Row(strategy, step.wall, device_memory(model, job, strategy, 16).total))
    return best_strategy(rows, room)
    ### END SOLUTION


# %% test=t211_check points=0.5 check=2.11
check("2.11", winner)

# %% [markdown]
# Now look. Were you right?

# %%
for room in (None, 141, 80):
    best = winner(files["network"], files["system"], LLAMA_70B, JOB, room)
    print(f"room {room}: {best}")

# %% [markdown]
# And another cause that nobody put into the table: how many heads have keys and values of their
# own. The real Llama 2 70B has eight key heads for its 64 query heads. Who gains from that?

# %%
for name, model in (("as the course has it", LLAMA_70B), ("the real Llama 2 70B", LLAMA2_70B)):
    step = simulate(model, JOB, Strategy(sp=64), third, layer_traffic, collective_seconds)
    print(f"{name}: sp = 64 takes {step.wall:.1f} s, sends for {step.comm:.1f} s")

# %% [markdown]
# ## Task 2.12: a stage of a pipeline (½ point, about 20 lines)
#
# There is a fourth degree. A **pipeline** cuts the layers into `pp` stages of equally many, one behind
# the other. Nobody adds up anything: a stage hands its activations on. The batch goes through in
# micro-batches, so that all stages work at once. Under 1F1B (Lab 3B) stage i, the first being 0, has at
# most `min(micro_batches, pp - i)` of them **under way**: begun, and not through backward yet.
#
# ![Three stages and four micro-batches under 1F1B: the first stage has begun three micro-batches
# before the first one comes back, the last stage has one at a time](images/stages.svg)
#
# Return `StageLoad(sent, state, kept, logits)` of **one rank** of a stage, in bytes:
#
# - `sent`: to other stages in one step. For every micro-batch the activations of the rank's tokens
#   (`width` numbers for a token) go to the next stage, and gradients of the same size to the stage
#   before. Every tp rank has all of these numbers, and sends them all;
# - `state`: as in task 2.6, for the layers of this stage. The table of words is in the first stage
#   and, as the head, in the last one. (If that is one stage, once.)
# - `kept`: as in task 2.6, for the layers of this stage, of **every micro-batch under way**. With
#   `recompute` each of them keeps the inputs of the layers; the layer in work is one in all;
# - `logits`: as in task 2.6, in the last stage alone.
#
# <details><summary>Help: can I use device_memory?</summary>
# Yes: replace(model, layers=model.layers // strategy.pp) is a model as long as a stage, and
# device_memory of it is what one micro-batch needs. Then look at what is different in a stage.
# </details>
#
# <details><summary>Help: kept, with recomputation</summary>
# device_memory counts one micro-batch, with its layer in work. Every further one under way adds the
# inputs of the stage's layers, and nothing else.
# </details>


# %% solution=t212
def stage_load(
    model: Transformer, job: Job, strategy: Strategy, stage: int, state: int
) -> StageLoad:
    """What one rank of a stage sends in a step, and holds when it is fullest."""
    ### BEGIN SOLUTION
    last = strategy.pp - 1
    part = replace(model, layers=model.layers // strategy.pp)
    one = device_memory(part, job, strategy, state)
    tokens = job.batch // strategy.dp // job.micro_batches * job.tokens // strategy.sp
    passing = tokens * model.width * item_bytes(job.dtype)
    neighbours = (stage > 0) + (stage < last)
    words = -(-model.vocab // strategy.tp)
    unused = 0 if stage in (0, last) else state * words * model.width
    under_way = min(job.micro_batches, strategy.pp - stage)
    more = part.layers * passing // strategy.tp if strategy.recompute else one.kept
    return StageLoad(
        neighbours * job.micro_batches * passing,
        one.state - unused,
        one.kept + (under_way - 1) * more,
        one.logits if stage == last else 0,
    )
    ### END SOLUTION


# %% test=t212_check points=0.5 check=2.12
check("2.12", stage_load)

# %% [markdown]
# What is a pipeline good for? It cuts the weights, as tensor parallel does, and sends next to nothing.
# Its price is that stages wait, at the beginning and at the end. Both with 16 micro-batches and 80 GB
# on System 1, where nothing but `4_16_1_1_1` (16.4 s) and its like had room above:

# %%
micros = 16
job_in_parts = replace(JOB, micro_batches=micros)
first = [("F", 0), *(one for n in range(1, micros) for one in (("F", n), ("B", n - 1)))]
two_stages = [[*first, ("B", micros - 1)], [(kind, n) for n in range(micros) for kind in "FB"]]
for model in (LLAMA_70B, GPT_175B):
    for pp, order in ((1, None), (2, two_stages)):
        found = []
        for one in strategies(64 // pp):
            strategy = replace(one, pp=pp)
            if one.sp > 1 or job_in_parts.batch // one.dp < micros:
                continue
            loads = [stage_load(model, job_in_parts, strategy, n, 16) for n in range(pp)]
            if max(load.memory for load in loads) <= 80e9:
                how = (SYSTEM_1, layer_traffic, collective_seconds, order)
                step = simulate(model, job_in_parts, strategy, *how)
                found.append((step.wall, str(strategy), step.exposed))
        wall, name, idle = min(found)
        print(f"{model.name}, {pp} stage(s): {name} in {wall:.1f} s, {idle:.1f} s of it idle")

# %% [markdown]
# Cutting the batch alone helps already: less is kept, so nothing must be recomputed. Two stages then
# need half of tp, and with it half of the messages that nobody can hide. (GPT-175B gains little: two
# stages have room only with recomputation. With four it would be different.) That is why large
# models are trained with all of it: tp in a box, pp between boxes, dp around both.

# %% [markdown] task=q213 points=0.5
# ### Question 2.13: predict, check, explain (½ point, about 150 words, in a new cell below)
#
# A person reads and grades this one. Use numbers of your own from above.
#
# 1. What did you predict for the third machine, and what came out? Where they differ: what had you
#    not thought of?
# 2. Name **one** cause for which a strategy wins on System 1 with 80 GB, and a change of the
#    machine that would let another one win. Run it. Was the cause the right one?
# 3. Find a memory for which the winner on System 1 stays the same however fast the links are. Why
#    does it stay?
#
# ### BEGIN MARK SCHEME
# 0.15: a prediction that was written down, with a reason (tp = 8 stays in a box, links between boxes
# carry a fifth; 141 GB has room for tp = 8 with recomputation, 80 GB wants tp ≥ 16), and an honest
# comparison: 64_1_1_1_0, 8_8_1_1_1, 4_16_1_1_1. A wrong prediction with an insight earns all of it.
# 0.2: a cause with its counterfactual, run: e.g. 4_16_1_1_1 wins among those that fit because tp = 16
# is the least that cuts the state below 80 GB; with 141 GB tp = 8 fits and wins (memory, not
# links). Or: links times a factor from turning_point, and the rival wins beyond it.
# A cause without an experiment: at most 0.1.
# 0.15: e.g. endless memory: dp = 64 without recomputation sends least and computes least, so faster links
# help all others more but never beyond it (System 2 shows it: compute decides, the differences are
# tenths of a per cent). Or: memory so small that one strategy alone fits.
# ### END MARK SCHEME

# %% [markdown]
# ## What you built
#
# A simulator in the manner of **AstraSim** (Georgia Tech, Meta, Intel), which chip makers use to
# choose networks years before they exist. Its workloads are **Chakra** traces (MLCommons), yours
# are the same in JSON. NCCL picks between ring, tree and direct by the very α–β reasoning of task
# 2.4, and the hierarchical all-reduce of task 2.3 is what runs over NVLink inside a box and
# InfiniBand between them (*BlueConnect*, *Themis*). Calculon and NVIDIA's planners search strategies
# as you did; the Llama 3 report tells which one 16,000 GPUs ended up with, and why tp stayed at 8,
# the size of a box.
#
# Left out on purpose: the optimizer's own step, the embedding and the loss, ZeRO (which would cut
# the state by dp and change the frontier), FlashAttention, and contention between groups that share
# links: a whole ring belongs to one axis here. For longer pipelines give `simulate` what your
# `one_f_one_b` of Lab 3B returns as a seventh argument.
