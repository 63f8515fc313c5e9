"""The operators that a .dot file may hold: this list, and nothing else.

A file from a stranger is run by the judge, so the list leaves out whatever touches
files or devices, resizes or reinterprets memory (``resize_``, ``set_``,
``as_strided``), changes a value's shape in place (``t_``), returns Python values
(``item``), needs memory far beyond its result, or runs code.
"""

from __future__ import annotations

import difflib
import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from lab_utils.kit.errors import LabError

_ELEMENTWISE = """
abs.default abs_.default acos.default acosh.default asin.default asinh.default atan.default
atan2.default atanh.default bitwise_and.Scalar bitwise_and.Tensor bitwise_and_.Tensor
bitwise_not.default bitwise_or.Scalar bitwise_or.Tensor bitwise_or_.Tensor bitwise_xor.Scalar
bitwise_xor.Tensor ceil.default clamp.Tensor clamp.default clamp_.default clamp_max.Tensor
clamp_max.default clamp_max_.default clamp_min.Tensor clamp_min.default clamp_min_.Tensor
clamp_min_.default cos.default cosh.default digamma.default erf.default erfc.default
erfinv.default exp.default exp2.default exp_.default expm1.default floor.default
floor_divide.default fmod.Scalar fmod.Tensor frac.default hypot.default isfinite.default
isinf.default isnan.default lerp.Scalar lerp.Tensor lerp_.Scalar lerp_.Tensor lgamma.default
log.default log10.default log1p.default log2.default log_.default logaddexp.default
logical_and.default logical_and_.default logical_not.default logical_or.default
logical_or_.default logical_xor.default logit.default maximum.default minimum.default
nan_to_num.default neg.default neg_.default pow.Scalar pow.Tensor_Scalar pow.Tensor_Tensor
pow_.Scalar reciprocal.default reciprocal_.default remainder.Scalar remainder.Tensor
round.default rsqrt.default rsqrt_.default rsub.Scalar rsub.Tensor sgn.default sign.default
sin.default sinh.default sqrt.default sqrt_.default square.default tan.default trunc.default
where.self xlogy.Tensor zero_.default
add.Scalar add.Tensor add_.Scalar add_.Tensor addcdiv.default addcdiv_.default addcmul.default
addcmul_.default div.Scalar div.Scalar_mode div.Tensor div.Tensor_mode div_.Scalar div_.Tensor
mul.Scalar mul.Tensor mul_.Scalar mul_.Tensor sub.Scalar sub.Tensor sub_.Scalar sub_.Tensor
eq.Scalar eq.Tensor ge.Scalar ge.Tensor gt.Scalar gt.Tensor le.Scalar le.Tensor lt.Scalar
lt.Tensor ne.Scalar ne.Tensor masked_fill.Scalar masked_fill.Tensor masked_fill_.Scalar
masked_fill_.Tensor tril.default triu.default
"""

_ACTIVATIONS = """
celu.default celu_.default elu.default elu_.default elu_backward.default gelu.default
gelu_backward.default
glu.default glu_backward.default hardshrink.default hardshrink_backward.default
hardsigmoid.default hardsigmoid_.default hardsigmoid_backward.default hardswish.default
hardswish_.default
hardswish_backward.default hardtanh.default hardtanh_.default hardtanh_backward.default
leaky_relu.default leaky_relu_.default leaky_relu_backward.default log_sigmoid_backward.default
log_sigmoid_forward.default logit_backward.default mish.default mish_.default mish_backward.default
_prelu_kernel.default _prelu_kernel_backward.default relu.default relu_.default sigmoid.default
sigmoid_.default sigmoid_backward.default silu.default silu_.default silu_backward.default
softplus.default softplus_backward.default softshrink.default softshrink_backward.default
tanh.default tanh_.default tanh_backward.default threshold.default threshold_.default
threshold_backward.default _log_softmax.default _log_softmax_backward_data.default
_safe_softmax.default _softmax.default _softmax_backward_data.default
"""

_MATRICES = """
addmm.default addmv.default addr.default baddbmm.default bmm.default dot.default mm.default
mv.default _scaled_dot_product_flash_attention_for_cpu.default
_scaled_dot_product_flash_attention_for_cpu_backward.default
"""

_REDUCTIONS = """
all.default all.dim amax.default amin.default any.default any.dim argmax.default argmin.default
argsort.default cummax.default cummin.default cumprod.default cumsum.default kthvalue.default
linalg_vector_norm.default logsumexp.default max.default max.dim mean.default mean.dim median.dim
min.default min.dim norm.Scalar norm.ScalarOpt_dim prod.default prod.dim_int sort.default
std.correction sum.default sum.dim_IntList topk.default var.correction var_mean.correction
"""

_VIEWS = """
alias.default detach.default diagonal.default expand.default permute.default select.int
slice.Tensor split.Tensor split_with_sizes.default squeeze.default squeeze.dim squeeze.dims
t.default transpose.int unbind.int unsqueeze.default _unsafe_view.default view.default
"""

_COPIES = """
bucketize.Tensor cat.default channel_shuffle.default clone.default constant_pad_nd.default
copy_.default diag_embed.default diagonal_backward.default diagonal_copy.default
embedding.default embedding_dense_backward.default fill_.Scalar fill_.Tensor flip.default
gather.default index.Tensor index_add.default index_add_.default index_put.default
index_put_.default index_select.default pixel_shuffle.default pixel_unshuffle.default
repeat.default roll.default scatter.src scatter.value scatter_.src scatter_.value
scatter_add.default scatter_add_.default select_backward.default slice_backward.default
stack.default _to_copy.default unsafe_split.Tensor unsafe_split_with_sizes.default
"""

_CONSTRUCTORS = """
arange.default arange.start arange.start_step empty.memory_format empty_like.default eye.default
eye.m full.default full_like.default linspace.default new_empty.default
new_empty_strided.default new_full.default new_ones.default new_zeros.default ones.default
ones_like.default scalar_tensor.default zeros.default zeros_like.default
"""

_RANDOM = """
bernoulli.default bernoulli.p bernoulli_.float bernoulli_.Tensor exponential_.default
native_dropout.default native_dropout_backward.default normal_.default rand.default
rand_like.default randint.default randint.low randint_like.default randn.default
randn_like.default randperm.default uniform_.default
"""

_NETWORKS = """
_adaptive_avg_pool2d.default _adaptive_avg_pool2d_backward.default adaptive_max_pool2d.default
adaptive_max_pool2d_backward.default avg_pool2d.default avg_pool2d_backward.default
avg_pool3d.default avg_pool3d_backward.default col2im.default convolution.default
convolution_backward.default im2col.default max_pool2d_with_indices.default
max_pool2d_with_indices_backward.default max_pool3d_with_indices.default
max_pool3d_with_indices_backward.default native_batch_norm.default
native_batch_norm_backward.default native_group_norm.default native_group_norm_backward.default
native_layer_norm.default native_layer_norm_backward.default reflection_pad1d.default
reflection_pad1d_backward.default reflection_pad2d.default reflection_pad2d_backward.default
replication_pad1d.default replication_pad1d_backward.default replication_pad2d.default
replication_pad2d_backward.default upsample_bicubic2d.default upsample_bicubic2d_backward.default
upsample_bilinear2d.default upsample_bilinear2d_backward.default upsample_nearest2d.default
upsample_nearest2d_backward.default
"""

_LOSSES = """
binary_cross_entropy.default binary_cross_entropy_backward.default
binary_cross_entropy_with_logits.default huber_loss.default huber_loss_backward.default
mse_loss.default mse_loss_backward.default nll_loss_backward.default nll_loss_forward.default
nll_loss2d_backward.default nll_loss2d_forward.default smooth_l1_loss.default
smooth_l1_loss_backward.default soft_margin_loss.default soft_margin_loss_backward.default
"""

_UPDATES = """
_foreach_add_.Scalar _fused_adam_.default _fused_adamw_.default
"""

_FAMILIES = (
    _ELEMENTWISE + _ACTIVATIONS + _MATRICES + _REDUCTIONS + _VIEWS + _COPIES + _CONSTRUCTORS
) + (_RANDOM + _NETWORKS + _LOSSES + _UPDATES)

#: Names as ``lab_utils.steps.graph.operator_name`` tells them: ``aten.mm.default``, ``getitem``.
OPERATORS: frozenset[str] = frozenset(
    {"getitem", *(f"aten.{overload}" for overload in _FAMILIES.split())}
)


class UnknownOperator(LabError):
    """An operator that is not on the list."""


@cache
def resolve(name: str) -> Callable[..., Any]:
    """The operator called ``name``; nothing is looked up unless the name is on the list.

    Raises:
        UnknownOperator: it is not on the list; the message tells the nearest name that is.
    """
    if name not in OPERATORS:
        near = difflib.get_close_matches(name[:80], OPERATORS, n=1, cutoff=0.85)
        hint = f"did you mean {near[0]}?" if near else "see lab_utils/steps/dot/operators.py"
        raise UnknownOperator(f"operator {name[:80]} is not on the list of accepted ones; {hint}")
    if name == "getitem":
        return operator.getitem
    _, packet, overload = name.split(".")
    try:
        return getattr(getattr(torch.ops.aten, packet), overload)
    except AttributeError:
        raise UnknownOperator(
            f"operator {name} is missing in PyTorch {torch.__version__}: use the pinned version"
        ) from None
