"""Sliding windows, the ground that convolution and pooling stand on, and their adjoint."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

from deepgraph.dims import Shape, Size, at_least, pretty, same_shape
from deepgraph.errors import ShapeError
from deepgraph.expr import Example, Expr, Kind, Strided, Type, op
from deepgraph.ops.rules import one_axis, wide_sums
from deepgraph.ops.source import as_shape

Ints = tuple[int, ...]


def _counts(value: int | Sequence[int], axes: Ints, what: str) -> Ints:
    """One whole number an axis, at least 1."""
    given = tuple(value) if isinstance(value, Sequence) else (value,) * len(axes)
    numbers = tuple(index(k) for k in given)
    if len(numbers) != len(axes) or any(k < 1 for k in numbers):
        raise ShapeError(f"{what} is one whole number >= 1 for each of axes {axes}: got {value}")
    return numbers


def _normal(
    shape: Shape, axes: int | Sequence[int], kernel: int | Sequence[int],
    stride: int | Sequence[int], dilation: int | Sequence[int],
) -> tuple[Shape, dict[str, Ints]]:  # fmt: skip
    """The shape that windows have, and the attributes in their normal form."""
    listed = axes if isinstance(axes, Sequence) else (axes,)
    places = tuple(one_axis(a, len(shape)) for a in listed)
    if len(set(places)) != len(places):
        raise ShapeError(f"an axis stands there twice: {tuple(listed)}")
    sizes = _counts(kernel, places, "kernel")
    strides = _counts(stride, places, "stride")
    dilations = _counts(dilation, places, "dilation")
    out: list[Size] = list(shape)
    for a, k, s, d in zip(places, sizes, strides, dilations, strict=True):
        span = (k - 1) * d + 1
        if at_least(shape[a], span) is False:
            raise ShapeError(f"a window of {span} does not fit in axis {a}: {pretty(shape)}")
        out[a] = (shape[a] - span) // s + 1
    attrs = {"axes": places, "kernel": sizes, "stride": strides, "dilation": dilations}
    return (*out, *sizes), attrs


def _windows_view(at: Strided, node: Expr) -> Strided:
    strides = list(at.strides)
    inner = []
    for a, s, d in zip(*(node.attr(k) for k in ("axes", "stride", "dilation")), strict=True):
        inner.append(at.strides[a] * d)
        strides[a] = at.strides[a] * s
    return Strided(node.shape, (*strides, *inner), at.offset)


def _windows_grad(g: Expr, y: Expr, x: Expr, **how: Ints) -> tuple[Expr]:
    return (unwindows(g, x.shape, **how),)


@op(
    Kind.VIEW, numpy="lib.windows({0}, {axes}, {kernel}, {stride}, {dilation})",
    view=_windows_view, grad=_windows_grad,
    examples=(
        Example(((2, 7),), {"axes": 1, "kernel": 3}),
        Example(((5, 2, 8),), {"axes": (0, -1), "kernel": (2, 3), "stride": (1, 2)}),
        Example(((9, 9),), {"axes": (1, 0), "kernel": (2, 3), "stride": 3, "dilation": (4, 2)}),
    ),
)  # fmt: skip
def windows(
    x: Expr, axes: int | Sequence[int], kernel: int | Sequence[int],
    stride: int | Sequence[int] = 1, dilation: int | Sequence[int] = 1,
) -> Type:  # fmt: skip
    """All windows of `kernel` elements along `axes`, as views that overlap.

    A windowed axis of size n counts `(n - dilation*(kernel-1) - 1)//stride + 1` windows; the
    elements inside a window are new last axes, one for each of `axes`, in their order. Raises
    ShapeError where a window does not fit; a named size must be large enough when it is fed.
    """
    shape, attrs = _normal(x.shape, axes, kernel, stride, dilation)
    return Type(shape, x.dtype, attrs)


@op(
    Kind.CALL, alias=False,
    numpy="lib.unwindows({0}, {out}, {axes}, {kernel}, {stride}, {dilation}, {tmp0})",
    scratch=lambda node: [wide_sums(node)],
    grad=lambda g, y, x, shape, **how: (windows(g, **how),),
    flops=lambda node: node.inputs[0].size,
    examples=(
        Example(((2, 5, 3),), {"shape": (2, 7), "axes": 1, "kernel": 3}),
        Example(
            ((4, 2, 3, 2, 3),),
            {"shape": (5, 2, 8), "axes": (0, 2), "kernel": (2, 3), "stride": (1, 2)},
        ),
        Example(((2, 3, 2),), {"shape": (2, 9), "axes": 1, "kernel": 2, "stride": 3}),
    ),
)  # fmt: skip
def unwindows(
    x: Expr, shape: Shape, axes: int | Sequence[int], kernel: int | Sequence[int],
    stride: int | Sequence[int] = 1, dilation: int | Sequence[int] = 1,
) -> Type:  # fmt: skip
    """Windows put back where they came from in an array of `shape`, summed where they overlap.

    The adjoint of `windows`: what no window covers is 0.
    """
    sizes = as_shape(shape)
    expected, attrs = _normal(sizes, axes, kernel, stride, dilation)
    if not same_shape(x.shape, expected):
        raise ShapeError(
            f"windows of {pretty(sizes)} have shape {pretty(expected)}: got {pretty(x.shape)}"
        )
    return Type(sizes, x.dtype, {"shape": sizes, **attrs})
