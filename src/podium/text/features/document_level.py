"""Query-independent features of documents: links, visits, URLs and stored fields."""

from __future__ import annotations

import bisect
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.base.files import reading
from podium.base.registry import param, register
from podium.graph.browserank import browserank
from podium.graph.hubs import hits_scores
from podium.graph.links import Links, lines_of_words, make_links
from podium.graph.max_entropy_flow import flow_of
from podium.graph.pagerank import pagerank_scores
from podium.graph.trustrank import trustrank_scores
from podium.text.collection.number_text import read_number
from podium.text.features.base import Context, Feature
from podium.text.index.stored_values import document_numbers, field_values, known_values, place

if TYPE_CHECKING:
    from podium.text.index.index import Index


class DocumentFeature(Feature):
    """A query-independent feature, computed once for each state of the index."""

    def values(self, context: Context) -> Array:
        index = context.index
        if context.records is not None:
            values = [
                math.nan if self.lacks(record, index) else self.of_record(index, record) for record in context.records
            ]
            return np.array(values, np.float64)
        kept = index.kept(("document feature", self), lambda: self.compute(index))
        return kept[place(document_numbers(index), context.numbers)]

    def lacks(self, record: Mapping[str, Any], index: Index) -> str | None:
        return "a place among the documents of the index"

    def of_record(self, index: Index, record: Mapping[str, Any]) -> float:
        """The feature of a text that is not in the index, if it lacks nothing."""
        raise NotImplementedError

    def compute(self, index: Index) -> Array:
        """The feature of each document of the index, in the order of numbers."""  # (N,)
        raise NotImplementedError


def links_of(index: Index) -> Links:
    """The links between the documents of an index; links to or from others are ignored."""

    def make() -> Links:
        return make_links(index.store.links(), index.ids(document_numbers(index)))

    return index.kept("links", make)


def _hits(index: Index) -> tuple[Array, Array]:
    return index.kept("hits", lambda: hits_scores(links_of(index)))


@register
class InLinks(DocumentFeature):
    """The number of documents that link to this one."""

    name = "inlinks"

    def compute(self, index: Index) -> Array:
        return np.asarray(links_of(index).weights.sum(axis=0), np.float64)


@register
class OutLinks(DocumentFeature):
    """The number of documents that this one links to."""

    name = "outlinks"

    def compute(self, index: Index) -> Array:
        return np.asarray(links_of(index).weights.sum(axis=1), np.float64)


@register
class PageRank(DocumentFeature):
    """ln(N · p), p the PageRank of the document among N: 0 for an average document."""

    name = "pagerank"
    damping: float = param(default=0.85, least=0, below=1)
    """Probability of following a link; otherwise the walk begins again."""

    def compute(self, index: Index) -> Array:
        links = links_of(index)
        return np.asarray(np.log(len(links) * pagerank_scores(links, self.damping)))


@register
class TrustRank(DocumentFeature):
    """ln(N · p), p the TrustRank of the document; missing if no path of links leads to it from a seed.

    `seeds` is a file with the ids of trusted documents, one per line; ids that are not in the index are ignored.
    """

    name = "trustrank"
    seeds: str
    """File with the ids of trusted documents."""
    damping: float = param(default=0.85, least=0, below=1)
    """Probability of following a link; otherwise the walk begins again."""

    def check(self, index: Index) -> None:
        self._read()

    def compute(self, index: Index) -> Array:
        links = links_of(index)
        trust = len(links) * trustrank_scores(links, self._read(), self.damping)
        return np.log(trust, out=np.full(len(links), np.nan), where=trust > 0)

    def _read(self) -> set[str]:
        with reading(self.seeds) as file:
            ids = {line.strip() for line in file.read().decode("utf-8-sig").splitlines()}
        return ids - {""}


@register
class MaxEntropyFlow(DocumentFeature):
    """ln(N · p), p the flow into the document: PageRank, moved as little as possible until preferences hold.

    `preferences` is a file of lines `better worse`, ids of documents; pairs that are not both in the index are ignored.
    """

    name = "max_entropy_flow"
    preferences: str
    """File of preferences."""
    cost: float = param(default=1.0, least=0)
    """Cost of a preference that does not hold; 0 is PageRank."""
    damping: float = param(default=0.85, least=0, below=1)
    """Probability of following a link; otherwise the walk begins again."""

    def check(self, index: Index) -> None:
        self._read()

    def compute(self, index: Index) -> Array:
        links = links_of(index)
        nodes, pairs = set(links.names), self._read()
        within = [pair for pair in pairs if pair[0] in nodes and pair[1] in nodes]
        if nodes and not within:
            raise DataError(
                f"none of the {len(pairs)} preferences is between documents of the index.", where=self.preferences
            )
        return np.asarray(
            np.log(len(links) * flow_of(links, within, cost=self.cost, damping=self.damping).scores), np.float64
        )

    def _read(self) -> list[tuple[str, str]]:
        pairs = []
        for words, where in lines_of_words(self.preferences):
            if len(words) != 2:
                raise DataError(f"expected: better worse; got {len(words)} columns.", where=where)
            pairs.append((words[0], words[1]))
        return pairs


@register
class Authority(DocumentFeature):
    """The authority of the document by HITS; all sum to 1."""

    name = "authority"

    def compute(self, index: Index) -> Array:
        return _hits(index)[0]


@register
class Hub(DocumentFeature):
    """The document's score as a hub by HITS; all sum to 1."""

    name = "hub"

    def compute(self, index: Index) -> Array:
        return _hits(index)[1]


@register
class BrowseRank(DocumentFeature):
    """ln(n · π), π the BrowseRank of the document among the n pages of the visits. Missing without a visit."""

    name = "browserank"
    damping: float = param(default=0.85, least=0, below=1)
    """Probability of following a link; otherwise the walk begins again."""
    noise: bool = False
    """Whether the time that a page takes to load is estimated and left out of stays."""

    def compute(self, index: Index) -> Array:
        scores = browserank(index.store.visits(), damping=self.damping, noise=self.noise)
        values = [math.log(len(scores) * scores[id]) if id in scores else math.nan for id in _ids(index)]
        return np.array(values, np.float64)


class URLFeature(DocumentFeature):
    """A feature of the URL of a document. Missing without a URL."""

    def of_url(self, index: Index, url: str) -> float:
        raise NotImplementedError

    def compute(self, index: Index) -> Array:
        return np.array([math.nan if url is None else self.of_url(index, url) for url in _urls(index)], np.float64)

    def lacks(self, record: Mapping[str, Any], index: Index) -> str | None:
        return None if record.get("url") and isinstance(record["url"], str) else "a url"

    def of_record(self, index: Index, record: Mapping[str, Any]) -> float:
        return self.of_url(index, record["url"])


@register
class URLSlashes(URLFeature):
    """The number of slashes in the URL, except those of `http://`. Missing without a URL."""

    name = "url_slashes"

    def of_url(self, index: Index, url: str) -> float:
        return re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*://", "", url).count("/")


@register
class URLLength(URLFeature):
    """The number of characters of the URL. Missing without a URL."""

    name = "url_length"

    def of_url(self, index: Index, url: str) -> float:
        return len(url)


@register
class ChildPages(URLFeature):
    """The number of documents whose URL is this one's, a slash and more. Missing without a URL.

    A slash at the end of a URL makes no difference: `http://a.org` and `http://a.org/` have the same children.
    """

    name = "child_pages"

    def of_url(self, index: Index, url: str) -> float:
        def make() -> list[str]:
            return sorted(_folder(url) for url in _urls(index) if url is not None)

        urls, folder = index.kept("sorted urls", make), _folder(url)
        below = folder[:-1] + chr(ord("/") + 1)  # URLs below it sort between it and its copy with the character after /
        return bisect.bisect_left(urls, below) - bisect.bisect_right(urls, folder)


@register
class Stored(DocumentFeature):
    """The number in a stored field; missing (NaN) if a document has none.

    Text is read as a number or as an ISO date, which counts as days since 1970; true is 1 and false 0.
    """

    name = "stored"
    field: str
    """Stored field with the number."""

    def check(self, index: Index) -> None:
        known_values(index, self.field)

    def compute(self, index: Index) -> Array:
        return np.array([self._number(value) for value in known_values(index, self.field)], np.float64)

    def lacks(self, record: Mapping[str, Any], index: Index) -> str | None:
        return f"the field {self.field!r}" if record.get(self.field) in (None, "", []) else None

    def of_record(self, index: Index, record: Mapping[str, Any]) -> float:
        return self._number(record[self.field])

    def _number(self, value: object) -> float:
        if value is None:
            return math.nan
        if isinstance(value, (bool, int, float)):
            return float(value)
        number = read_number(value) if isinstance(value, str) else None
        if number is None:
            raise DataError(
                f"{self}: expected numbers or ISO dates in the field {self.field!r} of all documents; got {value!r}."
            )
        return number


def _ids(index: Index) -> list[str]:
    return index.ids(document_numbers(index))


def _urls(index: Index) -> list[str | None]:
    def make() -> list[str | None]:
        return [value if isinstance(value, str) else None for value in field_values(index, "url")]

    return index.kept("urls", make)


def _folder(url: str) -> str:
    return url.rstrip("/") + "/"


def has_links(index: Index) -> bool:
    return bool(links_of(index).weights.nnz)


def has_visits(index: Index) -> bool:
    return bool(index.store.visits())


def has_urls(index: Index) -> bool:
    return any(_urls(index))
