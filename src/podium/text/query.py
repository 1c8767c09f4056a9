"""Query: a text as an index understands it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from podium.text.index.store import Store


@dataclass(frozen=True, eq=False)
class Query:
    """The terms of a query. A word that no document has is unknown, and counts nowhere but in phrases."""

    text: str
    terms: NDArray[np.int32]  # (m,) distinct, in order of first use; without stop words, unless there is nothing else
    times: NDArray[np.float64]  # (m,) how often each is in the query
    sequence: NDArray[np.int32]  # all words in order, stop words included; −1 for an unknown one
    unknown: tuple[str, ...]
    vector: NDArray[np.float32] | None = None

    @property
    def length(self) -> float:
        """The number of terms, repeats counted."""
        return float(self.times.sum())


def read_query(
    store: Store,
    flags: NDArray[np.bool_],
    occurs: NDArray[np.bool_],
    text: str,
    *,
    vector: Sequence[float] | NDArray[np.float32] | None = None,
) -> Query:
    """Analyse a query with the analyser of the store; `occurs` says which terms a document has."""
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
    given = None if vector is None else np.asarray(vector, np.float32)
    return Query(
        text,
        np.fromiter(counts, np.int32, len(counts)),
        np.fromiter(counts.values(), np.float64, len(counts)),
        np.array(ids, np.int32),
        unknown,
        given,
    )
