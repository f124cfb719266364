"""PyTorch's nn.functional, in its own argument conventions, as deepgraph expressions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from conformance_arrays import axes, soft
from conformance_losses import LOSSES

import deepgraph as dg
from deepgraph import nn
from deepgraph.expr import Expr

Pair = int | Sequence[int]


def pair(value: Pair) -> tuple[int, int]:
    """One number for each of two axes; a sequence of one is for both."""
    given = tuple(value) if isinstance(value, Sequence) else (value,)
    return (given * 2)[:2]


# Activations


def elu(x: Expr, alpha: float = 1.0, inplace: bool = False) -> Expr:
    return dg.where(x > 0, x, alpha * dg.expm1(x))


def celu(x: Expr, alpha: float = 1.0, inplace: bool = False) -> Expr:
    return dg.where(x > 0, x, alpha * dg.expm1(x / alpha))


def selu(x: Expr, inplace: bool = False) -> Expr:
    return 1.0507009873554804934193349852946 * elu(x, 1.6732632423543772848170429916717)


def softplus(x: Expr, beta: float = 1, threshold: float = 20) -> Expr:
    """Linear above the threshold."""
    return dg.where(x * beta > threshold, x, dg.softplus(x * beta) / beta)


def prelu(x: Expr, weight: Expr) -> Expr:
    """A slope for each index of axis 1, or one for all."""
    if weight.shape not in ((), (1,)):
        weight = dg.reshape(weight, (-1, *[1] * (x.ndim - 2)))
    y = dg.where(x > 0, x, x * weight)
    return dg.reshape(y, x.shape)


def hardswish(x: Expr, inplace: bool = False) -> Expr:
    return x * dg.clip(x + 3, 0, 6) / 6


# Normalisation


def _scaled(y: Expr, weight: Expr | None, bias: Expr | None) -> Expr:
    """By a weight and a bias for each index of axis 1."""
    after = (-1, *[1] * (y.ndim - 2)) if y.shape[1] else (0, *[1] * (y.ndim - 2))
    y = y if weight is None else y * dg.reshape(weight, after)
    return y if bias is None else y + dg.reshape(bias, after)


def batch_norm(
    x: Expr, running_mean: Expr | None, running_var: Expr | None, weight: Expr | None = None,
    bias: Expr | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5,
) -> Expr:  # fmt: skip
    layer = nn.BatchNorm(momentum=momentum, eps=eps, affine=False)
    if not training:
        layer.running_mean, layer.running_var = running_mean, running_var
    wide = x if x.ndim > 1 else dg.reshape(x, (1, *x.shape))
    y = _scaled(layer(wide, training=training), weight, bias)
    return dg.reshape(y, x.shape)


def instance_norm(
    x: Expr, running_mean: Expr | None = None, running_var: Expr | None = None,
    weight: Expr | None = None, bias: Expr | None = None, use_input_stats: bool = True,
    momentum: float = 0.1, eps: float = 1e-5,
) -> Expr:  # fmt: skip
    if not use_input_stats:
        return batch_norm(x, running_mean, running_var, weight, bias, False, momentum, eps)
    return _scaled(nn.layer_norm(x, n_axes=x.ndim - 2, eps=eps), weight, bias)


def group_norm(
    x: Expr, num_groups: int, weight: Expr | None = None, bias: Expr | None = None,
    eps: float = 1e-5,
) -> Expr:  # fmt: skip
    each = math.prod(x.shape[1:]) // num_groups
    y = nn.layer_norm(dg.reshape(x, (x.shape[0], num_groups, each)), eps=eps)
    return _scaled(dg.reshape(y, x.shape), weight, bias)


def layer_norm(
    x: Expr, normalized_shape: Sequence[int], weight: Expr | None = None,
    bias: Expr | None = None, eps: float = 1e-5,
) -> Expr:  # fmt: skip
    return nn.layer_norm(x, weight, bias, len(normalized_shape), eps)


def rms_norm(
    x: Expr, normalized_shape: Sequence[int], weight: Expr | None = None, eps: float | None = None
) -> Expr:
    last = tuple(range(x.ndim - len(normalized_shape), x.ndim))
    small = float(np.finfo(x.dtype).eps) if eps is None else eps
    y = x / dg.sqrt(dg.mean(x * x, last, keepdims=True) + small)
    return y if weight is None else y * weight


def normalize(x: Expr, p: float = 2.0, dim: Any = 1, eps: float = 1e-12) -> Expr:
    return x / dg.maximum(dg.norm(x, axes(x, dim), True, p), eps)


def local_response_norm(
    x: Expr, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Expr:
    beside = [(0, 0), (size // 2, (size - 1) // 2), *[(0, 0)] * (x.ndim - 2)]
    near = dg.mean(dg.windows(dg.pad(x * x, beside), 1, size), -1)
    return x / (k + alpha * near) ** beta


# Convolution and pooling


def linear(x: Expr, weight: Expr, bias: Expr | None = None) -> Expr:
    y = x @ dg.permute_dims(weight)
    return y if bias is None else y + bias


def batched(f: Callable[..., Any], ndim: int) -> Callable[..., Any]:
    """Also of one image or signal, without an axis for the batch."""

    def found(x: Expr, *args: Any, **kwargs: Any) -> Any:
        if x.ndim == ndim:
            return f(x, *args, **kwargs)
        y = f(dg.expand_dims(x, 0), *args, **kwargs)
        return tuple(dg.squeeze(v, 0) for v in y) if isinstance(y, tuple) else dg.squeeze(y, 0)

    return found


def conv1d(
    x: Expr, weight: Expr, bias: Expr | None = None, stride: Any = 1, padding: Any = 0,
    dilation: Any = 1, groups: int = 1,
) -> Expr:  # fmt: skip
    def one(n: Any) -> Any:
        return n if isinstance(n, int | str) else n[0]

    y = dg.conv1d(x, weight, one(stride), one(padding), one(dilation), groups)
    return _scaled(y, None, bias)


def conv2d(
    x: Expr, weight: Expr, bias: Expr | None = None, stride: Pair = 1, padding: Any = 0,
    dilation: Pair = 1, groups: int = 1,
) -> Expr:  # fmt: skip
    around = padding if isinstance(padding, str) else pair(padding)
    y = dg.conv2d(x, weight, pair(stride), around, pair(dilation), groups)
    return _scaled(y, None, bias)


def conv_transpose2d(
    x: Expr, weight: Expr, bias: Expr | None = None, stride: Pair = 1, padding: Pair = 0,
    output_padding: Pair = 0, groups: int = 1, dilation: Pair = 1,
) -> Expr:  # fmt: skip
    """`output_padding` is less padding below and right, and then zeros."""
    pads = list(zip(pair(padding), pair(output_padding), strict=True))
    around = [(p, max(p - more, 0)) for p, more in pads]
    y = dg.conv_transpose2d(x, weight, pair(stride), around, pair(dilation), groups)
    return _scaled(dg.pad(y, [(0, 0), (0, 0), *((0, max(m - p, 0)) for p, m in pads)]), None, bias)


def unfold(
    x: Expr, kernel_size: Pair, dilation: Pair = 1, padding: Pair = 0, stride: Pair = 1
) -> Expr:
    padded = dg.pad(x, [(0, 0), (0, 0), *((p, p) for p in pair(padding))])
    seen = dg.windows(padded, (2, 3), pair(kernel_size), pair(stride), pair(dilation))
    n, channels, high, wide, *kernel = seen.shape
    columns = dg.permute_dims(seen, (0, 1, 4, 5, 2, 3))
    return dg.reshape(columns, (n, channels * math.prod(kernel), high * wide))


def _pooling(
    size: Sequence[int], kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], ceil_mode: bool,
) -> list[tuple[int, int]]:  # fmt: skip
    """(before, after) for each axis: more after where `ceil_mode` starts a window in the image."""
    pads = []
    for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True):
        spare = n + 2 * p - d * (k - 1) - 1
        last = -(-spare // s) if ceil_mode else spare // s
        if ceil_mode and last * s >= n + p:
            last -= 1
        pads.append((p, p + max(last * s - spare, 0)))
    return pads


def max_pool2d(
    x: Expr, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0, dilation: Pair = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    kernel, holes, around = pair(kernel_size), pair(dilation), pair(padding)
    steps = pair(stride) if stride else kernel
    pads = _pooling(x.shape[2:], kernel, steps, around, holes, ceil_mode)
    padded = dg.pad(x, [(0, 0), (0, 0), *pads], -math.inf)
    seen = dg.windows(padded, (2, 3), kernel, steps, holes)
    if holes == (1, 1):
        y = dg.max_pool2d(x, kernel, stride=steps, padding=pads)
    else:
        y = dg.max(seen, (-2, -1))
    if not return_indices:
        return y
    found = dg.argmax(dg.reshape(seen, (*seen.shape[:4], math.prod(kernel))), -1)
    row, column = found // kernel[1], found % kernel[1]
    high, wide = found.shape[2:]
    row = dg.expand_dims(dg.iota(high), 1) * steps[0] + row * holes[0] - around[0]
    column = dg.iota(wide) * steps[1] + column * holes[1] - around[1]
    return y, row * x.shape[3] + column


def avg_pool2d(
    x: Expr, kernel_size: Pair, stride: Any = None, padding: Pair = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Expr:  # fmt: skip
    """`count_include_pad` does not count what `ceil_mode` adds."""
    kernel, around = pair(kernel_size), pair(padding)
    steps = pair(stride) if stride else kernel
    size: Any = x.shape[2:]
    pads = _pooling(size, kernel, steps, around, (1, 1), ceil_mode)
    plain = pads == [(p, p) for p in around] or not count_include_pad
    if plain and divisor_override is None:
        return dg.avg_pool2d(
            x, kernel, stride=steps, padding=pads, count_include_pad=count_include_pad
        )  # fmt: skip
    total = dg.avg_pool2d(x, kernel, stride=steps, padding=pads, count_include_pad=True)
    total = total * math.prod(kernel)
    if divisor_override is not None:
        return total / divisor_override
    counts = []
    for n, k, s, p, m in zip(size, kernel, steps, around, total.shape[2:], strict=True):
        starts = np.arange(int(m)) * s - p
        counts.append(np.minimum(starts + k, n + p) - starts)
    return total / np.multiply.outer(*counts).astype(x.dtype)


def adaptive_avg_pool2d(x: Expr, output_size: Any) -> Expr:
    """Means over parts that may overlap: a product with a matrix of weights on either side."""
    wanted = output_size if isinstance(output_size, Sequence) else (output_size, output_size)
    weights = []
    for n, m in zip(x.shape[2:], wanted, strict=True):
        size, count = int(n), int(n) if m is None else m
        parts = np.zeros((count, size))
        for i in range(count):
            first, last = i * size // count, -(-(i + 1) * size // count)
            parts[i, first:last] = 1 / (last - first)
        weights.append(parts)
    return dg.einsum("ncij,hi,wj->nchw", x, *weights)


def pixel_shuffle(x: Expr, upscale_factor: int) -> Expr:
    r = upscale_factor
    *lead, channels, high, wide = x.shape
    k, c = len(lead), int(channels) // r**2
    y = dg.reshape(x, (*lead, c, r, r, high, wide))
    y = dg.permute_dims(y, (*range(k), k, k + 3, k + 1, k + 4, k + 2))
    return dg.reshape(y, (*lead, c, high * r, wide * r))


def _source(n: int, before: int, after: int, mode: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Which of n elements stands at each place of an axis that is padded."""
    if mode == "circular":  # of what negative padding leaves
        kept = np.arange(n)[max(-before, 0) : n - max(-after, 0)]
        return np.pad(kept, (max(before, 0), max(after, 0)), "wrap")
    places = np.arange(-before, n + after)
    if mode == "replicate":
        return np.clip(places, 0, n - 1)
    assert mode == "reflect", mode
    return (n - 1) - np.abs((n - 1) - np.abs(places))


def pad(x: Expr, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Expr:
    """Widths from the last axis to the first; a negative one takes away."""
    pairs = [(0, 0)] * (x.ndim - len(pad) // 2) + [*zip(pad[::2], pad[1::2], strict=True)][::-1]
    if mode != "constant":
        assert value is None
        for k, (before, after) in enumerate(pairs):
            if before or after:
                x = dg.take(x, _source(int(x.shape[k]), before, after, mode), k)
        return x
    kept = (
        slice(max(-a, 0), int(n) - max(-b, 0))
        for (a, b), n in zip(pairs, x.shape, strict=True)
    )  # fmt: skip
    return dg.pad(x[tuple(kept)], [(max(a, 0), max(b, 0)) for a, b in pairs], value or 0)


# Attention and embedding


def attention(
    query: Expr, key: Expr, value: Expr, attn_mask: Expr | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Expr:  # fmt: skip
    assert not dropout_p
    if enable_gqa:
        key, value = (dg.repeat(v, query.shape[-3] // v.shape[-3], -3) for v in (key, value))
    width: Any = query.shape[-1]
    scores = query @ dg.matrix_transpose(key) * (1 / math.sqrt(width) if scale is None else scale)
    if is_causal:
        attn_mask = dg.asarray(np.tri(*scores.shape[-2:], dtype=bool))
    if attn_mask is not None and attn_mask.dtype.kind == "b":
        scores = dg.where(attn_mask, scores, -math.inf)
    elif attn_mask is not None:
        scores = scores + attn_mask
    return dg.softmax(scores) @ value


def embedding(weight: Expr, x: Expr, padding_idx: int | None = None) -> Expr:
    """The row of `padding_idx` gets no gradient."""
    y = dg.take(weight, x, 0)
    if padding_idx is None:
        return y
    row = padding_idx % int(weight.shape[0])
    return dg.where(dg.expand_dims(x == row, -1), dg.stop_gradient(y), y)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "relu": lambda x, inplace=False: dg.relu(x), "silu": lambda x, inplace=False: dg.silu(x),
    "leaky_relu": lambda x, negative_slope=0.01, inplace=False: dg.leaky_relu(x, negative_slope),
    "gelu": lambda x, *, approximate="none": dg.gelu(x, approximate), "logsigmoid": dg.log_sigmoid,
    "elu": elu, "celu": celu, "selu": selu, "softplus": softplus, "prelu": prelu,
    "relu6": lambda x, inplace=False: dg.clip(x, 0, 6), "hardswish": hardswish,
    "hardtanh": lambda x, min_val=-1.0, max_val=1.0, inplace=False: dg.clip(x, min_val, max_val),
    "hardsigmoid": lambda x, inplace=False: dg.clip(x + 3, 0, 6) / 6,
    "mish": lambda x, inplace=False: x * dg.tanh(dg.softplus(x)),
    "softsign": lambda x: x / (1 + dg.abs(x)), "softmin": soft(lambda x, dim: dg.softmax(-x, dim)),
    "batch_norm": batch_norm, "instance_norm": instance_norm, "group_norm": group_norm,
    "layer_norm": layer_norm, "rms_norm": rms_norm, "normalize": normalize,
    "local_response_norm": local_response_norm, "linear": linear, "conv1d": batched(conv1d, 3),
    "conv2d": batched(conv2d, 4), "conv_transpose2d": batched(conv_transpose2d, 4),
    "unfold": batched(unfold, 4), "max_pool2d": batched(max_pool2d, 4),
    "avg_pool2d": batched(avg_pool2d, 4), "adaptive_avg_pool2d": batched(adaptive_avg_pool2d, 4),
    "pixel_shuffle": pixel_shuffle, "pad": pad, "embedding": embedding,
    "scaled_dot_product_attention": attention,
    **LOSSES,
}  # fmt: skip

NETS: dict[str, Callable[..., Any]] = {
    f"nn.functional.{name}": function for name, function in _FUNCTIONS.items()
}
