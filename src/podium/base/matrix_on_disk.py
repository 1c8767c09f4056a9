"""Rows: a feature matrix that is not in memory. Its rows are read, or computed, when they are needed.

    >>> import numpy as np
    >>> class Squares(Rows):
    ...     def read(self, first, last):
    ...         return np.arange(first, last, dtype=np.float32)[:, None] ** 2
    >>> X = Squares((5, 1))
    >>> X[3:5].ravel().tolist(), X.taken(np.array([4, 0]))[:].ravel().tolist()
    ([9.0, 16.0], [16.0, 0.0])

Code that works on blocks of rows takes it like an array: `X[a:b]` is an array in memory. `taken` and `mapped` give
`Rows` too, and read nothing.
"""

from __future__ import annotations

import itertools
import os
import platform
import weakref
import zlib
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from podium.base.arrays import Flags, Ints, Singles
from podium.base.errors import DataError, needs_memory
from podium.base.threads import BLOCK

SMALL = 2**22
"""Matrices up to this many cells (16 MB) are loaded eagerly."""


class Rows:
    """N rows of d features. A subclass implements `read`."""

    ndim = 2
    dtype = np.dtype(np.float32)

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape

    def read(self, first: int, last: int) -> Singles:
        """Rows first:last as an array in memory, which the caller may change."""
        raise NotImplementedError

    def gather(self, rows: Ints) -> Singles:
        """Read any rows, in the given order."""
        out = np.empty((len(rows), self.shape[1]), np.float32)
        cuts = [0, *(np.flatnonzero(np.diff(rows) != 1) + 1).tolist(), len(rows)]
        for a, b in itertools.pairwise(cuts if len(rows) else []):
            out[a:b] = self.read(int(rows[a]), int(rows[b - 1]) + 1)
        return out

    def taken(self, rows: slice | Ints) -> Rows:
        """A selection of rows, in the given order."""
        return _Taken(self, rows)

    def mapped(self, work: Callable[[Singles], Singles], width: int) -> Rows:
        """Rows of `work(block)` for blocks of these rows; `work` must treat each row alone."""
        return _Mapped(self, work, width)

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: int | slice | Ints | Flags | list[int] | tuple[Any, Any]) -> Any:
        if isinstance(key, tuple):
            rows, columns = key
            if not isinstance(rows, slice):
                return self[rows][..., columns]
            first, last, step = rows.indices(len(self))
            parts = [self.read(a, b)[:, columns] for a, b in blocks(first, last)]
            return np.concatenate(parts)[::step] if parts else self.read(0, 0)[:, columns]
        if isinstance(key, slice):
            first, last, step = key.indices(len(self))
            return self.read(first, max(first, last))[::step] if step > 0 else self.gather(np.arange(first, last, step))
        if isinstance(key, int | np.integer):
            row = range(len(self))[key]
            return self.read(row, row + 1)[0]
        chosen = np.asarray(key)
        if chosen.dtype == np.bool_:
            chosen = np.flatnonzero(chosen)
        chosen = chosen.astype(np.int64)
        return self.gather(np.where(chosen < 0, chosen + len(self), chosen))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """All rows in memory."""
        needs_memory(4.0 * self.size, "this method", instead="Use one that works in blocks: a linear or mlp scorer, "
                     "or trees; or fewer documents.")  # fmt: skip
        return self.read(0, len(self)).astype(self.dtype if dtype is None else dtype, copy=False)

    def __repr__(self) -> str:
        return f"{type(self).__name__.lstrip('_')}({self.shape[0]} × {self.shape[1]}, not in memory)"


class Checked:
    """Checksums of the blocks of a file; each block is compared once, when it is first read."""

    def __init__(self, sums: NDArray[Any], file: str) -> None:
        self.sums, self.file = sums, file
        self._sound = np.zeros(len(sums), np.bool_)

    def range(self, first: int, last: int) -> tuple[int, int]:
        """The range of bytes, in whole blocks, to compare before bytes first:last are used; 0, 0 if none."""
        start = first // SUM_BLOCK
        left = start + np.flatnonzero(~self._sound[start : -(-last // SUM_BLOCK)])
        return (int(left[0]) * SUM_BLOCK, (int(left[-1]) + 1) * SUM_BLOCK) if len(left) and last > first else (0, 0)

    def compare(self, first: int, content: bytes | memoryview) -> None:
        """Raise a clear error if bytes from a block boundary on do not match their checksums."""
        for k, crc in enumerate(block_sums(content), first // SUM_BLOCK):
            if crc != self.sums[k]:
                raise DataError(
                    f"damaged: bytes {k * SUM_BLOCK} to {(k + 1) * SUM_BLOCK} do not match their checksum. Make it "
                    "again with podium cache.",
                    where=self.file,
                )
            self._sound[k] = True


SUM_BLOCK = 2**18
"""Bytes per checksum."""


def block_sums(content: bytes | memoryview) -> list[int]:
    """The checksum of each block of bytes."""
    return [zlib.crc32(content[a : a + SUM_BLOCK]) for a in range(0, len(content), SUM_BLOCK)]


class FileRows(Rows):
    """Rows of little-endian float32 numbers, one after another in a file, from a byte on.

    They are read, not mapped into memory, so only the blocks at work take memory. With `sums`, the checksums of all
    blocks of the file, damage is an error.
    """

    def __init__(
        self, file: str | int, shape: tuple[int, int], *, start: int = 0, sums: NDArray[Any] | None = None
    ) -> None:
        super().__init__(shape)
        self.file, self.start = file, start
        self._checked = None if sums is None else Checked(sums, str(file))
        self._descriptor = os.dup(file) if isinstance(file, int) else os.open(file, os.O_RDONLY)
        weakref.finalize(self, os.close, self._descriptor)

    def __reduce__(self) -> Any:
        return _open, (self.file, self.shape, self.start, None if self._checked is None else self._checked.sums)

    def read(self, first: int, last: int) -> Singles:
        out = np.empty((last - first, self.shape[1]), "<f4")
        at = self.start + 4 * first * self.shape[1]
        if self._checked is not None:
            a, b = self._checked.range(at, at + out.nbytes)
            for begin in range(a, b, _COMPARED):
                self._checked.compare(begin, os.pread(self._descriptor, min(_COMPARED, b - begin), begin))
        bytes_left = memoryview(cast(Any, out.reshape(-1).view(np.uint8)))
        while bytes_left:
            got = os.preadv(self._descriptor, [bytes_left[:_MOST]], at)
            if got == 0:
                raise DataError("the file ends before its last row; it was changed or cut.", where=str(self.file))
            bytes_left, at = bytes_left[got:], at + got
        return out.astype(np.float32, copy=False)


_COMPARED = 2**22  # bytes that are compared at a time
_MOST = 2**30  # bytes that are read by one call


def _open(file: str | int, shape: tuple[int, int], start: int, sums: NDArray[Any] | None) -> Rows:
    """Open the rows in another process, which may be on a machine that does not see the file."""
    try:
        return FileRows(file, shape, start=start, sums=sums)
    except OSError as error:
        return _Unreadable(str(file), shape, str(error.strerror))


class _Unreadable(Rows):
    def __init__(self, file: str, shape: tuple[int, int], why: str) -> None:
        super().__init__(shape)
        self.file, self.why = file, why

    def read(self, first: int, last: int) -> Singles:
        raise DataError(
            f"cannot be read on {platform.node()}: {self.why}. Put it where every machine reads it under this path.",
            where=self.file,
        )


class _Taken(Rows):
    def __init__(self, of: Rows, rows: slice | Ints) -> None:
        self.of, self.rows = of, np.arange(len(of))[rows] if isinstance(rows, slice) and rows.step else rows
        n = len(range(*rows.indices(len(of)))) if isinstance(rows, slice) else len(rows)
        super().__init__((n, of.shape[1]))

    def read(self, first: int, last: int) -> Singles:
        if isinstance(self.rows, slice):
            start = self.rows.indices(len(self.of))[0]
            return self.of.read(start + first, start + last)
        return self.of.gather(self.rows[first:last])

    def gather(self, rows: Ints) -> Singles:
        if isinstance(self.rows, slice):
            return self.of.gather(rows + self.rows.indices(len(self.of))[0])
        return self.of.gather(self.rows[rows])


class _Mapped(Rows):
    def __init__(self, of: Rows, work: Callable[[Singles], Singles], width: int) -> None:
        super().__init__((len(of), width))
        self.of, self.work = of, work

    def read(self, first: int, last: int) -> Singles:
        return self.work(self.of.read(first, last))

    def gather(self, rows: Ints) -> Singles:
        return self.work(self.of.gather(rows))


def blocks(first: int, last: int) -> list[tuple[int, int]]:
    """Consecutive ranges of at most BLOCK rows."""
    return [(a, min(a + BLOCK, last)) for a in range(first, last, BLOCK)]


def on_disk(X: object) -> bool:
    """Whether features are not in memory."""
    return isinstance(X, Rows)


def take_rows(X: Any, rows: slice | Ints) -> Any:
    """Select rows of a feature matrix; a small selection of rows on disk is loaded."""
    if not isinstance(X, Rows):
        return X[rows]
    selected = X.taken(rows)
    return selected[:] if selected.size <= SMALL else selected


def in_blocks(X: Any) -> Any:
    """Iterate over a dense matrix in blocks of rows, in order; a matrix in memory is one block."""
    return (X[a:b] for a, b in blocks(0, len(X))) if isinstance(X, Rows) else iter((X,))
