"""Seen queries: whether data holds queries that a model was trained on, by a small sample of their fingerprints.

    >>> from podium.data.synthetic import make_letor_like
    >>> data, _ = make_letor_like(12, seed=1)
    >>> seen(sample_queries(data.select(range(8))), data)
    Seen(checked=12, seen=8)

The fingerprint of a query is made of its id and of the features of its documents in any order, so files may be renamed,
shuffled, cut or joined. A sample keeps up to 256 queries, those with the smallest hash of their id: two kilobytes.
Queries of other data are compared if their hash would be in the sample.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Any, NamedTuple

import numpy as np

from podium.base.arrays import Ints, Words, dense
from podium.data.dataset import Dataset
from podium.data.table import Table

MOST = 256
"""Queries in a sample."""


class Seen(NamedTuple):
    """Number of queries that could be compared with those of the training data, and of those that were among them."""

    checked: int
    seen: int

    def __str__(self) -> str:
        return f"{self.seen} of {self.checked} queries" if self.seen < self.checked else "all queries"


def sample_queries(data: Table) -> dict[str, Any]:
    """Sample of the queries of training data, as JSON: the largest hash of an id in it, and the fingerprints."""
    dataset = data.grouped()
    ids = _id_hashes(dataset)
    kept = np.argsort(ids, kind="stable")[:MOST]
    whole = len(kept) == len(ids)
    limit = 2**64 - 1 if whole or not len(kept) else int(ids[kept[-1]])
    prints = np.sort(_fingerprints(dataset, kept, ids))
    return {"up_to": str(limit), "fingerprints": base64.b64encode(prints.astype("<u8").tobytes()).decode()}


def seen(sample: object, data: Table) -> Seen:
    """Compare the queries of data, with features in the order of the training data, with a sample of the latter.

    Something that is no sample compares with no query.
    """
    limit, prints = _read(sample)
    dataset = data.grouped()
    ids = _id_hashes(dataset)
    comparable = np.flatnonzero(ids <= np.uint64(limit)) if len(prints) else np.empty(0, np.int64)
    same = np.isin(_fingerprints(dataset, comparable, ids), prints, kind="sort")  # a table of 64 bits overflows
    return Seen(len(comparable), int(same.sum()))


def _read(sample: object) -> tuple[int, Words]:
    """The largest hash of an id, and the fingerprints; none if a file holds other things."""
    try:
        limit = int(sample["up_to"])  # type: ignore[index]
        prints = np.frombuffer(base64.b64decode(sample["fingerprints"], validate=True), "<u8")  # type: ignore[index]
    except (KeyError, OverflowError, TypeError, ValueError):
        return 0, np.empty(0, np.uint64)
    return min(max(limit, 0), 2**64 - 1), prints.astype(np.uint64)


def _id_hashes(data: Dataset) -> Words:
    """Hash of the id of each query."""  # (Q,)
    names = (data.query_name(q).encode("utf-8", "surrogateescape") for q in range(data.n_queries))
    digests = b"".join(hashlib.blake2b(name, digest_size=8).digest() for name in names)
    return np.frombuffer(digests, "<u8").astype(np.uint64)


def _fingerprints(data: Dataset, queries: Ints, ids: Words) -> Words:
    """Hash of the id and of the documents' features of some queries; the order of documents does not matter."""
    rng = np.random.default_rng(0)
    factors = rng.integers(2**63, size=data.n_features, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    prints = np.zeros(len(queries), np.uint64)
    for k, q in enumerate(queries.tolist()):
        rows_of_query = data.features[data.offsets[q] : data.offsets[q + 1]]
        X = np.asarray(dense(rows_of_query), np.float32) + np.float32(0)  # −0 becomes 0
        X[np.isnan(X)] = np.nan  # in one way of writing it
        rows = (np.ascontiguousarray(X).view(np.uint32).astype(np.uint64) * factors).sum(axis=1, dtype=np.uint64)
        prints[k] = _mixed(rows).sum(dtype=np.uint64)
    return _mixed(prints + ids[queries])


def _mixed(x: Words) -> Words:
    """Spread the bits of numbers (the finaliser of SplitMix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
