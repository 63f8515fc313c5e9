# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Homework 5, notebook 4: weights and activations in eight bits
#
# **30 points, about 100 minutes.** This begins part B; it stands alone. After this notebook you can
#
# - say which range of a layer's weights is worth its bits;
# - turn weights into int8, with one scale or one for each output;
# - find out with hooks which numbers a network meets on its way, without keeping them.
#
# A trained network multiplies 32-bit floats. An int8 number takes a quarter of the bytes, and
# multiplying two of them takes a small fraction of the chip and of the energy. In this notebook
# you turn a network's weights into int8, and look at everything else that must become int8. In
# the next one the whole network runs in integers, and your answers are judged **bit for bit**.
#
# ![A histogram of weights with a range of 40 percent and 4 bits: what lies outside saturates, what is less than half a step becomes 0](images/clipping.svg)

# %%
import torch
from torch import nn

from lab_utils.kit.carry import save_work
from lab_utils.kit.predict import predict
from lab_utils.labs.hw5 import (
    CLASSES,
    Seen,
    WeightRange,
    accuracy,
    check,
    clipping_film,
    float_pixels,
    lenet,
    load_images,
)

# %% [markdown]
# ## The network, and the pictures
#
# The network is **LeNet** (LeCun et al., 1998) in a small form: two convolutions, three linear
# layers, no biases. It has been trained for you on 6000 small pictures of clothes (part of
# [Fashion-MNIST](https://arxiv.org/abs/1708.07747)), so that everybody quantizes the same one.

# %%
images = load_images()
net = lenet()
print(f"{100 * accuracy(net):.2f} % of {len(images.test_x)} test images are named right")
for layer in net.layers:
    print(f"{layer.name:6} {tuple(layer.weight.shape)!s:16} {layer.weight.numel():6,} weights")
print("the first images show:", ", ".join(CLASSES[label] for label in images.test_y[:5]))

# %% [markdown]
# # Q1: look at the weights (10 points: tasks 4.1 and 4.2, question 4.4)
#
# ## Task 4.1: the range of a layer (5 points, about 6 lines)
#
# Return a `WeightRange(low, high, mean, sigma, outside)` of all weights of a layer:
#
# - `low` and `high`: the smallest and the largest weight;
# - `mean` and `sigma`: mean and standard deviation, the latter as `torch.std` has it (it divides
#   by n - 1);
# - `outside`: the share of the weights, from 0 to 1, that lies **more than 3 sigma away from the
#   mean**.
#
# `weight` has two or four dimensions, and all its weights count alike. They may all be equal.
#
# <details><summary>Help: how do I count?</summary>
# A comparison gives a tensor of True and False. As numbers these are 1 and 0, so their mean is a
# share: <code>(x > 2).double().mean()</code>.
# </details>


# %% solution=t41
def weight_range(weight: torch.Tensor) -> WeightRange:
    """How the weights of a layer lie."""
    ### BEGIN SOLUTION
    mean, sigma = weight.mean(), weight.std()
    far = (weight - mean).abs() > 3 * sigma
    parts = (weight.min(), weight.max(), mean, sigma, far.double().mean())
    return WeightRange(*(part.item() for part in parts))
    ### END SOLUTION


# %% test=t41_check points=5 check=4.1
check("4.1", weight_range)

# %%
print("layer      low    high    mean   sigma  beyond 3 sigma")
for layer in net.layers:
    low, high, mean, sigma, outside = weight_range(layer.weight)
    print(f"{layer.name:6} {low:7.3f} {high:7.3f} {mean:7.3f} {sigma:7.3f} {outside:11.2%}")

# %% [markdown]
# A normal distribution has 0.27 % of its values beyond 3 sigma. Here it is more: a few weights are
# far away from all others.
#
# ## Task 4.2: what a range loses (3 points, about 5 lines)
#
# With `bits` bits, `2**(bits - 1) - 1` integers lie above 0: 127 with 8 bits, 7 with 4. A range from
# `-limit` to `limit` is cut into as many **steps** on each side. Two things are lost:
#
# - a weight whose magnitude is more than `limit` **saturates**: it becomes the last step;
# - a weight (other than 0) whose magnitude is less than **half a step** becomes **0**.
#
# Return two counts: how many saturate, how many become 0. One that is exactly half a step may go
# either way.


# %% solution=t42
def lost(weight: torch.Tensor, limit: float, bits: int) -> tuple[int, int]:
    """How many weights saturate, and how many that are not 0 become 0."""
    ### BEGIN SOLUTION
    size = weight.abs()
    step = limit / (2 ** (bits - 1) - 1)
    zeroed = (size > 0) & (size < step / 2)
    return int((size > limit).sum()), int(zeroed.sum())
    ### END SOLUTION


# %% test=t42_check points=3 check=4.2
check("4.2", lost)

# %% [markdown]
# # Q2: quantize the weights (10 points: tasks 4.3 and 4.5 to 4.7)
#
# Everything from here on follows one rule:
#
# > **integer = round(real × scale)**, clamped to -128 … 127.
#
# (Others turn it round: real = integer × scale. PyTorch and ONNX do. Both are right; a mix is not.)
#
# ## Task 4.3: from real to int8 (3 points, about 2 lines)
#
# Return `values × scale`, rounded to the nearest integer and clamped to what int8 holds, **as an
# int8 tensor**. Just in the middle between two integers you may go either way. Leave `values` as
# they are.
#
# <details><summary>Help: 200 became -56</summary>
# That is what an int8 does with a number that does not fit: it wraps around. Clamp first.
# </details>


# %% solution=t43
def quantized(values: torch.Tensor, scale: float) -> torch.Tensor:
    """Real numbers as int8."""
    ### BEGIN SOLUTION
    return torch.round(values * scale).clamp(-128, 127).to(torch.int8)
    ### END SOLUTION


# %% test=t43_check points=3 check=4.3
check("4.3", quantized)

# %% [markdown]
# Now the picture: the weights of `fc1` in 4 bits, and a range that you can move. Take a guess first.

# %%
predict(
    "You make the range of fc1 smaller, at 4 bits, from 100 % of its largest weight down to 20 %. What happens to the error?",
    {
        "It grows: weights are cut off.": "Some are cut off, but only a few; and there are many others.",
        "It shrinks at first, then grows.": "Smaller steps serve the many in the middle; the few outside pay. "
        "At some point the few are no longer few.",
        "It shrinks: smaller steps.": "Steps shrink with the range, but in the end too many weights saturate.",
    },
    right="It shrinks at first, then grows.",
)

# %%
clipping_film(net, quantized, lost, "fc1")

# %% [markdown] task=q44 points=2
# ### Question 4.4: which range? (2 points, about 80 words, in a new cell below)
#
# A person reads and grades this one. Use numbers that you saw in the film.
# Try the other layers too, and 8 bits.
#
# 1. For which layer and how many bits does a range below 100 % lower the error, and why?
# 2. For 8 bits, would you take the largest weight or 3 sigma? What speaks for the other one?
#
# ### BEGIN MARK SCHEME
# 1: names a layer and few bits (fc1 with 4 bits: error 30.8 % of sigma at 100 %, 16.3 % at 40 %; conv2
# 16.7 % and 14.0 % at 80 %), with two errors read from the film; the reason: steps become smaller for
# the many, and only the few outside saturate.
# 1: either answer with a reason. Largest: at 8 bits steps are small anyway, nothing saturates, error
# and accuracy hardly change (both within half a point here). 3 sigma: finer steps for 99 %. An answer
# by accuracy alone gets half: accuracy does not tell them apart here.
# ### END MARK SCHEME

# %% [markdown]
# ## Task 4.5: weights in int8 (2 points, about 4 lines)
#
# Return a pair: the int8 weights, and their scale. Choose the scale so that the **largest magnitude
# becomes 127**. A layer of zeros gets scale 1. You may use your function `quantized`.


# %% solution=t45
def quantized_weights(weight: torch.Tensor) -> tuple[torch.Tensor, float]:
    """int8 weights and their scale; the largest magnitude becomes 127."""
    ### BEGIN SOLUTION
    largest = weight.abs().max().item()
    scale = 127 / largest if largest else 1.0
    return quantized(weight, scale), scale
    ### END SOLUTION


# %% test=t45_check points=2 check=4.5
check("4.5", quantized_weights)

# %% [markdown]
# ## Task 4.6: the 3-sigma range (2 points, about 5 lines)
#
# The same with a smaller range. Weights lie around their mean, and most of them within 3 sigma of it.
# So let **limit = |mean| + 3 sigma** become 127, or the largest magnitude where that is less. What
# lies beyond saturates. Zeros alone get scale 1 again.


# %% solution=t46
def clipped_weights(weight: torch.Tensor) -> tuple[torch.Tensor, float]:
    """int8 weights and their scale; |mean| + 3 sigma becomes 127."""
    ### BEGIN SOLUTION
    limit = (weight.mean().abs() + 3 * weight.std()).item()
    limit = min(limit, weight.abs().max().item())
    scale = 127 / limit if limit else 1.0
    return quantized(weight, scale), scale
    ### END SOLUTION


# %% test=t46_check points=2 check=4.6
check("4.6", clipped_weights)


# %% [markdown]
# How much worse is the network now? Its weights are turned into int8 and back.


# %%
def with_weights(way):
    """A copy of the network whose weights went through int8."""
    changed = lenet()
    for layer in changed.layers:
        whole, scale = way(layer.weight)
        with torch.no_grad():
            changed.get_submodule(layer.name).weight.copy_(whole / scale)
    return changed


print(f"float             {100 * accuracy(net):.2f} %")
print(f"int8, largest     {100 * accuracy(with_weights(quantized_weights)):.2f} %")
print(f"int8, 3 sigma     {100 * accuracy(with_weights(clipped_weights)):.2f} %")


# %% [markdown]
# ### A surprise
#
# Now three *wrong* ways: cut the fraction off, use 255 / (max - min), take a scale of 64 for
# everything. What would you expect?


# %%
def cut_off(weight):
    scale = 127 / weight.abs().max()
    return (weight * scale).to(torch.int8), scale


def max_minus_min(weight):
    scale = 255 / (weight.max() - weight.min())
    return (weight * scale).round().clamp(-128, 127).to(torch.int8), scale


def sixty_four(weight):
    return (weight * 64).round().clamp(-128, 127).to(torch.int8), 64.0


for way in (cut_off, max_minus_min, sixty_four):
    print(f"{way.__name__:14} {100 * accuracy(with_weights(way)):.2f} %")

# %% [markdown]
# **Accuracy does not see these mistakes.** A test that asks for "at most 1 % less" lets them all pass.
# That is why no accuracy is graded here: integers are.
#
# ## Task 4.7: a scale for each output (3 points, about 6 lines)
#
# One large weight makes the steps coarse for a whole layer. But each output of a layer sums up its own
# weights, so each may have a scale of its own. Return a pair: the int8 weights, and **a tensor of
# scales, one for each output** (the first dimension). With `bits` bits, the largest magnitude of
# each output becomes `2**(bits - 1) - 1`. An output whose weights are all 0 gets scale 1.
#
# <details><summary>Help: how do I multiply each output by its own scale?</summary>
# <code>weight.flatten(1)</code> has a row for each output, whatever the layer; <code>scales[:, None]</code> is a column.
# Multiply these, and give the result the weight's shape with <code>.reshape(weight.shape)</code>.
# </details>


# %% solution=t47
def channel_weights(weight: torch.Tensor, bits: int) -> tuple[torch.Tensor, torch.Tensor]:
    """int8 weights with a scale for each output."""
    ### BEGIN SOLUTION
    rows = weight.flatten(1)
    largest = rows.abs().amax(1)
    steps = 2 ** (bits - 1) - 1
    scales = torch.where(largest > 0, steps / largest, torch.ones_like(largest))
    return quantized(rows * scales[:, None], 1.0).reshape(weight.shape), scales
    ### END SOLUTION


# %% test=t47_check points=3 check=4.7
check("4.7", channel_weights)

# %% [markdown]
# # Q3: look at the activations (10 points: tasks 4.8 to 4.10, question 4.11)
#
# Weights lie still, and their range can be read off. What *enters* a layer is another tensor for each
# image. Its range is found by **calibration**: run some hundred images through the network, and note
# what comes by.
#
# PyTorch shows it to a **hook**: `handle = module.register_forward_pre_hook(hook)` has
# `hook(module, inputs)` called before each forward of that module; `inputs` is a tuple.
# `handle.remove()` ends it.
#
# ## Task 4.8: what enters each layer (4 points, about 25 lines)
#
# Run `net` on every batch of `batches` (an iterator: you can walk through it once). Return a dict:
#
# - for each `nn.Conv2d` and `nn.Linear`, by its name in `net.named_modules()`, a
#   `Seen(numbers, largest, mean, sigma)` of all numbers that **entered** it, over all batches;
# - under `"output"` the same of what the network **returned**.
#
# `numbers` is how many they were, `largest` the largest magnitude; `sigma` divides by n - 1. Profile in
# **eval mode**: dropout would spoil the numbers.
#
# <details><summary>Help: sigma from sums?</summary>
# sigma² = (sum of squares - n × mean²) / (n - 1), for n numbers.
# </details>
# <details><summary>Help: all hooks note the same layer!</summary>
# A function that is made in a loop sees the loop's variable as it is at the end. Bind it:
# <code>lambda module, inputs, name=name: note(name, inputs[0])</code>.
# </details>
#
# ## Task 4.9: a network as you found it (2 points, the same function)
#
# Whoever lends you a network wants it back unchanged: your hooks gone (others' still there), in
# train mode if it was, weights and images untouched.
#
# ## Task 4.10: nothing is kept (2 points, the same function)
#
# Do not keep the tensors that come by: in real life they are gigabytes. What your function holds must
# **not grow with the number of batches**. Add up counts, sums and sums of squares (in double precision),
# as Python numbers, and keep the largest magnitude. The check counts bytes: those of tensors, of arrays
# and of lists.


# %% solution=t48
def profile(net: nn.Module, batches) -> dict[str, Seen]:
    """By layer what entered it, and under "output" what the network returned."""
    ### BEGIN SOLUTION
    sums: dict[str, list[float]] = {}

    def note(name, values):
        values = values.detach().double()
        count, largest, total, squares = sums.get(name, (0, 0.0, 0.0, 0.0))
        sums[name] = [
            count + values.numel(),
            max(largest, values.abs().max().item()),
            total + values.sum().item(),
            squares + values.square().sum().item(),
        ]

    handles = [
        module.register_forward_pre_hook(lambda _, inputs, name=name: note(name, inputs[0]))
        for name, module in net.named_modules()
        if isinstance(module, (nn.Conv2d, nn.Linear))
    ]
    training = net.training
    net.eval()
    with torch.no_grad():
        for batch in batches:
            note("output", net(batch))
    for handle in handles:
        handle.remove()
    net.train(training)
    seen = {}
    for name, (count, largest, total, squares) in sums.items():
        mean = total / count
        variance = max(squares - count * mean**2, 0) / (count - 1)
        seen[name] = Seen(count, largest, mean, variance**0.5)
    return seen
    ### END SOLUTION


# %% test=t48_check points=4 check=4.8
check("4.8", profile)

# %% test=t49_check points=2 check=4.9
check("4.9", profile)

# %% test=t410_check points=2 check=4.10
check("4.10", profile)

# %% [markdown]
# What does LeNet meet, over 400 training images in batches of 50?

# %%
calibration = float_pixels(images.train_x[:400])
seen = profile(net, iter(calibration.split(50)))
print("enters     numbers  largest    mean   sigma   largest / sigma")
for name, one in seen.items():
    print(
        f"{name:6} {one.numbers:11,} {one.largest:8.2f} {one.mean:7.2f} {one.sigma:7.2f} {one.largest / one.sigma:9.1f}"
    )

# %% [markdown] task=q411 points=2
# ### Question 4.11: calibration (2 points, about 80 words, in a new cell below)
#
# A person reads and grades this one.
#
# 1. Why are these *training* images, and not the test images on which accuracy is measured?
# 2. A new image makes a number of fc1 twice as large as any that was seen. What happens to it in int8,
#    and what would it cost to prepare for that?
#
# ### BEGIN MARK SCHEME
# 1: the range is part of what was learned: chosen on test images, their accuracy no longer tells
# how the network does on images that nobody has seen. ("It is more data" gets 0.)
# 1: it saturates at 127, no error is raised (half); a range twice as wide makes every step twice
# as coarse for all images, so usually one lets it saturate (half).
# ### END MARK SCHEME

# %% [markdown]
# Keep what notebook 5 uses at its end.

# %%
save_work(channel_weights)

# %% [markdown]
# ## What you built
#
# This is *post-training quantization*, as TensorFlow Lite, ONNX Runtime and TensorRT do it: weights by
# their largest magnitude, a scale for each output channel, activations by calibration. TensorRT chooses
# the clipping range so that the histogram keeps most of its information; your film shows what there is
# to choose. Large language models have single activations a hundred times larger than the rest: what
# to do with them is the subject of LLM.int8() (Dettmers et al., 2022) and SmoothQuant (Xiao et al.,
# 2022). In notebook 5 the network runs without a single float.
