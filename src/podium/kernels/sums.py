"""Sums over arrays that are faster than one long chain of additions.

`add_up` has one order, whatever compiles or calls it: what losses are made of, so that threads, neighbours in memory
and processors do not change a bit. A loop that may be reordered and also writes to arrays is compiled twice, in vector
registers and plainly, and which of the two runs depends on where the arrays are in memory.
"""

from __future__ import annotations

from podium.base.arrays import Array, Singles
from podium.jit.compiled import compiled, vectorised


@compiled
def add_up(values: Array) -> float:
    """Σ v."""
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    n = len(values)
    for block in range(n // 8):
        i = 8 * block
        a += values[i]
        b += values[i + 1]
        c += values[i + 2]
        d += values[i + 3]
        e += values[i + 4]
        f += values[i + 5]
        g += values[i + 6]
        h += values[i + 7]
    total = ((a + e) + (c + g)) + ((b + f) + (d + h))
    for i in range(n // 8 * 8, n):
        total += values[i]
    return total


@vectorised
def dot(u: Singles, v: Array) -> float:
    """Σ u_i v_i, in an order that suits the processor; it writes nothing. Products are taken in float64 if v is."""
    total = 0.0
    for i in range(len(v)):
        total += u[i] * v[i]
    return total
