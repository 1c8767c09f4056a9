"""Latent semantic indexing (LSI): documents and words in the space of the first singular vectors of the weights.

Reference: Deerwester et al., Indexing by latent semantic analysis, 1990.
"""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array, Int32s, Ints, Singles
from podium.base.errors import PodiumWarning
from podium.base.files import write_aside
from podium.jit.compiled import compiled
from podium.text.retrieval.word_vectors import term_weights

if TYPE_CHECKING:
    import scipy.sparse as sp

    from podium.text.index.index import Index

_SEED = 0


@dataclass(frozen=True, eq=False)
class Latent:
    """Coordinates of documents, segment after segment, each of length 1 or 0; and the axes."""

    documents: Singles  # (D, r)
    axes: Singles  # (V, r)


def latent(index: Index, column: int, rank: int) -> Latent:
    """The latent space of a field, computed once for each state of the index and cached in a file beside it."""

    def make() -> Latent:
        name = f"latent-{column}-{rank}"
        space = _read(index, name)
        if space is None:
            space = _compute(index, column, rank)
            _write(index, name, space)
        return space

    return index.kept(("latent", column, rank), make)


def fold_in(space: Latent, weights: Array, ends: Ints, terms: Int32s, counts: Ints) -> Singles:
    """The coordinates of texts that are not in the index; text k has terms[ends[k]:ends[k + 1]]."""  # (n, r)
    documents = np.zeros((len(ends) - 1, space.axes.shape[1]))
    _fold_in(space.axes, weights, ends, terms, counts, documents)
    return _unit(documents).astype(np.float32)


def _compute(index: Index, column: int, rank: int) -> Latent:
    A = _weights(index, column)
    alive = np.concatenate([~segment.dead for segment in index.segments]) if index.segments else np.empty(0, bool)
    filled = A[np.flatnonzero(alive)]
    used = np.flatnonzero(np.diff(filled.tocsc().indptr))
    rank = min(rank, len(index) - 1, len(used) - 1)
    axes = np.zeros((len(index.flags), max(rank, 1)), np.float32)
    if rank >= 1:
        from scipy.sparse.linalg import svds

        start = np.random.default_rng(_SEED).standard_normal(min(len(index), len(used)))
        _, _, right = svds(filled[:, used].astype(np.float64), rank, v0=start)
        axes[used] = right[::-1].T
    documents = np.asarray(A @ axes.astype(np.float64))
    return Latent(_unit(documents).astype(np.float32), axes)


def _weights(index: Index, column: int) -> sp.csr_array:
    """The matrix of weights ln(1 + c) · ln(N/df)."""  # (D, V) sparse
    import scipy.sparse as sp

    weights, first = term_weights(index, column), 0
    rows, columns, values = [], [], []
    for segment in index.segments:
        counts = segment.frequencies.sum(axis=1) if column == len(index.fields) else segment.frequencies[:, column]
        terms = np.repeat(segment.terms, np.diff(segment.pointers))
        kept = np.flatnonzero((counts > 0) & (weights[terms] > 0))
        rows.append(segment.rows[kept] + first)
        columns.append(terms[kept])
        values.append(np.log1p(counts[kept]) * weights[terms[kept]])
        first += len(segment)
    parts = [np.concatenate(x) if x else np.empty(0) for x in (values, rows, columns)]
    return sp.csr_array((parts[0], (parts[1], parts[2])), shape=(first, len(weights)))


def _unit(X: Array) -> Array:
    sizes = np.linalg.norm(X, axis=1, keepdims=True)
    return np.asarray(np.divide(X, sizes, out=np.zeros_like(X), where=sizes > 1e-12))


def _read(index: Index, name: str) -> Latent | None:
    folder = index.store.path.with_name(f"{index.store.path.name}.cache")
    try:
        with np.load(folder / f"{name}.npz", allow_pickle=False) as file:
            size = sum(map(len, index.segments))
            space = Latent(file["documents"], file["axes"])
            fits = str(file["stamp"]) == index.state and space.documents.shape == (size, space.axes.shape[1])
            return space if fits and space.axes.shape[0] == len(index.flags) else None
    except FileNotFoundError:
        return None
    except Exception as error:  # any damage: compute it again
        warnings.warn(f"{folder / name}.npz: damaged ({error}); it is made again.", PodiumWarning, stacklevel=2)
        return None


def _write(index: Index, name: str, space: Latent) -> None:
    folder = index.store.path.with_name(f"{index.store.path.name}.cache")
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
        with write_aside(folder / f"{name}.npz") as file:
            np.savez(file, documents=space.documents, axes=space.axes, stamp=np.array(index.state))


@compiled
def _fold_in(axes: Singles, weights: Array, ends: Ints, terms: Int32s, counts: Ints, out: Array) -> None:
    """Σ ln(1 + c) · ln(N/df) · axis over the terms of each text."""
    for k in range(len(out)):
        for p in range(ends[k], ends[k + 1]):
            weight = np.log1p(np.float64(counts[p])) * weights[terms[p]]
            for r in range(axes.shape[1]):
                out[k, r] += weight * np.float64(axes[terms[p], r])
