"""Qrels and runs from rows of query, document and number: tables, JSON, frames and named tuples.

A row without a grade was not judged, and is left out. Ids may hold blanks. A document twice in a query is an error,
unless the rows have topics, that is a column topic, subtopic or intent besides that of queries.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array, Int32s, Ints
from podium.base.columns import exact_float, number_ids, text_ids
from podium.base.errors import DataError, counted
from podium.data.frames import column_numbers
from podium.formats.column_roles import finite_number
from podium.formats.tables.records import Records
from podium.formats.usual_columns import said, usual_columns
from podium.parsing.ids import Ids

Kind = Literal["grade", "score"]


@dataclass(frozen=True)
class Grouped:
    """Numbers of documents, those of query q at offsets[q]:offsets[q+1]."""

    query_ids: NDArray[Any]  # (Q,) text, by first appearance
    offsets: Ints  # (Q+1,)
    document_ids: Ids  # (N,)
    values: Array  # (N,)
    guessed: str | None
    """Which columns were taken for what, and what was left out; None if there is nothing to say."""
    topics: list[str] | None = None  # (N,) of judgments by topic; a document may then stand once for each
    ranks: Int32s | None = None  # (N,) of a run that has scores and ranks


def grouped_rows(records: Records, kind: Kind, asked: Mapping[str, str | None] | None = None) -> Grouped:
    """Group rows by query; columns are those `asked` for by role, or those with usual names.

    A run without scores is ranked by its ranks. Judgments may have a column of topics, which differ within a query.
    """
    topic = _topic_column(records, asked) if kind == "grade" else None
    roles = usual_columns(
        [column for column in records.columns if column != topic], ("query", "document", kind), asked=asked,
        optional=("score",) if _has_ranks(records) else (), source=records.source,
    )  # fmt: skip
    if kind not in roles:
        roles |= usual_columns(list(records.columns), ("rank",), source=records.source)
        values = -numbers(records, roles["rank"], "rank")
    else:
        values = numbers(records, roles[kind], kind)
    rows = np.flatnonzero(~np.isnan(values))
    if len(rows) < len(values) and kind == "score":
        row = int(np.flatnonzero(np.isnan(values))[0])
        raise DataError("no score. Fill it in or drop the row.", where=records.where(row))
    if not len(rows):
        raise DataError(
            f"no rows with a {kind}: expected a query, a document and a {kind} in each.", where=records.source
        )
    queries, documents = (ids(records, roles[role], role, rows) for role in ("query", "document"))
    topics = None if topic is None else ids(records, topic, "topic", rows)
    if topic is not None and topics is not None and len(set(zip(queries, topics, strict=True))) > len(set(queries)):
        roles["topic"] = topic
    else:
        topics = None
    left = len(values) - len(rows)
    words = [said(roles, asked), f"{counted(left, 'row')} without a grade left out" if left else ""]
    guessed = "; ".join(filter(None, words)) or None
    return _grouped(
        records, queries, documents, values=values[rows], rows=rows, kind=kind, guessed=guessed, topics=topics,
        ranks=_ranks(records, rows) if kind == "score" else None,
    )  # fmt: skip


def _topic_column(records: Records, asked: Mapping[str, str | None] | None) -> str | None:
    """The column of topics within queries, if there is one besides the column of queries."""
    columns, stated = list(records.columns), set((asked or {}).values())
    free = [column for column in columns if column not in stated]
    topic = usual_columns(free, ("topic",), optional=("topic",), source=records.source).get("topic")
    rest = [column for column in columns if column != topic]
    there = usual_columns(rest, ("query",), asked=asked, optional=("query",), source=records.source)
    return topic if there else None


def _ranks(records: Records, rows: Ints) -> Int32s | None:
    """The ranks of a run, if it has a column of whole numbers for them."""
    if not _has_ranks(records):
        return None
    column = usual_columns(list(records.columns), ("rank",), source=records.source)["rank"]
    try:
        ranks = numbers(records, column, "rank")[rows]
    except DataError:  # ranks are only needed if scores are not
        return None
    whole = len(ranks) > 0 and bool(((ranks >= 0) & (ranks < 2**31) & (ranks == np.floor(ranks))).all())
    return ranks.astype(np.int32) if whole else None


def numbers(records: Records, column: str, role: str) -> Array:
    """A column as floats; NaN where a cell is empty."""
    cells = records.columns[column]
    if not isinstance(cells, list):
        return _finite(column_numbers(cells, records.source), records, role)
    values = np.empty(len(cells))
    for row, cell in enumerate(cells):
        if isinstance(cell, str):
            word = cell.strip()
            values[row] = finite_number(word, role, records.where(row)) if word else math.nan
            continue
        try:
            values[row] = exact_float(cell)
        except ValueError as error:
            raise DataError(f"the {role} {error}", where=records.where(row)) from None
    return _finite(values, records, role)


def ids(records: Records, column: str, role: str, rows: Ints) -> NDArray[Any]:
    """The ids in some rows of a column, as text."""
    cells = records.columns[column]
    whole = np.array_equal(rows, np.arange(len(cells)))
    if not isinstance(cells, list):
        cells = cells.to_native() if whole else cells.to_list()
    if not whole:
        cells = [cells[row] for row in rows.tolist()]
    names = text_ids(cells, f"{role} id", where=records.source)
    empty = np.flatnonzero(names == "")
    if len(empty):
        raise DataError(f"no {role}. Fill it in or drop the row.", where=records.where(int(rows[empty[0]])))
    return names


def _grouped(
    records: Records,
    queries: NDArray[Any],
    documents: NDArray[Any],
    *,
    values: Array,
    rows: Ints,
    kind: Kind,
    guessed: str | None,
    topics: NDArray[Any] | None,
    ranks: Int32s | None,
) -> Grouped:
    codes, query_ids = number_ids(queries, "query id", where=records.source)
    order = np.argsort(codes, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(query_ids)))]).astype(np.int64)
    names = Ids.of(documents[order].tolist())
    if topics is not None:
        named = [str(topic) for topic in topics[order]]
        return Grouped(np.array(query_ids, object), offsets, names, values[order], guessed, topics=named)
    ranks = None if ranks is None else ranks[order]
    again = names.repeats(offsets)
    if len(again):
        row = int(order[again].min())
        same_query = np.flatnonzero(codes == codes[row]).tolist()
        first = next(k for k in same_query if documents[k] == documents[row])  # numpy would drop a NUL at the end
        raise DataError(
            f"document {documents[row]!r} of query {queries[row]!r} was there before, at "
            f"{records.where(int(rows[first]))}. {_hint(kind, records.source)}",
            where=records.where(int(rows[row])),
        )
    return Grouped(np.array(query_ids, object), offsets, names, values[order], guessed, ranks=ranks)


def _hint(kind: Kind, source: str | None) -> str:
    if kind == "score":
        return "Keep one of the two."
    return (
        "Qrels hold one grade: keep one row, or combine the grades of several judges: "
        f"podium judges consensus {source or 'VOTES'} -o labels.csv"
    )


def _has_ranks(records: Records) -> bool:
    return bool(usual_columns(list(records.columns), ("rank",), optional=("rank",)))


def _finite(values: Array, records: Records, role: str) -> Array:
    bad = np.flatnonzero(np.isinf(values))
    if len(bad):
        row = int(bad[0])
        raise DataError(f"the {role} must be a finite number; got {values[row]}.", where=records.where(row))
    return values
