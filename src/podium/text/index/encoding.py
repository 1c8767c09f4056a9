"""Vectors on their way into an index: from arrays, files, or a function that makes them of texts."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.base.errors import DataError
from podium.base.files import reading
from podium.text.index.store import Store

Encoder = Callable[[list[str]], Any]
"""From a list of texts to an array with a row for each."""


def read_vectors(path: str | os.PathLike[str], ids: str | os.PathLike[str]) -> tuple[list[str], NDArray[Any]]:
    """Vectors from an .npy file, and the ids of their documents from a file with one id per line."""
    try:
        vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError):
        raise DataError("not an .npy file of numbers. Write one with numpy.save.", where=os.fspath(path)) from None
    with reading(ids) as file:
        names = [line.decode("utf-8", "surrogateescape").rstrip("\r\n") for line in file]
    if not isinstance(vectors, np.ndarray) or vectors.ndim != 2 or len(vectors) != len(names):
        shape = vectors.shape if isinstance(vectors, np.ndarray) else "several arrays"
        raise DataError(
            f"expected a row for each of the {len(names)} ids of {os.fspath(ids)}; got {shape}.", where=os.fspath(path)
        )
    return names, vectors


def named_vectors(ids: Sequence[str], vectors: Any) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Each id with its vector, checked."""
    if np.ndim(vectors) != 2 or len(vectors) != len(ids):
        raise DataError(f"vectors must be a matrix with a row for each of {len(ids)} ids; got {np.shape(vectors)}.")
    twice = len(set(ids)) < len(ids)
    if twice:
        raise DataError("the ids of vectors must be different; one of them is there twice.")
    for id, row in zip(ids, vectors, strict=True):
        yield str(id), _checked(row, str(id))


def encoded(store: Store, encode: Encoder, batch: int) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """The id and the vector of each document without one; the text is that of its text fields, a line for each."""
    done = {n for n, _ in store.vectors()}
    missing = (one for one in store.documents() if store.number(one["id"]) not in done)
    while some := list(itertools.islice(missing, batch)):
        made = encode(["\n".join(str(one[field]) for field in store.fields if field in one) for one in some])
        yield from named_vectors([one["id"] for one in some], np.asarray(made))


def encoder_name(encode: Encoder) -> str:
    """What a function is called."""
    return getattr(encode, "__qualname__", type(encode).__name__)


def _checked(row: Any, id: str) -> NDArray[np.float32]:
    try:
        found = np.asarray(row, np.float32)
    except (TypeError, ValueError):
        raise DataError(f"document {id!r}: its vector does not hold numbers.") from None
    if not len(found) or not np.isfinite(found).all():
        raise DataError(f"document {id!r}: its vector must hold finite numbers, at least one.")
    return found
