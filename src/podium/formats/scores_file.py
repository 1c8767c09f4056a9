"""Scores files: one number per document, in the order of the data; or RankLib's `qid index score`.

RankLib's index counts the documents of a query from 0, in the order of the data file.
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name
from podium.data.dataset import Dataset
from podium.data.table import Table


def read_scores(source: Source, data: Table) -> Array:
    """Read the scores of the documents of `data`, in its row order."""
    where = source_name(source)
    with reading(source) as file:
        lines = [(number, line.split()) for number, line in enumerate(file, 1) if line.strip()]
    columns = len(lines[0][1]) if lines else 1
    if columns not in (1, 3):
        hint = " This looks like a TREC run: give its qrels as the first file." if columns == 6 else ""
        raise DataError(
            f"expected one score per line, or qid index score; got {columns} columns.{hint}", where=f"{where}:1"
        )
    if len(lines) != data.n_documents:
        raise DataError(
            f"{len(lines)} scores for the {data.n_documents} documents of {data.source or 'the data'}. "
            "There must be one line per document.",
            where=where,
        )
    values = np.empty(len(lines))
    for k, (number, words) in enumerate(lines):
        if len(words) != columns:
            raise DataError(f"{len(words)} columns, but line 1 has {columns}.", where=f"{where}:{number}")
        values[k] = _score(words[-1], f"{where}:{number}")
    if columns == 1:
        return values
    lines_of = _rows_named([(number, words[0], words[1]) for number, words in lines], data.grouped(), where)
    return np.asarray(data.from_grouped(values[lines_of]))


def _score(word: bytes, where: str) -> float:
    try:
        value = float(word)
    except ValueError:
        raise DataError(f"expected a score; got {word.decode(errors='replace')[:40]!r}.", where=where) from None
    if not np.isfinite(value):
        raise DataError(f"score {value} has no place in an order; a finite number is needed.", where=where)
    return value


def _rows_named(names: list[tuple[int, bytes, bytes]], data: Dataset, where: str) -> Ints:
    """The line (from 0) that scores each row of grouped data."""
    number_of = {data.query_name(q): q for q in range(data.n_queries)}
    sizes, line_of = data.sizes, np.full(data.n_documents, -1, np.int64)
    for k, (number, qid, index) in enumerate(names):
        q = number_of.get(qid.decode("utf-8", "surrogateescape"))
        if q is None:
            raise DataError(f"query {qid.decode(errors='replace')!r} is not in the data.", where=f"{where}:{number}")
        if not index.isdigit() or int(index) >= sizes[q]:
            raise DataError(
                f"document {index.decode(errors='replace')} of query {data.query_name(q)}, which has {sizes[q]}, "
                "counted from 0.",
                where=f"{where}:{number}",
            )
        row = data.offsets[q] + int(index)
        if line_of[row] >= 0:
            raise DataError(
                f"document {int(index)} of query {data.query_name(q)} is scored twice.", where=f"{where}:{number}"
            )
        line_of[row] = k
    return line_of
