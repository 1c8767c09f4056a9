"""Sums over arrays, faster than one long chain of additions.

`add_up` has a fixed order of summation, so that losses have the same bits on all threads and processors. A loop that
may be reordered and also writes to arrays is compiled twice, vectorised and not, and the addresses of the arrays decide
which of the two runs.
"""

from __future__ import annotations

from collections.abc import Callable

from podium.base.arrays import Array, Singles
from podium.jit.compiled import compiled, inlined, outlined, vectorised


@outlined("float64(float64[::1])")
def add_up(values: Array) -> float:
    """Σ v, in a fixed order."""
    return _added(values, _itself)


@outlined("float64(float64[::1])")
def add_up_sizes(values: Array) -> float:
    """Σ |v|, in a fixed order."""
    return _added(values, abs)


@compiled
def _itself(value: float) -> float:
    return value


@inlined
def _added(values: Array, term: Callable[[float], float]) -> float:
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    n = len(values)
    for block in range(n // 8):
        i = 8 * block
        a += term(values[i])
        b += term(values[i + 1])
        c += term(values[i + 2])
        d += term(values[i + 3])
        e += term(values[i + 4])
        f += term(values[i + 5])
        g += term(values[i + 6])
        h += term(values[i + 7])
    total = ((a + e) + (c + g)) + ((b + f) + (d + h))
    for i in range(n // 8 * 8, n):
        total += term(values[i])
    return total


@vectorised
def dot(u: Singles, v: Array) -> float:
    """Σ u_i v_i, in an order that the compiler chooses; it writes nothing. Products are float64 if v is."""
    total = 0.0
    for i in range(len(v)):
        total += u[i] * v[i]
    return total
