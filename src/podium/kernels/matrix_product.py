"""Products of small matrices in compiled loops: as fast as a BLAS on the rows of one query, without the cost of its calls.

Matrices are flat arrays, row after row.
"""

from __future__ import annotations

from typing import Any

from podium.compiled import compiled
from podium.kernels.vectors import LANES, load, spread, store


@compiled
def add_product(A: Any, down: Any, right: Any, B: Any, C: Any, n: Any, m: Any, w: Any) -> None:
    """C (n, w) += A (n, m)·B (m, w), where A[p, q] is at p·down + q·right: a matrix, or one read as its transpose.

    Five rows of eight numbers are in registers at a time. Where fewer rows remain, the last is done more than once.
    """
    whole = w - w % LANES
    for j in range(0, whole, LANES):
        for p in range(0, n, 5):
            p1, p2, p3, p4 = min(p + 1, n - 1), min(p + 2, n - 1), min(p + 3, n - 1), min(p + 4, n - 1)
            c, c1 = load(C, p * w + j), load(C, p1 * w + j)
            c2, c3, c4 = load(C, p2 * w + j), load(C, p3 * w + j), load(C, p4 * w + j)
            for q in range(m):
                b, at = load(B, q * w + j), q * right
                c = c + spread(A, p * down + at) * b
                c1 = c1 + spread(A, p1 * down + at) * b
                c2 = c2 + spread(A, p2 * down + at) * b
                c3 = c3 + spread(A, p3 * down + at) * b
                c4 = c4 + spread(A, p4 * down + at) * b
            store(C, p * w + j, c)
            store(C, p1 * w + j, c1)
            store(C, p2 * w + j, c2)
            store(C, p3 * w + j, c3)
            store(C, p4 * w + j, c4)
    for j in range(whole, w):
        _add_column(A, down, right, B, C, n, m, w, j)


@compiled
def _add_column(A: Any, down: Any, right: Any, B: Any, C: Any, n: Any, m: Any, w: Any, j: Any) -> None:
    """Column j of the product, four rows at a time: sums that need not wait for each other."""
    for p in range(0, n, 4):
        p1, p2, p3 = min(p + 1, n - 1), min(p + 2, n - 1), min(p + 3, n - 1)
        c, c1, c2, c3 = C[p * w + j], C[p1 * w + j], C[p2 * w + j], C[p3 * w + j]
        for q in range(m):
            b, at = B[q * w + j], q * right
            c += A[p * down + at] * b
            c1 += A[p1 * down + at] * b
            c2 += A[p2 * down + at] * b
            c3 += A[p3 * down + at] * b
        C[p * w + j], C[p1 * w + j], C[p2 * w + j], C[p3 * w + j] = c, c1, c2, c3
