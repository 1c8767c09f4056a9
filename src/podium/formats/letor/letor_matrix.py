"""Collect the feature matrix of a LETOR file, dense or sparse, in little more than its own memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Int32s, Ints, Singles
from podium.base.errors import DataError
from podium.formats.letor.letor_parser import narrow, scatter, widen
from podium.parsing.growing import Growing

if TYPE_CHECKING:
    import scipy.sparse as sp

LARGE = 2**26
"""A matrix of more cells than this (256 MB of float32) becomes sparse if fewer than a quarter are written."""


class Matrix:
    """A matrix to which rows are appended. `sparse` None: dense, unless it is LARGE and mostly empty."""

    def __init__(self, *, n_features: int | None, sparse: bool | None) -> None:
        self.rows, self.written = 0, 0
        self.n_features = n_features or 0
        self._choose = sparse is None
        self._cells = Growing(np.float32)  # rows × width, while dense
        self._width = self.n_features
        self._ends, self._columns, self._values = Growing(np.int64), Growing(np.int32), Growing(np.float32)
        self._ends.extend(np.zeros(1, np.int64))
        self._sparse = bool(sparse)

    def add(self, ends: Ints, columns: Int32s, values: Singles) -> None:
        """Append rows: columns and values [ends[r]:ends[r+1]] are row r."""
        n_features = max(self.n_features, int(columns.max()) + 1 if len(columns) else 0)
        rows, written = self.rows + len(ends) - 1, self.written + len(columns)
        if not self._sparse and self._choose and is_mostly_empty(rows * n_features, written):
            self._to_sparse()
        if self._sparse:
            self._ends.extend(ends[1:] + self._values.size)
            self._columns.extend(columns)
            self._values.extend(values)
        else:
            self._add_dense(rows, n_features, ends, columns, values)
        self.rows, self.n_features, self.written = rows, n_features, written

    def expect(self, times: float) -> None:
        """Allocate room for this many times the present rows, if they are dense and not large."""
        if not self._sparse and times * self._cells.size < LARGE:
            self._cells.expect(int(times * self._cells.size), zero=True)

    def finished(self) -> Singles | sp.csr_array:
        """The whole matrix; no rows may be added after."""
        if not self._sparse:
            if self._width > self.n_features:
                narrow(self._cells.array, self.rows, self._width, self.n_features)
            self._cells.size = self.rows * self.n_features
            return self._cells.finished().reshape(self.rows, self.n_features)
        import scipy.sparse as sp

        parts = (self._values.finished(), self._columns.finished(), self._ends.finished())
        matrix = sp.csr_array(parts, shape=(self.rows, self.n_features))
        matrix.sort_indices()
        if self._choose and not is_mostly_empty(self.rows * self.n_features, self.written):
            return np.ascontiguousarray(matrix.toarray())
        return matrix

    def _add_dense(self, rows: int, n_features: int, ends: Ints, columns: Int32s, values: Singles) -> None:
        try:
            if n_features > self._width:
                # some extra from the second time on, so that rising ids do not move all rows each time
                width = n_features if self.rows == 0 else n_features * 5 // 4
                widen(self._cells.reserve(self.rows * width), self.rows, self._width, width)
                self._width = width
            cells = self._cells.reserve(rows * self._width)
        except (MemoryError, ValueError):
            raise DataError(
                f"{rows} documents × {n_features} features do not fit into memory as a dense array; "
                "read with sparse=True."
            ) from None
        scatter(cells, self.rows, self._width, ends, columns, values)

    def _to_sparse(self) -> None:
        import scipy.sparse as sp

        self._sparse = True
        cells = self._cells.array[: self.rows * self._width].reshape(self.rows, self._width)
        matrix = sp.csr_array(cells)
        self._ends.extend(matrix.indptr[1:])
        self._columns.extend(matrix.indices)
        self._values.extend(matrix.data)
        self._cells = Growing(np.float32)


def is_mostly_empty(cells: int, written: int) -> bool:
    """Whether a matrix should be sparse: it is large, and fewer than a quarter of its cells are written."""
    return cells > LARGE and written < cells // 4
