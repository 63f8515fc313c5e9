# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Homework 5, notebook 5: a network in integers
#
# **20 points, about 110 minutes.** It stands alone: int8 weights and ranges, which notebook 4 finds,
# are given here. After this notebook you can
#
# - follow the scale of a number through a network;
# - run a network with int8 numbers, int32 sums, and not a single float;
# - say why accuracy does not prove that a quantized network is right.
#
# ![A layer in integers: int8 inputs times int8 weights are summed in int32, the bias is added, a multiplication and a shift lead back to int8](images/integers.svg)

# %%
import torch
from IPython.display import display
from torch.nn import functional as F

from lab_utils.instruments.roofline import ORIN_NANO
from lab_utils.kit.carry import load_work
from lab_utils.kit.predict import predict
from lab_utils.labs.hw5 import (
    IntLayer,
    accuracy,
    bits_curve,
    check,
    float_pixels,
    int8_pixels,
    layer_work,
    lenet,
    lenet_int8,
    lenet_layers,
    load_images,
    right_share,
    roof_of,
)

# %% [markdown]
# The rule is that of notebook 4: **integer = round(real × scale)**. So every tensor of integers has a
# scale, and dividing by it leads back to real numbers.

# %%
images = load_images()
weights, largest = lenet_int8()
print(f"the input reaches {largest[0]:g}, so its scale is {127 / largest[0]:g}")
for layer, (whole, scale), reached in zip(lenet_layers(), weights, largest[1:], strict=True):
    print(
        f"{layer.name:6} {whole.dtype}  weight scale {scale:8.3f}   its output reaches {reached:6.2f}"
    )

# %% [markdown]
# # Q4: quantize the activations (10 points)
#
# A layer multiplies inputs by weights and sums up. If inputs are on scale `s_in` and weights on `s_w`,
# each product is on scale `s_in × s_w`, and so is the sum, the **accumulator**. It has 32 bits.
# The next layer wants int8 again, with 127 for the largest magnitude. So the accumulator is
# multiplied by a number **M**, which leads from its scale to the output's.
#
# What is the input's scale? The network's input has `input_scale`. Each layer before this one has
# multiplied by its weights (on their scale) and by its M. Nothing else has changed the scale.
#
# ## Task 5.1: back to eight bits (3 points, about 6 lines)
#
# Return M, a real number, for a layer whose output reaches `largest`:
#
# - `input_scale` is the scale of the *network's* input, `weight_scale` that of this layer's weights;
# - `earlier` is a list of pairs `(weight scale, M)`, one for each layer before this one;
# - the largest magnitude becomes 127. If `largest` is 0, the output's scale is 1.
#
# <details><summary>Help: three layers on paper</summary>
# Input on scale 127; layer 1 with weights on 100 and M = 0.002: its output is on 127 × 100 × 0.002 = 25.4.
# Layer 2 with weights on 50: its accumulator is on 25.4 × 50 = 1270. If its output reaches 2, that is to
# be on scale 63.5, so M = 63.5 / 1270 = 0.05.
# </details>


# %% solution=t51
def output_multiplier(
    largest: float, input_scale: float, weight_scale: float, earlier: list[tuple[float, float]]
) -> float:
    """M: from the accumulator's scale to the one at which `largest` is 127."""
    ### BEGIN SOLUTION
    carried = input_scale
    for scale, multiplier in earlier:
        carried *= scale * multiplier
    wanted = 127 / largest if largest else 1.0
    return wanted / (carried * weight_scale)
    ### END SOLUTION


# %% test=t51_check points=3 check=5.1
check("5.1", output_multiplier)

# %% [markdown]
# ## Task 5.2: a real number as two integers (1½ points, about 6 lines)
#
# M is a real number, and a chip for integers has none. Jacob et al. (2018) write it as
#
# > M ≈ **m0 / 2^shift**, with 2³⁰ ≤ m0 < 2³¹:
#
# m0 has 31 bits, the highest of them set, so nothing is wasted; dividing by 2^shift is a shift to the
# right. Return `(m0, shift)`, two Python ints, with m0 the **nearest** integer. M is above 0, and may
# be more than 1. Should rounding make m0 exactly 2³¹, halve it and shift by one less.
#
# <details><summary>Help: where do I start?</summary>
# <code>math.frexp(M)</code> gives a fraction from 0.5 to 1 and an exponent. Or begin with shift 31, and go up
# or down until m0 fits.
# </details>


# %% solution=t52
def fixed_point(multiplier: float) -> tuple[int, int]:
    """m0 (31 bits) and shift with m0 / 2**shift nearest to the multiplier."""
    ### BEGIN SOLUTION
    import math

    fraction, exponent = math.frexp(multiplier)
    m0, shift = round(fraction * 2**31), 31 - exponent
    return (m0 // 2, shift - 1) if m0 == 2**31 else (m0, shift)
    ### END SOLUTION


# %% test=t52_check points=1.5 check=5.2
check("5.2", fixed_point)

# %% [markdown]
# ## Task 5.3: multiply and shift (1½ points, about 4 lines)
#
# Now the integers themselves. Return `acc × m0 / 2^shift`, rounded to the nearest and clamped to
# -128 … 127, as an int8 tensor, **in integers alone**. Just in the middle, take the larger one. `acc` is
# an int32 tensor of any shape.
#
# - An int32 times a 31-bit number has up to 63 bits. Which type holds that?
# - `x >> shift` divides by 2^shift and rounds *down*. What must be added first?


# %% solution=t53
def requantize(acc: torch.Tensor, m0: int, shift: int) -> torch.Tensor:
    """The accumulator as int8, on the output's scale."""
    ### BEGIN SOLUTION
    product = acc.long() * m0 + (1 << (shift - 1))
    return (product >> shift).clamp(-128, 127).to(torch.int8)
    ### END SOLUTION


# %% test=t53_check points=1.5 check=5.3
check("5.3", requantize)

# %% [markdown]
# ## Task 5.4: products in 32 bits (2 points, about 8 lines)
#
# What happens if you multiply int8 tensors? Run the next cell.

# %%
ones = torch.full((1, 400), 127, dtype=torch.int8)
print("in int8: ", F.linear(ones, ones).item(), "  it should be", 400 * 127 * 127)

# %% [markdown]
# PyTorch computes in int8, and the sum wraps around **without a word**. Floats are no way out:
# a float32 counts exactly only up to 2²⁴, which is 1040 products of 127 × 127.
#
# Return the accumulator of a layer as an **int32** tensor. `x` is int8: `[images, inputs]` for a linear
# layer, `[images, channels, high, wide]` for a convolution. `layer.weight` has two or four dimensions
# accordingly; `layer.padding` zeros go around the image; `layer.bias` is None or int32, one for
# each output. No ReLU yet.
#
# <details><summary>Help: which functions take integers?</summary>
# <code>F.conv2d</code> and <code>F.linear</code> take int32 tensors, and then sum in int32.
# </details>


# %% solution=t54
def accumulate(x: torch.Tensor, layer: IntLayer) -> torch.Tensor:
    """Sums of products, and the bias, in int32."""
    ### BEGIN SOLUTION
    x, weight = x.int(), layer.weight.int()
    if weight.dim() == 4:
        return F.conv2d(x, weight, layer.bias, padding=layer.padding)
    return F.linear(x, weight, layer.bias)
    ### END SOLUTION


# %% test=t54_check points=2 check=5.4
check("5.4", accumulate)

# %% [markdown]
# ## Task 5.5: the whole network (2 points, about 12 lines)
#
# Run `x` (int8) through the layers. Each layer: accumulate; ReLU if `layer.relu`; max-pooling of 2 × 2 if
# `layer.pool`; then requantize with `layer.m0` and `layer.shift`. Before the first linear layer an image
# is flattened to a row: `x.flatten(1)`. Return a list: **what comes out of each layer**, as int8. So we
# can say which layer is the first that differs.


# %% solution=t55
def integer_forward(layers: list[IntLayer], x: torch.Tensor) -> list[torch.Tensor]:
    """What comes out of each layer, as int8."""
    ### BEGIN SOLUTION
    outputs = []
    for layer in layers:
        if layer.weight.dim() == 2:
            x = x.flatten(1)
        acc = accumulate(x, layer)
        if layer.relu:
            acc = acc.clamp(min=0)
        if layer.pool:
            acc = F.max_pool2d(acc, 2)
        x = requantize(acc, layer.m0, layer.shift)
        outputs.append(x)
    return outputs
    ### END SOLUTION


# %% test=t55_check points=2 check=5.5
check("5.5", integer_forward)

# %% [markdown]
# Put together: LeNet in integers, on 1000 images that it has never seen. From the pixels (a table of
# 256 int8 numbers) to the scores there is no float.


# %%
def in_integers(layers, weights, largest, multiplier=output_multiplier):
    """A network without biases as integer layers."""
    earlier, made = [], []
    for layer, (whole, scale), reached in zip(layers, weights, largest[1:], strict=True):
        m = multiplier(reached, 127 / largest[0], scale, earlier)
        made.append(
            IntLayer(
                layer.name, whole, None, *fixed_point(m), layer.padding, layer.relu, layer.pool
            )
        )
        earlier.append((scale, m))
    return made


TESTED = 1000
pixels = int8_pixels(images.test_x[:TESTED])


def integer_accuracy(layers):
    return right_share(integer_forward(layers, pixels)[-1], images.test_y[:TESTED])


plain = in_integers(lenet_layers(), weights, largest)
print(f"float    {100 * accuracy(lenet(), TESTED):.2f} %")
print(f"integers {100 * integer_accuracy(plain):.2f} %")

# %% [markdown]
# ### The main surprise
#
# Now some networks that are *wrong*: each has one of the mistakes that people really make.

# %%
predict(
    "Which of these mistakes costs more than one point of accuracy?",
    {
        "255 steps instead of 127": "All above half of the largest saturates, and still it names nearly as many images right.",
        "earlier layers left out": "This one: all later layers saturate, and nearly nothing is left.",
        "both": "Run the next cell: one of them nobody would notice.",
        "none": "Run the next cell: one of them is a disaster.",
    },
    right="earlier layers left out",
)


# %%
def twice_too_large(reached, input_scale, scale, earlier):
    return output_multiplier(reached, input_scale, scale, earlier) * 255 / 127


def a_bit_too_large(reached, input_scale, scale, earlier):
    return output_multiplier(reached, input_scale, scale, earlier) * 128 / 127


def earlier_left_out(reached, input_scale, scale, earlier):
    return output_multiplier(reached, input_scale, scale, [])


print(f"right             {100 * integer_accuracy(plain):.2f} %")
for wrong in (a_bit_too_large, twice_too_large, earlier_left_out):
    layers = in_integers(lenet_layers(), weights, largest, wrong)
    print(f"{wrong.__name__:17} {100 * integer_accuracy(layers):.2f} %")

# %% [markdown]
# Only the last one shows. The others are wrong in thousands of integers and right in accuracy: the
# largest score stays the largest. **A test by accuracy would give them full marks.** So would many a
# product test; and then another network, with other weights, fails.
#
# # Q5: quantize the biases (10 points)
#
# ## Task 5.6: biases (5 points, about 6 lines)
#
# A bias is added to the accumulator, so it must be **on the accumulator's scale**, and it has 32 bits
# like the accumulator. Arguments are those of task 5.1. Return an int32 tensor: rounded to the nearest,
# and clamped to what int32 holds, -2³¹ … 2³¹ - 1. A tie may go either way.
#
# <details><summary>Help: 2147483647 became -2147483648</summary>
# A float32 has 24 bits: 2³¹ - 1 is rounded to 2³¹ there, which wraps around. Compute in double:
# <code>bias.double()</code>.
# </details>


# %% solution=t56
def quantized_bias(
    bias: torch.Tensor,
    input_scale: float,
    weight_scale: float,
    earlier: list[tuple[float, float]],
) -> torch.Tensor:
    """Biases as int32, on the accumulator's scale."""
    ### BEGIN SOLUTION
    scale = input_scale * weight_scale
    for weight, multiplier in earlier:
        scale *= weight * multiplier
    return torch.round(bias.double() * scale).clamp(-(2**31), 2**31 - 1).to(torch.int32)
    ### END SOLUTION


# %% test=t56_check points=5 check=5.6
check("5.6", quantized_bias)

# %% [markdown]
# ## Task 5.7: a network with biases, in integers (3 points, about 12 lines)
#
# Put it all together: return a list of `IntLayer(name, weight, bias, m0, shift, padding, relu, pool)`.
#
# - `layers` are real layers, each with `name`, `bias`, `padding`, `relu`, `pool`;
# - `weights` holds for each of them its int8 weights and their scale;
# - `largest[0]` is the largest magnitude that enters the network (it becomes 127),
#   `largest[i + 1]` the largest that comes out of layer i.


# %% solution=t57
def integer_net(layers, weights, largest: list[float]) -> list[IntLayer]:
    """Layers with biases as layers of integers."""
    ### BEGIN SOLUTION
    input_scale, earlier, made = 127 / largest[0], [], []
    for layer, (whole, scale), reached in zip(layers, weights, largest[1:], strict=True):
        bias = quantized_bias(layer.bias, input_scale, scale, earlier)
        m = output_multiplier(reached, input_scale, scale, earlier)
        m0, shift = fixed_point(m)
        made.append(
            IntLayer(layer.name, whole, bias, m0, shift, layer.padding, layer.relu, layer.pool)
        )
        earlier.append((scale, m))
    return made
    ### END SOLUTION


# %% test=t57_check points=3 check=5.7
check("5.7", integer_net)

# %% [markdown]
# A second LeNet was trained with biases in all layers. Here it is in integers, once right and three
# times with a wrong bias.

# %%
biased_weights, biased_largest = lenet_int8(bias=True)
biased_layers = lenet_layers(bias=True)
biased = integer_net(biased_layers, biased_weights, biased_largest)


def with_bias(change):
    """The network with other biases in its last layer."""
    last = biased[-1]
    return [*biased[:-1], last._replace(bias=change(last).to(torch.int32))]


real = biased_layers[-1].bias
m_of_last = biased[-1].m0 / 2 ** biased[-1].shift
print(f"float                     {100 * accuracy(lenet(bias=True), TESTED):.2f} %")
print(f"integers                  {100 * integer_accuracy(biased):.2f} %")
for name, change in {
    "bias not scaled": lambda last: real.round(),
    "bias on the weight scale": lambda last: (real * biased_weights[-1][1]).round(),
    "bias on the output scale": lambda last: (last.bias * m_of_last).round(),
}.items():
    print(f"{name:25} {100 * integer_accuracy(with_bias(change)):.2f} %")

# %% [markdown]
# All three wrong networks name *more* test images right than the right one. Would you have sent the
# right one back?

# %% [markdown] task=q58 points=2
# ### Question 5.8: what accuracy does not see (2 points, about 100 words, in a new cell below)
#
# A person reads and grades this one.
#
# 1. Why do wrong biases in the last layer change next to nothing here? Compare the size of a right
#    int32 bias with that of the accumulators (print both).
# 2. How would you test a quantized network before it goes into a million phones?
#
# ### BEGIN MARK SCHEME
# 1: the biases of fc3 are small beside the sums (78 to 957 next to 10,000 or 25,000), so leaving
# them out hardly changes which score is largest; own numbers needed for the full point.
# 1: compare integers with a reference, layer by layer, on inputs that reach the corners (saturation,
# large biases, ties); or the error of each layer against float with a bound; not accuracy alone. Any two.
# ### END MARK SCHEME

# %% [markdown]
# # Beyond the homework
#
# **Fewer bits.** 61,470 weights take 246 kB in float32, 61 kB in int8, and half of that in 4 bits.
# How few are enough? The curve compares one scale for each layer with one for each output, by your
# function of task 4.7. (To it, a layer that is a single long row has one output.)

# %%
channel_weights = load_work("channel_weights", instead="no curve: solve notebook 4 first")


def accuracy_with(bits, each_output):
    """The share that is right with weights that went through so many bits and back."""
    net = lenet()
    for layer in net.layers:
        rows = layer.weight.reshape(len(layer.weight) if each_output else 1, -1)
        whole, scales = channel_weights(rows, bits)
        with torch.no_grad():
            back = whole / torch.as_tensor(scales)[:, None]
            net.get_submodule(layer.name).weight.copy_(back.reshape(layer.weight.shape))
    return accuracy(net, TESTED)


if channel_weights:
    ways = {"one scale a layer": False, "one scale an output": True}
    curves = {
        name: {bits: accuracy_with(bits, each_output) for bits in (2, 3, 4, 6, 8)}
        for name, each_output in ways.items()
    }
    display(bits_curve(curves, accuracy(lenet(), TESTED)))

# %% [markdown]
# **Bytes and time.** On the roofline of Lab 1A, fewer bytes move a layer to the right, and integers have a
# higher roof. For one image LeNet's linear layers wait for their weights: there int8 is four times as
# fast because it is four times as small, whatever the arithmetic.

# %%
works = layer_work(lenet_layers())
print("layer   operations   bytes fp32   bytes int8   µs fp32   µs int8")
for work in works:
    fp32, int8 = (1e6 * work.seconds(ORIN_NANO, dtype) for dtype in ("fp32", "int8"))
    print(
        f"{work.name:6} {work.operations:11,} {work.moved('fp32'):12,} {work.moved('int8'):12,} {fp32:9.3f} {int8:9.3f}"
    )
roof_of(works, ORIN_NANO)

# %% [markdown]
# ## What you built
#
# Integers alone from pixel to score is how TensorFlow Lite runs networks on phones and on chips that have
# no float unit at all; m0 and shift are from Jacob et al., *Quantization and Training of Neural Networks
# for Efficient Integer-Arithmetic-Only Inference* (CVPR 2018). ONNX Runtime's `QLinearConv` and
# `QLinearMatMul` do the same: on your network their integers are yours, bit for bit, on all 2000 images.
# Those who need fewer than 8 bits train with rounding in the loop (the second half of that paper), or round
# weight after weight so that the next ones make up for the error (GPTQ, Frantar et al., 2022).
