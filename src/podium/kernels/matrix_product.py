"""Products of small matrices in compiled loops: on the rows of one query as fast as a BLAS, without its calls.

Matrices are flat arrays, row after row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from podium.compiled import compiled
from podium.kernels.vectors import LANES, load, splat, spread, store

_ROWS = 5


@compiled
def add_product(A: Any, down: Any, right: Any, B: Any, C: Any, n: Any, m: Any, w: Any) -> None:
    """C (n, w) += A (n, m)·B (m, w), where A[p, q] is at p·down + q·right: a matrix, or one read as its transpose.

    Eight columns at a time; those of B are brought together first.
    """
    strip = np.empty((m + _ROWS) * LANES)
    for j in range(0, w, LANES):
        wide = min(LANES, w - j)
        for q in range(m):
            if wide == LANES:
                store(strip, q * LANES, load(B, q * w + j))
            else:
                store(strip, q * LANES, splat(0.0))  # what lay there may be slow to multiply
                for l in range(wide):
                    strip[q * LANES + l] = B[q * w + j + l]
        for p in range(0, n, _ROWS):
            _add_tile(A, p * down, down, right, strip, m, C, p * w + j, w, min(_ROWS, n - p), wide)


@compiled
def _add_tile(
    A: Any, first: Any, down: Any, right: Any, strip: Any, m: Any, C: Any, to: Any, w: Any, rows: Any, wide: Any
) -> None:
    """Up to five rows of the eight columns, in registers. Where there are fewer, the last is done more than once."""
    r1, r2, r3, r4 = min(1, rows - 1), min(2, rows - 1), min(3, rows - 1), min(4, rows - 1)
    a1, a2, a3, a4 = first + r1 * down, first + r2 * down, first + r3 * down, first + r4 * down
    c = c1 = c2 = c3 = c4 = splat(0.0)
    for q in range(m):
        b, at = load(strip, q * LANES), q * right
        c = c + spread(A, first + at) * b
        c1 = c1 + spread(A, a1 + at) * b
        c2 = c2 + spread(A, a2 + at) * b
        c3 = c3 + spread(A, a3 + at) * b
        c4 = c4 + spread(A, a4 + at) * b
    end = m * LANES
    store(strip, end, c)
    store(strip, end + LANES, c1)
    store(strip, end + 2 * LANES, c2)
    store(strip, end + 3 * LANES, c3)
    store(strip, end + 4 * LANES, c4)
    for r in range(rows):
        row = to + r * w
        if wide == LANES:
            store(C, row, load(C, row) + load(strip, end + r * LANES))
        else:
            for l in range(wide):
                C[row + l] += strip[end + r * LANES + l]
