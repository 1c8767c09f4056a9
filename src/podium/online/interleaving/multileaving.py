"""Multileaving: users see one list merged from several rankers, which all compete on every page.

    >>> from podium.online.interleaving.multileaving import merge_page
    >>> page = merge_page("team-draft", [["a", "b"], ["b", "a"], ["c", "a"]], query="shoes", page="visit-7", length=2)
    >>> page.documents, page.credits
    (('a', 'b'), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
    >>> page.outcome([1])  # a click at position 1 speaks for the first ranker
    array([1., 0., 0.])

Clicks that depend on the position alone give every ranker the same credit on average. A verdict compares every two
rankers by the difference of their credits, page by page, with Holm's correction.
Reference: Schuth et al., Multileaved comparisons for fast online evaluation, CIKM 2014; Schuth et al., Probabilistic
multileave for online retrieval evaluation, SIGIR 2015.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array
from podium.base.errors import DataError, ParameterError
from podium.evaluation.significance import adjust
from podium.formats.trec.trec import AnyRun, as_run, first_documents
from podium.online.interleaving.base import Interleaving, chance, check_clicks
from podium.online.verdict import Verdict, verdict


@dataclass(frozen=True)
class MultileavedPage:
    """Results page merged from several rankers, from the top."""

    query: str
    page: str
    documents: tuple[str, ...]
    credits: tuple[tuple[float, ...], ...]  # of each ranker for a click at each position

    def outcome(self, clicks: Iterable[int]) -> Array:
        """Sum of the credits of clicked positions, which count from 1, for each ranker; clicking twice counts once."""
        places = check_clicks(clicks, self.page, len(self.documents))
        table = np.array(self.credits).reshape(len(self.documents), -1)
        return np.asarray(table[[place - 1 for place in places]].sum(axis=0))


def merge_page(
    method: Interleaving | str,
    lists: Sequence[Sequence[str]],
    *,
    query: str = "",
    page: str,
    length: int = 10,
    seed: int = 0,
) -> MultileavedPage:
    """Merge the lists of several rankers, best first, to a results page of one query."""
    chosen = Interleaving.parse(method) if isinstance(method, str) else method
    if length < 1:
        raise ParameterError(f"length must be at least 1; got {length}.")
    if len(lists) < 2:
        raise ParameterError(f"multileaving needs at least two rankers; got {len(lists)}.")
    for number, documents in enumerate(lists, 1):
        if len(set(documents)) != len(documents):
            raise DataError(f"query {query!r}: list {number} has a document twice.")
    documents, credits = chosen.merge_many([*map(list, lists)], chance(seed, query, page), length=length)
    return MultileavedPage(query, page, tuple(documents), tuple(map(tuple, credits)))


class Multileaver:
    """Multileaver of runs by name: makes results pages for the queries that all of them have."""

    def __init__(
        self, method: Interleaving | str, runs: Mapping[str, AnyRun], *, length: int = 10, seed: int = 0
    ) -> None:
        self.method = Interleaving.parse(method) if isinstance(method, str) else method
        self.names, self.length, self.seed = tuple(runs), length, seed
        lists = [first_documents(as_run(run), 1 << 62) for run in runs.values()]
        self.queries = [query for query in lists[0] if all(query in others for others in lists)]
        if not self.queries:
            raise DataError("the runs have no query in common.")
        self.left_out = len({query for documents in lists for query in documents}) - len(self.queries)
        self._lists = lists

    def page(self, query: str, page: str) -> MultileavedPage:
        """Make the page of this query and id."""
        if not all(query in documents for documents in self._lists):
            raise DataError(f"query {query!r} is not in all runs.")
        lists = [documents[query] for documents in self._lists]
        return merge_page(self.method, lists, query=query, page=page, length=self.length, seed=self.seed)

    def pages(self, n: int) -> Iterator[MultileavedPage]:
        """Make `n` pages for every query of all runs, with ids query-1, query-2 …"""
        for query in self.queries:
            for k in range(1, n + 1):
                yield self.page(query, f"{query}-{k}")


@dataclass(frozen=True)
class MultileavingVerdict:
    """Credits of rankers, and the verdict on every two of them."""

    names: tuple[str, ...]
    credits: tuple[float, ...]  # the mean of a page
    pairs: dict[tuple[str, str], Verdict]  # p by Holm over all pairs; intervals are those of single pairs

    def sentences(self) -> list[str]:
        """Describe the verdicts in words."""
        return [pair.sentence(*names) for names, pair in self.pairs.items()]


def verdict_of_many(
    outcomes: ArrayLike, names: Sequence[str], *, users: Sequence[Any] | None = None, confidence: float = 0.95
) -> MultileavingVerdict:
    """Compare rankers by their outcomes of results pages (P, R), every two by the differences of a page."""
    table = np.asarray(outcomes, np.float64)
    if table.ndim != 2 or table.shape[1] != len(names):
        raise DataError(f"outcomes must have a column for each of {len(names)} rankers; got shape {table.shape}.")
    pairs = {
        (names[a], names[b]): verdict(table[:, a] - table[:, b], users=users, confidence=confidence)
        for a, b in itertools.combinations(range(len(names)), 2)
    }
    adjusted = adjust([pair.p for pair in pairs.values()])
    corrected = {key: replace(pair, p=float(p)) for (key, pair), p in zip(pairs.items(), adjusted, strict=True)}
    return MultileavingVerdict(tuple(names), tuple(table.mean(axis=0).tolist()), corrected)
