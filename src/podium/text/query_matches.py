"""What a query of the query language matches, and by what it is scored.

Words, phrases, prefixes and fuzzy words that a document may or must have are *leaves*. Each is scored as if it were a
word: a phrase by its matches, a prefix or a fuzzy word by all its forms together, a leaf with a field by that field
alone; document and collection frequencies are counted likewise. So every retrieval of words ranks them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import AnyArray, Array, Flags, Int32s, Ints
from podium.base.errors import DataError
from podium.jit.tiers import tier
from podium.text.index.stored_values import document_numbers, place
from podium.text.phrase_matches import phrase_postings
from podium.text.query import Query
from podium.text.query_language import Filter, Fuzzy, Group, Node, Phrase, Prefix, parse
from podium.text.retrieval.base import Statistics, Sums
from podium.text.retrieval.filters import satisfied
from podium.text.vocabulary import near_words, vocabulary, with_prefix

if TYPE_CHECKING:
    from podium.text.index.index import Index
    from podium.text.index.segment import Segment
    from podium.text.query_language import Clause

Leaf = Phrase | Prefix | Fuzzy
MOST_FORMS = 50
"""Forms of a prefix or a fuzzy word among the terms of a query."""
Postings = tuple[Ints, Int32s]
"""The rows of a segment, rising, and the occurrences in each field: (n,), (n, F)."""


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of a query, in one state of an index, and the documents that it matches.

    The last leaf stands for these documents, with weight 0: they are all ranked, also those that no other leaf has.
    """

    segments: list[Segment]
    postings: list[list[Postings]]  # of each leaf in each segment
    weights: Array  # (m,)
    statistics: Statistics
    allowed: Flags  # (N,) in the order of document numbers
    numbers: Ints  # (N,)

    def where(self, numbers: Ints) -> Flags:
        """Whether the query matches documents, by their numbers."""
        return np.append(self.allowed, False)[place(self.numbers, numbers)]

    def scored(self, index: Index, query: Query) -> Query:
        """The query with a term for each leaf."""
        if index.segments is not self.segments:
            raise DataError("the index has changed since this query was read. Read it again: index.query(…).")
        return replace(query, terms=np.arange(len(self.weights), dtype=np.int32), times=self.weights, leaves=None)

    def sums(self, sums: Sums, segment: Segment, weights: Array) -> Sums:
        """The inputs of scoring with the postings of the leaves, in place of those of terms."""
        parts = [leaf[self.segments.index(segment)] for leaf in self.postings]
        pointers = np.cumsum([0, *(len(rows) for rows, _ in parts)])
        rows = np.concatenate([rows for rows, _ in parts]).astype(np.int32)
        counts = weighted_counts(np.concatenate([counts for _, counts in parts]), weights)
        return replace(sums, places=np.arange(len(parts)), postings=(pointers, rows, counts))


def weighted_counts(frequencies: Int32s, weights: Array) -> AnyArray:
    """Occurrences, summed over fields with their weights."""
    if (weights == 1.0).all():
        return np.asarray(frequencies.sum(axis=1, dtype=np.int32))
    return np.asarray((frequencies @ weights).astype(np.float32))


def read_language(index: Index, text: str, read: Callable[[str], Query]) -> Query:
    """A query in the query language; `read` analyses a plain text.

    Its terms are all words that may or must match, with their weights, and the most frequent forms of prefixes and
    fuzzy words: features, snippets and other retrievals see these.
    """
    group = parse(text, index.analyser, index.fields)
    with tier(sum(len(segment.tokens) for segment in index.segments)):
        matcher = _Matcher(index)
        leaves = matcher.leaves(group)
    words, times = list[str](), dict[int, float]()
    for leaf, weight in positive_leaves(group):
        words += leaf.words if isinstance(leaf, Phrase) else ()
        for t in matcher.frequent_terms(leaf):
            times[t] = times.get(t, 0.0) + weight
    plain = read(" ".join(words))
    terms = list(dict.fromkeys([*plain.terms.tolist(), *(t for t in times if not index.flags[t])]))
    weights = np.array([times[t] for t in terms], np.float64)
    return replace(plain, text=text, terms=np.array(terms, np.int32), times=weights, leaves=leaves)


def positive_leaves(group: Group, weight: float = 1.0) -> Iterator[tuple[Leaf, float]]:
    """The leaves that may or must match, in their order, with their weights."""
    for clause in group.clauses:
        if clause.sign == "-" or isinstance(clause.node, Filter):
            continue
        if isinstance(clause.node, Group):
            yield from positive_leaves(clause.node, weight * clause.weight)
        else:
            yield clause.node, weight * clause.weight


class _Matcher:
    """Looks up the parts of a query in an index, each once."""

    def __init__(self, index: Index) -> None:
        self.index, self.numbers = index, document_numbers(index)
        self.looked_up: dict[Leaf, list[Postings]] = {}
        self.forms: dict[Leaf, Ints] = {}

    def leaves(self, group: Group) -> Leaves:
        allowed, weights = self._matches(group), dict[Leaf, float]()
        for leaf, weight in positive_leaves(group):
            weights[leaf] = weights.get(leaf, 0.0) + weight
        postings = [*(self._postings(leaf) for leaf in weights), self._everywhere(allowed)]
        m, columns = len(postings), len(self.index.fields) + 1
        df, cf = np.zeros((m, columns)), np.zeros((m, columns))
        for k, leaf_postings in enumerate(postings):
            for _, counts in leaf_postings:
                df[k, :-1] += (counts > 0).sum(axis=0)
                df[k, -1] += len(counts)
                cf[k, :-1] += counts.sum(axis=0)
        cf[:, -1] = cf[:, :-1].sum(axis=1)
        totals = np.zeros(columns) + sum(segment.totals for segment in self.index.segments)
        statistics = Statistics(len(self.index), totals, df, cf)
        times = np.array([*weights.values(), 0.0])
        return Leaves(self.index.segments, postings, times, statistics, allowed, self.numbers)

    def _everywhere(self, allowed: Flags) -> list[Postings]:
        """Postings of the documents that match, once in each field."""
        parts, first = list[Postings](), 0
        for segment in self.index.segments:
            alive = np.flatnonzero(~segment.dead)
            rows = alive[allowed[first : first + len(alive)]]
            parts.append((rows, np.ones((len(rows), len(self.index.fields)), np.int32)))
            first += len(alive)
        return parts

    def _matches(self, node: Node) -> Flags:
        """Which documents match, in the order of document numbers."""  # (N,)
        if isinstance(node, Filter):
            return satisfied(self.index, node.condition)
        if isinstance(node, Group):
            return self._group(node.clauses)
        flags, first = np.zeros(len(self.numbers), np.bool_), 0
        for segment, (rows, _) in zip(self.index.segments, self._postings(node), strict=True):
            places = np.cumsum(~segment.dead) - 1
            flags[first + places[rows]] = True
            first += segment.alive
        return flags

    def _group(self, clauses: tuple[Clause, ...]) -> Flags:
        must = [clause.node for clause in clauses if clause.sign == "+"]
        may = [clause.node for clause in clauses if clause.sign == ""]
        matching = np.full(len(self.numbers), bool(must or may))
        for node in must:
            matching &= self._matches(node)
        if may and all(isinstance(node, Filter) for node in must):
            matching &= np.logical_or.reduce([self._matches(node) for node in may])
        for clause in clauses:
            if clause.sign == "-":
                matching &= ~self._matches(clause.node)
        return matching

    def _postings(self, leaf: Leaf) -> list[Postings]:
        if leaf not in self.looked_up:
            terms = self._terms(leaf)
            self.looked_up[leaf] = [
                self._in_field(self._of_segment(segment, leaf, terms), leaf.field) for segment in self.index.segments
            ]
        return self.looked_up[leaf]

    def _terms(self, leaf: Leaf) -> Int32s:
        """The terms of a phrase in order, or all forms of a word."""
        if isinstance(leaf, Phrase):
            return np.array(self.index.store.term_ids(leaf.words), np.int32)
        return vocabulary(self.index).terms[self._forms(leaf)]

    def _forms(self, leaf: Prefix | Fuzzy) -> Ints:
        """The places of all forms of a word in the vocabulary."""
        if leaf not in self.forms:
            if isinstance(leaf, Prefix):
                self.forms[leaf] = with_prefix(self.index, leaf.letters)
            else:
                spellings = dict.fromkeys([leaf.word, self.index.analyser.term(leaf.word)[0]])
                near = [near_words(self.index, spelling, leaf.typos)[0] for spelling in spellings]
                self.forms[leaf] = np.unique(np.concatenate(near))
        return self.forms[leaf]

    def frequent_terms(self, leaf: Leaf) -> list[int]:
        """The terms of a phrase that documents have, or the most frequent forms of a word."""
        if isinstance(leaf, Phrase):
            return [t for t in self._terms(leaf).tolist() if t >= 0]
        whole, forms = vocabulary(self.index), self._forms(leaf)
        order = np.lexsort((whole.terms[forms], -whole.df[forms]))[:MOST_FORMS]
        return whole.terms[forms[order]].tolist()  # type: ignore[no-any-return]

    def _of_segment(self, segment: Segment, leaf: Leaf, terms: Int32s) -> Postings:
        if isinstance(leaf, Phrase) and len(terms) > 1:
            return phrase_postings(segment, terms, leaf.near)
        return any_of(segment, terms)

    def _in_field(self, postings: Postings, field: str | None) -> Postings:
        if field is None:
            return postings
        rows, counts = postings
        column = self.index.fields.index(field)
        alone = np.zeros_like(counts)
        alone[:, column] = counts[:, column]
        matching = alone[:, column] > 0
        return rows[matching], alone[matching]


def any_of(segment: Segment, terms: Int32s) -> Postings:
    """Postings of all terms together, as if they were one."""
    places = segment.places(terms)
    parts = [np.arange(segment.pointers[k], segment.pointers[k + 1]) for k in places[places >= 0]]
    at = np.concatenate([np.empty(0, np.int64), *parts])
    at = at[~segment.dead[segment.rows[at]]]
    if len(parts) < 2:
        return segment.rows[at].astype(np.int64), segment.frequencies[at]
    rows, which = np.unique(segment.rows[at], return_inverse=True)
    counts = np.zeros((len(rows), segment.frequencies.shape[1]), np.int32)
    np.add.at(counts, which, segment.frequencies[at])
    return rows.astype(np.int64), counts
