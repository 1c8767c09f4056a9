"""Rankings: what several voters say about the documents of each query, as ranked lists, possibly partial and tied.

    >>> votes = Rankings.from_orders([[["A", "B", "C"], ["A", {"B", "C"}], ["B", "A"]]])
    >>> votes.query(0).matrix()
    array([[ 1.,  2.,  3.],
           [ 1.,  2.,  2.],
           [ 2.,  1., nan]])

A voter is a run, a judge, a ballot. A document that a voter does not rank has no entry; a voter may be silent on a
query. The documents of a query are those that some voter ranks, in the order of their ids, so nothing depends on
the order in which the input came.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.data.query_rankings import QueryRankings
from podium.errors import DataError

Array = NDArray[np.float64]
Order = Sequence[str | int | Collection[str | int]]
"""Documents from the best to the worst; a tuple or set among them holds documents that are tied."""

Column = Sequence[Any] | NDArray[Any]


@dataclass(frozen=True, eq=False)
class Rankings:
    """The lists of V voters on Q queries of N documents: E entries, those of one voter on one query together."""

    query_ids: NDArray[Any]  # (Q,) text
    voters: tuple[str, ...]  # (V,)
    document_ids: NDArray[Any]  # (N,) text, in their order within each query
    offsets: NDArray[np.int64]  # (Q+1,): documents offsets[q]:offsets[q+1] are those of query q
    documents: NDArray[np.int64]  # (E,) a document's number within its query
    ranks: NDArray[np.int64]  # (E,) dense: 1 for the top, tied documents share a rank; rising within a list
    scores: Array  # (E,) NaN where the voter gave none
    entry_offsets: NDArray[np.int64]  # (Q·V+1,): entries of voter v on query q from entry_offsets[q·V + v]
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
        """Rankings from one list of orders per query, one order per voter; None where a voter is silent."""
        names = [str(v + 1) for v in range(max(map(len, orders), default=0))] if voters is None else list(voters)
        queries = [str(q) for q in range(len(orders))] if query_ids is None else list(query_ids)
        rows: list[tuple[str, str, str, int]] = []
        for query, lists in zip(queries, orders, strict=True):
            if len(lists) != len(names):
                raise DataError(f"query {query}: {len(lists)} orders for {len(names)} voters; write None for none.")
            for voter, given in zip(names, lists, strict=True):
                rows += [(query, voter, document, rank) for document, rank in _flat(given, f"{query}, voter {voter}")]
        columns = list(zip(*rows, strict=True)) if rows else [(), (), (), ()]
        given_weights = np.ones(len(names)) if weights is None else np.asarray(weights, np.float64)
        return cls.from_entries(
            columns[0], columns[1], columns[2], ranks=columns[3], voters=names, weights=given_weights
        )

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
        """
        query, query_ids = _codes(queries)
        voter, names = _codes(voter_of, known=voters)
        document, ids = _codes(documents)
        position = _positions(ids)
        pairs, local = np.unique(query * max(len(ids), 1) + position[document], return_inverse=True)
        keys = _sort_keys(ranks, scores, len(query))
        where = _Where(query_ids, names, sources, lines)
        by = np.lexsort((local, keys, voter, query))
        slot = (query * len(names) + voter)[by]  # (E,) which voter's list on which query
        _need_once(slot, local.reshape(-1)[by], by, where, documents)
        counts = np.bincount(slot, minlength=len(query_ids) * len(names))
        sizes = np.bincount(pairs // max(len(ids), 1), minlength=len(query_ids))
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        in_order = np.empty(len(ids), np.int64)
        in_order[position] = np.arange(len(ids))
        document_ids = np.array(ids, dtype=object)[in_order[pairs % max(len(ids), 1)]]
        owner = np.repeat(np.arange(len(query_ids)), sizes)
        return cls(
            query_ids=np.array(query_ids, dtype=object),
            voters=tuple(names),
            document_ids=document_ids,
            offsets=offsets,
            documents=local.reshape(-1)[by] - offsets[query[by]],
            ranks=_dense(slot, keys[by]),
            scores=np.full(len(by), np.nan) if scores is None else np.asarray(scores, np.float64)[by],
            entry_offsets=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            weights=np.ones(len(names)) if weights is None else np.asarray(weights, np.float64),
            labels=None if labels is None else _labels(labels, query_ids, owner, document_ids),
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
        """What the voters say on query q."""
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
        """The same lists with other weights of the voters, in their order."""
        return replace(self, weights=np.array(weights, np.float64))

    def source(self, voter: int) -> str:
        """Where a voter came from: its file, or file:line, or its name."""
        return self.voters[voter] if self.sources is None else self.sources[voter]


@dataclass(frozen=True)
class _Where:
    """What messages call a row of the input."""

    queries: list[str]
    voters: list[str]
    sources: Sequence[str] | None
    lines: Sequence[int] | None

    def __call__(self, row: int, voter: int) -> str | None:
        source = None if self.sources is None else self.sources[voter]
        if self.lines is None:
            return source
        return f"{source or 'row'}:{self.lines[row]}"


def _flat(order: Order | None, where: str) -> Iterator[tuple[str, int]]:
    """The documents of an order with their ranks."""
    if order is None:
        return
    if not len(order):
        raise DataError(f"query {where}: an empty ranking. Write None for a voter that is silent on a query.")
    for rank, group in enumerate(order, start=1):
        together = [group] if isinstance(group, str | int | np.integer) else group
        if not together:
            raise DataError(f"query {where}: a group of tied documents is empty at rank {rank}.")
        for document in together:
            yield str(document), rank


def _codes(values: Column, *, known: Sequence[str] | None = None) -> tuple[NDArray[np.int64], list[str]]:
    """Numbers for names, in order of first appearance (or of `known`), and the names as text."""
    column = values.tolist() if isinstance(values, np.ndarray) else values
    numbers: dict[str, int] = {name: at for at, name in enumerate(known or ())}
    code = {value: numbers.setdefault(str(value), len(numbers)) for value in dict.fromkeys(column)}
    return np.fromiter(map(code.__getitem__, column), np.int64, len(column)), list(numbers)


def _positions(ids: list[str]) -> NDArray[np.int64]:
    """The place of each id among the sorted ids."""
    places = np.empty(len(ids), np.int64)
    places[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    return places


def _sort_keys(ranks: ArrayLike | None, scores: ArrayLike | None, n: int) -> Array:
    """What rises from the best to the worst: the rank, or the score turned round."""
    if ranks is None and scores is None:
        raise DataError("a ranking needs ranks or scores; got neither.")
    keys = np.asarray(ranks, np.float64) if ranks is not None else -np.asarray(scores, np.float64)
    if len(keys) != n:
        raise DataError(f"{len(keys)} {'scores' if ranks is None else 'ranks'} for {n} entries.")
    bad = np.flatnonzero(np.isnan(keys))
    if len(bad):
        raise DataError(f"entry {bad[0]} has no {'score' if ranks is None else 'rank'} (NaN). Leave such entries out.")
    return keys


def _need_once(
    slot: NDArray[np.int64], document: NDArray[np.int64], by: NDArray[np.int64], where: _Where, names: Column
) -> None:
    together = np.lexsort((by, document, slot))
    same = (np.diff(slot[together]) == 0) & (np.diff(document[together]) == 0)
    if not same.any():
        return
    at = together[1:][same]
    first = at[by[at].argmin()]
    row, voter = int(by[first]), int(slot[first]) % len(where.voters)
    query = where.queries[int(slot[first]) // len(where.voters)]
    raise DataError(
        f"document {names[row]} is ranked twice by voter {where.voters[voter]} for query {query}. Keep one of them.",
        where=where(row, voter),
    )


def _dense(slot: NDArray[np.int64], keys: Array) -> NDArray[np.int64]:
    """Dense ranks of keys that rise within each slot."""
    new_list = np.diff(slot, prepend=-1) != 0
    if not len(slot):
        return np.empty(0, np.int64)
    steps = new_list.copy()
    steps[1:] |= keys[1:] != keys[:-1]
    total = np.cumsum(steps)
    starts = np.flatnonzero(new_list)
    before = np.repeat(total[starts] - 1, np.diff(np.append(starts, len(slot))))
    return np.asarray(total - before, np.int64)


def _labels(
    labels: Mapping[tuple[str, str], float], query_ids: list[str], owner: NDArray[np.int64], ids: NDArray[Any]
) -> Array:
    keys = zip(owner.tolist(), ids, strict=True)
    return np.array([labels.get((query_ids[q], document), np.nan) for q, document in keys], np.float64)
