# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 3B, notebook 2: pipeline and data parallel
#
# **3 points, about 90 minutes.** It stands alone: of notebook 1 you need `isend`, `recv` and the
# idea of an all-reduce. After this notebook you can
#
# - schedule a pipeline of stages, and say how long its ranks idle and how much they hold;
# - run a pipeline with real gradients, and without a deadlock;
# - average gradients while backward is still going on.
#
# Tensor parallel talks four times a block and needs the fastest links there are. Between machines
# two other ways are used. A **pipeline** gives each rank some layers, one after the other: only what
# passes from one to the next travels. **Data parallel** gives each rank the whole model and other
# samples: only gradients travel, once a step.
#
# ![Two schedules of four stages and eight micro-batches: GPipe holds all eight at once, 1F1B at most four, and both take equally long](images/pipeline.svg)

# %%
import torch
import torch.distributed as dist

from lab_utils.instruments.ranks import Link, ranks_film, run_ranks, run_times, schedule_film
from lab_utils.labs.lab3b import Stage, check, replica, replica_loss

# %% [markdown]
# ## Schedules
#
# With one batch a pipeline is no faster than one rank: while one stage works, the others have
# nothing to do. So the batch is cut into **micro-batches**, which follow each other through the
# stages. Each stage does two steps for each of them: forward, `("F", micro)`, and backward,
# `("B", micro)`. Forward needs the forward of the stage before. Backward needs the backward of the
# next stage (the last stage needs only its own forward).
#
# A schedule is a list for each rank: its steps, in its order.
#
# ## Task 2.1: all forward, then all backward (¼ point, about 3 lines)
#
# **GPipe** is the simplest schedule: each rank does the forward steps of all micro-batches, then all
# backward steps (all ranks in the same order of micro-batches). Return one list of steps for each of the `stages` ranks. Micro-batches are numbered
# from 0.


# %% solution=t21
def gpipe(stages: int, micros: int) -> list[list[tuple[str, int]]]:
    """For each rank its steps: ("F", micro) and ("B", micro)."""
    ### BEGIN SOLUTION
    forward = [("F", micro) for micro in range(micros)]
    backward = [("B", micro) for micro in range(micros)]
    return [forward + backward for _ in range(stages)]
    ### END SOLUTION


# %% test=t21_check points=0.25 check=2.1
check("2.1", gpipe)

# %% [markdown]
# Between its forward and its backward a stage must hold what it needs of a micro-batch. GPipe holds
# *all* micro-batches at once. If memory is short, that is why.
#
# ## Task 2.2: one forward, one backward (½ point, about 8 lines)
#
# **1F1B** begins backward as soon as it can, and takes just as long. Rank r
#
# - *warms up* with `stages - 1 - r` forward steps (all of them, if there are fewer micro-batches);
# - then takes turns, one forward, one backward, until there are no more forward steps;
# - then does the backward steps that are left.
#
# The last rank has no warm-up: it goes back with each micro-batch at once. No rank holds more than
# `stages - r` micro-batches, however many there are.
#
# <details><summary>Help: what is the number of the micro-batch in each step?</summary>
# Forward steps come in the order 0, 1, 2, …, and so do backward steps. Keep two counters.
# </details>


# %% solution=t22
def one_f_one_b(stages: int, micros: int) -> list[list[tuple[str, int]]]:
    """For each rank its steps: ("F", micro) and ("B", micro)."""
    ### BEGIN SOLUTION
    schedule = []
    for rank in range(stages):
        warm_up = min(stages - 1 - rank, micros)
        steps = [("F", micro) for micro in range(warm_up)]
        for micro in range(micros - warm_up):
            steps += [("F", warm_up + micro), ("B", micro)]
        steps += [("B", micro) for micro in range(micros - warm_up, micros)]
        schedule.append(steps)
    return schedule
    ### END SOLUTION


# %% test=t22_check points=0.5 check=2.2
check("2.2", one_f_one_b)

# %% [markdown]
# Look at both side by side. Hatched is the **bubble**: a rank has nothing to do. Below the lanes is
# what each rank holds. Move the slider of micro-batches: what happens to the bubble, and what to
# the memory? Then make the links slow.

# %%
schedule_film({"GPipe": gpipe, "1F1B": one_f_one_b}, stages=4)

# %% [markdown]
# ## Task 2.3: how many micro-batches (¼ point, about 2 lines)
#
# Count turns, a turn being one forward and one backward. Each rank works for `micros` turns, and
# the whole takes `micros + stages - 1` of them: the last stage starts `stages - 1` turns late. So
# the idle share of the whole time is `(stages - 1) / (micros + stages - 1)`.
#
# Return the smallest number of micro-batches (at least 1) with an idle share of at most `percent`
# percent. `percent` is a whole number from 1 to 99.
#
# <details><summary>Help: sometimes I have one too many</summary>
# 1 / 0.3 is not exact. Multiply out, and compare whole numbers:
# <code>100 * (stages - 1) &lt;= percent * (micros + stages - 1)</code>.
# </details>


# %% solution=t23
def fewest_micros(stages: int, percent: int) -> int:
    """The fewest micro-batches with at most so many percent of idle time."""
    ### BEGIN SOLUTION
    micros = 1
    while 100 * (stages - 1) > percent * (micros + stages - 1):
        micros += 1
    return micros
    ### END SOLUTION


# %% test=t23_check points=0.25 check=2.3
check("2.3", fewest_micros)

# %% [markdown]
# > **A story about a pipeline without a speed-up.** A public hand-in trains a GPT on two H100 cards,
# > as two stages of a pipeline. One step takes 397 ms; on one card it takes 395 ms. "Pipeline
# > parallel brings communication overhead", says the report. But the trace shows 388 ms of work:
# > first one card, then the other. The batch of 4 was sent through in one piece. With one
# > micro-batch and two stages half of the time is bubble, by your formula: a speed-up of 1, however
# > fast the links are.
#
# ## Task 2.4: a stage at work (¾ point, about 16 lines)
#
# Now run it. Each rank has a `Stage`:
#
# | | |
# |---|---|
# | `stage.forward(micro, x)` | forward of a micro-batch; returns what goes to the next stage |
# | `stage.backward(micro, gradient)` | backward of it; returns what goes to the stage before |
# | `stage.is_first`, `stage.is_last` | the first stage gets no x (give None) and returns no gradient; the last one returns no output and gets no gradient |
# | `stage.shape`, `stage.dtype` | of what travels for one micro-batch, either way |
#
# Write what a rank does: go through its `steps`; receive what a step needs, call the stage, send on
# what comes back. The neighbours are rank - 1 and rank + 1. In 1F1B two neighbours may send to each
# other at the same time: with `send` both wait for ever. Nobody should wait for a send while there
# are steps to do.
#
# <details><summary>Help: when do I wait for isend, then?</summary>
# Put all requests into a list, and wait for them when the steps are done. Keep the tensors as they
# are until then.
# </details>
#
# <details><summary>Help: where do I receive?</summary>
# Into a fresh tensor each time: torch.empty(stage.shape, dtype=stage.dtype).
# </details>


# %% solution=t24
def run_stage(stage: Stage, steps: list[tuple[str, int]]) -> None:
    """Do the steps of this rank: receive, call the stage, send on."""
    ### BEGIN SOLUTION
    rank, requests = dist.get_rank(), []
    for kind, micro in steps:
        ahead = kind == "F"
        starts, ends = (stage.is_first, stage.is_last) if ahead else (stage.is_last, stage.is_first)
        source, target = (rank - 1, rank + 1) if ahead else (rank + 1, rank - 1)
        arrived = None
        if not starts:
            arrived = torch.empty(stage.shape, dtype=stage.dtype)
            dist.recv(arrived, src=source)
        made = stage.forward(micro, arrived) if ahead else stage.backward(micro, arrived)
        if not ends:
            requests.append(dist.isend(made, dst=target))
    for request in requests:
        request.wait()
    ### END SOLUTION


# %% test=t24_check points=0.75 check=2.4
check("2.4", run_stage)

# %% [markdown]
# This is a real run, with real gradients; only its clock is virtual. The arrows are your messages.

# %%
SIZES = {
    "ranks": 4,
    "micros": 6,
    "rows": 2,
    "width": 3,
    "forward": 1e-3,
    "backward": 2e-3,
    "seed": 0,
}


def one_step():
    stage = Stage(SIZES)
    run_stage(stage, one_f_one_b(4, 6)[stage.rank])


ranks_film(run_ranks(4, one_step, link=Link(latency=2e-4, bandwidth=1e9)))

# %% [markdown]
# ## Task 2.5: one embedding, two places (¼ point, about 5 lines)
#
# A GPT uses the same matrix twice: the embedding of tokens at its start, and, transposed, the layer
# that makes the logits at its end. In a pipeline these are two ranks, the first and the last, and
# each has a copy. Copies stay equal only if both see the **sum** of both gradients.
#
# Every rank calls your function: `gradient` is a tensor on the first and the last rank, and None on
# all others. Sum it in place, on both. Ranks in between should send nothing.
#
# <details><summary>Help: an all-reduce of two ranks only?</summary>
# group = dist.new_group([…]) makes a group. All ranks must call new_group, also those that are not
# in it. Then dist.all_reduce(tensor, group=group), on those that are.
# </details>


# %% solution=t25
def sync_tied(gradient: torch.Tensor | None) -> None:
    """Sum the gradients of the first and the last rank, in place."""
    ### BEGIN SOLUTION
    group = dist.new_group([0, dist.get_world_size() - 1])
    if gradient is not None:
        dist.all_reduce(gradient, group=group)
    ### END SOLUTION


# %% test=t25_check points=0.25 check=2.5
check("2.5", sync_tied)

# %% [markdown]
# On the two H100 cards of the story this all-reduce moves 515 MB, and takes 1.66 ms.
#
# ## Data parallel
#
# Now each rank has the whole model, and its own samples. After backward all ranks need the **mean**
# of their gradients. To send each gradient by itself pays the latency too often. To wait until all
# are there, and send one large tensor, wastes the time of backward. The middle way is **buckets**:
# gradients that arrive one after the other travel together, as soon as the last of them is there.
#
# ## Task 2.6: buckets (¼ point, about 8 lines)
#
# `nbytes` has the size of each parameter (1 or more), in the order of forward. Backward starts at
# the end of the model, so gradients arrive from the last parameter to the first. Fill one bucket
# after the other in this order: a bucket takes the next parameter as long as it then holds at most
# `most` bytes, else a new one begins. A parameter that is larger than `most` has a bucket to itself.
# Return the buckets in the order in which they are full, each a list of numbers of parameters.


# %% solution=t26
def buckets_of(nbytes: list[int], most: int) -> list[list[int]]:
    """Numbers of parameters, bucket by bucket, the last parameters first."""
    ### BEGIN SOLUTION
    buckets: list[list[int]] = []
    full = most + 1
    for number in reversed(range(len(nbytes))):
        if full + nbytes[number] > most:
            buckets.append([])
            full = 0
        buckets[-1].append(number)
        full += nbytes[number]
    return buckets
    ### END SOLUTION


# %% test=t26_check points=0.25 check=2.6
check("2.6", buckets_of)

# %% [markdown]
# ## Task 2.7: average while you go (¾ point, about 18 lines)
#
# `loss` has been computed, backward has not begun. `parameters` are those of the model and `buckets`
# lists of their numbers. Run backward so that in the end each parameter's `.grad` is the mean over
# all ranks, and so that the all-reduce of a bucket **starts as soon as its last gradient is there**:
#
# - `parameter.register_post_accumulate_grad_hook(function)` has `function(parameter)` called in
#   backward when this parameter's gradient is complete. It returns a handle; `handle.remove()` undoes
#   it. Your function runs once a step: leave no hook behind.
# - one all-reduce for a bucket: put its gradients into one flat tensor first (`torch.cat`);
# - `dist.all_reduce(flat, async_op=True)` only starts it, and returns a request to wait for;
# - after `loss.backward()` wait, divide, and put the parts back.
#
# <details><summary>Help: how do I know that a bucket is complete?</summary>
# Count: for each bucket, how many of its parameters are still without a gradient.
# </details>


# %% solution=t27
def overlapped_backward(
    loss: torch.Tensor, parameters: list[torch.Tensor], buckets: list[list[int]]
) -> None:
    """Backward with the mean of all ranks' gradients, bucket by bucket."""
    ### BEGIN SOLUTION
    missing = [len(bucket) for bucket in buckets]
    started, handles = [], []

    def arrived(number: int) -> None:
        missing[number] -= 1
        if missing[number] == 0:
            flat = torch.cat([parameters[one].grad.flatten() for one in buckets[number]])
            started.append((number, flat, dist.all_reduce(flat, async_op=True)))

    for number, bucket in enumerate(buckets):
        for one in bucket:
            handles.append(
                parameters[one].register_post_accumulate_grad_hook(
                    lambda _, number=number: arrived(number)
                )
            )
    loss.backward()
    for handle in handles:
        handle.remove()
    for number, flat, request in started:
        request.wait()
        flat /= dist.get_world_size()
        grads = [parameters[one].grad for one in buckets[number]]
        for grad, part in zip(grads, flat.split([grad.numel() for grad in grads]), strict=True):
            grad.copy_(part.view_as(grad))
    ### END SOLUTION


# %% test=t27_check points=0.75 check=2.7
check("2.7", overlapped_backward)

# %% [markdown]
# What does overlap gain, and how large should a bucket be? Twelve layers, each 0.1 ms of backward,
# four ranks: the virtual clock tells, to the last digit.

# %%
MODEL = {"layers": 12, "width": 32, "rows": 2, "seconds": 1e-4, "seed": 0}


def backward_first(loss, parameters, buckets):
    """The same without overlap: all of backward, then all buckets."""
    loss.backward()
    for bucket in buckets:
        flat = torch.cat([parameters[one].grad.flatten() for one in bucket])
        dist.all_reduce(flat)


def training_step(way, buckets):
    parameters = replica(MODEL)
    way(replica_loss(MODEL, parameters, dist.get_rank(), 0), parameters, buckets)


network = Link(latency=1e-5, bandwidth=1.25e9)
sizes = [parameter.nbytes for parameter in replica(MODEL)]
print("  most bytes  buckets  overlapped  backward first")
for most in (1_000, 9_000, 20_000, 40_000, 1_000_000):
    cut = buckets_of(sizes, most)
    times = [
        run_times(run_ranks(4, training_step, way, cut, link=network))[0] * 1e6
        for way in (overlapped_backward, backward_first)
    ]
    print(f"{most:>12,} {len(cut):>8} {times[0]:>8.1f} µs {times[1]:>12.1f} µs")

# %%
ranks_film(
    {
        "overlapped": run_ranks(
            4, training_step, overlapped_backward, buckets_of(sizes, 20_000), link=network
        ),
        "backward first": run_ranks(
            4, training_step, backward_first, buckets_of(sizes, 20_000), link=network
        ),
    }
)

# %% [markdown]
# Small buckets pay the latency too often, one large bucket overlaps with nothing. In between, the
# network is busy while backward computes, and only the last bucket is paid for.
#
# ## What you built
#
# GPipe is Huang et al. (2018). 1F1B comes from PipeDream (Narayanan et al., 2019), and Megatron-LM
# and `torch.distributed.pipelining` run it; newer schedules give each rank several pieces of the model,
# or split backward in two, to make the bubble smaller still. Buckets with hooks are PyTorch's
# `DistributedDataParallel`, whose default bucket holds 25 MB. A large training run uses everything at
# once: tensor parallel inside a machine, a pipeline between machines, and data parallel around both.
# How to choose among them is notebook 3.
