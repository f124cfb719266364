"""Symbolic sizes: integer polynomials over named sizes, floors and maxima, in normal form.

A polynomial is nested tuples, so that it compares, sorts, hashes and pickles in C:

    terms     ((monomial, coefficient), ...)  sorted; no coefficient is 0; () is 0
    monomial  (atom, atom, ...)               sorted, with repetition: (n, n) is n*n, () is 1
    atom      ("n",), a named size, or ("//", terms, terms), or ("max", (), terms, ...)

`a % b` is a - b*(a//b), max(a, b) is a + max(0, b - a), min(a, b) is -max(-a, -b); `code` finds
them again. Names stand for integers >= 0. What divides is taken not to be 0, so n//n is 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from keyword import iskeyword
from math import gcd, prod
from numbers import Integral
from typing import Any, Literal, TypeAlias, overload

from deepgraph.errors import GraphError

Atom: TypeAlias = tuple[Any, ...]
Monomial: TypeAlias = tuple[Atom, ...]
Term: TypeAlias = tuple[Monomial, int]
Terms: TypeAlias = tuple[Term, ...]


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
        return _apply(_add, self, other)

    def __sub__(self, other: Size) -> Size:
        return _apply(_subtract, self, other)

    def __rsub__(self, other: Size) -> Size:
        return _apply(_subtract, other, self)

    def __mul__(self, other: Size) -> Size:
        return _apply(_multiply, self, other)

    def __floordiv__(self, other: Size) -> Size:
        return _apply(_floor_divide, self, other)

    def __rfloordiv__(self, other: Size) -> Size:
        return _apply(_floor_divide, other, self)

    def __mod__(self, other: Size) -> Size:
        return _apply(_remainder, self, other)

    def __rmod__(self, other: Size) -> Size:
        return _apply(_remainder, other, self)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self) -> Size:
        return _size(_negate(self.terms))

    def __pow__(self, exponent: int) -> Size:
        if (times := _integer(exponent)) is None:
            return NotImplemented
        if times < 0:
            raise ValueError(f"**: a size takes no negative power: {self} and {times}")
        return product([self] * times)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Dim):
            return self.terms == other.terms
        return _decide("==", self, other, lambda a, b: _is_zero(_subtract(a, b)))

    def __hash__(self) -> int:
        return hash(self.terms)

    def __ge__(self, other: Size) -> bool:
        return _decide(">=", self, other, lambda a, b: _is_nonnegative(_subtract(a, b)))

    def __le__(self, other: Size) -> bool:
        return _decide("<=", self, other, lambda a, b: _is_nonnegative(_subtract(b, a)))

    def __gt__(self, other: Size) -> bool:
        return _decide(">", self, other, lambda a, b: _is_nonnegative(_gap(a, b)))

    def __lt__(self, other: Size) -> bool:
        return _decide("<", self, other, lambda a, b: _is_nonnegative(_gap(b, a)))

    def __bool__(self) -> bool:
        return not _decide("bool", self, 0, lambda a, b: _is_zero(a))

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
    return _size(reduce(_multiply, map(_known, sizes), _ONE))


def maximum(first: Size, *rest: Size) -> Size:
    """The greatest of the sizes; those that are proved never to be it are left out."""
    return _size(_maximum([_known(size) for size in (first, *rest)]))


def minimum(first: Size, *rest: Size) -> Size:
    """The least of the sizes; those that are proved never to be it are left out."""
    return _size(_negate(_maximum([_negate(_known(size)) for size in (first, *rest)])))


def same(a: Size, b: Size) -> bool:
    """Whether two sizes have one normal form; never raises."""
    return isinstance(a, Dim) == isinstance(b, Dim) and a == b


def same_shape(a: Shape, b: Shape) -> bool:
    """Whether two shapes are as long and hold the same sizes, one by one; never raises."""
    return len(a) == len(b) and all(map(same, a, b))


def equal(a: Size, b: Size, *, positive: bool = False) -> bool | None:
    """True where a == b for every binding, False where for none, None where neither is proved.

    With `positive`, names stand for integers >= 1 rather than >= 0.
    """
    return _is_zero(_subtract(_known(a), _known(b)), least=int(positive))


def at_least(a: Size, b: Size, *, positive: bool = False) -> bool | None:
    """True where a >= b for every binding, False where for none, None where neither is proved.

    With `positive`, names stand for integers >= 1 rather than >= 0.
    """
    return _is_nonnegative(_subtract(_known(a), _known(b)), least=int(positive))


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
        return int(_evaluate(_known(size), value))
    except ZeroDivisionError:
        raise GraphError(f"bind: division by zero: {size} with {dict(sizes)}") from None


def substitute(size: Size, sizes: Mapping[str, Size]) -> Size:
    """The size with other sizes, which must be >= 0 too, in place of the names in `sizes`."""
    return _size(_known(_evaluate(_known(size), lambda name: sizes.get(name, dim(name)))))


def names(size: Size | Shape) -> frozenset[str]:
    """The names that a size, or any size of a shape, depends on."""
    sizes = size if isinstance(size, tuple) else (size,)
    return frozenset(name for each in sizes for name in _names(_known(each)))


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

    def total(terms: Terms) -> str:
        text = ""
        for monomial, k in _readable(terms):
            factors = [factor(atom) for atom in monomial] + [str(abs(k))] * (abs(k) != 1)
            one = "*".join(factors) or "1"
            if len(factors) == 1 and monomial and len(monomial[0]) > 1 and (text or k > 0):
                one = one[1:-1] if one[0] == "(" else one
            text += f" {'-' if k < 0 else '+'} {one}" if text else "-" * (k < 0) + one
        return text or "0"

    def operand(terms: Terms) -> str:
        match _readable(terms):
            case [((), k)] if k > 0:
                return str(k)
            case [((atom,), 1)]:
                return factor(atom)
        return f"({total(terms)})"

    def factor(atom: Atom) -> str:
        match atom:
            case (name,):
                return rename(name)
            case ("//" | "%" as op, a, b):
                if target == "python":
                    return f"({operand(a)}{'//' if op == '//' else ' % '}{operand(b)})"
                if _nonnegative(a) and _nonnegative(b):
                    return f"({operand(a)}{'/' if op == '//' else ' % '}{operand(b)})"
                return f"dg_{'floordiv' if op == '//' else 'mod'}({total(a)}, {total(b)})"
            case (op, *arguments) if target == "python":
                return f"{op}({', '.join(map(total, arguments))})"
        return reduce(lambda a, b: f"dg_{atom[0]}({a}, {b})", map(total, atom[1:]))

    return total(_known(size))


# Between sizes and terms.

_ONE: Terms = (((), 1),)


def _integer(value: object) -> int | None:
    if type(value) is int:
        return value
    return int(value) if isinstance(value, Integral) and not isinstance(value, bool) else None


def _terms(size: object) -> Terms | None:
    if isinstance(size, Dim):
        return size.terms
    number = _integer(size)
    return None if number is None else _constant(number)


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


def _evaluate(terms: Terms, value: Callable[[str], Any]) -> Any:
    def of(atom: Atom) -> Any:
        if len(atom) == 1:
            return value(atom[0])
        first, *rest = (_evaluate(inner, value) for inner in atom[1:])
        return first // rest[0] if atom[0] == "//" else maximum(first, *rest)

    return sum(prod(map(of, monomial), start=k) for monomial, k in terms)


def _names(terms: Terms) -> Iterator[str]:
    for atom in (atom for monomial, _ in terms for atom in monomial):
        if len(atom) == 1:
            yield atom[0]
        for inner in atom[1:]:
            yield from _names(inner)


# Arithmetic on terms.


def _collect(coefficients: Mapping[Monomial, int]) -> Terms:
    return tuple(sorted([term for term in coefficients.items() if term[1]]))


def _constant(number: int) -> Terms:
    return (((), number),) if number else ()


def _add(p: Terms, q: Terms, times: int = 1) -> Terms:
    coefficients = dict(p)
    for monomial, k in q:
        coefficients[monomial] = coefficients.get(monomial, 0) + times * k
    return _collect(coefficients)


def _subtract(p: Terms, q: Terms) -> Terms:
    return _add(p, q, -1)


def _negate(p: Terms) -> Terms:
    return tuple([(monomial, -k) for monomial, k in p])


def _multiply(p: Terms, q: Terms) -> Terms:
    coefficients: dict[Monomial, int] = {}
    for m, j in p:
        for n, k in q:
            monomial = tuple(sorted(m + n))
            coefficients[monomial] = coefficients.get(monomial, 0) + j * k
    return _collect(coefficients)


def _remainder(p: Terms, d: Terms) -> Terms:
    return _subtract(p, _multiply(d, _floor_divide(p, d)))


def _floor_divide(p: Terms, d: Terms) -> Terms:
    if not d:
        raise ZeroDivisionError(f"//: division by zero: {_size(p)} and 0")
    if _leading(d)[1] < 0:
        p, d = _negate(p), _negate(d)
    k = _as_constant(d)
    quotient, rest = _long_division(p, d)
    if k is None and len(rest) >= len(p):  # then dividing says no more
        quotient, rest = (), p
    if not rest or (_nonnegative(rest) and _nonnegative(_gap(d, rest))):
        return quotient
    turned = _gap(d, rest)
    if k and _weight(turned) < _weight(rest):  # x//k is -((k - 1 - x)//k)
        return _subtract(quotient, _floor_divide(turned, d))
    common, g = _content([*(term for term in rest if term[0] or not k), *d])
    if common or g > 1:  # (g*x + c)//(g*k) is (x + c//g)//k
        return _add(quotient, _floor_divide(_shrink(rest, common, g), _shrink(d, common, g)))
    match [(monomial, j) for monomial, j in rest if any(atom[0] == "//" for atom in monomial)]:
        case [((("//", x, (((), j),)),), 1 | -1 as sign)] if k:  # (x//j + r)//k is (x + j*r)//(j*k)
            others = _subtract(rest, ((((("//", x, _constant(j)),), sign),)))
            x = x if sign == 1 else _gap(_constant(j), x)
            return _add(quotient, _floor_divide(_add(x, others, j), _constant(j * k)))
    return _add(quotient, (((("//", rest, d),), 1),))


def _long_division(p: Terms, d: Terms) -> tuple[Terms, Terms]:
    """p as quotient*d + rest; a constant is rounded down, a coefficient of names towards 0.

    Floors and maxima leave the rest as a whole or not at all: in both, they would be twice as many.
    """
    lead, k = _leading(d)
    quotient: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    left = dict(p)
    while left:
        monomial = min(left, key=_order)
        j = left.pop(monomial)
        if (factor := _quotient(monomial, lead)) is not None:
            q = -(-j // k) if monomial and j < 0 else j // k
            if j != q * k and any(len(atom) > 1 for atom in monomial):
                q = 0
            quotient[factor] = q
            for m, c in _multiply(d, ((factor, q),)):
                if m == monomial:
                    j -= c
                else:
                    left[m] = left.get(m, 0) - c
        rest[monomial] = j
    return _collect(quotient), _collect(rest)


def _maximum(arguments: Iterable[Terms]) -> Terms:
    kept: list[Terms] = []
    for p in sorted({each for argument in arguments for each in _alternatives(argument)}):
        if not any(_nonnegative(_subtract(q, p)) for q in kept):
            kept = [q for q in kept if not _nonnegative(_subtract(p, q))] + [p]
    # The order by leading coefficient does not change when all move, so neither does the base.
    base = reduce(lambda p, q: p if _leading(_subtract(q, p))[1] > 0 else q, kept)
    rises = [_subtract(p, base) for p in kept if p != base]
    if not rises:
        return base
    common, g = _content([term for rise in rises for term in rise])
    atom = ("max", (), *sorted(_shrink(rise, common, g) for rise in rises))
    return _add(base, ((tuple(sorted((*common, atom))), g),))


def _alternatives(p: Terms) -> list[Terms]:
    """The sizes that p is the maximum of: several where a maximum is added, times names."""
    found = [(m, k, [a for a in m if len(a) > 1]) for m, k in p]
    match [(m, k, inner) for m, k, inner in found if any(a[0] == "max" for a in inner)]:
        case [(monomial, k, [atom])] if k > 0:
            scale = ((_quotient(monomial, (atom,)) or (), k),)
            base = _subtract(p, ((monomial, k),))
            return [_add(base, _multiply(scale, rise)) for rise in atom[1:]]
    return [p]


def _as_constant(p: Terms) -> int | None:
    return p[0][1] if len(p) == 1 and p[0][0] == () else None


def _gap(p: Terms, q: Terms) -> Terms:
    """p - q - 1, which is >= 0 where p > q."""
    return _subtract(_subtract(p, q), _ONE)


def _leading(p: Terms) -> Term:
    return min(p, key=lambda term: _order(term[0]))


def _weight(p: Terms) -> tuple[bool, int, bool]:
    """Of x and k - 1 - x, the one to write is mostly positive, or has the lesser constant."""
    signs = sum(1 if k > 0 else -1 for monomial, k in p if monomial)
    return signs < 0, dict(p).get((), 0), _leading(p)[1] < 0


def _order(monomial: Monomial) -> tuple[int, Monomial]:
    return -len(monomial), monomial


def _quotient(monomial: Monomial, part: Monomial) -> Monomial | None:
    rest = list(monomial)
    for atom in part:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def _content(terms: Iterable[Term]) -> Term:
    """The greatest product of names, and the greatest integer, that divide every term."""
    monomials, coefficients = zip(*terms, strict=True)
    counts = [Counter(atom for atom in monomial if len(atom) == 1) for monomial in monomials]
    common = reduce(lambda a, b: a & b, counts)
    return tuple(sorted(common.elements())), gcd(*coefficients)


def _shrink(p: Terms, common: Monomial, g: int) -> Terms:
    return _collect({_quotient(monomial, common) or (): k // g for monomial, k in p})


# Proofs, for all names >= least and divisors other than 0.


@lru_cache(maxsize=4096)
def _nonnegative(p: Terms, least: int = 0, choices: int = 6) -> bool:
    """Whether p >= 0 is proved: floors and maxima give way to bounds, until names remain.

    At most `choices` times in a row is more than one bound tried, so that no proof takes long.
    """
    composite = {atom for monomial, _ in p for atom in monomial if len(atom) > 1}
    if all(k > 0 for _, k in p) and all(
        atom[0] == "max" or all(_nonnegative(x, least, choices) for x in atom[1:])
        for atom in composite
    ):
        return True
    if not composite:
        if not least:
            return False
        moved = _known(_evaluate(p, lambda name: dim(name) + least))
        return all(k > 0 for _, k in moved)
    if not choices or len(composite) > 64:
        return False
    # The longest is part of none of the others, so it does not come back with their bounds.
    atom = max(sorted(composite), key=lambda atom: len(repr(atom)))
    rest = tuple([(monomial, k) for monomial, k in p if atom not in monomial])
    factor = _shrink(tuple([term for term in p if atom in term[0]]), (atom,), 1)
    rising = _nonnegative(factor, least, choices - 1)
    if not rising and not _nonnegative(_negate(factor), least, choices - 1):
        return False
    if atom[0] == "max":
        bounds = [(x, _ONE) for x in atom[1:]]
    else:
        _, x, d = atom
        if not _nonnegative(d, least, choices - 1):
            return False
        # (x - d + 1)/d <= x//d <= x/d, and where x >= 0 also 0 <= x//d <= x.
        bounds = [(_negate(_gap(d, x)) if rising else x, d)]
        if (rising or _as_constant(d) is None) and _nonnegative(x, least, choices - 1):
            bounds.append((() if rising else x, _ONE))
    left = choices - (len(bounds) > 1)

    def holds(bound: tuple[Terms, Terms]) -> bool:
        """Whether factor*x/d + rest > -1, which is enough for an integer."""
        x, d = bound
        total = _add(_multiply(factor, x), _multiply(d, rest))
        if _nonnegative(_add(total, _gap(d, ())), least, left):
            return True
        return _as_constant(d) is None and _nonnegative(total, least, left)

    return (all if atom[0] == "max" and not rising else any)(map(holds, bounds))


def _is_nonnegative(p: Terms, least: int = 0) -> bool | None:
    return True if _nonnegative(p, least) else False if _nonnegative(_gap((), p), least) else None


def _is_zero(p: Terms, least: int = 0) -> bool | None:
    if not p:
        return True
    step = gcd(*(k for monomial, k in p if monomial))
    never = dict(p).get((), 0) % step if step else True
    if never or _nonnegative(_gap(p, ()), least) or _nonnegative(_gap((), p), least):
        return False
    return True if _nonnegative(p, least) and _nonnegative(_negate(p), least) else None


# Reading order.


def _readable(terms: Terms) -> list[Term]:
    """The terms in reading order, with atoms "%", "max" and "min" found again."""
    ordered = sorted(
        _restore(terms),
        key=lambda term: (-len(term[0]), max(map(len, term[0]), default=0), term[0]),
    )
    if ordered and ordered[0][1] < 0:
        ordered.sort(key=lambda term: term[1] < 0)
    return [(tuple(sorted(monomial, key=lambda atom: len(atom) > 1)), k) for monomial, k in ordered]


def _restore(terms: Terms) -> list[Term]:
    found: list[Term] = []
    for term in terms:
        for atom in term[0]:
            if len(atom) > 1 and term in terms:
                read = _as_maximum if atom[0] == "max" else _as_modulo
                if (better := read(terms, term, atom)) is not None:
                    found.append(better[0])
                    terms = better[1]
    return found + list(terms)


def _as_modulo(terms: Terms, term: Term, atom: Atom) -> tuple[Term, Terms] | None:
    """x - d*(x//d) as x % d, where that leaves fewer terms."""
    _, x, d = atom
    lead, unit = _leading(d)
    outer = _quotient(term[0], (atom, *lead))
    if outer is not None and term[1] % unit == 0:
        times = -term[1] // unit
        modulo = _subtract(x, _multiply(d, (((atom,), 1),)))
        rest = _subtract(terms, _multiply(((outer, times),), modulo))
        if len(rest) + 1 < len(terms):
            return ((*outer, ("%", x, d)), times), rest
    return None


def _as_maximum(terms: Terms, term: Term, atom: Atom) -> tuple[Term, Terms]:
    """a + max(0, b - a) as max(a, b), a - max(0, a - b) as min(a, b)."""
    monomial, k = term
    sign = 1 if k > 0 else -1
    outer = _quotient(monomial, (atom,)) or ()
    beside = _subtract(terms, (term,))
    cancels = dict(beside)
    base = {}
    for m, j in (each for rise in atom[2:] for each in rise):
        if cancels.get(tuple(sorted(outer + m))) == -k * j:
            base[m] = -sign * j
    rest = _subtract(beside, _multiply(((outer, abs(k)),), _collect(base)))
    arguments = [_add(_collect(base), rise, sign) for rise in atom[1:]]
    turned = all(_leading(p)[1] < 0 for p in arguments if p)
    arguments = [_negate(p) if turned else p for p in arguments]
    arguments.sort(key=lambda p: (not any(m for m, _ in p), p))  # a constant comes last
    op = "max" if (k > 0) != turned else "min"
    return ((*outer, (op, *arguments)), -abs(k) if turned else abs(k)), rest
