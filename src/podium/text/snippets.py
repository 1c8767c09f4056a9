"""Snippets: the sentences of a document that speak of a query, with its words marked.

Sentences are ranked by BM25 within the document, or by a model of sentences if one is given. Reference: Metzler and
Kanungo, Machine learned sentence selection strategies for query-biased summarization, 2008.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.text.index.index import Index
from podium.text.query import Query

_END = re.compile(r"(?<=[.!?。！？])[\"'”’)\]]*\s+|(?<=[。！？])|\n\s*\n")
_LONGEST = 300
"""Characters of a sentence that are shown."""


@dataclass(frozen=True)
class Snippet:
    """A piece of text, and where words of the query lie in it."""

    text: str
    marks: tuple[tuple[int, int], ...]

    def marked(self, before: str, after: str) -> str:
        """The text with something before and after each match."""
        parts, at = [], 0
        for start, end in self.marks:
            parts += [self.text[at:start], before, self.text[start:end], after]
            at = end
        return "".join([*parts, self.text[at:]])


def sentences(text: str) -> list[str]:
    """The sentences of a text; a heading or list item, set off by blank lines, is one too."""
    return [" ".join(part.split()) for part in _END.split(text) if part and part.strip()]


def snippet(
    index: Index,
    query: Query,
    document: dict[str, Any],
    *,
    most: int = 2,
    rank: Callable[[str, Sequence[str]], Any] | None = None,
) -> Snippet:
    """The best sentences of a document for a query, in the order of the document, none of them twice.

    `rank` gives a score to each sentence, from the text of the query and the sentences; BM25 unless told.
    """
    fields = [name for name in index.fields if name != "title"] or list(index.fields)
    found = list(dict.fromkeys(one for name in fields for one in sentences(str(document.get(name) or ""))))
    if not found:
        return mark(index, query, str(document.get("title") or ""))
    scores = np.asarray(rank(query.text, found) if rank else _bm25(index, query, found), np.float64)
    best = sorted(np.lexsort((np.arange(len(found)), -scores))[:most].tolist())
    if rank is None and scores.max() > 0:
        best = [k for k in best if scores[k] > 0]
    return mark(index, query, " … ".join(_cut(index, query, found[k]) for k in best))


def mark(index: Index, query: Query, text: str) -> Snippet:
    """A text with the words of a query marked; neighbouring marks of scripts without blanks are joined."""
    wanted = set(query.terms.tolist())
    marks: list[tuple[int, int]] = []
    for start, end, words in index.analyser.spans(text):
        if wanted.intersection(index.store.term_ids(words)):
            if marks and start < marks[-1][1]:
                marks[-1] = (marks[-1][0], end)
            else:
                marks.append((start, end))
    return Snippet(text, tuple(marks))


def _bm25(index: Index, query: Query, found: Sequence[str]) -> Any:
    """BM25 of sentences, with the idf of the collection."""
    s = index.statistics(query)
    idf = query.times * np.log1p((s.documents - s.df[:, -1] + 0.5) / (s.df[:, -1] + 0.5))
    ids = [index.store.term_ids(index.analyser.words(one)) for one in found]
    lengths = np.array([max(len(one), 1) for one in ids])
    counts = np.array([[one.count(t) for t in query.terms.tolist()] for one in ids], np.float64).reshape(len(ids), -1)
    norm = 1.2 * (0.25 + 0.75 * lengths / lengths.mean())
    return (counts * 2.2 / (counts + norm[:, None])) @ idf


def _cut(index: Index, query: Query, sentence: str) -> str:
    """A long sentence around its first match."""
    if len(sentence) <= _LONGEST:
        return sentence
    marks = mark(index, query, sentence).marks
    first = max((marks[0][0] if marks else 0) - _LONGEST // 3, 0)
    start = sentence.rfind(" ", 0, first) + 1 if first else 0
    end = sentence.rfind(" ", start, start + _LONGEST)
    end = end if end > start else start + _LONGEST
    return ("… " if start else "") + sentence[start:end] + (" …" if end < len(sentence) else "")
