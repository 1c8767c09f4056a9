"""Files of query features: a table with a line per query, `query name …` in its first line, next to a data file.

The features of the queries of a LETOR file are in `<file>.queries`, and read with it. Every query of the data has a
line; a number is a feature as it is, and any other word is a category. A category has the same number in every file,
made of the letters of its word, so that a model meets the market of its training data again under the same number.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.base.files import Source, source_name, writing
from podium.data.query_values import category_number
from podium.data.table import Table
from podium.formats.side_files import side_lines


def read_query_features(source: Source, data: Table) -> Table:
    """Add the features of queries in a file to data; lines about other queries are ignored."""
    head, words_of = _read(source)
    names = [data.query_name(q) for q in range(data.n_queries)]
    missing = next((name for name in names if name not in words_of), None)
    if missing is not None:
        raise DataError(f"no line about query {missing!r} of {data.source or 'the data'}.", where=source_name(source))
    columns = [_numbers([words_of[name][k] for name in names]) for k in range(len(head) - 1)]
    return replace(data, query_features=np.column_stack(columns), query_feature_names=tuple(head[1:]))


def read_query_words(source: Source, column: str) -> dict[str, str]:
    """Read what a column says of each query, in its own words, by the query's id."""
    head, words_of = _read(source)
    if column not in head[1:]:
        raise DataError(f"no column {column!r}; there are: {', '.join(head[1:])}.", where=source_name(source))
    place = head[1:].index(column)
    return {query: words[place] for query, words in words_of.items()}


def _read(source: Source) -> tuple[list[str], dict[str, list[str]]]:
    """The names of the columns, and the words about each query."""
    lines, where = side_lines(source), source_name(source)
    head, _ = next(lines, ([], ""))
    if len(head) < 2 or len(set(head)) < len(head):
        raise DataError("the first line must name the columns, each once: query name …", where=f"{where}:1")
    words_of: dict[str, list[str]] = {}
    for words, place in lines:
        if len(words) != len(head):
            raise DataError(f"{len(words)} columns, but the first line names {len(head)}.", where=place)
        if words[0] in words_of:
            raise DataError(f"query {words[0]!r} stands twice.", where=place)
        words_of[words[0]] = words[1:]
    return head, words_of


def write_query_features(data: Table, target: Source) -> None:
    """Write the features of the queries of a dataset."""
    if data.query_features is None:
        raise DataError("this data has no features of queries.", where=data.source)
    names = data.query_feature_names or [f"q{k}" for k in range(1, data.query_features.shape[1] + 1)]
    with writing(target) as file:
        for words in [["query", *names], *([data.query_name(q), *map(repr, row)] for q, row in _rows(data))]:
            file.write("\t".join(words).encode("utf-8", "surrogateescape") + b"\n")


def _rows(data: Table) -> list[tuple[int, list[float]]]:
    assert data.query_features is not None
    return list(enumerate(data.query_features.tolist()))


def _numbers(words: list[str]) -> Array:
    """A column as numbers."""
    return np.array([category_number(word) for word in words])
