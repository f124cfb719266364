"""Symbolic sizes: what shapes are made of, integers and polynomials over named sizes.

Equal sizes have one normal form (see `polynomial`), so they compare and hash equal. Names stand
for integers >= 0; what divides is taken not to be 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from keyword import iskeyword
from numbers import Integral
from typing import Literal, TypeAlias, overload

from deepgraph import polynomial as poly
from deepgraph import reading
from deepgraph.errors import GraphError
from deepgraph.polynomial import Terms


class UnboundSizeError(GraphError, TypeError):
    """A Python construct asked a named size for a number."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Dim:
    """A size that is known once arrays are fed: made by `dim`, and by arithmetic on sizes.

    `==` between two of them compares normal forms. `==` with an int, the order and `bool` answer
    what holds whatever is fed, or raise GraphError. Code that may meet either kind of size
    therefore uses `same`, `same_shape`, `equal` and `at_least`.
    """

    terms: Terms

    __array_ufunc__ = None  # NumPy's scalars and arrays leave operators to this class

    def __add__(self, other: Size) -> Size:
        return _apply(poly.add, self, other)

    def __sub__(self, other: Size) -> Size:
        return _apply(poly.subtract, self, other)

    def __rsub__(self, other: Size) -> Size:
        return _apply(poly.subtract, other, self)

    def __mul__(self, other: Size) -> Size:
        return _apply(poly.multiply, self, other)

    def __floordiv__(self, other: Size) -> Size:
        return _apply(poly.floor_divide, self, other)

    def __rfloordiv__(self, other: Size) -> Size:
        return _apply(poly.floor_divide, other, self)

    def __mod__(self, other: Size) -> Size:
        return _apply(poly.remainder, self, other)

    def __rmod__(self, other: Size) -> Size:
        return _apply(poly.remainder, other, self)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Size:
        return _size(poly.negate(self.terms))

    def __pow__(self, exponent: int) -> Size:
        if (times := _integer(exponent)) is None:
            return NotImplemented
        if times < 0:
            raise ValueError(f"**: a size takes no negative power: {self} and {times}")
        return product([self] * times)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Dim):
            return self.terms == other.terms
        return _decide("==", self, other, lambda a, b: poly.is_zero(poly.subtract(a, b)))

    def __hash__(self) -> int:
        return hash(self.terms)

    def __ge__(self, other: Size) -> bool:
        return _decide(">=", self, other, lambda a, b: poly.is_nonnegative(poly.subtract(a, b)))

    def __le__(self, other: Size) -> bool:
        return _decide("<=", self, other, lambda a, b: poly.is_nonnegative(poly.subtract(b, a)))

    def __gt__(self, other: Size) -> bool:
        return _decide(">", self, other, lambda a, b: poly.is_nonnegative(poly.gap(a, b)))

    def __lt__(self, other: Size) -> bool:
        return _decide("<", self, other, lambda a, b: poly.is_nonnegative(poly.gap(b, a)))

    def __index__(self) -> int:
        raise UnboundSizeError(
            f"the size {self} is known once arrays are fed: use dg.arange for range, dg.zeros for "
            "np.zeros, and so on"
        )

    __int__ = __float__ = __index__

    def __bool__(self) -> bool:
        return not _decide("bool", self, 0, lambda a, b: poly.is_zero(a))

    def __str__(self) -> str:
        return code(self)

    __repr__ = __str__

    def __reduce__(self) -> tuple[type[Dim], tuple[Terms]]:
        return Dim, (self.terms,)


Size: TypeAlias = int | Dim
Shape: TypeAlias = tuple[Size, ...]


def dim(name: str) -> Dim:
    """The named size `name`: one name is one size wherever it is used, an integer >= 0."""
    if not (isinstance(name, str) and name.isidentifier()) or iskeyword(name):
        raise ValueError(f"dim: the name of a size must be a Python identifier: got {name!r}")
    return Dim(((((name,),), 1),))


def product(sizes: Iterable[Size]) -> Size:
    """The product of all sizes, 1 for none: how many elements a shape has."""
    shape = tuple(sizes)
    if _SIZES.issuperset(map(type, shape)):  # True is 1 to a cache, but no size
        return _cached_product(shape)
    return _product(shape)


def _product(sizes: Shape) -> Size:
    return _size(reduce(poly.multiply, map(_known, sizes), poly.ONE))


_cached_product = lru_cache(4096)(_product)
_SIZES = frozenset((int, Dim))


def maximum(first: Size, *rest: Size) -> Size:
    """The greatest of the sizes; those that are proved never to be it are left out."""
    return _size(poly.maximum(*map(_known, (first, *rest))))


def minimum(first: Size, *rest: Size) -> Size:
    """The least of the sizes; those that are proved never to be it are left out."""
    negated = [poly.negate(_known(size)) for size in (first, *rest)]
    return _size(poly.negate(poly.maximum(*negated)))


def same(a: Size, b: Size) -> bool:
    """Whether two sizes have one normal form; never raises."""
    if isinstance(a, Dim):
        return isinstance(b, Dim) and a.terms == b.terms
    return not isinstance(b, Dim) and a == b


def same_shape(a: Shape, b: Shape) -> bool:
    """Whether two shapes are as long and hold the same sizes, one by one; never raises."""
    return a is b or (len(a) == len(b) and all(map(same, a, b)))


def equal(a: Size, b: Size, *, positive: bool = False) -> bool | None:
    """True where a == b for every binding, False where for none, None where neither is proved.

    With `positive`, names stand for integers >= 1 rather than >= 0.
    """
    p, q = _known(a), _known(b)
    return p == q or poly.is_zero(poly.subtract(p, q), least=int(positive))


def at_least(a: Size, b: Size, *, positive: bool = False) -> bool | None:
    """True where a >= b for every binding, False where for none, None where neither is proved.

    With `positive`, names stand for integers >= 1 rather than >= 0.
    """
    return poly.is_nonnegative(poly.subtract(_known(a), _known(b)), least=int(positive))


@overload
def bind(size: Size, sizes: Mapping[str, int]) -> int: ...
@overload
def bind(size: Shape, sizes: Mapping[str, int]) -> tuple[int, ...]: ...
def bind(size: Size | Shape, sizes: Mapping[str, int]) -> int | tuple[int, ...]:
    """The integer that a size is, or those that a shape is, where `sizes` gives each name's.

    GraphError for a name that `sizes` lacks, for one that is not an integer >= 0, and for a
    division by 0.
    """
    if isinstance(size, tuple):
        return tuple([bind(each, sizes) for each in size])

    def value(name: str) -> int:
        if name not in sizes:
            raise GraphError(f"bind: no value for the size {name}: got {dict(sizes)}")
        number = _integer(sizes[name])
        if number is None or number < 0:
            raise GraphError(f"bind: the size {name} must be an integer >= 0: got {sizes[name]!r}")
        return number

    try:
        return poly.evaluate(_known(size), value)
    except ZeroDivisionError:
        raise GraphError(f"bind: division by zero: {size} with {dict(sizes)}") from None


def substitute(size: Size, sizes: Mapping[str, Size]) -> Size:
    """The size with other sizes, which must be >= 0 too, in place of the names in `sizes`."""
    return _size(poly.composed(_known(size), lambda name: _known(sizes.get(name, dim(name)))))


def names(size: Size | Shape) -> frozenset[str]:
    """The names that a size, or any size of a shape, depends on."""
    sizes = size if isinstance(size, tuple) else (size,)
    return frozenset(name for each in sizes for name in poly.names(_known(each)))


def solve(size: Size, value: int) -> dict[str, int] | None:
    """The binding that makes k*name + c the value; None for other sizes, or where there is none.

    A constant binds no name: {} where it is the value.
    """
    coefficients = dict(_known(size))
    rest = value - coefficients.pop((), 0)
    match list(coefficients.items()):
        case []:
            return None if rest else {}
        case [(((name,),), k)] if rest % k == 0 and rest // k >= 0:
            return {name: rest // k}
    return None


def pretty(shape: Shape) -> str:
    """A shape as the text of a tuple: `(batch, 784)`, `(batch,)`, `()`."""
    return f"({', '.join(map(code, shape))}{',' * (len(shape) == 1)})"


def code(
    size: Size, rename: Callable[[str], str] = str, target: Literal["python", "c"] = "python"
) -> str:
    """An expression for the size, `batch*784 + 3`, with `rename(name)` in place of each name.

    In C, names are signed integers; `dg_floordiv(a, b)` and `dg_mod(a, b)` round down where an
    operand may be negative, and `dg_max(a, b)` and `dg_min(a, b)` are the greater and the lesser.
    """

    return reading.text(_known(size), rename, target)


# Between sizes and terms.

def _integer(value: object) -> int | None:
    if type(value) is int:
        return value
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None


def _terms(size: object) -> Terms | None:
    if isinstance(size, Dim):
        return size.terms
    number = _integer(size)
    return None if number is None else poly.constant(number)


def _known(size: Size) -> Terms:
    if (terms := _terms(size)) is None:
        raise TypeError(f"a size is an integer or made by dim: got {size!r}")
    return terms


def _size(terms: Terms) -> Size:
    if terms and (len(terms) > 1 or terms[0][0]):
        return Dim(terms)
    return terms[0][1] if terms else 0


def _apply(f: Callable[[Terms, Terms], Terms], a: Size, b: Size) -> Size:
    p, q = _terms(a), _terms(b)
    return NotImplemented if p is None or q is None else _size(f(p, q))


def _decide(op: str, a: Dim, b: object, prove: Callable[[Terms, Terms], bool | None]) -> bool:
    if (terms := _terms(b)) is None:
        return NotImplemented  # type: ignore[no-any-return]
    if (answer := prove(a.terms, terms)) is None:
        raise GraphError(
            f"{op}: not known before sizes are bound: {a} and {b}; "
            "compare the shapes of the arrays that are fed instead"
        )
    return answer
