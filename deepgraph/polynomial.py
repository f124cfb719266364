"""Polynomials over named sizes, floors and maxima, in normal form: arithmetic, and proofs of sign.

A polynomial is nested tuples, so that it compares, sorts, hashes and pickles in C:

    terms     ((monomial, coefficient), ...)  sorted; no coefficient is 0; () is 0
    monomial  (atom, atom, ...)               sorted, with repetition: (n, n) is n*n, () is 1
    atom      ("n",), a named size, or ("//", terms, terms), or ("max", (), terms, ...)

`a % b` is a - b*(a//b), max(a, b) is a + max(0, b - a), min(a, b) is -max(-a, -b). Names stand for
integers >= 0. What divides is taken not to be 0, so n//n is 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, reduce
from math import gcd, prod
from typing import Any, TypeAlias

Atom: TypeAlias = tuple[Any, ...]
Monomial: TypeAlias = tuple[Atom, ...]
Term: TypeAlias = tuple[Monomial, int]
Terms: TypeAlias = tuple[Term, ...]

ONE: Terms = (((), 1),)


def collect(coefficients: Mapping[Monomial, int]) -> Terms:
    return tuple(sorted([term for term in coefficients.items() if term[1]]))


def constant(number: int) -> Terms:
    return (((), number),) if number else ()


@lru_cache(maxsize=4096)
def add(p: Terms, q: Terms, times: int = 1) -> Terms:
    coefficients = dict(p)
    for monomial, k in q:
        coefficients[monomial] = coefficients.get(monomial, 0) + times * k
    return collect(coefficients)


def subtract(p: Terms, q: Terms) -> Terms:
    return add(p, q, -1)


def negate(p: Terms) -> Terms:
    return tuple([(monomial, -k) for monomial, k in p])


@lru_cache(maxsize=4096)
def multiply(p: Terms, q: Terms) -> Terms:
    coefficients: dict[Monomial, int] = {}
    for m, j in p:
        for n, k in q:
            monomial = tuple(sorted(m + n))
            coefficients[monomial] = coefficients.get(monomial, 0) + j * k
    return collect(coefficients)


def remainder(p: Terms, d: Terms) -> Terms:
    return subtract(p, multiply(d, floor_divide(p, d)))


@lru_cache(maxsize=4096)
def floor_divide(p: Terms, d: Terms) -> Terms:
    if not d:
        raise ZeroDivisionError("//: division of a size by zero")
    if leading(d)[1] < 0:
        p, d = negate(p), negate(d)
    k = _as_constant(d)
    quotient, rest = _long_division(p, d)
    if k is None and len(rest) >= len(p):  # then dividing says no more
        quotient, rest = (), p
    if not rest or (nonnegative(rest) and nonnegative(gap(d, rest))):
        return quotient
    turned = gap(d, rest)
    if k and _weight(turned) < _weight(rest):  # x//k is -((k - 1 - x)//k)
        return subtract(quotient, floor_divide(turned, d))
    common, g = _content([*(term for term in rest if term[0] or not k), *d])
    if common or g > 1:  # (g*x + c)//(g*k) is (x + c//g)//k
        return add(quotient, floor_divide(_shrink(rest, common, g), _shrink(d, common, g)))
    match [(monomial, j) for monomial, j in rest if any(atom[0] == "//" for atom in monomial)]:
        case [((("//", x, (((), j),)),), 1 | -1 as sign)] if k:  # (x//j + r)//k is (x + j*r)//(j*k)
            others = subtract(rest, ((((("//", x, constant(j)),), sign),)))
            x = x if sign == 1 else gap(constant(j), x)
            return add(quotient, floor_divide(add(x, others, j), constant(j * k)))
    return add(quotient, (((("//", rest, d),), 1),))


def _long_division(p: Terms, d: Terms) -> tuple[Terms, Terms]:
    """p as quotient*d + rest; a constant is rounded down, a coefficient of names towards 0.

    Floors and maxima leave the rest as a whole or not at all: in both, they would be twice as many.
    """
    lead, k = leading(d)
    quotient: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    left = dict(p)
    while left:
        monomial = min(left, key=_order)
        j = left.pop(monomial)
        if (factor := cancelled(monomial, lead)) is not None:
            q = -(-j // k) if monomial and j < 0 else j // k
            if j != q * k and any(len(atom) > 1 for atom in monomial):
                q = 0
            quotient[factor] = q
            for m, c in multiply(d, ((factor, q),)):
                if m == monomial:
                    j -= c
                else:
                    left[m] = left.get(m, 0) - c
        rest[monomial] = j
    return collect(quotient), collect(rest)


@lru_cache(maxsize=4096)
def maximum(*arguments: Terms) -> Terms:
    kept: list[Terms] = []
    for p in sorted({each for argument in arguments for each in _alternatives(argument)}):
        if not any(nonnegative(subtract(q, p)) for q in kept):
            kept = [q for q in kept if not nonnegative(subtract(p, q))] + [p]
    # The order by leading coefficient does not change when all move, so neither does the base.
    base = reduce(lambda p, q: p if leading(subtract(q, p))[1] > 0 else q, kept)
    rises = [subtract(p, base) for p in kept if p != base]
    if not rises:
        return base
    common, g = _content([term for rise in rises for term in rise])
    atom = ("max", (), *sorted(_shrink(rise, common, g) for rise in rises))
    return add(base, ((tuple(sorted((*common, atom))), g),))


def _alternatives(p: Terms) -> list[Terms]:
    """The sizes that p is the maximum of: several where a maximum is added, times names."""
    found = [(m, k, [a for a in m if len(a) > 1]) for m, k in p]
    match [(m, k, inner) for m, k, inner in found if any(a[0] == "max" for a in inner)]:
        case [(monomial, k, [atom])] if k > 0:
            scale = ((cancelled(monomial, (atom,)) or (), k),)
            base = subtract(p, ((monomial, k),))
            return [add(base, multiply(scale, rise)) for rise in atom[1:]]
    return [p]


def _as_constant(p: Terms) -> int | None:
    return p[0][1] if len(p) == 1 and p[0][0] == () else None


def gap(p: Terms, q: Terms) -> Terms:
    """p - q - 1, which is >= 0 where p > q."""
    return subtract(subtract(p, q), ONE)


def leading(p: Terms) -> Term:
    return min(p, key=lambda term: _order(term[0]))


def _weight(p: Terms) -> tuple[bool, int, bool]:
    """Of x and k - 1 - x, the one to write is mostly positive, or has the lesser constant."""
    signs = sum(1 if k > 0 else -1 for monomial, k in p if monomial)
    return signs < 0, dict(p).get((), 0), leading(p)[1] < 0


def _order(monomial: Monomial) -> tuple[int, Monomial]:
    return -len(monomial), monomial


def cancelled(monomial: Monomial, part: Monomial) -> Monomial | None:
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
    return collect({cancelled(monomial, common) or (): k // g for monomial, k in p})


# Proofs, for all names >= least and divisors other than 0.


@lru_cache(maxsize=4096)
def nonnegative(p: Terms, least: int = 0, choices: int = 6) -> bool:
    """Whether p >= 0 is proved: floors and maxima give way to bounds, until names remain.

    At most `choices` times in a row is more than one bound tried, so that no proof takes long.
    """
    composite = {atom for monomial, _ in p for atom in monomial if len(atom) > 1}
    if all(k > 0 for _, k in p) and all(
        atom[0] == "max" or all(nonnegative(x, least, choices) for x in atom[1:])
        for atom in composite
    ):
        return True
    if not composite:
        if not least:
            return False
        moved = composed(p, lambda name: add((((((name,),), 1),)), constant(least)))
        return all(k > 0 for _, k in moved)
    if not choices or len(composite) > 64:
        return False
    # The longest is part of none of the others, so it does not come back with their bounds.
    atom = max(sorted(composite), key=lambda atom: len(repr(atom)))
    rest = tuple([(monomial, k) for monomial, k in p if atom not in monomial])
    factor = _shrink(tuple([term for term in p if atom in term[0]]), (atom,), 1)
    rising = nonnegative(factor, least, choices - 1)
    if not rising and not nonnegative(negate(factor), least, choices - 1):
        return False
    if atom[0] == "max":
        bounds = [(x, ONE) for x in atom[1:]]
    else:
        _, x, d = atom
        if not nonnegative(d, least, choices - 1):
            return False
        # (x - d + 1)/d <= x//d <= x/d, and where x >= 0 also 0 <= x//d <= x.
        bounds = [(negate(gap(d, x)) if rising else x, d)]
        if (rising or _as_constant(d) is None) and nonnegative(x, least, choices - 1):
            bounds.append((() if rising else x, ONE))
    left = choices - (len(bounds) > 1)

    def holds(bound: tuple[Terms, Terms]) -> bool:
        """Whether factor*x/d + rest > -1, which is enough for an integer."""
        x, d = bound
        total = add(multiply(factor, x), multiply(d, rest))
        if nonnegative(add(total, gap(d, ())), least, left):
            return True
        return _as_constant(d) is None and nonnegative(total, least, left)

    return (all if atom[0] == "max" and not rising else any)(map(holds, bounds))


def is_nonnegative(p: Terms, least: int = 0) -> bool | None:
    return True if nonnegative(p, least) else False if nonnegative(gap((), p), least) else None


def is_zero(p: Terms, least: int = 0) -> bool | None:
    if not p:
        return True
    step = gcd(*(k for monomial, k in p if monomial))
    never = dict(p).get((), 0) % step if step else True
    if never or nonnegative(gap(p, ()), least) or nonnegative(gap((), p), least):
        return False
    return True if nonnegative(p, least) and nonnegative(negate(p), least) else None


def evaluate(terms: Terms, value: Callable[[str], int]) -> int:
    """The number at these values of the names."""

    def of(atom: Atom) -> int:
        if len(atom) == 1:
            return value(atom[0])
        first, *rest = (evaluate(inner, value) for inner in atom[1:])
        return first // rest[0] if atom[0] == "//" else max(first, *rest)

    return sum(prod(map(of, monomial), start=k) for monomial, k in terms)


def composed(terms: Terms, value: Callable[[str], Terms]) -> Terms:
    """The polynomial with others in place of the names."""

    def of(atom: Atom) -> Terms:
        if len(atom) == 1:
            return value(atom[0])
        first, *rest = (composed(inner, value) for inner in atom[1:])
        return floor_divide(first, rest[0]) if atom[0] == "//" else maximum(first, *rest)

    total: Terms = ()
    for monomial, k in terms:
        total = add(total, reduce(multiply, map(of, monomial), constant(k)))
    return total


def names(terms: Terms) -> Iterator[str]:
    for atom in (atom for monomial, _ in terms for atom in monomial):
        if len(atom) == 1:
            yield atom[0]
        for inner in atom[1:]:
            yield from names(inner)
