"""Einstein's summation, in terms of diagonals, sums and matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deepgraph.dims import product, same
from deepgraph.dtypes import promote
from deepgraph.errors import ShapeError
from deepgraph.expr import Expr, composition, lift
from deepgraph.ops.linalg import matmul
from deepgraph.ops.reduce import sum as sum_
from deepgraph.ops.shape import diagonal, expand_dims, permute_dims, reshape, squeeze

Label = str | int  # a letter, or a negative int for an axis that `...` stands for
Labels = list[Label]


@composition
def einsum(subscripts: str, *operands: Any) -> Expr:
    """Einstein's sum: `einsum("bij,bjk->bik", x, y)`.

    A label that the output lacks is summed over; one that stands twice at an operand takes its
    diagonal; `...` stands for axes that broadcast. Without `->` the output holds the labels that
    stand there once, in alphabetical order. Operands are contracted from left to right.
    """
    arrays = lift(operands)
    inputs, output = _parsed(subscripts, [x.ndim for x in arrays])
    sizes: dict[Label, Any] = {}
    for labels, x in zip(inputs, arrays, strict=True):
        for label, n in zip(labels, x.shape, strict=True):
            if same(sizes.setdefault(label, n), 1):
                sizes[label] = n
            elif not same(n, 1) and not same(n, sizes[label]):
                raise ShapeError(f"{_name(label)} has two sizes: {sizes[label]} and {n}")
    if missing := [label for label in output if label not in sizes]:
        raise ShapeError(f"no operand has {_name(missing[0])} of the output: {subscripts}")
    dtype = promote(*(x.dtype for x in arrays))
    terms = [_single(x, labels, sizes) for x, labels in zip(arrays, inputs, strict=True)]
    (x, labels), *rest = terms
    for k, (y, others) in enumerate(rest, 1):
        needed = {*output, *(label for _, later in terms[k + 1 :] for label in later)}
        x, labels = _only(x, labels, {*others, *needed}, dtype)
        y, others = _only(y, others, {*labels, *needed}, dtype)
        x, labels = _contracted(x, labels, y, others, needed, dtype)
    x, labels = _only(x, labels, set(output), dtype)
    y = permute_dims(x, [labels.index(label) for label in output])
    return y if y.dtype == dtype else y.astype(dtype)


def _name(label: Label) -> str:
    return f"label {label!r}" if isinstance(label, str) else "an axis of '...'"


def _parsed(subscripts: str, ndims: Sequence[int]) -> tuple[list[Labels], Labels]:
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    parts = left.split(",")
    letters = [part.replace("...", "", 1) for part in [*parts, right]]
    if len(parts) != len(ndims):
        raise ShapeError(f"as many operands as subscripts are needed: {left!r} and {len(ndims)}")
    if bad := [c for text in letters for c in text if not (c.isascii() and c.isalpha())]:
        raise ShapeError(f"labels are letters: got {bad[0]!r} in {subscripts!r}")
    if len(set(letters[-1])) != len(letters[-1]):
        raise ShapeError(f"a label stands twice in the output: {right!r}")
    inputs: list[Labels] = []
    for part, own, ndim in zip(parts, letters, ndims, strict=False):
        if "..." in part and len(own) <= ndim:
            before, after = part.split("...")
            inputs.append([*before, *range(len(own) - ndim, 0), *after])
        elif len(own) == ndim:
            inputs.append(list(own))
        else:
            raise ShapeError(f"{part!r} does not name {ndim} axes")
    dots = sorted({label for labels in inputs for label in labels if isinstance(label, int)})
    if not arrow:
        every = "".join(letters[:-1])
        return inputs, [*dots, *sorted(c for c in every if every.count(c) == 1)]
    before, found, after = right.partition("...")
    return inputs, [*before, *(dots if found else ()), *after]


def _single(x: Expr, labels: Labels, sizes: dict[Label, Any]) -> tuple[Expr, Labels]:
    """One operand with each label once, and without axes of size 1 that another one stretches."""
    while twice := [label for label in labels if labels.count(label) > 1]:
        i = labels.index(twice[0])
        j = labels.index(twice[0], i + 1)
        if not same(x.shape[i], x.shape[j]):
            raise ShapeError(f"{_name(twice[0])} has two sizes: {x.shape[i]} and {x.shape[j]}")
        x = diagonal(x, 0, i, j)
        labels = [*(label for k, label in enumerate(labels) if k not in (i, j)), twice[0]]
    thin = [
        i for i, label in enumerate(labels) if same(x.shape[i], 1) and not same(sizes[label], 1)
    ]
    kept = [label for i, label in enumerate(labels) if i not in thin]
    return (squeeze(x, thin), kept) if thin else (x, labels)


def _only(x: Expr, labels: Labels, kept: set[Label], dtype: Any) -> tuple[Expr, Labels]:
    """Summed over the labels that nothing needs any more."""
    if folded := [i for i, label in enumerate(labels) if label not in kept]:
        x = sum_(x, folded, dtype=dtype)
    return x, [label for label in labels if label in kept]


def _contracted(
    x: Expr, mine: Labels, y: Expr, yours: Labels, needed: set[Label], dtype: Any
) -> tuple[Expr, Labels]:  # fmt: skip
    """The product of two operands, summed over the labels that both have and nothing else needs."""
    size = dict(zip(mine, x.shape, strict=True)) | dict(zip(yours, y.shape, strict=True))
    batch = [label for label in mine if label in yours and label in needed]
    inner = [label for label in mine if label in yours and label not in needed]
    left = [label for label in mine if label not in yours]
    right = [label for label in yours if label not in mine]
    result = [*batch, *left, *right]

    def arranged(z: Expr, labels: Labels, order: Labels, *runs: Labels) -> Expr:
        z = permute_dims(z, [labels.index(label) for label in order])
        return reshape(z, [*(size[b] for b in batch), *(product(size[a] for a in r) for r in runs)])

    if inner and (left or right):
        x = arranged(x, mine, [*batch, *left, *inner], left, inner)
        y = arranged(y, yours, [*batch, *inner, *right], inner, right)
        return reshape(matmul(x, y), [size[label] for label in result]), result
    order = [*result, *inner]
    x = expand_dims(permute_dims(x, [mine.index(a) for a in order if a in mine]),
                    [i for i, a in enumerate(order) if a not in mine])  # fmt: skip
    y = expand_dims(permute_dims(y, [yours.index(a) for a in order if a in yours]),
                    [i for i, a in enumerate(order) if a not in yours])  # fmt: skip
    return _only(x * y, order, set(result), dtype)
