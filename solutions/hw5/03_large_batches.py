# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Homework 5, notebook 3: large batches, and what ranks must agree on
#
# **25 points, about 150 minutes.** You need Python and a little PyTorch. After this notebook you can
#
# - choose a learning rate for a batch that is sixteen times as large, and show whether it works;
# - share out images as `DistributedSampler` does, and say why it wants to know the epoch;
# - name every byte that `DistributedDataParallel` sends, and what it never sends.
#
# ![A ring of four ranks after four steps](images/ring.svg)
#
# Many GPUs mean large batches, and large batches train differently. That is the first half. The
# second half is about four things that ranks must agree on: images, parameters, gradients and
# statistics.

# %%
import torch
import torch.distributed as dist

from lab_utils.instruments.ranks import run_ranks
from lab_utils.kit.predict import predict
from lab_utils.labs.hw5 import (
    KINDS,
    Message,
    ModelBytes,
    check,
    measure_batches,
    record_ddp,
    show_batches,
)

# %% [markdown]
# ## Task 3.1: linear scaling and warm-up (3 points, about 6 lines)
#
# Goyal et al. trained ImageNet in one hour with batches of 8192. Two rules made it work:
#
# - **Linear scaling**: a batch k times as large has k times the learning rate, `k = batch / base`.
# - **Gradual warm-up**: at first that rate is too much. So step 0 has the rate of the small batch. In each
#   step of the warm-up the rate grows by the **same amount**, so that step number `warmup` has the scaled
#   rate. From there on it stays.
#
# Return the learning rate of a step (counted from 0). `rate` is that of the small batch `base`. A `warmup`
# of 0 steps has the scaled rate from the start.


# %% solution=t31
def learning_rate(step: int, rate: float, base: int, batch: int, warmup: int) -> float:
    """The learning rate of a step with a large batch."""
    ### BEGIN SOLUTION
    scaled = rate * batch / base
    if step >= warmup:
        return scaled
    return rate + (scaled - rate) * step / warmup
    ### END SOLUTION


# %% test=t31_check points=3 check=3.1
check("3.1", learning_rate)

# %%
predict(
    "The next cell trains a small network for five epochs: with batches of 32, and with batches of 512 "
    "at the same learning rate. Which of the two has the lower loss at the end?",
    {
        "batches of 32": "512 images make one step in place of 16: at the same rate it has gone one sixteenth of the way.",
        "batches of 512": "Each of its steps is better, but there are sixteen times fewer of them.",
        "both have the same": "They would if one step on 512 images went as far as 16 steps on 32. That needs another rate.",
    },
    right="batches of 32",
)

# %% [markdown]
# ## Task 3.2: large batches, measured (2 points: run the cell, hand in the file)
#
# This is table 3 of the homework, on your computer: five epochs with real images, once with a batch of
# 32, and three times with 512: at the same rate, scaled, and scaled with a warm-up of two epochs. It
# uses your `learning_rate` and writes `batches.csv`. That takes 15 seconds on an idle computer, a minute
# on a busy one, and shows how far it is. Loss and accuracy are those of
# *training*, as the homework asks. (After so few steps, the running statistics of batch norm lag behind,
# and a test would say more about them than about the network.) The form of the file is checked, not
# who wins.

# %%
rows = measure_batches(learning_rate, "batches.csv")
show_batches(rows)

# %% test=t32_check points=2 check=3.2
check("3.2", "batches.csv")

# %% [markdown] task=q33 points=5
# ### Question 3.3: two remedies (5 points, about 150 words, in a new cell below)
#
# A person reads and grades this one. Name **two** things that one can do so that a large batch trains as
# well as a small one. For each: what goes wrong without it, and why does it help? Use your own
# `batches.csv` as evidence, also where it does not show what a paper says. (You may add rows: train with
# other rates, batches or warm-ups.)
#
# ### BEGIN MARK SCHEME
# 2 for each of two remedies with what goes wrong and why it helps (1 for the name alone): linear
# scaling of the rate (fewer steps, so each must go further); gradual warm-up (weights change fast at
# first, where k steps are not like one large step); right normalisation (loss averaged over all kn
# images; momentum correction when the rate changes); gamma of the last batch norm of a residual block
# set to 0; batch norm over a fixed number of images for each worker; one shuffle an epoch for all
# workers; LARS/LAMB.
# 1: own rows as evidence, honestly read. Here scaling helps clearly; a warm-up shows no gain at this
# size, and saying so is right.
# ### END MARK SCHEME

# %% [markdown]
# ## Who gets which images
#
# Every rank has a sampler of its own. No rank sees the others'. Still they must never take the same
# image twice, and all must have equally many, or some wait for ever.
#
# ## Task 3.4: a sampler of your own (3 points, about 8 lines)
#
# Return the numbers of the images that `rank` gets in this `epoch`, exactly as PyTorch's
# `DistributedSampler` gives them (which must not be called here):
#
# 1. one order for all ranks: `torch.randperm(images, generator=…)` with a fresh `torch.Generator` whose
#    seed is `seed + epoch`;
# 2. it must be shared out evenly. With `drop_last`, cut its end off. Without, pad it: put its own beginning
#    behind its end, several times around if there are fewer images than ranks;
# 3. rank r takes every N-th number, beginning at place r.
#
# <details><summary>Help: how long is the order then?</summary>
# Without drop_last, images rounded up to a multiple of N; with it, rounded down.
# </details>


# %% solution=t34
def shard(images: int, rank: int, ranks: int, epoch: int, seed: int, drop_last: bool) -> list[int]:
    """Numbers of the images of a rank in an epoch."""
    ### BEGIN SOLUTION
    generator = torch.Generator().manual_seed(seed + epoch)
    order = torch.randperm(images, generator=generator).tolist()
    each = images // ranks if drop_last else -(-images // ranks)
    while len(order) < each * ranks:
        order += order[: each * ranks - len(order)]
    return order[rank : each * ranks : ranks]
    ### END SOLUTION


# %% test=t34_check points=3 check=3.4
check("3.4", shard)

# %%
for epoch in (0, 1):
    print(f"epoch {epoch}:", [shard(10, rank, 4, epoch, 0, False) for rank in range(4)])

# %% [markdown] task=q35 points=2
# ### Question 3.5: set_epoch (2 points, about 60 words, in a new cell below)
#
# A person reads and grades this one. PyTorch's documentation asks you to call
# `sampler.set_epoch(epoch)` at the start of every epoch. Why is it needed on several ranks, though one
# process does without? What happens if you forget it? Try it with your `shard`.
#
# ### BEGIN MARK SCHEME
# 1: every process has its own sampler and shuffles from seed + epoch; no process sees the others', so
# they agree on one order only through these numbers.
# 1: without it every epoch has the same order, so the same images meet in the same batches on the same
# rank, epoch after epoch; nothing crashes, and shares stay disjoint. "It crashes", "for determinism"
# or "so that all have the same data": 0 for this part.
# ### END MARK SCHEME

# %% [markdown]
# ## What is on the wire
#
# `DistributedDataParallel` (DDP) does in one line what task 2.3 did. What does it send? Do not believe
# anybody: look. `record_ddp` runs PyTorch's own DDP on two of our ranks and writes down every message of
# rank 1, with what the program was doing. The first part is DDP's construction; then come three steps.


# %%
def with_norm():
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 8, 3),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(288, 10),
    )


for message in record_ddp(with_norm, (2, 1, 8, 8)):
    print(f"{message.phase:<10} {message.what:<10} {message.dtype:<8} {message.nbytes:>7,} bytes")

# %% [markdown]
# This network has 11,944 bytes of parameters. Its batch norm has 8 channels, so there are two **buffers** of
# 32 bytes (running mean and variance), and a counter of batches, an int64. Read the log from above:
#
# - The first two messages are **metadata**: have all ranks the same number of parameters, of the same shapes?
# - Then rank 0 sends **parameters and buffers**, all together, one broadcast for each dtype.
# - Before every forward rank 0 sends its **buffers**.
# - Backward sums up **gradients**.
# - Messages of int32, in any phase, are notes of DDP to itself about its buckets: **metadata**.
#
# ## Task 3.6: what is on the wire (3 points, about 12 lines)
#
# Return the bytes of a whole log by kind: a dict with the keys of `KINDS`, `"parameters"`, `"buffers"`,
# `"gradients"`, `"metadata"`. Together they must be all bytes of the log. `log` is a list of
# `Message(phase, what, dtype, nbytes)`; `model` is `ModelBytes(parameters, trained, buffers)`, what the model
# holds in bytes. Some parameters may be frozen (then `trained` is less), and a program may ask DDP to
# leave buffers alone: then none are sent at all. Go by the log.
#
# <details><summary>Help: parameters and buffers are in one message. How do I part them?</summary>
# All parameters are sent once. Count everything that is sent after the two notes of the construction and
# is neither a note nor a gradient, and take model.parameters away: the rest are buffers.
# </details>


# %% solution=t36
def traffic(log: list[Message], model: ModelBytes) -> dict[str, int]:
    """Bytes of a log: parameters, buffers, gradients, metadata."""
    ### BEGIN SOLUTION
    told = dict.fromkeys(KINDS, 0)
    for place, message in enumerate(log):
        if place < 2 or message.dtype == "int32":
            kind = "metadata"
        elif message.phase == "backward":
            kind = "gradients"
        else:
            kind = "buffers"
        told[kind] += message.nbytes
    told["parameters"] = model.parameters
    told["buffers"] -= model.parameters
    return told
    ### END SOLUTION


# %% test=t36_check points=3 check=3.6
check("3.6", traffic)

# %% [markdown] task=q37 points=2
# ### Question 3.7: besides gradients (2 points, about 60 words, in a new cell below)
#
# A person reads and grades this one. Which messages of DDP are needed besides gradients, when are they
# sent, and why? Are batch norm's weight and bias (gamma and beta) among them? Point at lines of the log.
#
# ### BEGIN MARK SCHEME
# 1: running mean and variance (and the counter) of batch norm: buffers, which have no gradient and would
# drift apart; from rank 0, before each forward. Also initial parameters (and metadata) once.
# 1: gamma and beta are not: they are parameters, and their gradients are summed with all others.
# "Gamma and beta" as the answer: 0 for this part.
# ### END MARK SCHEME

# %% [markdown]
# ## Batch norm on several ranks
#
# Batch norm normalises each channel with the mean and the variance of the batch: `(x - mean) / sqrt(var +
# eps)`. On several ranks each sees its own images alone. So **DDP is not one large batch** when there is
# a batch norm: every rank normalises with other numbers. Where shares are tiny (two images of a detector
# on each GPU) that hurts, and the statistics must come from all ranks.
#
# ## Task 3.8: batch norm over all ranks (3 points, about 9 lines)
#
# Normalise `x`, this rank's images, with the mean and variance over the images **of all ranks**. The shape
# of x is (images, channels) or (images, channels, rows, columns); a channel's statistics go over all else. Shares
# may be unequal, and a rank may have no images. Use **one** all-reduce of a few numbers for each channel.
# The variance divides by the number of numbers. Forward only; return a tensor as large as x, of its dtype.
#
# <details><summary>Help: which numbers can be summed over ranks?</summary>
# Not means, if shares are unequal. Sums can: of x, of x squared, and the count. Then mean = sum / count
# and var = (sum of squares) / count - mean².
# </details>
#
# <details><summary>Help: my variance is wrong when the mean is large</summary>
# The last formula takes two large numbers from each other. In float32 their digits are gone by then. Sum
# in float64: x.double().
# </details>


# %% solution=t38
def sync_batch_norm(x: torch.Tensor, eps: float) -> torch.Tensor:
    """x, normalised with the statistics of all ranks."""
    ### BEGIN SOLUTION
    dims = [0, *range(2, x.dim())]
    wide = x.double()
    count = torch.full((x.shape[1],), x.numel() / x.shape[1], dtype=torch.float64)
    sums = torch.stack([wide.sum(dims), (wide**2).sum(dims), count])
    dist.all_reduce(sums)
    mean, square = sums[0] / sums[2], sums[1] / sums[2]
    shape = [1, -1] + [1] * (x.dim() - 2)
    var = square - mean**2
    return ((wide - mean.view(shape)) / (var.view(shape) + eps).sqrt()).to(x.dtype)
    ### END SOLUTION


# %% test=t38_check points=3 check=3.8
check("3.8", sync_batch_norm)

# %% [markdown]
# How far is a rank's own batch norm from that of all images? Two ranks, 4 images each:


# %%
def compare():
    torch.manual_seed(dist.get_rank())
    x = torch.randn(4, 3, 5, 5) + dist.get_rank()
    own = torch.nn.functional.batch_norm(x, None, None, training=True)
    return (own - sync_batch_norm(x, 1e-5)).abs().max().item()


print("largest difference on each rank:", run_ranks(2, compare).results)

# %% [markdown] task=q39 points=2
# ### Question 3.9: are gradients enough? (2 points, about 80 words, in a new cell below)
#
# A person reads and grades this one. Suppose the ranks exchanged gradients and nothing else, with batch
# norm in the network. Is that enough to train? What about evaluation, and a checkpoint? Goyal et al. keep
# the statistics of each worker to itself on purpose: what speaks for that?
#
# ### BEGIN MARK SCHEME
# 1: enough for equal parameters (same start, same summed gradients, same updates) and for training:
# statistics of each worker, over a fixed number of images, are part of the loss (Goyal keep them local).
# Either answer counts if it has this reason.
# 1: running statistics are buffers without gradients and differ from rank to rank, so evaluation on the
# ranks differs; a checkpoint or an evaluation takes those of one rank (or averages them).
# ### END MARK SCHEME

# %% [markdown]
# ## What you built
#
# Linear scaling and warm-up are Goyal et al., *Accurate, Large Minibatch SGD: Training ImageNet in 1 Hour*
# (2017); every large training run since then has a warm-up. Your sampler is
# `torch.utils.data.DistributedSampler`, your batch norm is the forward pass of
# `torch.nn.SyncBatchNorm`, which also needs one all-reduce in backward. And your log settles what is
# argued about in many a forum: DDP sends gradients, and a few buffers that nobody asked for.
#
# Part B of this homework makes the network small instead of the time: notebooks 4 and 5 put it into
# integers. What the original asks of accuracies after many epochs of CIFAR-10 on four GPUs is not asked
# for here, since it takes GPUs; the job of notebook 1 shows the way.
