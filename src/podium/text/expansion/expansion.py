"""Query expansion by pseudo-relevance feedback: the first documents of a search give words to search with again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Int32s, Ints
from podium.text.retrieval.base import Retrieval, Statistics, Where, WordRetrieval

if TYPE_CHECKING:
    from podium.text.index.index import Index
    from podium.text.query import Query


@dataclass(frozen=True, eq=False)
class FirstDocuments:
    """The first n documents of a search and their V terms without stop words."""

    scores: Array  # (n,) of the search, best first
    terms: Int32s  # (V,) rising
    counts: Any  # (n, V) sparse: few documents have the same words

    @property
    def lengths(self) -> Array:
        """|d| of each document."""  # (n,)
        return np.asarray(self.counts.sum(axis=1))


def first_documents(
    index: Index, query: Query, of: Retrieval, documents: int, *, where: Where | None
) -> FirstDocuments:
    """Search, and count the terms of the first documents."""
    from scipy import sparse

    hits = index.search(query, documents, by=of, where=where)
    tokens: list[Int32s] = [np.empty(0, np.int32)] * len(hits)
    for segment, at, rows in index.places(hits.numbers):
        for k, row in zip(at.tolist(), rows.tolist(), strict=True):
            words = segment.tokens[segment.bounds[row, 0] : segment.bounds[row, -1]]
            tokens[k] = words[~index.flags[words]]
    terms, which = np.unique(np.concatenate([np.empty(0, np.int32), *tokens]), return_inverse=True)
    of_document = np.repeat(np.arange(len(hits)), [len(x) for x in tokens])
    counts = sparse.csr_array((np.ones(len(which)), (of_document, which)), (len(hits), len(terms)))
    return FirstDocuments(hits.scores, terms.astype(np.int32), counts)


class Expansion(Retrieval):
    """A search with words of the first documents of a search added to the query.

    Stop words are never added, and words that no document has cannot be. A query that finds nothing stays as it is.
    """

    of: WordRetrieval
    documents: int
    terms: int

    def best(self, index: Index, query: Query, k: int, where: Where | None) -> tuple[Array, Ints]:
        return self.of.best(index, self.expanded(index, query, where), k, where)

    def expanded(self, index: Index, query: Query, where: Where | None = None) -> Query:
        """The query with the words that are added, and the weights of all words as `times`."""
        first = first_documents(index, query, self.of, self.documents, where=where)
        if not len(first.terms):
            return query
        statistics = index.statistics(replace(query, terms=first.terms))
        weights = self.weights(first, statistics)
        chosen = np.lexsort((first.terms, -weights))[: self.terms]
        chosen = chosen[weights[chosen] > 0]
        return self.joined(query, first.terms[chosen], weights[chosen])

    def weights(self, first: FirstDocuments, statistics: Statistics) -> Array:
        """The weight of each term of the first documents; those with the highest are chosen."""
        raise NotImplementedError

    def joined(self, query: Query, terms: Int32s, weights: Array) -> Query:
        """The query joined with the chosen terms: by default each weight over the highest one, on both sides."""
        if not len(terms) or not len(query.terms):
            return query if not len(terms) else replace(query, terms=terms, times=weights / weights.max(), leaves=None)
        return added(query, query.times / query.times.max(), terms, weights / weights.max())


def added(query: Query, times: Array, terms: Int32s, weights: Array) -> Query:
    """A query of its own terms with the weights `times`, and of other terms; terms of both have the sum."""
    sums = dict(zip(query.terms.tolist(), times.tolist(), strict=True))
    for t, weight in zip(terms.tolist(), weights.tolist(), strict=True):
        sums[t] = sums.get(t, 0.0) + weight
    sums = {t: weight for t, weight in sums.items() if weight > 0}
    names = np.fromiter(sums, np.int32, len(sums))
    return replace(query, terms=names, times=np.fromiter(sums.values(), np.float64, len(sums)), leaves=None)


def word_weights(index: Index, query: Query) -> dict[str, float]:
    """The terms of a query in letters, with their weights, the heaviest first."""
    order = np.lexsort((query.terms, -query.times))
    return {index.store.term(int(query.terms[k])): float(query.times[k]) for k in order}
