"""Links between documents of each query as one sparse matrix: those of the data, or of documents that look alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError, IncompatibleError
from podium.transforms.query_zscore import QueryZScore

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


def document_links(data: Dataset, *, from_file: bool, nearest: int, symmetric: bool, who: str) -> Any:
    """Weights of links between rows of the data, without links to itself: those of its relations, or of `nearest`.

    Links of the nearest documents are symmetric in any case.
    """  # (N, N) CSR, float64
    if not from_file:
        return nearest_links(data, nearest)
    links = relation_links(data, who=who)
    return links.maximum(links.T).tocsr() if symmetric else links


def relation_links(data: Dataset, *, who: str) -> Any:
    """The first value of each link of `Dataset.relations`, at least 0."""  # (N, N) CSR, float64
    from scipy import sparse

    n = data.n_documents
    if needs_relations(data, who=who):
        return sparse.csr_array((n, n))
    sources, targets = relation_rows(data)
    assert data.relations is not None, "checked"
    values = data.relations.values[:, 2]
    if (values < 0).any():
        at = int(np.argmax(values < 0))
        raise DataError(
            f"the link from document {data.document_name(int(sources[at]))} to {data.document_name(int(targets[at]))} "
            f"has the value {values[at]:g}, but {who} weighs documents by it: give a number of at least 0.",
            where=data.source,
        )
    keep = (sources != targets) & (values > 0)
    return sparse.csr_array((values[keep], (sources[keep], targets[keep])), shape=(n, n))


def needs_relations(data: Dataset, *, who: str) -> bool:
    """Require relations; True if there are none, but no query has two documents that could be linked."""
    if data.relations is not None:
        return False
    if (data.sizes < 2).all():
        return True
    raise IncompatibleError(
        f"{who} needs the links between the documents, but {data.source or 'the data'} has none. Write them next to "
        "the data file, in <data>.relations: lines of query, document, document and optionally numbers."
    )


def relation_rows(data: Dataset) -> tuple[Ints, Ints]:
    """The rows of both documents of each link."""  # (M,), (M,)
    assert data.relations is not None, "checked"
    start = np.repeat(data.offsets[:-1], np.diff(data.relations.offsets))
    ends = data.relations.values[:, :2].astype(np.int64)
    return start + ends[:, 0], start + ends[:, 1]


def nearest_links(data: Dataset, k: int) -> Any:
    """Cosine of the z-scores within the query, for the k nearest documents of each with a cosine above 0, symmetric."""
    from scipy import sparse

    n = data.n_documents
    Z = QueryZScore().features({}, data).astype(np.float64)
    length = np.linalg.norm(Z, axis=1, keepdims=True)
    Z = np.divide(Z, length, out=np.zeros_like(Z), where=length > 0)
    parts = [_nearest(Z, int(a), int(b), k) for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)]
    rows, columns, values = (np.concatenate([np.empty(0), *(part[c] for part in parts)]) for c in range(3))
    links = sparse.csr_array((values, (rows.astype(np.int64), columns.astype(np.int64))), shape=(n, n))
    return links.maximum(links.T).tocsr()


_CELLS = 4_000_000
"""Cosines to hold at a time."""


def _nearest(Z: Array, a: int, b: int, k: int) -> tuple[Array, Array, Array]:
    """Rows, columns and cosines of the nearest documents of those from a to b; of equal ones the first."""
    step, parts = max(_CELLS // max(b - a, 1), 1), []
    for first in range(a, b, step):
        rows = np.arange(first, min(first + step, b))
        cosine = np.round(Z[rows] @ Z[a:b].T, 9)  # last bits depend on how a product is summed up
        cosine[np.arange(len(rows)), rows - a] = -1.0
        best = np.argsort(-cosine, axis=1, kind="stable")[:, :k]
        value = np.take_along_axis(cosine, best, axis=1)
        keep = value > 0
        parts.append((np.repeat(rows, keep.sum(axis=1)), best[keep] + a, np.minimum(value[keep], 1.0)))
    return tuple(np.concatenate([np.empty(0), *(part[c] for part in parts)]) for c in range(3))  # type: ignore[return-value]
