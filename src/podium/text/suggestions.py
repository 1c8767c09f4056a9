"""Suggestions for misspelt words, and searches for documents like one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Singles
from podium.text.retrieval.dense import vectors_of
from podium.text.vocabulary import near_words, vocabulary

if TYPE_CHECKING:
    from podium.text.index.index import Index
    from podium.text.query import Query
    from podium.text.retrieval.base import Where

_SHORTEST = 3
"""Letters from which a word has suggestions."""
_SHORT = 4
"""Letters of words in which one typo is looked for; in longer ones two."""
MOST_MISSPELT = 8
"""Different unknown words of a query, each of which is looked for in the whole vocabulary."""
_DOCUMENTS, _LETTERS = 5, 50_000
"""Documents, and letters of each of their fields, in which the spelling of a term is looked for."""
LIKE_TERMS = 25
"""Words of a document to search with."""


def did_you_mean(index: Index, query: Query) -> str | None:
    """The text of a query with its unknown words replaced by near ones; None if there is nothing to replace.

    The nearest word is taken: the one with the fewest typos, of these the one in most documents. A query with over
    MOST_MISSPELT unknown words has no suggestion: it is not a slip, but about something else.
    """
    parts, at, unknown = list[str](), 0, set(query.unknown)
    if not 1 <= len(unknown) <= MOST_MISSPELT:
        return None
    spellings = {word: _near(index, word) for word in unknown if len(word) >= _SHORTEST}
    for start, end, words in index.analyser.spans(query.text):
        near = spellings.get(words[0]) if len(words) == 1 else None
        if near is not None:
            parts += [query.text[at:start], near]
            at = end
    return "".join([*parts, query.text[at:]]) if parts else None


def _near(index: Index, word: str) -> str | None:
    """The best known spelling of a word."""
    whole, best = vocabulary(index), list[tuple[int, int, int]]()
    typos = 1 if len(word) <= _SHORT else 2
    for spelling in dict.fromkeys([word, index.analyser.term(word)[0]]):
        near, distances = near_words(index, spelling, typos)
        best += zip(distances.tolist(), (-whole.df[near]).tolist(), near.tolist(), strict=True)
    return _written(index, int(whole.terms[min(best)[2]])) if best else None


def _written(index: Index, term: int) -> str:
    """A word of a document, as it is written there but for capitals, whose term this is."""
    for segment in index.segments:
        at = int(segment.places(np.array([term], np.int32))[0])
        rows = segment.rows[segment.pointers[at] : segment.pointers[at + 1]] if at >= 0 else segment.rows[:0]
        for id in segment.ids(rows[~segment.dead[rows]][:_DOCUMENTS].astype(np.int64)):
            document = index.document(id)
            text = " ".join(str(document.get(field) or "")[:_LETTERS] for field in index.fields)
            words = list(dict.fromkeys(index.analyser.words(text)))
            ids = index.store.term_ids(words)
            if term in ids:
                return words[ids.index(term)]
    return index.store.term(term)


def more_like(index: Index, id: str, *, terms: int = LIKE_TERMS) -> Query:
    """A query for documents like one: its words with the highest tf · idf, each once, and its vector if it has one.

    The document itself matches best: `other_than` is a filter that leaves it out.
    """
    number = index.numbers([id])
    ((segment, _, (row,)),) = index.places(number)
    words = segment.tokens[segment.bounds[row, 0] : segment.bounds[row, -1]]
    names, counts = np.unique(words[~index.flags[words]], return_counts=True)
    query = replace(index.query(""), terms=names.astype(np.int32), times=np.ones(len(names)))
    df = index.statistics(query).df[:, -1]
    best = np.lexsort((names, -counts * np.log1p((len(index) - df + 0.5) / (df + 0.5))))[:terms]
    chosen = query.terms[best]
    text = " ".join(index.store.term(int(t)) for t in chosen)
    vector = _vector(index, int(number[0]))
    return replace(query, text=text, terms=chosen, times=np.ones(len(chosen)), sequence=chosen, vector=vector)


def other_than(index: Index, id: str, where: Where | None = None) -> Where:
    """A filter that leaves a document out, and satisfies another filter."""
    number = index.numbers([id])[0]
    return lambda numbers: (numbers != number) & (True if where is None else where(numbers))


def _vector(index: Index, number: int) -> Singles | None:
    if not index.store.rows("vector"):
        return None
    vectors = vectors_of(index)
    at = int(np.searchsorted(vectors.numbers, number))
    return vectors.values[at] if at < len(vectors.numbers) and vectors.numbers[at] == number else None
