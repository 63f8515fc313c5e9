# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Homework 5, notebook 1: times, measured and believed
#
# **15 points, about 100 minutes.** You need Python; PyTorch only to look at. After this notebook
# you can
#
# - time training on a device that works while you are not looking;
# - tell from a table alone that its times cannot be true;
# - say what several GPUs gain, weak and strong, and what their network really did.
#
# ![A published table as operations a second: from batch 512 on, the card would be many times faster than it can be](images/too_fast.svg)
#
# The picture is a table that somebody handed in for this homework, turned into operations a second.
# The dashed mark is all that the card can do. The author explained the fast rows with "less
# overhead". You will find out what really happened, and write a stopwatch that does not fall for it.

# %%
import math
import time

from lab_utils.kit.carry import save_work
from lab_utils.kit.predict import predict
from lab_utils.labs.hw5 import (
    K80,
    K80_ALONE,
    PEAKS,
    RESNET18,
    RTX8000,
    V100,
    Device,
    check,
    measure_epochs,
    show_epochs,
    write_job,
)

# %% [markdown]
# ## A device that works behind your back
#
# A GPU is *asynchronous*: your program **launches** work and goes on at once. The GPU does one piece
# after the other, in its own time. `Device` is such a GPU, with a clock of ours, so that everybody
# has the same times:

# %%
gpu = Device(images=[32] * 4, load=0.5, copy=0.25, launch=0.125, fixed=0.5, each=0.03125, first=2.0)

start = gpu.clock()
gpu.step(32)  # launches one training step on 32 images
print("after the launch:", gpu.clock() - start, "s")
gpu.sync()  # waits until the device has done all that was launched
print("after sync      :", gpu.clock() - start, "s")

# %% [markdown]
# The launch took 0.125 s of the host. The step took 3.5 s of the device: 0.5, and 1/32 for each
# image, and 2 more since it was the very first. On a real GPU `sync` is `torch.cuda.synchronize()`.

# %%
predict(
    "Somebody times an epoch without sync, for batches of 32, 128 and 512. What does the table show?",
    {
        "the same time for all": "An epoch with larger batches has fewer launches, and launches are all that is timed.",
        "a time that falls as 1 / batch": "There are 1 / batch launches, and each takes the same. Look at the table above again.",
        "random numbers": "A launch takes nearly the same every time: such a table looks very smooth.",
    },
    right="a time that falls as 1 / batch",
)

# %% [markdown]
# ## Task 1.1: a stopwatch that waits (2 points, about 8 lines)
#
# Write `timed_epoch(batches, step, clock, sync)`. It returns the seconds of all training steps of one
# epoch, **without loading**:
#
# - `batches()` gives an epoch: `for batch in batches():` loads one batch after the other. Loading takes
#   time of the host, and launches a copy to the device. Neither of them counts.
# - `step(batch)` launches a training step. What counts is the time from its launch until the device
#   has done it, for each step, added up.
# - `clock()` tells the time, `sync()` waits for the device.
# - The first step ever is slow (memory is found, kernels are compiled). So run one epoch as a
#   **warm-up** that does not count, then time another one.
#
# <details><summary>Help: where do I read the clock?</summary>
# Twice for each batch: when it is loaded and the device has nothing left to do, and when its step is
# done. Both times the device must be idle: sync first, then read.
# </details>


# %% solution=t11
def timed_epoch(batches, step, clock, sync):
    """Seconds of all steps of an epoch, without loading; after one epoch of warm-up."""
    ### BEGIN SOLUTION
    seconds = 0.0
    for _ in ("warm-up", "timed"):
        seconds = 0.0
        for batch in batches():
            sync()
            start = clock()
            step(batch)
            sync()
            seconds += clock() - start
    return seconds
    ### END SOLUTION


# %% test=t11_check points=2 check=1.1
check("1.1", timed_epoch)

# %% [markdown]
# Your stopwatch runs on real computers as it is. The next cell trains a small convolutional network
# on real images (Fashion-MNIST, 3000 of them), in 1, 2 and 4 processes that talk by gloo, with
# batches of 32, 128 and 512 in each. It writes `epochs.csv`, which you hand in: **tables 1 and 2 of
# this homework, on your computer**. It takes half a minute on two idle cores, two minutes on
# busy ones; a bar shows how far it is, and it goes on where it stopped. Nobody grades its numbers. (More processes than cores are no faster: that is worth seeing, too.)

# %%
save_work(timed_epoch)
rows = measure_epochs(timed_epoch, "epochs.csv")
show_epochs(rows)

# %% [markdown]
# <details><summary>I have GPUs: how do I run this there?</summary>
#
# The next cell writes `hw5.sbatch`, a job for Slurm. Copy the whole release to the cluster (the folder
# with `lab_utils`), with the `my_work.py` that the cell above has written beside this notebook. There,
# in the folder of this notebook, run `sbatch hw5.sbatch`. The job starts torchrun with 1, 2 and 4
# processes, one for each GPU. They use your `timed_epoch`, NCCL, and `torch.cuda.synchronize` as sync.
# The rows come in `epochs_gpu.csv`; `show_epochs(read_rows("epochs_gpu.csv"))` draws them
# (`from lab_utils.kit.rows import read_rows`).
#
# Without Slurm, `srun` is all that must go: `sed 's/srun //' hw5.sbatch | bash`. Without a GPU the same
# program runs by gloo.
#
# </details>

# %%
print(write_job("hw5.sbatch", gpus=4))

# %% [markdown]
# ## Is this table possible?
#
# ResNet-18 for CIFAR-10 makes 555,422,720 **MACs** (a multiplication with an addition) in the forward
# pass of one image. An epoch has 50,000 images. These are seconds of one epoch, as two reports have
# them; `None` is "out of memory". `PEAKS` has the most operations a second that each card can do in
# float32: 16.3 · 10¹² for an RTX 8000, 15.7 · 10¹² for a V100.

# %%
print("RTX 8000:", RTX8000)
print("V100    :", V100)
print("ms of one step on the RTX 8000:")
for batch, seconds in RTX8000.items():
    print(f"{batch:>6} {1000 * seconds / math.ceil(RESNET18.images / batch):8.1f}")

# %% [markdown]
# Up to batch 512 a step takes about 10 ms, with 32 images or with 512. That is the time of the launches.
#
# ## Task 1.2: which rows cannot be (1 point, about 4 lines)
#
# Return the batch sizes whose time is **impossible**: so short that the device would have to make more
# than `peak` operations a second.
#
# - A MAC is two operations. Backward takes twice the operations of forward.
# - Be fair: clever algorithms (Winograd's) need up to `saving` times fewer operations. A row is
#   impossible if it is too fast even then.
# - A row without a time (`None`) is not impossible.


# %% solution=t12
def impossible(seconds, macs, images, peak, saving):
    """Batch sizes whose epoch cannot have been so short.

    Args:
        seconds: of one epoch, by batch size; None where there is none.
        macs: of one image, forward.
        images: of one epoch.
        peak: the most operations a second that the device can do.
        saving: how many times fewer operations a clever algorithm may need.
    """
    ### BEGIN SOLUTION
    operations = 3 * 2 * macs * images / saving
    return [batch for batch, time in seconds.items() if time and operations / time > peak]
    ### END SOLUTION


# %% test=t12_check points=1 check=1.2
check("1.2", impossible)

# %% [markdown]
# Try it on both reports, and on a third one: `K80_ALONE`, one GPU of a K80 (4.37 · 10¹²), by batch size.

# %%
for card, table in {"RTX8000": RTX8000, "V100": V100, "K80": K80_ALONE}.items():
    rows = impossible(table, RESNET18.macs, RESNET18.images, PEAKS[card], 4)
    print(f"{card:8}", rows or "all rows are possible")

# %% [markdown] task=q13 points=2
# ### Question 1.3: why larger batches are faster (2 points, about 80 words, in a new cell below)
#
# A person reads and grades this one. Look at your own `epochs.csv` (one rank) and at the K80 below.
# Why does an epoch take less time with a larger batch, and why does that come to an end? Use at least
# two numbers of your own table. (A CPU may be full long before batch 512: then say how you see it.)
#
# ### BEGIN MARK SCHEME
# 1: costs that a step has however many images it holds (launches, Python, optimizer update, kernel
# start-up) are spread over more images; the device is used better. With own numbers.
# 1: it ends when the device is full (time grows with the batch, the epoch stays flat), then memory.
# "Less overhead" alone, or no number of one's own: at most 1.
# ### END MARK SCHEME

# %% [markdown]
# ## Several GPUs
#
# The rest of this notebook uses a table that *is* possible, from K80 cards. `K80` has seconds of one
# epoch with everything, by `(gpus, batch of each)`. `K80_ALONE` has the time of one GPU without
# loading, by batch.

# %%
print(K80_ALONE)
K80

# %% [markdown]
# ## Task 1.4: speed-up (1½ points, about 4 lines)
#
# For every cell: how many times as fast is it as **one GPU with the same batch of each**? Cells of one
# GPU have 1.0. Where one GPU was not measured with that batch, leave the cell out.


# %% solution=t14
def speedups(times):
    """By (gpus, batch), how many times as fast as one GPU with the same batch of each."""
    ### BEGIN SOLUTION
    return {
        (gpus, batch): times[1, batch] / seconds
        for (gpus, batch), seconds in times.items()
        if (1, batch) in times
    }
    ### END SOLUTION


# %% test=t14_check points=1.5 check=1.4
check("1.4", speedups)

# %% [markdown]
# ## Task 1.5: strong scaling without a new measurement (1½ points, about 6 lines)
#
# In that table each GPU keeps its batch, so four GPUs take a step on four times as many images. That
# changes what is trained. **Strong** scaling asks for the same total batch: 512 images on one GPU, or
# 128 on each of four. The table has such pairs. Find them: return a list of
# `((1, whole), (gpus, each), speed-up)`, one for every pair with `gpus > 1` and `gpus * each == whole`,
# in any order.


# %% solution=t15
def strong_points(times):
    """Pairs of one GPU and several with the same total batch, and the speed-up."""
    ### BEGIN SOLUTION
    return [
        ((1, gpus * batch), (gpus, batch), times[1, gpus * batch] / seconds)
        for (gpus, batch), seconds in times.items()
        if gpus > 1 and (1, gpus * batch) in times
    ]
    ### END SOLUTION


# %% test=t15_check points=1.5 check=1.5
check("1.5", strong_points)

# %%
for one, several, faster in strong_points(K80):
    print(f"{one} to {several}: {faster:.2f}")

# %% [markdown] task=q16 points=2
# ### Question 1.6: weak or strong? (2 points, about 80 words, in a new cell below)
#
# A person reads and grades this one. Is the table of task 1.4 weak or strong scaling, and why? Which
# of the two is better here, and what is the reason? Give one pair of numbers from task 1.5, and one
# from your own `epochs.csv`.
#
# ### BEGIN MARK SCHEME
# 1: the work of each GPU (its batch) is fixed, so it is weak scaling; that the epoch is fixed does
# not make it strong.
# 1: strong is worse: the batch of each GPU is smaller while the message stays the same. With a data
# point, such as 1 x 512 to 4 x 128: 1.82 against weak 2.64, or 1 x 128 to 4 x 32: 0.79, slower than
# one GPU.
# ### END MARK SCHEME

# %% [markdown]
# ## Task 1.7: compute and communication (3 points, about 9 lines)
#
# Where did the time go? `alone` has seconds of one GPU without loading, by batch; `times` has seconds
# with everything, by `(gpus, batch)`. One epoch is **shared by all GPUs**. So with N of them each
# computes for one N-th of the time that one GPU takes alone. What is left of the total is called
# communication.
#
# Return `{(gpus, batch): (compute, communication)}` for all cells with several GPUs whose batch is in
# `alone`. If communication would be below 0, the table is impossible: raise `ValueError` with a
# message that names the cell, its number of GPUs and its batch. (Reports were seen that clamp such a
# cell to 0 s. That is hiding the smoke alarm.)


# %% solution=t17
def split(alone, times):
    """By (gpus, batch), seconds of compute and of communication.

    Raises:
        ValueError: a cell takes less time than its share of the work; the message names it.
    """
    ### BEGIN SOLUTION
    parts = {}
    for (gpus, batch), total in times.items():
        if gpus > 1 and batch in alone:
            compute = alone[batch] / gpus
            if total < compute:
                raise ValueError(f"{gpus} GPUs with batch {batch}: {total} s is less than its work")
            parts[gpus, batch] = compute, total - compute
    return parts
    ### END SOLUTION


# %% test=t17_check points=3 check=1.7
check("1.7", split)

# %% [markdown]
# ## Task 1.8: the bandwidth that was reached (2 points, about 6 lines)
#
# In every step all GPUs sum up their gradients, `nbytes` of them, by a ring (notebook 2 builds one).
# In a ring of N each GPU sends 2 (N - 1) messages, and each is one N-th of the gradients. An epoch has
# as many steps as it takes to get through all `images`; the last one may have fewer images, and sends
# as many bytes.
#
# `communication` has seconds of one **epoch**, by `(gpus, batch)`. Return GB/s by cell: bytes that one
# GPU sends in the epoch, by seconds. GB are 10⁹ bytes.


# %% solution=t18
def bandwidth(communication, images, nbytes):
    """By (gpus, batch), GB/s that each GPU sent."""
    ### BEGIN SOLUTION
    reached = {}
    for (gpus, batch), seconds in communication.items():
        steps = math.ceil(images / (gpus * batch))
        sent = 2 * (gpus - 1) / gpus * nbytes * steps
        reached[gpus, batch] = sent / seconds / 1e9
    return reached
    ### END SOLUTION


# %% test=t18_check points=2 check=1.8
check("1.8", bandwidth)

# %%
communication = {cell: parts[1] for cell, parts in split(K80_ALONE, K80).items()}
for cell, reached in bandwidth(communication, RESNET18.images, RESNET18.gradient_bytes).items():
    print(f"{cell}: {communication[cell]:6.2f} s, {reached:.3f} GB/s")

# %% [markdown]
# > **A story about a column that nobody questioned.** The message is the same 44.7 MB in every step,
# > whatever the batch. So the bandwidth of the network cannot fall from 0.83 to 0.32 GB/s when the
# > batch grows. What "total minus compute" calls communication also holds data loading, copying
# > images to all cards, and one Python process that feeds them all: costs of an epoch, not of a step.
# > Subtraction finds what is left, not what it is. In notebook 2 you will watch the messages instead.
#
# ## What you built
#
# MLPerf's rules have pages about what a timer may and may not leave out, and PyTorch ships
# `torch.utils.benchmark.Timer`, which waits for the device as yours does. Counting operations to see
# whether a claim is possible has a name, too: *model FLOPs utilisation*, in every large training
# report since PaLM (Chowdhery et al., 2022). If it says more than 100 %, look for a missing sync.
