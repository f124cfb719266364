"""Forms that neither overflow nor cancel, in place of those that do: at least as accurate.

`simplify` puts them in place of what was declared; `grad` differentiates them in its place, since
the slopes of the parts, 1/sigmoid(x) and sigmoid'(x), may be infinite and 0 where their product is
neither.
"""

from __future__ import annotations

from collections.abc import Sequence

from deepgraph.algebra import EXACT, is_positive
from deepgraph.dims import at_least
from deepgraph.dtypes import is_float
from deepgraph.expr import OPS, Expr, Kind
from deepgraph.graph import Rule, may_merge, rebuilt
from deepgraph.patterns import FLOATS, either, fit, patterns, reshaped

_RULES = patterns(FLOATS, """
    exp(x) - 1 -> expm1(x)
    exp(x) + -1 -> expm1(x)
    sqrt(square(x)) -> abs(x)
    1 / (1 + exp(-x)) -> sigmoid(x)
    reciprocal(1 + exp(-x)) -> sigmoid(x)
    exp(x) / (1 + exp(x)) -> sigmoid(x)
    log(sigmoid(x)) -> -softplus(-x)
    log(1 - sigmoid(x)) -> -softplus(x)
    log1p(-sigmoid(x)) -> -softplus(x)
    log(1 + exp(x)) -> softplus(x)
    log(1 + x) -> log1p(x)
    log(1 - x) -> log1p(-x)
""")  # fmt: skip


def _softplus(node: Expr) -> Expr | None:
    """log1p(exp(x)) -> softplus(x), unless x is never positive: exp cannot overflow then."""
    (x,) = node.inputs
    if x.op.name != "exp":
        return None
    (z,) = x.inputs
    never = z.op.name == "negative" and is_positive(z.inputs[0])
    return None if never else OPS["softplus"](z)


# exp(z) over its sum, or the sum alone, whatever the size of z: exp(z - c) has the same quotients.


def _logsumexp(node: Expr) -> Expr | None:
    """log(sum(exp(z))) -> log(sum(exp(z - c))) + c"""
    (total,) = node.inputs
    if not _overflows(total):
        return None
    _, calm, shift = _calmed(total)
    return reshaped(OPS["log"](calm) + shift, node.shape)


def _softmax(node: Expr) -> Expr | None:
    """exp(z) / sum(exp(z)) -> exp(z - c) / sum(exp(z - c))"""
    powers, over = node.inputs
    total = _kept(over)
    if total is None or not _overflows(total) or total.inputs[0] is not powers:
        return None
    calm_powers, calm, _ = _calmed(total)
    return calm_powers / calm


def _softmax_adjoint(node: Expr) -> Expr | None:
    """(g / s - sum(g / s * q)) * e -> (g - sum(g * q)) * q, where q = e / s and s = sum(e)."""
    for difference, powers in either(node):
        if difference.op.name != "subtract" or powers.op.name != "exp":
            continue
        scaled, folded = difference.inputs
        if scaled.op.name != "divide" or folded.op.name != "sum" or not folded.attr("keepdims"):
            continue
        (product,) = folded.inputs
        g, over = scaled.inputs
        if product.op.name != "multiply" or not _sums(over, powers, folded.attr("axis")):
            continue
        for factor, q in either(product):
            if factor is scaled and _is_softmax(q, powers) and g.dtype == q.dtype:
                return fit((g - folded.op(g * q, *folded.attrs)) * q, node)
    return None


def _sums(over: Expr, powers: Expr, axis: tuple[int, ...]) -> bool:
    total = _kept(over)
    return total is not None and total.inputs[0] is powers and total.attr("axis") == axis


def _is_softmax(q: Expr, powers: Expr) -> bool:
    """Is it `powers` over their sum, or the same with the powers shifted?"""
    if q.op.name != "divide" or q.inputs[0].op.name != "exp":
        return False
    own, over = q.inputs
    total = _kept(over)
    if total is None or total.inputs[0] is not own:
        return False
    (z,) = own.inputs
    return own is powers or (_is_shifted(z) and z.inputs[0] is powers.inputs[0])


def _log_softmax(node: Expr) -> Expr | None:
    """log(exp(z) / sum(exp(z))) -> z - log(sum(exp(z))), where z is shifted: nothing cancels."""
    (quotient,) = node.inputs
    if quotient.op.name != "divide" or quotient.inputs[0].op.name != "exp":
        return None
    powers, over = quotient.inputs
    total = _kept(over)
    if total is None or total.inputs[0] is not powers or not _is_shifted(powers.inputs[0]):
        return None
    return powers.inputs[0] - OPS["log"](over)


def _kept(x: Expr) -> Expr | None:
    """The sum that `x` is, with its axes kept or put back, so that it lines up with its operand."""
    if x.op.name == "expand_dims" and x.inputs[0].op.name == "sum":
        (total,) = x.inputs
        lined_up = x.attr("axis") == total.attr("axis") and x.ndim == total.inputs[0].ndim
        return total if lined_up else None
    return x if x.op.name == "sum" and x.attr("keepdims") else None


def _overflows(total: Expr) -> bool:
    """Is it a sum of powers of e that nobody has shifted yet, over axes that hold something?"""
    if total.op.name != "sum" or total.inputs[0].op.name != "exp":
        return False
    (powers,) = total.inputs
    if not is_float(powers.dtype) or total.dtype != powers.dtype:
        return False
    holds = all(at_least(powers.shape[a], 1) is True for a in total.attr("axis"))
    return holds and not _is_shifted(powers.inputs[0])


def _is_shifted(z: Expr) -> bool:
    """Is it `x - c`, where c comes from the greatest of x?"""
    if z.op.name != "subtract":
        return False
    c = z.inputs[1]
    while c.op.kind is Kind.VIEW or c.op.name == "where":
        c = c.inputs[-1] if c.op.kind is Kind.VIEW else c.inputs[1]
    return c.op.name == "max"


def _calmed(total: Expr) -> tuple[Expr, Expr, Expr]:
    """exp(z - c), its sum with axes kept, and c: the greatest z, or 0 where that is not finite.

    No gradient passes c, since none is due: any c gives the same results.
    """
    (powers,) = total.inputs
    (z,), axes = powers.inputs, total.attr("axis")
    top = OPS["stop_gradient"](OPS["max"](z, axes, True))
    shift = OPS["where"](OPS["isfinite"](top), top, 0)
    calm = OPS["exp"](z - shift)
    return calm, OPS["sum"](calm, axes, True), shift


STABLE: dict[str, list[Rule]] = {
    "log": [_logsumexp, _log_softmax],
    "log1p": [_softplus],
    "divide": [_softmax],
    "multiply": [_softmax_adjoint],
}  # fmt: skip
for _rule in _RULES:
    STABLE.setdefault(_rule.left.op, []).append(_rule)

_RULES_BY_NAME: dict[str, list[Rule]] = {
    name: [*STABLE.get(name, ()), *EXACT.get(name, ())] for name in {**STABLE, **EXACT}
}

# What has a slope without bounds; what is below it where that matters; how deep its forms reach.
_STEEP = {
    "log": (("exp", "sigmoid"), 6), "log1p": (("exp", "sigmoid"), 6), "divide": (("exp",), 4),
    "reciprocal": (("exp",), 4), "pow": (("exp", "square", "multiply", "pow"), 4),
    "sqrt": (("square", "multiply", "pow"), 2),
}  # fmt: skip


def stable_form(node: Expr) -> Expr | None:
    """The form that `simplify` gives a node whose parts have steep slopes, over what is below."""
    if node.op.name not in _STEEP:
        return None
    names, depth = _STEEP[node.op.name]
    if not _holds(node, names, depth - 1):
        return None
    better, is_stable = _Forms().of(node, depth)
    return better if is_stable else None


def _holds(node: Expr, names: Sequence[str], depth: int) -> bool:
    below = node.inputs
    for _ in range(depth):
        if any(x.op.name in names for x in below):
            return True
        below = tuple(dict.fromkeys(i for x in below for i in x.inputs))[:32]
    return False


class _Forms:
    """Rules applied to a node and so many levels below it; what is deeper stays as it is."""

    def __init__(self) -> None:
        self.known: dict[tuple[Expr, int], tuple[Expr, bool]] = {}
        self.equal: dict[tuple[object, ...], Expr] = {}

    def of(self, node: Expr, depth: int) -> tuple[Expr, bool]:
        """A node's form, and whether a stable one was put in its own place."""
        if depth == 0 or node.op.kind is Kind.SOURCE:
            return self.merged(node), False
        if (node, depth) not in self.known:
            self.known[node, depth] = self._found(node, depth)
        return self.known[node, depth]

    def _found(self, node: Expr, depth: int) -> tuple[Expr, bool]:
        same = rebuilt(node, [self.of(i, depth - 1)[0] for i in node.inputs])
        same = self.merged(same)
        for rule in _RULES_BY_NAME.get(same.op.name, ()):
            better = rule(same)
            if better is not None and better is not same:
                found, is_stable = self.of(better, depth - 1)
                return found, is_stable or rule in STABLE.get(same.op.name, ())
        return same, False

    def merged(self, node: Expr) -> Expr:
        return self.equal.setdefault(node.key, node) if may_merge(node) else node
