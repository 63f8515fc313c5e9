# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Lab 3B, notebook 1: ranks, collectives, tensor parallel
#
# **3 points, about 90 minutes.** You need Python and a little PyTorch; nothing from other labs.
# After this notebook you can
#
# - add up a tensor over several processes with messages alone, and say what that costs;
# - split a linear layer by columns and by rows so that gradients stay right;
# - run a transformer block on several ranks, as Megatron-LM does.
#
# A model that does not fit one card, or takes too long on it, is trained on many. Each card is
# driven by a process of its own, a **rank**. Ranks share nothing. They send each other tensors, and
# what they send is written down in every training report: *all-reduce*, *tensor parallel 8*.
#
# ![A ring of four ranks over virtual time: in each of six steps every rank sends one chunk to its neighbour](images/ring.svg)
#
# You write plain `torch.distributed`, the code that runs on a cluster. Here the ranks are processes
# on your computer, and between them lies a switch of ours. It writes down every message, tells who
# waits for whom when nobody can go on, and keeps a **virtual clock**: a message takes
# `latency + bytes / bandwidth` seconds, in every run the same.

# %%
import torch
import torch.distributed as dist
import torch.nn.functional as F

from lab_utils.instruments.ranks import Link, RanksFailed, ranks_film, run_ranks, run_times
from lab_utils.labs.lab3b import check

# %% [markdown]
# ## Ranks
#
# `run_ranks(4, function)` starts four ranks, and each runs the same function. Who am I? is
# `dist.get_rank()`, how many are we? is `dist.get_world_size()`.


# %%
def hello():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    print(f"one of {ranks}")
    number = torch.tensor([float(rank)])
    if rank == 0:
        dist.send(number + 100, dst=1)
    if rank == 1:
        dist.recv(number, src=0)  # puts what arrives into the tensor
    return number.item()


run = run_ranks(4, hello)
print(run.results)
print(run)

# %% [markdown]
# `send` and `recv` **wait for each other**: a send is done when the other side has received. So
# this does not work, here and on every cluster:


# %%
def everybody_sends_first():
    rank, ranks = dist.get_rank(), dist.get_world_size()
    mine, other = torch.tensor([float(rank)]), torch.zeros(1)
    dist.send(mine, dst=(rank + 1) % ranks)
    dist.recv(other, src=(rank - 1) % ranks)
    return other.item()


try:
    run_ranks(3, everybody_sends_first)
except RanksFailed as error:
    print(error)

# %% [markdown]
# On a cluster such a program stands still until somebody looks at the bill. The cure is `isend`: it
# only starts the sending and gives back a request; `request.wait()` waits for its end.


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
# ## The ring
#
# Each of N ranks has a tensor of S bytes, and each wants the sum of all. If everybody sends theirs
# to everybody, N - 1 tensors go out of each rank. A **ring all-reduce** needs less than two, however
# many ranks there are. The tensor is cut into N chunks, and there are two rounds.
#
# *First round, add up.* In each step a rank sends one chunk to its right neighbour and receives
# another one from its left, which it adds to its own. In step 0 rank r sends chunk r. In each later
# step it sends the chunk that it has just added to. After N - 1 steps rank r has chunk r + 1
# complete: all ranks are in it. (Numbers of ranks and chunks start at 0 and count in a circle: after
# N - 1 comes 0.) For N = 3, with a, b, c for what ranks 0, 1, 2 brought:
#
# | | rank 0 | rank 1 | rank 2 |
# |---|---|---|---|
# | start | a0 a1 a2 | b0 b1 b2 | c0 c1 c2 |
# | sends in step 0 | chunk 0 | chunk 1 | chunk 2 |
# | then has | a0 a1 **a2+c2** | **a0+b0** b1 b2 | c0 **b1+c1** c2 |
# | sends in step 1 | chunk 2 | chunk 0 | chunk 1 |
# | then has | a0 **a1+b1+c1** a2+c2 | a0+b0 b1 **a2+b2+c2** | **a0+b0+c0** b1+c1 c2 |
#
# ## Task 1.1: the first half of the ring: add up (½ point, about 8 lines)
#
# `chunks` is a list of N tensors, this rank's own. Change them in place, so that in the end chunk
# `(rank + 1) % ranks` is the sum over all ranks; what the others hold then does not matter.
# Take `isend` and `recv` alone: N - 1 messages of one chunk each, all to the same neighbour. Wait for
# every `isend`: whoever calls your function changes the chunks next. Chunks may have different
# sizes, and some may be empty.
#
# <details><summary>Help: which chunk goes out in step s, and which one comes in?</summary>
# Rank r sends chunk r - s. Its left neighbour r - 1 sends chunk r - 1 - s. Python's % makes a number
# below 0 count from the end: (0 - 1) % 4 is 3.
# </details>
#
# <details><summary>Help: where do I receive?</summary>
# Into a fresh tensor that looks like the chunk: torch.empty_like(chunk). Then add it.
# </details>


# %% solution=t11
def ring_reduce_scatter(chunks: list[torch.Tensor]) -> None:
    """Add up around the ring: rank r ends with the complete chunk r + 1."""
    ### BEGIN SOLUTION
    rank, ranks = dist.get_rank(), dist.get_world_size()
    for step in range(ranks - 1):
        request = dist.isend(chunks[(rank - step) % ranks], dst=(rank + 1) % ranks)
        mine = chunks[(rank - step - 1) % ranks]
        arrived = torch.empty_like(mine)
        dist.recv(arrived, src=(rank - 1) % ranks)
        request.wait()
        mine += arrived
    ### END SOLUTION


# %% test=t11_check points=0.5 check=1.1
check("1.1", ring_reduce_scatter)

# %% [markdown]
# ## Task 1.2: the second half of the ring: hand on (½ point, about 7 lines)
#
# Now each rank has one complete chunk, `(rank + 1) % ranks`, and the others hold what is no longer of
# use. Hand the complete ones on around the ring, in N - 1 steps, until every rank has all of them.
# In place, with `isend` and `recv` alone, as before.
#
# <details><summary>Help: which chunk goes out in step s?</summary>
# In step 0 the complete one, r + 1. After that always the one that has just arrived.
# </details>


# %% solution=t12
def ring_all_gather(chunks: list[torch.Tensor]) -> None:
    """Hand complete chunks on around the ring; rank r starts with chunk r + 1."""
    ### BEGIN SOLUTION
    rank, ranks = dist.get_rank(), dist.get_world_size()
    for step in range(ranks - 1):
        request = dist.isend(chunks[(rank + 1 - step) % ranks], dst=(rank + 1) % ranks)
        arrived = torch.empty_like(chunks[(rank - step) % ranks])
        dist.recv(arrived, src=(rank - 1) % ranks)
        request.wait()
        chunks[(rank - step) % ranks].copy_(arrived)
    ### END SOLUTION


# %% test=t12_check points=0.5 check=1.2
check("1.2", ring_all_gather)


# %% [markdown]
# Both halves together are an all-reduce. Its cost on the virtual clock is
# `2 (N - 1) (latency + S / N / bandwidth)`: with many ranks the bytes cost no more than 2 S, but the
# latency is paid 2 (N - 1) times. Compare your ring with the formula, digit by digit. Then move the
# sliders of the film: when do the bytes take most of the time, and when the latency?


# %%
def ring_all_reduce(tensor):
    """The sum over all ranks, in place."""
    chunks = list(tensor.tensor_split(dist.get_world_size()))  # views: they share the memory
    ring_reduce_scatter(chunks)
    ring_all_gather(chunks)
    return tensor


def add_up():
    return ring_all_reduce(torch.arange(840.0) * (dist.get_rank() + 1))


link, nbytes = Link(latency=50e-6, bandwidth=1.25e9), 840 * 4
for ranks in (2, 4, 8):
    run = run_ranks(ranks, add_up, link=link)
    formula = 2 * (ranks - 1) * (link.latency + nbytes / ranks / link.bandwidth)
    print(f"{ranks} ranks: {run_times(run)[0] * 1e6:.3f} µs, formula {formula * 1e6:.3f} µs")

# %%
ranks_film(run_ranks(4, add_up, link=link))

# %% [markdown]
# The same two functions run on a real network as they are. gloo is PyTorch's own for CPUs; on a
# cluster it would be NCCL. (Where this computer has no network of its own, the cell says so.)

# %%
try:
    ours = run_ranks(2, add_up, backend="gloo").results
    print("on gloo, with two real processes:", ours[0][:4], "and equal:", torch.equal(*ours))
except Exception as error:
    print(error)

# %% [markdown]
# From here on take `dist.all_reduce(tensor)`, which does all of this in one call and in place.
#
# ## A linear layer on several ranks
#
# In a transformer nearly all weights are in linear layers, `y = x Wᵀ + b`. There are two ways to
# split one.
#
# *By columns* (of Wᵀ): each rank has some **outputs**. It needs all of x, and makes its own part of y.
# Nobody has to talk in forward. In backward, each rank knows what *its* outputs say about x, and
# the gradient of x is the **sum over all ranks**.
#
# *By rows*: each rank has some **inputs**, and makes a part of *every* output. In forward these
# parts are **summed over all ranks**. In backward every rank has the gradient of y, and that is all
# it needs.
#
# The paper that made this popular calls the two operators f and g, and they are each other's
# mirror image:
#
# | | forward | backward |
# |---|---|---|
# | f, before columns | hands x on as it is | all-reduce |
# | g, after rows | all-reduce | hands the gradient on as it is |
#
# PyTorch cannot know this: write forward and backward yourself, in a `torch.autograd.Function`.
#
# ## Task 1.3: a linear layer by columns (½ point, about 10 lines)
#
# `weight` has the rows of W whose outputs are this rank's, `bias` their biases. x is the same on all
# ranks. Return this rank's outputs; gradients of x, weight and bias must be those of one process.
#
# <details><summary>Help: what does a torch.autograd.Function look like?</summary>
# Two static methods, forward(ctx, x) and backward(ctx, gradient), each returns one tensor. Call it
# with Name.apply(x). In forward return x.view_as(x): a tensor of its own.
# </details>
#
# <details><summary>Help: all_reduce changes its tensor. Is that good?</summary>
# Not in backward: the gradient may be needed elsewhere. Take gradient.clone(), and reduce that.
# </details>


# %% solution=t13
class IntoRanks(torch.autograd.Function):
    """f: x as it is; in backward the sum over the ranks."""

    @staticmethod
    def forward(ctx, x):
        ### BEGIN SOLUTION
        return x.view_as(x)
        ### END SOLUTION

    @staticmethod
    def backward(ctx, gradient):
        ### BEGIN SOLUTION
        total = gradient.clone()
        dist.all_reduce(total)
        return total
        ### END SOLUTION


def column_linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """This rank's outputs of a linear layer."""
    ### BEGIN SOLUTION
    return F.linear(IntoRanks.apply(x), weight, bias)
    ### END SOLUTION


# %% test=t13_check points=0.5 check=1.3
check("1.3", column_linear)

# %% [markdown]
# ## Task 1.4: a linear layer by rows (½ point, about 10 lines)
#
# `x` has this rank's inputs, `weight` their columns of W. `bias` is whole, and the same on all
# ranks: it must count **once**. Return all outputs, the same on every rank.


# %% solution=t14
class OutOfRanks(torch.autograd.Function):
    """g: the sum over the ranks; in backward the gradient as it is."""

    @staticmethod
    def forward(ctx, x):
        ### BEGIN SOLUTION
        total = x.clone()
        dist.all_reduce(total)
        return total
        ### END SOLUTION

    @staticmethod
    def backward(ctx, gradient):
        ### BEGIN SOLUTION
        return gradient
        ### END SOLUTION


def row_linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """All outputs of a linear layer of which this rank has some inputs."""
    ### BEGIN SOLUTION
    return OutOfRanks.apply(F.linear(x, weight)) + bias
    ### END SOLUTION


# %% test=t14_check points=0.5 check=1.4
check("1.4", row_linear)

# %% [markdown]
# Columns first, then rows: what columns make is just what rows want. An MLP split like this talks
# once in forward and once in backward, and its wide middle is never whole anywhere.
#
# ## Task 1.5: heads, not thirds (¼ point, about 4 lines)
#
# Attention splits by heads: each rank computes some heads from beginning to end. But queries, keys
# and values come from *one* fused weight of `3 · width` rows: first all queries, then all keys, then
# all values, each of them head by head, `width / heads` rows a head. Cut that into equal pieces and
# one rank has only queries.
#
# `weight` is the fused weight (or the fused bias: then it has one dimension). Return the rows of this
# rank's heads in the same order: its queries, its keys, its values. Rank 0 has the first
# `heads / ranks` heads, rank 1 the next ones.


# %% solution=t15
def shard_qkv(weight: torch.Tensor, heads: int, rank: int, ranks: int) -> torch.Tensor:
    """Queries, keys and values of this rank's heads, from a fused weight or bias."""
    ### BEGIN SOLUTION
    by_head = weight.unflatten(0, (3, heads, -1))
    own = heads // ranks
    return by_head[:, rank * own : (rank + 1) * own].flatten(0, 2)
    ### END SOLUTION


# %% test=t15_check points=0.25 check=1.5
check("1.5", shard_qkv)

# %% [markdown]
# ## Task 1.6: dropout on several ranks (¼ point, about 5 lines)
#
# Dropout throws dice, and on several ranks it matters whose. *Outside* of a part that is split all
# ranks hold the same x and must drop the **same** numbers, or they go on with different values.
# *Inside* each rank holds numbers of its own (other heads, say) and must drop **others** than its
# neighbours, or all heads lose the same places.
#
# Write dropout: each number of x is 0 with probability `p`, else it is divided by `1 - p`. `sharded`
# says whether x is a part of this rank alone. All dice come from `seed` (the number of the training
# step, say): the same seed drops the same numbers, whatever was drawn before; another seed others.
#
# <details><summary>Help: dice that do not depend on what was drawn before?</summary>
# A generator of your own: generator = torch.Generator().manual_seed(…), and then
# torch.rand(x.shape, generator=generator).
# </details>


# %% solution=t16
def parallel_dropout(x: torch.Tensor, p: float, seed: int, sharded: bool) -> torch.Tensor:
    """x with a share p of its numbers dropped, the rest made larger."""
    ### BEGIN SOLUTION
    if sharded:
        seed = seed + 2718 + dist.get_rank()
    generator = torch.Generator().manual_seed(seed)
    kept = torch.rand(x.shape, generator=generator) >= p
    return x * kept / (1 - p)
    ### END SOLUTION


# %% test=t16_check points=0.25 check=1.6
check("1.6", parallel_dropout)

# %% [markdown]
# ## Task 1.7: a transformer block on several ranks (½ point, about 12 lines)
#
# Put it together, without dropout. A block is
#
# - `x = x + attention(layer_norm(x))`, then `x = x + mlp(layer_norm(x))`;
# - attention: a linear layer makes queries, keys and values; each head mixes values, a token looking
#   at itself and at those before it; another linear layer brings the heads together;
# - MLP: a linear layer to the wide middle, gelu, a linear layer back.
#
# `x` has shape (batch, tokens, width) and is whole on every rank. `part` has this rank's weights by
# name: `ln1_weight, ln1_bias, ln2_weight, ln2_bias` and `out_bias, down_bias` are whole;
# `qkv_weight, qkv_bias` are those of this rank's heads (as task 1.5 cuts them) and `up_weight,
# up_bias` some outputs; `out_weight` and `down_weight` have this rank's inputs. `heads` says how many
# heads this rank has. Use `column_linear` and `row_linear`.
#
# <details><summary>Help: how do I get from (batch, tokens, 3 · something) to heads?</summary>
# q, k, v = qkv.chunk(3, -1); then each q.unflatten(-1, (heads, -1)).transpose(1, 2) has shape
# (batch, heads, tokens, size of a head), which F.scaled_dot_product_attention(q, k, v,
# is_causal=True) takes. Back with .transpose(1, 2).flatten(2).
# </details>


# %% solution=t17
def parallel_block(x: torch.Tensor, part: dict[str, torch.Tensor], heads: int) -> torch.Tensor:
    """A transformer block of which this rank has some heads and some of the wide middle."""
    ### BEGIN SOLUTION
    width = x.shape[-1]
    inner = F.layer_norm(x, (width,), part["ln1_weight"], part["ln1_bias"])
    qkv = column_linear(inner, part["qkv_weight"], part["qkv_bias"])
    q, k, v = (one.unflatten(-1, (heads, -1)).transpose(1, 2) for one in qkv.chunk(3, -1))
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
    x = x + row_linear(mixed, part["out_weight"], part["out_bias"])
    inner = F.layer_norm(x, (width,), part["ln2_weight"], part["ln2_bias"])
    wide = F.gelu(column_linear(inner, part["up_weight"], part["up_bias"]))
    return x + row_linear(wide, part["down_weight"], part["down_bias"])
    ### END SOLUTION


# %% test=t17_check points=0.5 check=1.7
check("1.7", parallel_block)

# %% [markdown]
# > **A story about counting.** A trace of one training step of a GPT with two such blocks on two
# > H100 cards, recorded with Megatron-LM, shows 9 all-reduces of the size of x. Two blocks with four
# > each make 8; the ninth belongs to the layer that makes the logits. Split q, k and v into three
# > separate layers, as a well-known tutorial does, and each of them sums its own gradient of x in
# > backward: six all-reduces a block instead of four. Fusing was not about fewer kernels alone.
#
# ## What you built
#
# Ring all-reduce is what NCCL runs on most machines; Horovod brought it to deep learning in 2017.
# Column and row parallel layers with f and g are Megatron-LM (Shoeybi et al., 2019); PyTorch ships
# them as `ColwiseParallel` and `RowwiseParallel`, and every model that is served on several cards
# uses them. They talk four times a block, so they live inside a machine, where links are fast. What
# to do between machines is notebook 2.
