"""Query: the terms of a text in the vocabulary of an index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import AnyArray, Array, Flags, Int32s, Singles

if TYPE_CHECKING:
    from podium.text.index.store import Store
    from podium.text.query_matches import Leaves
    from podium.text.retrieval.base import Where


@dataclass(frozen=True, eq=False)
class Query:
    """The terms of a query. A word that no document has is unknown, and counts only in phrases."""

    text: str
    terms: Int32s  # (m,) distinct, in order of first use; without stop words, unless there is nothing else
    times: Array  # (m,) occurrences of each in the query
    sequence: Int32s  # all words in order, stop words included; −1 for an unknown one
    unknown: tuple[str, ...]
    vector: Singles | None = None
    leaves: Leaves | None = None
    """Of the query language: what is scored in place of the terms, and which documents match."""

    @property
    def length(self) -> float:
        """The number of terms, repeats counted."""
        return float(self.times.sum())

    def allowing(self, where: Where | None) -> Where | None:
        """A filter for what the query matches by its signs, and that satisfies another filter."""
        leaves = self.leaves
        if leaves is None:
            return where
        return leaves.where if where is None else lambda numbers: where(numbers) & leaves.where(numbers)


def read_query(
    store: Store,
    flags: Flags,
    occurs: Flags,
    text: str,
    *,
    vector: Sequence[float] | AnyArray | None = None,
) -> Query:
    """Analyse a query with the analyser of the store; `occurs` flags the terms that some document has."""
    words = store.analyser.words(text)
    ids = [t if 0 <= t < len(occurs) and occurs[t] else -1 for t in store.term_ids(words)]
    unknown = tuple(word for word, t in zip(words, ids, strict=True) if t < 0)
    counts: dict[int, int] = {}
    for t in ids:
        if t >= 0 and not flags[t]:
            counts[t] = counts.get(t, 0) + 1
    if not counts and all(store.analyser.term(word)[1] for word in words):
        for t in ids:
            if t >= 0:
                counts[t] = counts.get(t, 0) + 1
    return Query(
        text,
        np.fromiter(counts, np.int32, len(counts)),
        np.fromiter(counts.values(), np.float64, len(counts)),
        np.array(ids, np.int32),
        unknown,
        None if vector is None else np.asarray(vector, np.float32),
    )
