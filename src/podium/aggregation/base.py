"""Rank aggregation (rank fusion): many rankings in, one consensus out.

    >>> from podium.aggregation.rankings.rankings import Rankings
    >>> votes = Rankings.from_orders([[["A", "B", "C"], ["A", "C", "B"], ["B", "A", "C"]]])
    >>> consensus = Aggregator.parse("borda")(votes)
    >>> consensus.order(0), consensus.scores.tolist()
    (['A', 'B', 'C'], [5.0, 3.0, 1.0])

An aggregator is a frozen value that turns the lists of one query into scores, larger is better, equal ones tied.
Lists may be partial and tied, and voters have weights: one of weight 2 counts as two. Documents missing from a list
are tied below all that it ranks (`unranked=last`, as in search results cut at some depth); many methods also have
`unranked=skip`: the list does not compare them with others (a driver who did not start).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from podium.aggregation.rankings.query_rankings import QueryRankings
from podium.aggregation.rankings.rankings import Rankings
from podium.base.arrays import AnyArray, Array, Ints
from podium.base.errors import CostWarning, IncompatibleError, counted
from podium.base.registry import Named
from podium.base.shown import Shown, ShownTable
from podium.base.threads import default_threads, pool
from podium.formats.trec.trec import Run
from podium.jit import sorting as ranking
from podium.parsing.ids import Ids


@dataclass(frozen=True)
class Solved:
    """The consensus on one query."""

    scores: Array  # (n,)
    cost: float = float("nan")
    """The cost of the order; NaN if the method minimises nothing."""
    bound: float = float("nan")
    """A proven lower bound on the cost of any order; equal to the cost if the order is optimal."""
    r_hat: float = 1.0
    """R-hat of the simulated Markov chains (see `diagnostics.py`); 1 without simulation."""


@dataclass(frozen=True, eq=False, repr=False)
class Consensus(Shown):
    """One ranking per query, as scores of the documents that at least one voter ranked."""

    query_ids: AnyArray  # (Q,) text
    document_ids: Ids  # (N,)
    offsets: Ints  # (Q+1,)
    scores: Array  # (N,) larger is better, equal ones are tied
    costs: Array  # (Q,) NaN if the method minimises nothing
    bounds: Array  # (Q,) no order of the query costs less than this
    r_hats: Array  # (Q,) R-hat of simulated chains; 1 without simulation, above 1.1 they disagree

    @property
    def n_queries(self) -> int:
        return len(self.query_ids)

    @property
    def gaps(self) -> Array:
        """The optimality gap of each query's order, relative to its cost; 0 if it is proven optimal."""
        return (self.costs - self.bounds) / np.maximum(self.costs, np.finfo(float).tiny)

    def ranks(self) -> Ints:
        """Each document's dense rank in its query."""  # (N,)
        parts = [
            ranking.dense_ranks(self.scores[a:b]) for a, b in zip(self.offsets[:-1], self.offsets[1:], strict=True)
        ]
        return np.concatenate(parts) if parts else np.empty(0, np.int64)

    def _shown(self) -> ShownTable:
        queries = np.repeat(self.query_ids, np.diff(self.offsets))
        columns = [list(map(str, queries)), list(map(str, self.document_ids)), self.ranks().tolist()]
        rows = list(zip(*columns, self.scores.tolist(), strict=True))
        title = f"Consensus: {counted(self.n_queries, 'query', 'queries')}, {counted(len(rows), 'document')}"
        return ShownTable(title, ["query", "document", "rank", "score"], rows)

    def order(self, q: int) -> list[str]:
        """The documents of query q from the best to the worst; ties in the order of their ids."""
        a, b = self.offsets[q], self.offsets[q + 1]
        return [str(self.document_ids[a:b][i]) for i in ranking.order(self.scores[a:b])]

    def run(self, tag: str = "podium") -> Run:
        """The consensus as a TREC run; white space in names becomes an underscore."""
        queries = np.array(["_".join(str(name).split()) for name in self.query_ids], dtype=object)
        documents = self.document_ids
        if documents.first_unwritable() >= 0:
            documents = Ids.of(["_".join(name.split()) for name in documents])
        return Run(queries, self.offsets, documents, self.scores, "_".join(tag.split()))


class Aggregator(Named):
    """Rank aggregation method. Its fields are its parameters."""

    kind: ClassVar[str] = "aggregator"
    home: ClassVar[str] = "podium.aggregation"
    needs_scores: ClassVar[bool] = False
    """Whether it reads the voters' scores, not only their ranks."""
    minimises: ClassVar[bool] = False
    """Whether it minimises a cost, and reports it with a lower bound; the order is strict."""
    unanimous: ClassVar[bool] = True
    """Whether a document that every voter ranks before another always comes before it."""
    slow_above: ClassVar[int | None] = None
    """Documents of a query above which it may take a minute or more; None if long lists are not expensive."""
    elects_condorcet: ClassVar[bool] = False
    """Whether a document that beats every other by a majority always comes first."""

    def one(self, query: QueryRankings) -> Array:
        """The consensus scores of one query's documents.

        `query`: the voters' lists of one query, as `Rankings.query` gives them.
        """  # (n,)
        return self.solve(query).scores

    def solve(self, query: QueryRankings) -> Solved:
        """The consensus on one query, with its cost if the method minimises one.

        `query`: the voters' lists of one query, as `Rankings.query` gives them.
        """
        return Solved(self.one(query))

    def check(self, rankings: Rankings) -> None:
        """Raise a clear error if this method cannot use the rankings.

        `rankings`: the rankings of all queries.
        """
        if not self.needs_scores:
            return
        missing = np.flatnonzero(np.isnan(rankings.scores))
        if len(missing):
            slot = int(np.searchsorted(rankings.entry_offsets, missing[0], side="right")) - 1
            query, voter = divmod(slot, rankings.n_voters)
            raise IncompatibleError(
                f"{rankings.source(voter)}: {self} adds up scores, but voter {rankings.voters[voter]} gave none "
                f"for query {rankings.query_ids[query]}. Use a method that needs ranks only, such as rrf or borda."
            )

    def _warn_of_cost(self, rankings: Rankings) -> None:
        """Warn before expensive work starts."""
        sizes = np.diff(rankings.offsets)
        if self.slow_above is not None and sizes.max(initial=0) > self.slow_above:
            long = np.flatnonzero(sizes > self.slow_above)
            warnings.warn(
                f"{self}: {len(long)} of {len(sizes)} queries have more than {self.slow_above} documents (query "
                f"{rankings.query_ids[sizes.argmax()]} has {sizes.max()}) and may take a minute or more each. "
                "borda, rrf and mc4 take less than a second.",
                CostWarning,
                stacklevel=3,
            )

    def __call__(self, rankings: Rankings) -> Consensus:
        """The consensus on every query."""
        self.check(rankings)
        self._warn_of_cost(rankings)
        solved = _each(lambda q: self.solve(rankings.query(q)), rankings.n_queries)
        return Consensus(
            query_ids=rankings.query_ids,
            document_ids=rankings.document_ids,
            offsets=rankings.offsets,
            scores=np.concatenate([query.scores for query in solved]) if solved else np.empty(0),
            costs=np.array([query.cost for query in solved]),
            bounds=np.array([query.bound for query in solved]),
            r_hats=np.array([query.r_hat for query in solved]),
        )


def _each(work: Callable[[int], Solved], n: int) -> list[Solved]:
    """`work` on every query, in order; the first alone, so that its kernels are compiled once."""
    threads = default_threads()
    if threads == 1 or n < _FEW:
        return [work(q) for q in range(n)]
    first = work(0)
    starts = range(1, n, _FEW)
    blocks = pool(threads).map(lambda a: [work(q) for q in range(a, min(a + _FEW, n))], starts)
    return [first] + [solved for block in blocks for solved in block]


_FEW = 16  # queries that one thread takes at a time
