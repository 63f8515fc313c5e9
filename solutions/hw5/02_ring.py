# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Homework 5, notebook 2: a ring, and a step on all ranks
#
# **10 points, about 90 minutes.** You need Python and a little PyTorch. After this notebook you can
#
# - sum up a tensor over all ranks with messages alone, whatever its size, type and layout;
# - say what that costs, and when it is the latency and when the bytes that you pay for;
# - train on several ranks with unequal shares, and hide the messages behind backward.
#
# ![A ring of four ranks after four steps: in every column one chunk, in every row one rank; half of the chunks are complete](images/ring.svg)
#
# The picture is a *ring all-reduce* after four of six steps. A row is a rank, a column is a chunk of the
# tensor. A small block is one rank's share in a sum: a chunk with four blocks is complete.
#
# You write plain `torch.distributed`, the code that runs on a cluster. Here the ranks are processes on
# your computer, and a switch of ours lies between them. It writes down every message, says who waits
# for whom when nobody can go on, and keeps a **virtual clock**: a message takes `latency + bytes /
# bandwidth` seconds, in every run the same.

# %%
import torch
import torch.distributed as dist

from lab_utils.instruments.ranks import (
    Link,
    RanksFailed,
    ranks_film,
    ring_film,
    run_ranks,
    run_times,
)
from lab_utils.kit.predict import predict
from lab_utils.labs.hw5 import check, replica, replica_loss

# %% [markdown]
# ## Ranks in two minutes
#
# `run_ranks(3, function)` starts three processes that run the same function. `dist.get_rank()` says who
# I am, `dist.get_world_size()` how many we are. `isend` **starts** to send a tensor and gives back a
# request, `recv` waits for one and puts it into a tensor, `request.wait()` waits until it was taken.


# %%
def pass_to_the_right():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    mine, other = torch.tensor([float(rank)]), torch.zeros(1)
    request = dist.isend(mine, dst=(rank + 1) % ranks)
    dist.recv(other, src=(rank - 1) % ranks)
    request.wait()
    return other.item()


print(run_ranks(3, pass_to_the_right).results)


# %% [markdown]
# `send` without the i waits until the other side receives. If everybody sends first, nobody ever
# receives. On a cluster such a program stands still until somebody looks at the bill; here you are told:


# %%
def everybody_sends_first():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    other = torch.zeros(1)
    dist.send(torch.ones(1), dst=(rank + 1) % ranks)
    dist.recv(other, src=(rank - 1) % ranks)


try:
    run_ranks(3, everybody_sends_first)
except RanksFailed as error:
    print(error)

# %% [markdown]
# ## The ring
#
# Each of N ranks has a tensor, and all want the sum. If everybody sends theirs to everybody, N - 1
# tensors leave each rank. A ring needs less than two, however many ranks there are. The tensor is cut
# into N chunks. Play the film, then change the number of ranks:
#
# - *First half, N - 1 steps.* Every rank sends one chunk to its right neighbour, and **adds** what comes
#   from its left to its own. In step 0 rank r sends chunk r. After that it sends what it has just added to.
# - *Second half, N - 1 steps.* Rank r has chunk r + 1 complete. It sends that; what arrives **replaces**
#   what was there, and is sent on in the next step.

# %%
ring_film(4)

# %% [markdown]
# ## Task 2.1: ring all-reduce (6 points, about 18 lines)
#
# Write `ring_all_reduce(tensor)`. Afterwards `tensor` holds the sum over all ranks, on every rank, in
# place. Use `isend` and `recv` (or `send`, `irecv`), nothing else of `torch.distributed`. What is checked:
#
# - **values**: any number of ranks from 2 to 8, any size (also 0, also fewer numbers than ranks), any
#   type (also int64), any shape, and any layout: a tensor whose rows lie column by column in memory, or
#   one with gaps between its elements. Nothing else in memory may change;
# - **bits**: all ranks have the same ones;
# - **messages**: 2 (N - 1) from every rank, all to the same neighbour, none larger than one chunk, and
#   a chunk has at most ⌈numbers / N⌉ numbers. An empty chunk is a message of 0 bytes. Every `isend` is
#   waited for before your function ends;
# - **time**: all ranks send at the same time.
#
# <details><summary>Help: how do I cut any tensor into N chunks?</summary>
# First make it flat: flat = tensor.flatten(). Then flat.tensor_split(N) gives N views of nearly equal
# size; some are empty if there are few numbers. A view shares memory: chunk += other changes flat.
# </details>
#
# <details><summary>Help: my result is right for a plain tensor and unchanged for others</summary>
# For a tensor with another layout, flatten makes a copy. Copy the result back in the end:
# tensor.copy_(flat.view(tensor.shape)).
# </details>
#
# <details><summary>Help: which chunk goes out in step s?</summary>
# Rank r sends chunk r - s and gets chunk r - s - 1, in both halves. Python's % makes a number below 0
# count from the end. The first N - 1 steps add, the others copy.
# </details>


# %% solution=t21
def ring_all_reduce(tensor: torch.Tensor) -> None:
    """Put the sum over all ranks into ``tensor``, on every rank."""
    ### BEGIN SOLUTION
    rank, ranks = dist.get_rank(), dist.get_world_size()
    flat = tensor.flatten()
    chunks = flat.tensor_split(ranks)
    for step in range(2 * (ranks - 1)):
        out, into = chunks[(rank - step) % ranks], chunks[(rank - step - 1) % ranks]
        arrived = torch.empty_like(into)
        request = dist.isend(out, dst=(rank + 1) % ranks)
        dist.recv(arrived, src=(rank - 1) % ranks)
        request.wait()
        if step < ranks - 1:
            into += arrived
        else:
            into.copy_(arrived)
    tensor.copy_(flat.view(tensor.shape))
    ### END SOLUTION


# %% test=t21_check points=6 check=2.1
check("2.1", ring_all_reduce)


# %% [markdown]
# The same function runs on a real network as it is. gloo is PyTorch's own for CPUs; on GPUs it would
# be NCCL. (Where this computer has no network of its own, the cell says so.)


# %%
def add_up():
    tensor = torch.arange(1003.0) * (dist.get_rank() + 1)
    ring_all_reduce(tensor)
    return tensor


try:
    print("on gloo:", run_ranks(4, add_up, backend="gloo").results[3][:5])
except Exception as error:
    print(error)

# %%
predict(
    "A tensor of 4 kB on a network with 50 µs of latency and 1.25 GB/s. You double the number of "
    "ranks from 4 to 8. What happens to the time of the ring?",
    {
        "it stays the same": "It would if bytes were all that costs: each rank sends less than 2 tensors in any case.",
        "it doubles, or more": "There are 14 steps in place of 6, and with 4 kB nearly all of a step is latency.",
        "it halves": "Chunks are half as large, but there are more than twice as many steps.",
    },
    right="it doubles, or more",
)

# %% [markdown]
# ## Task 2.2: what a ring costs (2 points, about 2 lines)
#
# Return the seconds of a ring all-reduce of a tensor of `nbytes` bytes, on the virtual clock: count the
# steps, and think of what one message costs. All ranks send at the same time. `bandwidth` is in bytes a
# second, `latency` in seconds. One rank alone takes no time.


# %% solution=t22
def ring_seconds(nbytes: int, ranks: int, latency: float, bandwidth: float) -> float:
    """Seconds of a ring all-reduce."""
    ### BEGIN SOLUTION
    return 2 * (ranks - 1) * (latency + nbytes / ranks / bandwidth)
    ### END SOLUTION


# %% test=t22_check points=2 check=2.2
check("2.2", ring_seconds)


# %% [markdown]
# Compare with what your own ring does, digit by digit:


# %%
def of_840():
    ring_all_reduce(torch.zeros(840))


for ranks in (2, 4, 8):
    run = run_ranks(ranks, of_840, link=Link(50e-6, 1.25e9))
    told = ring_seconds(840 * 4, ranks, 50e-6, 1.25e9)
    print(f"{ranks} ranks: {run_times(run)[0] * 1e6:.3f} µs, formula {told * 1e6:.3f} µs")

# %% [markdown]
# Move *bytes* in the film above. Left of the dashed line the ring is **latency-bound**: more ranks make
# it slower, and a faster cable gains nothing. Right of it it is **bandwidth-bound**. The gradients of
# ResNet-18, 44.7 MB, are far to the right. One gradient of a batch norm, 256 bytes, is far to the left.
# That is why nobody sends gradients one by one.
#
# ## Task 2.3: a data-parallel step (2 points, about 20 lines)
#
# Now train. Each rank has the whole model and its own images. `loss` is the mean over this rank's
# `images` images; all ranks together have `total`. Run backward so that `.grad` of every parameter is
# the gradient of **the mean over all images of all ranks**. Shares may be unequal (10 images here and 54
# there), so a plain mean over ranks is wrong: a rank counts by its images.
#
# Gradients travel in `buckets`. A bucket is a list of places: `[5, 4]` means `parameters[5]` and
# `parameters[4]`. The all-reduce of a bucket must **start as soon as its last gradient is there**, while
# backward goes on:
#
# - `parameter.register_post_accumulate_grad_hook(function)` has `function(parameter)` called in backward
#   when this parameter's gradient is there. It returns a handle; `handle.remove()` undoes it. Leave none.
# - one all-reduce for a bucket: put its gradients into one flat tensor (`torch.cat`);
# - `dist.all_reduce(flat, async_op=True)` starts it, and returns a request to wait for;
# - after backward wait, and put the sums back.
#
# ![Two steps on two ranks: backward runs from layer 3 to layer 0, and below it the bucket of each layer travels while backward goes on](images/overlap.svg)
#
# <details><summary>Help: where does the weight go?</summary>
# Gradients are linear: backward of (loss * images / total) has every gradient weighted already. Then
# the sum over all ranks is what is asked for.
# </details>
#
# <details><summary>Help: how do I know that a bucket is complete?</summary>
# Count down: for each bucket, how many of its parameters are still without a gradient.
# </details>


# %% solution=t23
def data_parallel_backward(
    loss: torch.Tensor,
    parameters: list[torch.Tensor],
    buckets: list[list[int]],
    images: int,
    total: int,
) -> None:
    """Backward with the gradients of all images of all ranks, bucket by bucket."""
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
    (loss * (images / total)).backward()
    for handle in handles:
        handle.remove()
    for number, flat, request in started:
        request.wait()
        grads = [parameters[one].grad for one in buckets[number]]
        for grad, part in zip(grads, flat.split([grad.numel() for grad in grads]), strict=True):
            grad.copy_(part.view_as(grad))
    ### END SOLUTION


# %% test=t23_check points=2 check=2.3
check("2.3", data_parallel_backward)

# %% [markdown]
# What does overlap gain, and how large should a bucket be? Twelve layers, each with 50 µs of forward
# and 100 µs of backward, on four ranks.
# Beside the time stands the split of notebook 1: compute, and what is left of the total.

# %%
MODEL = {"layers": 12, "width": 32, "rows": [2, 2, 2, 2], "seconds": 1e-4, "seed": 0}
network = Link(latency=5e-6, bandwidth=1.25e9)
last = 2 * MODEL["layers"]


def training_step(way, buckets):
    parameters = replica(MODEL)
    loss = replica_loss(MODEL, parameters, dist.get_rank(), 0)
    way(loss, parameters, buckets, 2, 8)


def backward_first(loss, parameters, buckets, images, total):
    """The same without overlap: all of backward, then all buckets."""
    (loss * images / total).backward()
    for bucket in buckets:
        dist.all_reduce(torch.cat([parameters[one].grad.flatten() for one in bucket]))


compute = 12 * (50 + 100)  # µs: forward and backward of all layers
print("buckets  overlapped, of it communication   backward first, of it communication")
for many in (1, 2, 6, 12, 24):
    buckets = [list(part) for part in torch.arange(last - 1, -1, -1).view(many, -1).tolist()]
    times = [
        run_times(run_ranks(4, training_step, way, buckets, link=network))[0] * 1e6
        for way in (data_parallel_backward, backward_first)
    ]
    cells = [f"{time:10.1f} µs {time - compute:10.1f} µs" for time in times]
    print(f"{many:>7}  {'      '.join(cells)}")

# %%
buckets = [list(part) for part in torch.arange(last - 1, -1, -1).view(6, -1).tolist()]
ranks_film(
    {
        "overlapped": run_ranks(4, training_step, data_parallel_backward, buckets, link=network),
        "backward first": run_ranks(4, training_step, backward_first, buckets, link=network),
    }
)

# %% [markdown]
# One bucket overlaps with nothing, 24 pay the latency 24 times. In between, the network works while
# backward computes, and only the last bucket is paid for. Subtraction would call the overlapped step
# "communication: hardly any", though every byte was sent.
#
# ## What you built
#
# The ring came to deep learning with Baidu's all-reduce and Horovod (Sergeev and Del Balso, 2018); NCCL
# runs it in most machines, and trees where latency counts. Hooks and buckets are PyTorch's own
# `DistributedDataParallel` (Li et al., *PyTorch Distributed*, VLDB 2020), with buckets of 25 MB. It
# assumes equal shares: with unequal ones its gradients are not those of the whole batch. Yours are.
