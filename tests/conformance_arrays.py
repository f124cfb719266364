"""PyTorch's functions of arrays, in its own argument conventions, as deepgraph expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import deepgraph as dg
from deepgraph.expr import Expr

Dim = int | Sequence[int] | None


def axes(x: Expr, dim: Dim) -> Any:
    """NumPy's `axis` for PyTorch's `dim`: () means all too, and a number has an axis 0 or -1."""
    if dim is None or dim == () or dim == []:
        return None
    if x.ndim == 0:
        assert set(dim if isinstance(dim, Sequence) else (dim,)) <= {0, -1}
        return None
    return tuple(dim) if isinstance(dim, Sequence) else dim


def along(f: Callable[[Expr, int], Expr], x: Expr, dim: int) -> Expr:
    """f along an axis, where a number counts as a vector of one element."""
    return f(x, dim) if x.ndim else dg.reshape(f(dg.reshape(x, (1,)), dim), ())


def cast(x: Expr, dtype: str | None) -> Expr:
    """In a dtype that PyTorch would write as torch.float64."""
    return x if dtype is None else dg.astype(x, dtype.removeprefix("torch."))


# Elementwise


def add(x: Any, other: Any, *, alpha: float = 1) -> Expr:
    return x + (other if alpha == 1 else other * alpha)


def sub(x: Any, other: Any, *, alpha: float = 1) -> Expr:
    return x - (other if alpha == 1 else other * alpha)


def div(x: Any, other: Any, *, rounding_mode: str | None = None) -> Expr:
    return {None: lambda: x / other, "floor": lambda: x // other,
            "trunc": lambda: dg.trunc(x / other)}[rounding_mode]()  # fmt: skip


def clamp(x: Expr, min: Any = None, max: Any = None) -> Expr:
    return dg.clip(x, min, max)


def round_(x: Expr, *, decimals: int = 0) -> Expr:
    if decimals < 0:
        return dg.round(x / 10.0**-decimals) * 10.0**-decimals
    return dg.round(x * 10.0**decimals) / 10.0**decimals if decimals else dg.round(x)


def lerp(x: Expr, end: Expr, weight: Any) -> Expr:
    return x + weight * (end - x)


def masked_fill(x: Expr, mask: Expr, value: Any) -> Expr:
    return dg.where(mask, value, x)


def where(x: Expr, condition: Expr, other: Any) -> Expr:
    return dg.where(condition, x, other)


def addcmul(x: Expr, a: Expr, b: Expr, *, value: float = 1) -> Expr:
    return x + value * (a * b)


def addcdiv(x: Expr, a: Expr, b: Expr, *, value: float = 1) -> Expr:
    return x + value * (a / b)


# Reductions

Reduction = Callable[..., Expr]


def reduced(f: Callable[..., Expr]) -> Reduction:
    """A reduction with PyTorch's arguments."""

    def reduction(x: Expr, dim: Dim = None, keepdim: bool = False, *, dtype: Any = None) -> Expr:
        return f(cast(x, dtype), axes(x, dim), keepdim)

    return reduction


def extreme(f: Reduction, place: Reduction, pair: Callable[[Any, Any], Expr]) -> Callable[..., Any]:
    """max and min: of two arrays, of all elements, or along an axis with the indices."""

    def found(x: Expr, dim: Any = None, keepdim: bool = False) -> Any:
        if isinstance(dim, Expr):
            return pair(x, dim)
        if dim is None:
            return f(x)
        return f(x, axes(x, dim), keepdim), place(x, axes(x, dim), keepdim)

    return found


def _nan_to_zero(x: Expr) -> Expr:
    return dg.where(dg.isnan(x), 0, x)


def nansum(x: Expr, dim: Dim = None, keepdim: bool = False, *, dtype: Any = None) -> Expr:
    return dg.sum(_nan_to_zero(cast(x, dtype)), axes(x, dim), keepdim)


def nanmean(x: Expr, dim: Dim = None, keepdim: bool = False, *, dtype: Any = None) -> Expr:
    numbers = dg.sum(~dg.isnan(x), axes(x, dim), keepdim)
    return nansum(x, dim, keepdim, dtype=dtype) / numbers


def spread(f: Callable[..., Expr]) -> Callable[..., Expr]:
    """var and std, whose second argument may be `unbiased`, and whose default correction is 1."""

    def found(
        x: Expr, dim: Any = None, unbiased: bool = True, keepdim: bool = False, *,
        correction: float | None = None,
    ) -> Expr:  # fmt: skip
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        less = float(unbiased) if correction is None else correction
        return f(x, axes(x, dim), keepdim, less)

    return found


def norm(
    x: Expr, p: Any = "fro", dim: Dim = None, keepdim: bool = False, dtype: Any = None
) -> Expr:  # fmt: skip
    order = 2 if p in ("fro", None) else p
    return dg.norm(cast(x, dtype), axes(x, dim), keepdim, order)


def logsumexp(x: Expr, dim: Dim, keepdim: bool = False) -> Expr:
    return dg.logsumexp(x, axes(x, dim), keepdim)


def cumulative(f: Callable[[Expr, int], Expr]) -> Callable[..., Expr]:
    return lambda x, dim, *, dtype=None: along(f, cast(x, dtype), dim)


def soft(f: Callable[[Expr, int], Expr]) -> Callable[..., Expr]:
    def found(x: Expr, dim: int, dtype: Any = None, _stacklevel: int = 3) -> Expr:
        return along(f, cast(x, dtype), dim)

    return found


_SAME = (
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos",
    "cosh", "deg2rad", "erf", "exp", "exp2", "expm1", "floor", "floor_divide", "fmax", "fmin",
    "hypot", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "logaddexp",
    "logical_and", "logical_not", "logical_or", "logical_xor", "matmul", "maximum", "minimum",
    "nextafter", "outer", "positive", "pow", "rad2deg", "reciprocal", "remainder", "sigmoid",
    "sign", "signbit", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trace", "true_divide",
    "trunc", "broadcast_to", "dot",
)  # fmt: skip

_REFLECTED: dict[str, Callable[..., Any]] = {
    "__radd__": lambda x, other: other + x, "__rsub__": lambda x, other: other - x,
    "__rmul__": lambda x, other: other * x, "__rdiv__": lambda x, other: other / x,
    "__rpow__": lambda x, other: other**x, "__rmod__": lambda x, other: other % x,
    "__rmatmul__": lambda x, other: other @ x,
}  # fmt: skip

ARRAYS: dict[str, Callable[..., Any]] = {
    **{name: getattr(dg, name) for name in _SAME},
    **_REFLECTED, "add": add, "sub": sub, "mul": lambda x, other: x * other, "div": div,
    "neg": dg.negative,
    "eq": dg.equal, "ne": dg.not_equal, "lt": dg.less, "le": dg.less_equal, "gt": dg.greater,
    "ge": dg.greater_equal, "rsqrt": lambda x: 1 / dg.sqrt(x), "clamp": clamp,
    "clamp_min": lambda x, min: dg.clip(x, min), "clamp_max": lambda x, max: dg.clip(x, None, max),
    "round": round_, "lerp": lerp, "masked_fill": masked_fill, "where": where,
    "addcmul": addcmul, "addcdiv": addcdiv, "clone": lambda x, *, memory_format=None: dg.copy(x),
    "rsub": lambda x, other, alpha=1: sub(other, x, alpha=alpha),
    "sum": reduced(dg.sum), "prod": reduced(dg.prod), "mean": reduced(dg.mean),
    "amax": reduced(dg.max), "amin": reduced(dg.min), "any": reduced(dg.any),
    "all": reduced(dg.all), "argmax": reduced(dg.argmax), "argmin": reduced(dg.argmin),
    "count_nonzero": reduced(dg.count_nonzero), "nansum": nansum, "nanmean": nanmean,
    "max": extreme(dg.max, dg.argmax, dg.maximum), "min": extreme(dg.min, dg.argmin, dg.minimum),
    "var": spread(dg.var), "std": spread(dg.std), "norm": norm, "logsumexp": logsumexp,
    "cumsum": cumulative(dg.cumulative_sum), "cumprod": cumulative(dg.cumulative_prod),
    "softmax": soft(dg.softmax), "log_softmax": soft(dg.log_softmax),
}  # fmt: skip
