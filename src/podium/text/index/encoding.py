"""Vectors (embeddings) for an index: from arrays, files, or a function that encodes texts."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import AnyArray, Singles
from podium.base.errors import DataError
from podium.base.files import reading

if TYPE_CHECKING:
    from podium.text.index.store import Store

Encoder = Callable[[list[str]], ArrayLike]
"""From a list of texts to an array with a row for each."""


def read_vectors(path: str | os.PathLike[str], ids: str | os.PathLike[str]) -> tuple[list[str], AnyArray]:
    """Read vectors from an .npy file, and the ids of their documents from a file with one id per line."""
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


def named_vectors(ids: Sequence[str], vectors: AnyArray) -> Iterator[tuple[str, Singles]]:
    """Each id with its vector, checked."""
    if np.ndim(vectors) != 2 or len(vectors) != len(ids):
        raise DataError(f"vectors must be a matrix with a row for each of {len(ids)} ids; got {np.shape(vectors)}.")
    if len(set(ids)) < len(ids):
        raise DataError("the ids of vectors must be different; one of them is there twice.")
    for id, row in zip(ids, vectors, strict=True):
        yield str(id), _checked(row, str(id))


def encoded(store: Store, encode: Encoder, batch: int) -> Iterator[tuple[str, Singles]]:
    """The id and the vector of each document without one; the text is that of its text fields, a line for each."""
    done = {n for n, _ in store.vectors()}
    missing = (document for document in store.documents() if store.number(document["id"]) not in done)
    while documents := list(itertools.islice(missing, batch)):
        texts = ["\n".join(str(document[name]) for name in store.fields if name in document) for document in documents]
        yield from named_vectors([document["id"] for document in documents], np.asarray(encode(texts)))


def encoder_name(encode: Encoder) -> str:
    """The name of an encoder."""
    return getattr(encode, "__qualname__", type(encode).__name__)


def _checked(row: ArrayLike, id: str) -> Singles:
    try:
        vector = np.asarray(row, np.float32)
    except (TypeError, ValueError):
        raise DataError(f"document {id!r}: its vector does not hold numbers.") from None
    if not len(vector) or not np.isfinite(vector).all():
        raise DataError(f"document {id!r}: its vector must hold finite numbers, at least one.")
    return vector
