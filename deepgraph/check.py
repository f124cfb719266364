"""Check: gradients against differences, and compiled steps against the meaning of their graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from deepgraph import ops
from deepgraph.backends.reference import evaluate
from deepgraph.compare import compare
from deepgraph.compile import Outputs
from deepgraph.compile import compile as compiled
from deepgraph.dtypes import is_float
from deepgraph.errors import DTypeError
from deepgraph.expr import Expr
from deepgraph.feeds import Feeds
from deepgraph.grad import grad
from deepgraph.graph import Graph
from deepgraph.ops.printing import quiet
from deepgraph.parameter import Parameter
from deepgraph.step import Step

Array = npt.NDArray[Any]
_ENTRIES = 500  # how many entries of a gradient are looked at one by one to find the worst


def check_grad(
    f: Callable[..., Expr], *arrays: Any, rtol: float = 1e-6, atol: float = 1e-8,
    eps: float = 1e-6, seed: int = 0,
) -> None:  # fmt: skip
    """Compare the gradient of `f`, in float64, with central differences.

    `f` takes an expression for each array and returns one of any shape. Its elements are weighted
    at random and summed, and the gradient is compared along a random direction in which all floats
    move at once: two evaluations, however many numbers there are. `eps` is how far they move;
    whole numbers stay. Raises AssertionError that names the entry of the gradient that is furthest
    from its own difference, DTypeError if no array is a float. Points at kinks have no derivative.

    >>> import deepgraph as dg
    >>> check_grad(lambda x, y: dg.tanh(x) / y, [0.5, -1.0], [2.0, 3.0])
    """
    values = [np.array(a, np.float64 if _moves(a) else None) for a in arrays]
    xs = [ops.placeholder(f"x{k}", v.shape, v.dtype) for k, v in enumerate(values)]
    moving = [k for k, v in enumerate(values) if v.dtype == np.float64]
    if not moving:
        raise DTypeError("check_grad: no array is a float")
    rng = np.random.default_rng(seed)
    y = f(*xs)
    shape = _run([y], xs, values)[0].shape
    weights = rng.uniform(0.5, 1.5, shape)
    loss = ops.sum(y * weights)
    grads = _run(grad(loss, [xs[k] for k in moving]), xs, values)
    for k, g in zip(moving, grads, strict=True):
        assert g.shape == values[k].shape, f"gradient {k}: shape {g.shape} of {values[k].shape}"

    def slope(ways: Mapping[int, Array]) -> float:
        ends = []
        for sign in (1, -1):
            moved = [v + sign * eps * ways[k] if k in ways else v for k, v in enumerate(values)]
            ends.append(float(_run([loss], xs, moved)[0]))
        return (ends[0] - ends[1]) / (2 * eps)

    ways = {
        k: rng.choice([-1.0, 1.0], values[k].shape) * rng.uniform(0.5, 1.0, values[k].shape)
        for k in moving
    }
    found = sum(float(np.sum(g * ways[k])) for k, g in zip(moving, grads, strict=True))
    size = sum(float(np.sum(np.abs(g * ways[k]))) for k, g in zip(moving, grads, strict=True))
    wanted = slope(ways)
    if not abs(found - wanted) <= rtol * size + atol:
        worst = _worst(moving, grads, slope, rng)
        raise AssertionError(
            f"check_grad: the gradient differs: along a random direction {found:.8g} instead of "
            f"{wanted:.8g}\n  worst entry: {worst}"
        )


def _moves(a: Any) -> bool:
    return is_float(np.asarray(a).dtype)


def _run(roots: Sequence[Expr], xs: Sequence[Expr], values: Sequence[Array]) -> list[Array]:
    graph = Graph((), {str(k): y for k, y in enumerate(roots)})
    with quiet():
        return list(evaluate(graph, dict(zip(xs, values, strict=True)), {})[0].values())


def _worst(
    moving: Sequence[int], grads: Sequence[Array], slope: Callable[[Mapping[int, Array]], float],
    rng: np.random.Generator,
) -> str:  # fmt: skip
    """The entry that is furthest from its own difference, of all or of `_ENTRIES` at random."""
    entries = [(k, g, i) for k, g in zip(moving, grads, strict=True) for i in range(g.size)]
    if len(entries) > _ENTRIES:
        entries = [entries[i] for i in rng.choice(len(entries), _ENTRIES, replace=False)]

    def apart(entry: tuple[int, Array, int]) -> tuple[float, str]:
        k, g, i = entry
        way = np.zeros_like(g)
        way.flat[i] = 1.0
        wanted, found = slope({k: way}), float(g.flat[i])
        gap = abs(found - wanted)
        place = tuple(int(j) for j in np.unravel_index(i, g.shape))
        text = f"input {k} at {place}: {found:.8g} instead of {wanted:.8g}"
        return (gap if gap == gap else np.inf), text

    return max(map(apart, entries))[1]


def check_step(
    step: Step | Outputs, feeds: Mapping[str, Any] | None = None, *,
    updates: Mapping[Parameter, Any] | None = None, rtol: float | None = None,
    atol: float | None = None, **options: Any,
) -> Step:  # fmt: skip
    """Compare a step, or one compiled here of outputs and `updates`, with the reference backend.

    Outputs and new values of parameters may differ by `rtol` times the largest of them and `atol`,
    by dtype where not given. Parameters are as before afterwards. `options` are those of `compile`.
    Raises AssertionError that names what differs, where it differs most, and by how much; returns
    the step.

    >>> import deepgraph as dg
    >>> x = dg.placeholder("x", shape=("n",))
    >>> step = check_step(dg.sum(x * x), {"x": [1.0, 2.0]})
    """
    if not isinstance(step, Step):
        step = compiled(step, updates, **options)
    graph = step.graph
    taken = Feeds(graph, positional=False)
    arrays, shapes = taken.take((), feeds or {})
    kept = {p: p.value for p in graph.parameters if isinstance(p, Parameter)}
    values = dict(zip(taken.placeholders, arrays, strict=True)) | kept
    with quiet():
        outputs, new = evaluate(graph, values, taken.sizes(shapes))
    found = {name: np.empty(v.shape, v.dtype) for name, v in outputs.items()}
    try:
        step(out=found, **(feeds or {}))
        for name, wanted in outputs.items():
            _equal(f"output {name}", found[name], wanted, graph.outputs[name], rtol, atol)
        for p, wanted in new.items():
            if isinstance(p, Parameter):
                _equal(f"new value of {p.name}", p.value, wanted, graph.updates[p], rtol, atol)
    finally:
        for p, value in kept.items():
            p.assign(value)
    return step


def _equal(
    what: str, found: Array, wanted: Array, node: Expr, rtol: float | None, atol: float | None
) -> None:
    difference = compare(found, wanted, rtol, atol)
    if difference is not None:
        raise AssertionError(f"check_step: {what} differs: {difference}\n  at {node.origin.show()}")
