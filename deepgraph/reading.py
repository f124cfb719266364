"""Sizes as text: the terms of a polynomial in reading order, with %, max and min found again."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, reduce
from typing import Literal

from deepgraph import polynomial as poly
from deepgraph.polynomial import Atom, Term, Terms


@lru_cache(4096)
def text(terms: Terms, rename: Callable[[str], str], target: Literal["python", "c"]) -> str:
    """The expression of a polynomial, `batch*784 + 3`, in Python or C; see `dims.code`."""

    def total(terms: Terms) -> str:
        line = ""
        for monomial, k in _readable(terms):
            factors = [factor(atom) for atom in monomial] + [str(abs(k))] * (abs(k) != 1)
            one = "*".join(factors) or "1"
            if len(factors) == 1 and monomial and len(monomial[0]) > 1 and (line or k > 0):
                one = one[1:-1] if one[0] == "(" else one
            line += f" {'-' if k < 0 else '+'} {one}" if line else "-" * (k < 0) + one
        return line or "0"

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
                if poly.nonnegative(a) and poly.nonnegative(b):
                    return f"({operand(a)}{'/' if op == '//' else ' % '}{operand(b)})"
                return f"dg_{'floordiv' if op == '//' else 'mod'}({total(a)}, {total(b)})"
            case (op, *arguments) if target == "python":
                return f"{op}({', '.join(map(total, arguments))})"
        return reduce(lambda a, b: f"dg_{atom[0]}({a}, {b})", map(total, atom[1:]))

    return total(terms)


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
    lead, unit = poly.leading(d)
    outer = poly.cancelled(term[0], (atom, *lead))
    if outer is not None and term[1] % unit == 0:
        times = -term[1] // unit
        modulo = poly.subtract(x, poly.multiply(d, (((atom,), 1),)))
        rest = poly.subtract(terms, poly.multiply(((outer, times),), modulo))
        if len(rest) + 1 < len(terms):
            return ((*outer, ("%", x, d)), times), rest
    return None


def _as_maximum(terms: Terms, term: Term, atom: Atom) -> tuple[Term, Terms]:
    """a + max(0, b - a) as max(a, b), a - max(0, a - b) as min(a, b)."""
    monomial, k = term
    sign = 1 if k > 0 else -1
    outer = poly.cancelled(monomial, (atom,)) or ()
    beside = poly.subtract(terms, (term,))
    cancels = dict(beside)
    base = {}
    for m, j in (each for rise in atom[2:] for each in rise):
        if cancels.get(tuple(sorted(outer + m))) == -k * j:
            base[m] = -sign * j
    common = poly.multiply(((outer, abs(k)),), poly.collect(base))
    rest = poly.subtract(beside, common)
    arguments = [poly.add(poly.collect(base), rise, sign) for rise in atom[1:]]
    turned = all(poly.leading(p)[1] < 0 for p in arguments if p)
    arguments = [poly.negate(p) if turned else p for p in arguments]
    arguments.sort(key=lambda p: (not any(m for m, _ in p), p))  # a constant comes last
    op = "max" if (k > 0) != turned else "min"
    return ((*outer, (op, *arguments)), -abs(k) if turned else abs(k)), rest
