"""Read files of this machine, or on any remote store that fsspec supports, e.g. s3://bucket/train.pod."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Singles
from podium.base.errors import DataError, MissingPackageError
from podium.base.matrix_on_disk import SUM_BLOCK, Checked, Rows

_CHUNK = 2**22  # bytes that are read at a time


def is_url(path: object) -> TypeGuard[str]:
    """Whether this is a URL, not a path: file:///shared/train.pod, s3://bucket/train.pod."""
    return isinstance(path, str) and "://" in path


def file_size(place: str) -> int | None:
    """Size of a file in bytes; None if there is none, or only a link to one."""
    if not is_url(place):
        return os.stat(place).st_size if os.path.isfile(place) and not os.path.islink(place) else None
    with _store(place) as (store, path):
        return int(store.size(path)) if store.isfile(path) else None


def read_bytes(place: str, first: int = 0, last: int | None = None) -> bytes:
    """Bytes first:last of a file, by default to its end."""
    if is_url(place):
        with _store(place) as (store, path):
            return bytes(store.cat_file(path, start=first, end=last))
    with open(place, "rb") as file:
        file.seek(first)
        return file.read() if last is None else file.read(last - first)


def chunks(place: str) -> Iterator[bytes]:
    """Read a file in pieces."""
    size = file_size(place) or 0
    for first in range(0, size, _CHUNK):
        yield read_bytes(place, first, min(first + _CHUNK, size))


def listed(place: str) -> list[str] | None:
    """List a folder (path or URL), sorted by name; None if it is not one."""
    if not is_url(place):
        return [os.path.join(place, name) for name in sorted(os.listdir(place))] if os.path.isdir(place) else None
    with _store(place) as (store, path):
        if not store.isdir(path):
            return None
        return sorted(str(store.unstrip_protocol(inside)) for inside in store.ls(path, detail=False))


@contextmanager
def opened(place: str) -> Iterator[Any]:
    """Open a file (path or URL) to read from any position."""
    if is_url(place):
        with _store(place) as (store, path):
            file: Any = store.open(path, "rb")
    else:
        file = open(place, "rb")  # noqa: SIM115
    with file:
        yield file


class UrlRows(Rows):
    """Rows of little-endian float32 numbers in a file on a remote store, read by ranges of bytes."""

    def __init__(self, file: str, shape: tuple[int, int], sums: NDArray[Any] | None = None) -> None:
        super().__init__(shape)
        self.file = file
        self._checked = None if sums is None else Checked(sums, file)

    def read(self, first: int, last: int) -> Singles:
        width = 4 * self.shape[1]
        content = self._bytes(first * width, last * width) if last > first else b""
        if len(content) != (last - first) * width:
            raise DataError("the file ends before its last row; it was changed or cut.", where=self.file)
        return np.frombuffer(content, "<f4").reshape(last - first, self.shape[1]).astype(np.float32)

    def _bytes(self, first: int, last: int) -> bytes:
        """Bytes first:last, of whole blocks if they have not been compared with their checksums."""
        a, b = (0, 0) if self._checked is None else self._checked.range(first, last)
        if self._checked is None or a == b:
            return read_bytes(self.file, first, last)
        end = 4 * self.size
        begin = min(a, first // SUM_BLOCK * SUM_BLOCK)
        content = read_bytes(self.file, begin, min(max(b, last), end))
        self._checked.compare(begin, content[: b - begin])
        return content[first - begin : last - begin]


@contextmanager
def _store(url: str) -> Iterator[tuple[Any, str]]:
    """The store of a URL and the path there; failures become a DataError."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise MissingPackageError("fsspec", f"Reading {url}", "distributed") from None
    try:
        yield url_to_fs(url)
    except FileNotFoundError:
        raise DataError("no such file on the store.", where=url) from None
    except (ImportError, ValueError, OSError) as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"cannot be read from the store: {why}.", where=url) from error
