"""Compiled counts of the data doctor: sums over cells, hashes of rows and columns, pairs that a feature orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array, Int32s, Ints, Singles, Words, is_sparse
from podium.base.matrix_on_disk import in_blocks
from podium.jit.compiled import compiled

if TYPE_CHECKING:
    import scipy.sparse as sp

_A, _B, _C = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
_27, _30, _31 = (np.uint64(n) for n in (27, 30, 31))


class Summary:
    """Summary of a matrix: range, missing and infinite values per column; a hash of each row and each column."""

    def __init__(self, X: Singles | sp.csr_array) -> None:
        n, d = X.shape
        self.low, self.high = np.full(d, np.inf), np.full(d, -np.inf)  # (d,) of finite cells
        self.missing, self.infinite, filled = np.zeros((3, d), np.int64)  # (d,)
        self.rows, self.columns = np.zeros(n, np.uint64), np.zeros(d, np.uint64)  # hashes of the cells that are not 0
        out: Any = (self.low, self.high, self.missing, self.infinite, filled, self.rows, self.columns)
        if is_sparse(X):
            values = np.ascontiguousarray(X.data, np.float32)
            cells = (X.indptr.astype(np.int64), X.indices, values, values.view(np.uint32))
            _summarize(*cells, 0, *out)
        else:
            first = 0
            for block in in_blocks(X):
                values, starts = block.ravel(), np.arange(len(block) + 1) * d
                cells = (starts, np.empty(0, np.int32), values, values.view(np.uint32))
                _summarize(*cells, first, *out)
                first += len(block)
        hollow = filled < n
        self.low[hollow] = np.minimum(self.low[hollow], 0)
        self.high[hollow] = np.maximum(self.high[hollow], 0)


@compiled
def count_pairs(X: Singles, labels: Array, offsets: Ints, right: Ints, wrong: Ints) -> int:
    """Count, for each feature, the pairs of a query with different labels that it orders like the labels, or reversed.

    right_c = #{(i, j): y_i > y_j, x_ic > x_jc}, wrong_c with x_ic < x_jc. Returns the number of pairs.
    """
    pairs = 0
    for q in range(len(offsets) - 1):
        for i in range(offsets[q], offsets[q + 1]):
            for j in range(offsets[q], offsets[q + 1]):
                if labels[i] > labels[j]:
                    pairs += 1
                    a, b = X[i], X[j]
                    for c in range(len(right)):
                        right[c] += a[c] > b[c]
                        wrong[c] += a[c] < b[c]
    return pairs


@compiled
def _summarize(
    starts: Ints, indices: Int32s, values: Singles, bits: NDArray[np.uint32], first: int,
    low: Array, high: Array, missing: Ints, infinite: Ints, filled: Ints, rows: Words, columns: Words,
) -> None:  # fmt: skip
    """Row first + r is values[starts[r]:starts[r+1]], in the columns of `indices`, or in all if that is empty."""
    dense = len(indices) == 0
    for r in range(len(starts) - 1):
        for k in range(starts[r], starts[r + 1]):
            c, x = k - starts[r] if dense else np.int64(indices[k]), values[k]
            filled[c] += 1
            missing[c] += np.isnan(x)
            infinite[c] += np.isinf(x)
            if np.isfinite(x):
                low[c], high[c] = min(low[c], x), max(high[c], x)
            if x != 0:  # 0 and −0 alike, stored or not
                code = np.uint64(0) if np.isnan(x) else np.uint64(bits[k])
                rows[first + r] += _mixed(code + _A * np.uint64(c + 1))
                columns[c] += _mixed(code + _A * np.uint64(first + r + 1))


@compiled
def _mixed(z: np.uint64) -> Any:
    """A 64-bit number, all bits of which depend on all bits of z (Steele et al., SplitMix, OOPSLA 2014)."""
    z = (z ^ (z >> _30)) * _B
    z = (z ^ (z >> _27)) * _C
    return z ^ (z >> _31)
