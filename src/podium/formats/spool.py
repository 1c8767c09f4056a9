"""Spools: append rows and texts to files on disk, and use them without loading them into memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Int32s, Ints, Singles
from podium.base.matrix_on_disk import FileRows, Rows, blocks
from podium.formats.letor.letor_matrix import is_mostly_empty
from podium.formats.letor.letor_parser import scatter
from podium.parsing.growing import Growing
from podium.parsing.ids import Ids
from podium.parsing.words import SPARE


class MatrixSpool:
    """A feature matrix on disk to which rows are appended; dense or sparse by the rule of `Matrix`."""

    def __init__(self, folder: Path, *, n_features: int | None) -> None:
        self.rows, self.written, self.n_features = 0, 0, n_features or 0
        self._folder, self._sparse = folder, False
        self._runs: list[tuple[int, int]] = []  # of rows of one width: how many, and the width
        self._ends = Growing(np.int64)
        self._ends.extend(np.zeros(1, np.int64))

    def add(self, ends: Ints, columns: Int32s, values: Singles) -> None:
        """Append rows: columns and values [ends[r]:ends[r+1]] are row r."""
        rows, width = len(ends) - 1, max(self.n_features, int(columns.max()) + 1 if len(columns) else 0)
        total, written = self.rows + rows, self.written + len(columns)
        if not self._sparse and is_mostly_empty(total * width, written):
            self._to_sparse()
        if self._sparse:
            self._add_sparse(ends, columns, values)
        else:
            cells = np.zeros(rows * width, np.float32)
            scatter(cells, 0, width, ends, columns, values)
            self.add_rows(cells.reshape(rows, width))
        self.rows, self.n_features, self.written = total, width, written

    def add_rows(self, X: Singles) -> None:
        """Append dense rows."""
        width = X.shape[1]
        if not self._runs or self._runs[-1][1] != width:
            self._runs.append((0, width))
        self._runs[-1] = self._runs[-1][0] + len(X), width
        _append(self._folder / "cells.part", np.ascontiguousarray(X, "<f4"))

    def expect(self, times: float) -> None:
        """Do nothing; `Matrix` allocates memory here."""

    def finished(self) -> Any:
        """The whole matrix, still on disk; no rows may be added after."""
        shape = (self.rows, self.n_features)
        if self._sparse and not is_mostly_empty(self.rows * self.n_features, self.written):
            self._to_dense()
        if self._sparse:
            import scipy.sparse as sp

            parts = [np.memmap(self._folder / f"{name}.part", kind, mode="c") for name, kind in _SPARSE.items()]
            return sp.csr_array((*parts, self._ends.finished()), shape)
        if any(width != self.n_features for _, width in self._runs):
            self._widen()
        return FileRows(os.fspath(self._folder / "cells.part"), shape)

    def _add_sparse(self, ends: Ints, columns: NDArray[Any], values: Singles) -> None:
        import scipy.sparse as sp

        width = int(columns.max()) + 1 if len(columns) else 0
        block = sp.csr_array((values.copy(), columns.copy(), ends), (len(ends) - 1, width))
        block.sort_indices()
        for name, part in (("values", block.data), ("columns", block.indices)):
            _append(self._folder / f"{name}.part", part.astype(_SPARSE[name]))
        self._ends.extend(ends[1:] + self._ends.array[self._ends.size - 1])

    def _runs_of_rows(self) -> list[Rows]:
        parts: list[Rows] = []
        start = 0
        for rows, width in self._runs:
            parts.append(FileRows(os.fspath(self._folder / "cells.part"), (rows, width), start=start))
            start += 4 * rows * width
        return parts

    def _to_sparse(self) -> None:
        import scipy.sparse as sp

        for run in self._runs_of_rows():
            for a, b in blocks(0, len(run)):
                block = sp.csr_array(run[a:b])
                self._add_sparse(block.indptr.astype(np.int64), block.indices, block.data)
        self._sparse, self._runs = True, []
        (self._folder / "cells.part").unlink(missing_ok=True)

    def _to_dense(self) -> None:
        import scipy.sparse as sp

        ends = self._ends.array[: self._ends.size]
        for a, b in blocks(0, self.rows):
            count, at = int(ends[b] - ends[a]), 4 * int(ends[a])
            values, columns = (
                np.fromfile(self._folder / f"{name}.part", kind, count, offset=at) for name, kind in _SPARSE.items()
            )
            shape = (b - a, self.n_features)
            self.add_rows(sp.csr_array((values, columns, ends[a : b + 1] - ends[a]), shape).toarray())
        self._sparse = False

    def _widen(self) -> None:
        """Write all rows again with the width of the last."""
        wider = self._folder / "wider.part"
        for run in self._runs_of_rows():
            for a, b in blocks(0, len(run)):
                padded = np.pad(run[a:b], ((0, 0), (0, self.n_features - run.shape[1])))
                _append(wider, np.ascontiguousarray(padded, "<f4"))
        os.replace(wider, self._folder / "cells.part")


_SPARSE = {"values": "<f4", "columns": "<i4"}


class TextSpool:
    """Texts on disk to which others are appended."""

    def __init__(self, folder: Path, name: str) -> None:
        self._place = folder / f"{name}.part"
        self._bounds, self._end = Growing(np.int64), 0
        self._bounds.extend(np.zeros(1, np.int64))

    def extend(self, texts: list[bytes]) -> None:
        """Append texts."""
        ends = self._end + np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
        _append(self._place, np.frombuffer(b"".join(texts), np.uint8))
        self._bounds.extend(ends)
        self._end = int(ends[-1]) if len(ends) else self._end

    def finished(self) -> Ids:
        """All texts, still on disk."""
        _append(self._place, np.zeros(SPARE, np.uint8))
        bounds = self._bounds.finished()
        return Ids(np.memmap(self._place, np.uint8, mode="c"), bounds[:-1], bounds[1:])


def _append(place: Path, numbers: NDArray[Any]) -> None:
    with open(place, "ab") as file:
        file.write(numbers.data if numbers.size else b"")
