"""Snippets: query-biased summaries of documents, with the words of the query marked.

Sentences are ranked by BM25 within the document, or by a model of sentences if one is given. Reference: Metzler and
Kanungo, Machine learned sentence selection strategies for query-biased summarization, 2008.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array

if TYPE_CHECKING:
    from podium.text.index.index import Index
    from podium.text.query import Query

_END = re.compile(r"(?<=[.!?。！？])[\"'”’)\]]*\s+|(?<=[。！？])|\n\s*\n")
_LONGEST = 300
"""Characters of a sentence that are shown."""
_READ = 50_000
"""Characters of a field that are read: no request waits for a book."""
_READ_IN_ALL = 20 * _READ
"""Characters of a field that are read in all documents of an answer together."""


@dataclass(frozen=True)
class Snippet:
    """A piece of text, and the places of query words in it, from … to."""

    text: str
    marks: tuple[tuple[int, int], ...]

    def marked(self, before: str, after: str) -> str:
        """The text with `before` and `after` around each match."""
        parts, at = [], 0
        for start, end in self.marks:
            parts += [self.text[at:start], before, self.text[start:end], after]
            at = end
        return "".join([*parts, self.text[at:]])


def sentences(text: str) -> list[str]:
    """Split a text into sentences; a heading or list item between blank lines is one, too."""
    return [" ".join(part.split()) for part in _END.split(text) if part and part.strip()]


def snippet(
    index: Index,
    query: Query,
    document: dict[str, Any],
    *,
    most: int = 2,
    rank: Callable[[str, Sequence[str]], ArrayLike] | None = None,
    among: int = 1,
) -> Snippet:
    """The best sentences of a document for a query, in the order of the document, without duplicates.

    They are from the first 50,000 characters of each field; of more than 20 documents, from their share of a million.
    `among` is the number of documents that have snippets.
    `rank` scores the sentences, from the text of the query and the sentences; BM25 by default.
    """
    read = min(_READ, _READ_IN_ALL // max(among, 1))
    fields = [name for name in index.fields if name != index.title] or list(index.fields)
    texts = list(dict.fromkeys(text for name in fields for text in sentences(str(document.get(name) or "")[:read])))
    if not texts:
        return mark(index, query, str(document.get(index.title) or ""))
    scores = np.asarray(rank(query.text, texts) if rank else _bm25(index, query, texts), np.float64)
    best = sorted(np.lexsort((np.arange(len(texts)), -scores))[:most].tolist())
    if rank is None and scores.max() > 0:
        best = [k for k in best if scores[k] > 0]
    return mark(index, query, " … ".join(_cut(index, query, texts[k]) for k in best))


def mark(index: Index, query: Query, text: str) -> Snippet:
    """Mark the words of a query in a text; overlapping marks, as in scripts without blanks, are joined."""
    wanted = set(query.terms.tolist())
    marks: list[tuple[int, int]] = []
    for start, end, words in index.analyser.spans(text):
        if wanted.intersection(index.store.term_ids(words)):
            if marks and start < marks[-1][1]:
                marks[-1] = (marks[-1][0], end)
            else:
                marks.append((start, end))
    return Snippet(text, tuple(marks))


def _bm25(index: Index, query: Query, texts: Sequence[str]) -> Array:
    """BM25 of sentences, with the idf of the collection."""
    s = index.statistics(query)
    idf = query.times * np.log1p((s.documents - s.df[:, -1] + 0.5) / (s.df[:, -1] + 0.5))
    ids = [index.store.term_ids(index.analyser.words(text)) for text in texts]
    lengths = np.array([max(len(terms), 1) for terms in ids])
    norm = 1.2 * (0.25 + 0.75 * lengths / lengths.mean())
    asked = {t: column for column, t in enumerate(query.terms.tolist())}
    matches = [row * len(asked) + asked[t] for row, terms in enumerate(ids) for t in terms if t in asked]
    cells, counts = np.unique(np.array(matches, np.int64), return_counts=True)
    rows, columns = np.divmod(cells, max(len(asked), 1))
    weights = counts * 2.2 / (counts + norm[rows]) * idf[columns]
    return np.asarray(np.bincount(rows, weights, len(ids)), np.float64)


def _cut(index: Index, query: Query, sentence: str) -> str:
    """Cut a long sentence around its first match."""
    if len(sentence) <= _LONGEST:
        return sentence
    marks = mark(index, query, sentence).marks
    first = max((marks[0][0] if marks else 0) - _LONGEST // 3, 0)
    start = sentence.rfind(" ", 0, first) + 1 if first else 0
    end = sentence.rfind(" ", start, start + _LONGEST)
    end = end if end > start else start + _LONGEST
    return ("… " if start else "") + sentence[start:end] + (" …" if end < len(sentence) else "")
