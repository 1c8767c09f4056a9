"""Stored fields of all results of a search: how often each value occurs (facets), and results in their order (sort)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Flags, Ints
from podium.base.errors import ParameterError
from podium.text.index.index import Hits
from podium.text.index.stored_values import document_numbers, place
from podium.text.query import Query
from podium.text.retrieval.base import Retrieval, Where
from podium.text.retrieval.filters import Column, column_of
from podium.text.stages.joined_lists import Ranked, ranked

if TYPE_CHECKING:
    from podium.text.index.index import Index

Value = str | float
MOST_VALUES = 10
"""Values of a facet, by default."""


def all_results(
    index: Index, query: str | Query, *, by: Retrieval | str = "bm25", where: Where | None = None
) -> Ranked:
    """Every document that a search returns, best first, by number."""
    asked = index.query(query) if isinstance(query, str) else query
    how = Retrieval.parse(by) if isinstance(by, str) else by
    return ranked(how, index, asked, max(len(index), 1), asked.allowing(where))


def facet(index: Index, numbers: Ints, field: str, *, most: int = MOST_VALUES) -> list[tuple[Value, int]]:
    """The most frequent values of a field among documents, and the number of documents with each.

    A document with a list counts for each of its values. Of equal numbers, the smaller value comes first, texts last.
    """
    if most < 1:
        raise ParameterError(f"facet: at least 1 value is needed; got {most}.")
    column = column_of(index, field)
    chosen = np.zeros(len(document_numbers(index)), np.bool_)
    chosen[place(document_numbers(index), numbers)] = True
    values, keys = _keys(column)
    kept = chosen[column.rows]
    pairs = np.unique(np.stack([column.rows[kept], keys[kept]]), axis=1)  # a value counts once in a document
    counts = np.bincount(pairs[1], minlength=len(values))
    best = np.lexsort((np.arange(len(values)), -counts))[:most]
    return [(values[v], int(counts[v])) for v in best.tolist() if counts[v]]


def sort_by(index: Index, results: Ranked, field: str) -> Ranked:
    """Results in the order of a field, the smallest value first, or with -FIELD the largest.

    Numbers come before texts; of a list, the value that comes first counts. Equal values stay in the order of scores;
    documents without a value are last.
    """
    name = field.removeprefix("-")
    falling = name != field
    column = column_of(index, name)
    _, keys = _keys(column)
    rows = place(document_numbers(index), results.numbers)
    limit = np.iinfo(np.int64).max
    first = np.full(len(column.present), limit)
    np.minimum.at(first, column.rows, -keys if falling else keys)
    order = np.argsort(first[rows], kind="stable")
    return Ranked(results.scores[order], results.numbers[order])


def sorted_hits(
    index: Index, query: str | Query, k: int, *, sort: str, by: Retrieval | str = "bm25", where: Where | None = None,
    offset: int = 0,
) -> Hits:  # fmt: skip
    """The first k results in the order of a field, after `offset` of them."""
    results = sort_by(index, all_results(index, query, by=by, where=where), sort)
    part = slice(offset, offset + k)
    return Hits(index.ids(results.numbers[part]), results.scores[part], results.numbers[part])


def _keys(column: Column) -> tuple[list[Value], Ints]:
    """All different values in their order, numbers before texts, and the place of each entry among them."""
    is_text: Flags = column.codes >= 0
    numbers, which = np.unique(column.numbers[~is_text], return_inverse=True)
    keys = np.empty(len(column.codes), np.int64)
    keys[~is_text], keys[is_text] = which, len(numbers) + column.codes[is_text]
    plain = [int(n) if n == int(n) else n for n in numbers.tolist()] if np.isfinite(numbers).all() else numbers.tolist()
    return [*plain, *column.words], keys
