"""Interleaving: users see one list merged from two rankers, and their clicks show which ranker they prefer.

    >>> from podium.online.interleaving import Interleaving, make_page
    >>> page = make_page("team-draft", ["a", "b", "c"], ["b", "d", "a"], query="shoes", page="visit-7", seed=0)
    >>> page.documents, page.credits
    (('b', 'a', 'c', 'd'), (-1.0, 1.0, 1.0, -1.0))
    >>> page.outcome([2])  # a click at position 2 speaks for the first ranker
    1.0

With every method, a results page is a list of documents and, for each position, the credit of a click there: above 0
for the first ranker, below 0 for the second. The outcome of a page is the sum over its clicks. `podium.online.verdict`
makes a verdict of many outcomes. A page depends only on the two lists, the method, the seed, the query and the page id,
from which it can be made again.
"""

from __future__ import annotations

import abc
import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from podium.base.errors import DataError, ParameterError
from podium.base.registry import Named
from podium.formats.trec.trec import AnyRun, as_run, first_documents


@dataclass(frozen=True)
class Page:
    """Interleaved results page: one merged list, from the top."""

    query: str
    page: str
    documents: tuple[str, ...]
    credits: tuple[float, ...]  # of a click at each position: above 0 for the first ranker

    def outcome(self, clicks: Iterable[int]) -> float:
        """Sum of the credits of clicked positions, which count from 1; clicking twice counts once."""
        places = check_clicks(clicks, self.page, len(self.documents))
        return sum(self.credits[place - 1] for place in places)


def check_clicks(clicks: Iterable[int], page: str, n: int) -> list[int]:
    """Clicked positions of a page of n documents, each once; raises a clear error if one is not on it."""
    places = sorted(set(clicks))
    wrong = [place for place in places if not 1 <= place <= n]
    if wrong:
        raise DataError(f"page {page!r}: a click at position {wrong[0]}, but the page has positions 1 to {n}.")
    return places


class Interleaving(Named):
    """Interleaving method: merges two lists, and gives credit for clicks; its fields are its parameters."""

    kind: ClassVar[str] = "interleaving"
    home: ClassVar[str] = "podium.online.interleaving"

    @abc.abstractmethod
    def merge(
        self, first: Sequence[str], second: Sequence[str], rng: random.Random, *, length: int
    ) -> tuple[list[str], list[float]]:
        """Merge two lists to at most `length` documents, and give the credit of a click at each position.

        `rng.random()` is the only source of randomness, since Python guarantees its numbers in all future versions.
        """

    def merge_many(
        self, lists: Sequence[Sequence[str]], rng: random.Random, *, length: int
    ) -> tuple[list[str], list[list[float]]]:
        """Merge any number of lists, and give the credit of each ranker for a click at each position."""
        raise ParameterError(f"{self} merges two rankers. Use team-draft or probabilistic for more.")


def make_page(
    method: Interleaving | str,
    first: Sequence[str],
    second: Sequence[str],
    *,
    query: str = "",
    page: str,
    length: int = 10,
    seed: int = 0,
) -> Page:
    """Interleave the lists of two rankers, best first, to a results page of one query."""
    chosen = Interleaving.parse(method) if isinstance(method, str) else method
    if length < 1:
        raise ParameterError(f"length must be at least 1; got {length}.")
    for name, documents in (("first", first), ("second", second)):
        if len(set(documents)) != len(documents):
            raise DataError(f"query {query!r}: the {name} list has a document twice.")
    documents, credits = chosen.merge(list(first), list(second), chance(seed, query, page), length=length)
    return Page(query, page, tuple(documents), tuple(map(float, credits)))


class Interleaver:
    """Interleaver of two runs: makes results pages for the queries that both have."""

    def __init__(
        self, method: Interleaving | str, first: AnyRun, second: AnyRun, *, length: int = 10, seed: int = 0
    ) -> None:
        self.method = Interleaving.parse(method) if isinstance(method, str) else method
        self.length, self.seed = length, seed
        lists = [first_documents(as_run(run), 1 << 62) for run in (first, second)]
        self.queries = [query for query in lists[0] if query in lists[1]]
        if not self.queries:
            raise DataError("the two runs have no query in common.")
        self.left_out = len(lists[0].keys() ^ lists[1].keys())
        self._lists = lists

    def page(self, query: str, page: str) -> Page:
        """Make the page of this query and id."""
        if query not in self._lists[0] or query not in self._lists[1]:
            raise DataError(f"query {query!r} is not in both runs.")
        first, second = (lists[query] for lists in self._lists)
        return make_page(self.method, first, second, query=query, page=page, length=self.length, seed=self.seed)

    def pages(self, n: int) -> Iterator[Page]:
        """Make `n` pages for every query of both runs, with ids query-1, query-2 …"""
        for query in self.queries:
            for k in range(1, n + 1):
                yield self.page(query, f"{query}-{k}")


def chance(seed: int, query: str, page: str) -> random.Random:
    """Random generator that depends on the seed, the query and the page alone."""
    text = "\0".join([str(seed), query, page]).encode("utf-8", "surrogateescape")
    return random.Random(int.from_bytes(hashlib.sha256(text).digest(), "big"))
