"""Rankings of each query's documents by several voters, possibly partial and tied.

    >>> votes = Rankings.from_orders([[["A", "B", "C"], ["A", {"B", "C"}], ["B", "A"]]])
    >>> votes.query(0).matrix()
    array([[ 1.,  2.,  3.],
           [ 1.,  2.,  2.],
           [ 2.,  1., nan]])

A voter is a run, a judge, a ballot. A document that a voter does not rank has no entry; a voter may be silent on a
query. The documents of a query are those that at least one voter ranks, in the order of their ids, so results do not
depend on the order of the input.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.base.arrays import AnyArray, Array, Ints
from podium.base.columns import float_numbers, id_text, number_ids, text_ids, without_mask
from podium.base.errors import DataError
from podium.parsing.ids import Ids

Order = Sequence[str | int | Collection[str | int]]
"""Documents from the best to the worst; a tuple or set among them holds documents that are tied."""

Column = Sequence[Any] | AnyArray | Ids


@dataclass(frozen=True, eq=False)
class Rankings:
    """The lists of V voters on Q queries of N documents: E entries, those of one voter on one query together."""

    query_ids: AnyArray  # (Q,) text
    voters: tuple[str, ...]  # (V,) names
    document_ids: Ids  # (N,) in their order within each query
    offsets: Ints  # (Q+1,): documents offsets[q]:offsets[q+1] are those of query q
    documents: Ints  # (E,) a document's number within its query
    ranks: Ints  # (E,) dense: 1 for the top, tied documents share a rank; rising within a list
    scores: Array  # (E,) NaN if the voter has none
    entry_offsets: Ints  # (Q·V+1,): entries of voter v on query q from entry_offsets[q·V + v]
    weights: Array  # (V,) above 0; a voter of weight 2 counts as two
    labels: Array | None = None  # (N,) grades where known, else NaN
    sources: tuple[str, ...] | None = None  # (V,) the file, or file:line, for messages

    def __post_init__(self) -> None:
        bad = np.flatnonzero(~(np.isfinite(self.weights) & (self.weights > 0)))
        if len(self.weights) != len(self.voters):
            raise DataError(f"{len(self.weights)} weights for {len(self.voters)} voters.")
        if len(bad):
            name, weight = self.voters[bad[0]], self.weights[bad[0]]
            raise DataError(
                f"the weight of voter {name!r} must be a number above 0; got {weight}. Leave it out instead."
            )

    @classmethod
    def from_orders(
        cls,
        orders: Sequence[Sequence[Order | None]],
        *,
        voters: Sequence[str] | None = None,
        query_ids: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
    ) -> Rankings:
        """Rankings from one list of orders per query, one order per voter; None if a voter is silent.

        `voters`: their names.
        `query_ids`: those of the queries.
        `weights`: how much each voter counts; 1 by default.
        `orders`: for each query one order per voter, best first; a tuple or set in an order is a tie.
        """
        size = max(map(len, orders), default=0)
        names = [str(v + 1) for v in range(size)] if voters is None else _different(voters, "voter")
        queries = [str(q) for q in range(len(orders))] if query_ids is None else _different(query_ids, "query")
        if len(queries) != len(orders):
            raise DataError(f"{len(queries)} query ids for the orders of {len(orders)} queries.")
        rows: list[tuple[str, str, str, int]] = []
        for query, lists in zip(queries, orders, strict=True):
            if len(lists) != len(names):
                raise DataError(f"query {query}: {len(lists)} orders for {len(names)} voters; write None for none.")
            for voter, order in zip(names, lists, strict=True):
                rows += [(query, voter, document, rank) for document, rank in _flat(order, f"{query}, voter {voter}")]
        columns = list(zip(*rows, strict=True)) if rows else [(), (), (), ()]
        return cls.from_entries(columns[0], columns[1], columns[2], ranks=columns[3], voters=names, weights=weights)

    @classmethod
    def from_entries(
        cls,
        queries: Column,
        voter_of: Column,
        documents: Column,
        *,
        ranks: ArrayLike | None = None,
        scores: ArrayLike | None = None,
        voters: Sequence[str] | None = None,
        weights: ArrayLike | None = None,
        labels: Mapping[tuple[str, str], float] | None = None,
        sources: Sequence[str] | None = None,
        lines: Sequence[int] | None = None,
    ) -> Rankings:
        """Rankings from rows in any order: query, voter, document, and its rank (1 is the top) or score or both.

        Without ranks the scores rank, larger first, equal ones tied. `labels` are grades by (query, document);
        `sources` (by voter) and `lines` (by row) are for messages.

        `queries`: the query of each row, with `voter_of` its voter and `documents` its document.
        `voters`: all names, if some vote nowhere.
        `weights`: how much each voter counts; 1 by default.
        `ranks`: rank of each row from 1, equal ranks are ties; None takes the order of `scores`.
        `scores`: score of each row, larger is better; None if voters gave none.
        """
        query, query_ids = number_ids(queries, "query id")
        voter, names = _voters(voter_of, voters)
        named = documents if isinstance(documents, Ids) else Ids.of(text_ids(documents, "document id"))
        if not len(query) == len(voter) == len(named):
            raise DataError(f"{len(query)} queries, {len(voter)} voters, {len(named)} documents. Give as many of each.")
        values = _sort_values(ranks, scores, len(query))
        slot = query * len(names) + voter  # (E,) the number of the list
        by = np.argsort(slot, kind="stable")
        counts = np.bincount(slot, minlength=len(query_ids) * len(names))
        entry_offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        ids = named[by]
        _need_once(ids, by, entry_offsets, where=_Where(query_ids, names, sources, lines))
        rankings = cls.from_lists(
            ids,
            entry_offsets,
            values=values[by],
            scores=None if scores is None else _entry_numbers(scores, "score", len(query))[by],
            query_ids=np.array(query_ids, dtype=object),
            voters=names,
            weights=weights,
            sources=sources,
        )
        return rankings if labels is None else replace(rankings, labels=_labels(labels, rankings))

    @classmethod
    def from_lists(
        cls,
        documents: Ids,
        entry_offsets: Ints,
        *,
        values: Array,
        scores: Array | None,
        query_ids: AnyArray,
        voters: Sequence[str],
        weights: ArrayLike | None = None,
        sources: Sequence[str] | None = None,
    ) -> Rankings:
        """Rankings from the lists of all voters on the first query, then on the next one…

        Each has documents, none twice, with values, larger is better; list k is entry_offsets[k]:entry_offsets[k+1].

        `scores`: the voters' own scores, if there are any.
        `query_ids`: those of the queries.
        `weights`: how much each voter counts; 1 by default.
        `sources`: names of the lists, for messages.
        `documents`: the document of each entry, list after list (E,).
        `entry_offsets`: (Q × V + 1,), the voters of a query one after the other; a voter without a list has an empty
            one.
        `values`: a number for each entry (E,); larger is better, equal ones are ties.
        `voters`: names of the V voters.
        """
        from podium.aggregation.rankings.rankings_kernels import assemble

        n = len(documents)
        numbers, ranks, order, firsts = (np.empty(n, np.int64) for _ in range(4))
        offsets = np.zeros(len(query_ids) + 1, np.int64)
        spans = (documents.text, documents.starts, documents.ends)
        assemble(*spans, values, entry_offsets, len(voters), numbers, ranks, order, firsts, offsets)
        return cls(
            query_ids=query_ids,
            voters=tuple(voters),
            document_ids=documents[firsts[: offsets[-1]]],
            offsets=offsets,
            documents=numbers,
            ranks=ranks,
            scores=np.full(n, np.nan) if scores is None else scores[order],
            entry_offsets=entry_offsets,
            weights=np.ones(len(voters)) if weights is None else float_numbers(weights, "weight of a voter"),
            sources=None if sources is None else tuple(sources),
        )

    @property
    def n_queries(self) -> int:
        return len(self.query_ids)

    @property
    def n_voters(self) -> int:
        return len(self.voters)

    @property
    def n_documents(self) -> int:
        return len(self.document_ids)

    def query(self, q: int) -> QueryRankings:
        """The voters' lists on query q.

        `q`: number of the query, from 0.
        """
        v = self.n_voters
        bounds = self.entry_offsets[q * v : (q + 1) * v + 1]
        a, b = int(bounds[0]), int(bounds[-1])
        return QueryRankings(
            query_id=str(self.query_ids[q]),
            document_ids=self.document_ids[self.offsets[q] : self.offsets[q + 1]],
            documents=self.documents[a:b],
            ranks=self.ranks[a:b],
            scores=self.scores[a:b],
            offsets=bounds - a,
            weights=self.weights,
        )

    def __iter__(self) -> Iterator[QueryRankings]:
        return (self.query(q) for q in range(self.n_queries))

    def with_weights(self, weights: ArrayLike) -> Rankings:
        """The same lists with other weights of the voters, in their order.

        `weights`: how much each voter counts (V,).
        """
        return replace(self, weights=float_numbers(weights, "weight of a voter"))

    def source(self, voter: int) -> str:
        """The source of a voter: its file, or file:line, or its name.

        `voter`: number of the voter, from 0.
        """
        return self.voters[voter] if self.sources is None else self.sources[voter]


@dataclass(frozen=True)
class _Where:
    """Name of a row of the input in messages."""

    queries: list[str]
    voters: list[str]
    sources: Sequence[str] | None
    lines: Sequence[int] | None

    def __call__(self, row: int, voter: int) -> str | None:
        source = None if self.sources is None else self.sources[voter]
        if self.lines is None:
            return source
        return f"{source or 'row'}:{self.lines[row]}"


def _flat(order: Order | AnyArray | None, where: str) -> Iterator[tuple[str, int]]:
    """The documents of an order with their ranks."""
    if order is None:
        return
    if isinstance(order, str | bytes | Mapping | Set) or not hasattr(order, "__iter__"):
        raise DataError(f"query {where}: a ranking is a list of documents, best first; got {type(order).__name__}.")
    groups = without_mask(order).tolist() if isinstance(order, np.ma.MaskedArray) else list(order)
    if not groups:
        raise DataError(f"query {where}: an empty ranking. Write None for a voter that is silent on a query.")
    for rank, group in enumerate(groups, start=1):
        together = list(group) if isinstance(group, list | tuple | Set | np.ndarray) else [group]
        if not together:
            raise DataError(f"query {where}: a group of tied documents is empty at rank {rank}.")
        for document in together:
            try:
                yield id_text(document), rank
            except ValueError as error:
                raise DataError(f"query {where}, rank {rank}: document {error}") from None


def _voters(voter_of: Column, voters: Sequence[str] | None) -> tuple[Ints, list[str]]:
    """The number of each entry's voter, in order of first appearance or of `voters`, and the names."""
    codes, names = number_ids(voter_of, "name of a voter")
    if voters is None:
        return codes, names
    numbers = {name: at for at, name in enumerate(_different(voters, "voter"))}
    place = np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)
    return place[codes], list(numbers)


def _different(values: Sequence[Any], what: str) -> list[str]:
    """Names as text, none twice."""
    names: list[str] = text_ids(values, f"name of a {what}").tolist()
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"two of the {what} names are {twice!r}. Give each a name of its own.")
    return names


def _sort_values(ranks: ArrayLike | None, scores: ArrayLike | None, n: int) -> Array:
    """Values that fall from the best to the worst: the score, or the negative rank."""
    if ranks is None and scores is None:
        raise DataError("a ranking needs ranks or scores; got neither.")
    values = -_entry_numbers(ranks, "rank", n) if ranks is not None else _entry_numbers(scores, "score", n)
    bad, what = np.flatnonzero(~np.isfinite(values)), "score" if ranks is None else "rank"
    if len(bad) and np.isnan(values[bad[0]]):
        raise DataError(f"entry {bad[0]} has no {what} (NaN). Leave such entries out.")
    if len(bad):
        raise DataError(f"entry {bad[0]}: the {what} must be a finite number; got {abs(values[bad[0]])}.")
    return values


def _entry_numbers(values: ArrayLike | None, what: str, n: int) -> Array:
    numbers = float_numbers(values, what)
    if len(numbers) != n:
        raise DataError(f"{len(numbers)} {what}s for {n} entries.")
    return numbers


def _need_once(ids: Ids, by: Ints, entry_offsets: Ints, *, where: _Where) -> None:
    """Raise a clear error if a list names a document twice; entry k of the lists is row by[k] of the input."""
    again = ids.repeats(entry_offsets)
    if not len(again):
        return
    entry = again[by[again].argmin()]
    query, voter = divmod(int(np.searchsorted(entry_offsets, entry, side="right")) - 1, len(where.voters))
    raise DataError(
        f"document {ids[entry]} is ranked twice by voter {where.voters[voter]} for query {where.queries[query]}. "
        "Keep one of them.",
        where=where(int(by[entry]), voter),
    )


def _labels(labels: Mapping[tuple[str, str], float], rankings: Rankings) -> Array:
    grades = float_numbers(list(labels.values()), "label")
    queries = text_ids([query for query, _ in labels], "query id of a label")
    documents = text_ids([document for _, document in labels], "document id of a label")
    by_pair = dict(zip(zip(queries, documents, strict=True), grades.tolist(), strict=True))
    owner = np.repeat(rankings.query_ids, np.diff(rankings.offsets))
    keys = zip(owner.tolist(), rankings.document_ids, strict=True)
    return np.array([by_pair.get(key, np.nan) for key in keys], np.float64)
