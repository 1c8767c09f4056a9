"""Relevance judgments: grades of documents by several judges; rows (query, document, judge, grade).

    >>> votes = Judgments.from_rows(["q", "q", "q"], ["a", "a", "b"], ["ann", "bob", "ann"], [2, 1, 0])
    >>> votes
    Judgments(1 query, 2 documents, 2 judges, 3 judgments, grades 0 to 2)

An item is a document of a query. A judge grades an item once; not every judge needs to grade every item. In files and
frames, the columns of query, document, judge and grade are found by their usual names (`usual_columns`); others are not
read. If there is neither a judge nor a grade, every other column is a judge and holds their grades, as in the books
that Quepid exports. A row without a grade was not filled in: it is counted as `unfilled`, and left out.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Ints
from podium.base.columns import float_numbers, text_ids
from podium.base.errors import DataError, counted
from podium.formats.tables.records import Records, frame_records
from podium.formats.trec.judged_files import judgment_records
from podium.formats.trec.judged_rows import ids, numbers
from podium.formats.usual_columns import said, usual_columns

MOST_CELLS = 2**27
"""Numbers of a table of documents or judges and grades, at most: a gigabyte."""


@dataclass(frozen=True, eq=False)
class Judgments:
    """Judgments of I items by J judges; items of query q are offsets[q]:offsets[q+1]."""

    query_ids: tuple[str, ...]  # (Q,) by first appearance
    offsets: Ints  # (Q+1,)
    document_ids: tuple[str, ...]  # (I,)
    judges: tuple[str, ...]  # (J,) by first appearance
    items: Ints  # (R,) the item of each judgment, ascending
    judge_of: Ints  # (R,)
    grades: Array  # (R,)
    unfilled: int = 0  # rows that had no grade
    source: str | None = None
    guessed: str | None = None
    """Which columns of its file were taken for what."""

    @classmethod
    def from_rows(
        cls,
        queries: Sequence[Any],
        documents: Sequence[Any],
        judges: Sequence[Any],
        grades: ArrayLike,
        *,
        lines: Sequence[int] | None = None,
        source: str | None = None,
    ) -> Judgments:
        """Judgments from columns, rows in any order; a grade of NaN was not given.

        `lines` and `source` name the place of each row in error messages.
        """
        values = float_numbers(grades, "grade", where=source)
        names = (("query id", queries), ("document id", documents), ("name of a judge", judges))
        columns = [text_ids(ids, what, where=source) for what, ids in names]
        sizes = {*map(len, columns), len(values)}
        if len(sizes) > 1:
            raise DataError(f"columns of different lengths: {sorted(sizes)}.", where=source)
        rows = np.flatnonzero(~np.isnan(values)).tolist()
        at = range(len(values)) if lines is None else lines
        seen: dict[tuple[str, str, str], int] = {}
        for row in rows:
            where = f"row {at[row]}" if lines is None else f"{source}:{at[row]}"
            if not math.isfinite(values[row]):
                raise DataError(f"the grade must be a finite number; got {values[row]}.", where=where)
            key = columns[0][row], columns[1][row], columns[2][row]
            if key in seen:
                raise DataError(
                    f"judge {key[2]!r} graded document {key[1]!r} of query {key[0]!r} before, at "
                    f"{'row' if lines is None else 'line'} {at[seen[key]]}. Keep one of the two.",
                    where=where,
                )
            seen[key] = row
        if not seen:
            raise DataError("no judgments: expected rows of query, document, judge and grade.", where=source)
        return _gathered(list(seen), values[rows], unfilled=len(values) - len(rows), source=source)

    @property
    def n_items(self) -> int:
        return len(self.document_ids)

    @property
    def votes(self) -> Ints:
        """Number of judges of each item."""  # (I,)
        return np.bincount(self.items, minlength=self.n_items)

    @property
    def scale(self) -> Array:
        """Distinct grades, from the lowest."""  # (L,)
        return np.unique(self.grades)

    def counts(self) -> Ints:
        """Number of judges who gave each item each grade of the scale."""  # (I, L)
        size = len(self.scale)
        if self.n_items * size > MOST_CELLS:
            raise DataError(
                f"{size} different grades of {self.n_items} documents are too many to count. Round the grades.",
                where=self.source,
            )
        codes = np.searchsorted(self.scale, self.grades)
        return np.bincount(self.items * size + codes, minlength=self.n_items * size).reshape(-1, size)

    def item_names(self) -> list[tuple[str, str]]:
        """(query, document) of each item."""
        of_item = np.repeat(np.arange(len(self.query_ids)), np.diff(self.offsets)).tolist()
        return [(self.query_ids[q], document) for q, document in zip(of_item, self.document_ids, strict=True)]

    def __repr__(self) -> str:
        low, high = self.scale[[0, -1]]
        parts = [
            counted(len(self.query_ids), "query", "queries"),
            counted(self.n_items, "document"),
            counted(len(self.judges), "judge"),
            counted(len(self.grades), "judgment"),
            f"grades {low:g} to {high:g}",
        ]
        return f"Judgments({', '.join(parts)})"


def judgments_from_frame(
    frame: Any,
    *,
    query: str | None = None,
    document: str | None = None,
    judge: str | None = None,
    grade: str | None = None,
    source: str | None = None,
) -> Judgments:
    """Judgments from a data frame of pandas, polars or pyarrow; `source` is its name in error messages.

    `query`, `document`, `judge` and `grade` name the columns, if they have unusual names.
    """
    columns = {"query": query, "document": document, "judge": judge, "grade": grade}
    return judgments_of(frame_records(frame, source=source), columns)


def read_judgments(
    path: str | os.PathLike[str],
    *,
    query: str | None = None,
    document: str | None = None,
    judge: str | None = None,
    grade: str | None = None,
) -> Judgments:
    """Read judgments from CSV, TSV, JSON, JSON lines, Parquet or Arrow, or a book that Quepid exported.

    `query`, `document`, `judge` and `grade` name the columns, if they have unusual names. Ids in CSV are text: 007
    stays 007.
    """
    columns = {"query": query, "document": document, "judge": judge, "grade": grade}
    return judgments_of(judgment_records(path), columns)


def judgments_of(records: Records, columns: Mapping[str, str | None]) -> Judgments:
    """Judgments from rows; `columns` are the names of columns by role, None of those to be found."""
    if has_judge_columns(records, columns):
        records = _melted(records, columns)
        columns = {}
    names = list(records.columns)
    roles = usual_columns(names, ("query", "document", "judge", "grade"), asked=columns, source=records.source)
    grades = numbers(records, roles["grade"], "grade")
    rows = np.flatnonzero(~np.isnan(grades))
    queries, documents, judges = (ids(records, roles[role], role, rows) for role in ("query", "document", "judge"))
    lines = (
        [row + 1 for row in rows.tolist()] if records.lines is None else [records.lines[row] for row in rows.tolist()]
    )
    source = records.source or "rows"
    judgments = Judgments.from_rows(
        queries.tolist(), documents.tolist(), judges.tolist(), grades[rows], lines=lines, source=source
    )
    return replace(
        judgments,
        unfilled=len(grades) - len(rows),
        source=records.source,
        guessed=records.note or said(roles, columns) or None,
    )


def has_judge_columns(records: Records, columns: Mapping[str, str | None]) -> bool:
    """Whether each judge has a column of grades, since none is called judge or grade."""
    names = list(records.columns)
    roles = usual_columns(names, ("judge", "grade"), asked=columns, optional=("judge", "grade"), source=records.source)
    return not roles and len(names) > 2


def _melted(records: Records, asked: Mapping[str, str | None]) -> Records:
    """A row for each judge, from a column for each judge."""
    names = list(records.columns)
    roles = usual_columns(names, ("query", "document"), asked=asked, source=records.source)
    judges = [name for name in names if name not in roles.values()]
    cells = {role: list(records.columns[name]) * len(judges) for role, name in roles.items()}
    n = records.n_rows
    cells["judge"] = [judge for judge in judges for _ in range(n)]
    cells["grade"] = [grade for judge in judges for grade in records.columns[judge]]
    lines = None if records.lines is None else list(records.lines) * len(judges)
    return Records(cells, records.source, lines, note=f"{said(roles)}, judges = {', '.join(judges)}")


def _gathered(keys: list[tuple[str, str, str]], grades: Array, *, unfilled: int, source: str | None) -> Judgments:
    """Judgments of distinct keys (query, document, judge): items numbered query by query."""
    queries = {query: q for q, query in enumerate(dict.fromkeys(query for query, _, _ in keys))}
    judges = {judge: j for j, judge in enumerate(dict.fromkeys(judge for _, _, judge in keys))}
    pairs = sorted(dict.fromkeys((query, document) for query, document, _ in keys), key=lambda pair: queries[pair[0]])
    number = {pair: i for i, pair in enumerate(pairs)}
    items = np.array([number[query, document] for query, document, _ in keys], np.int64)
    judge_of = np.array([judges[judge] for _, _, judge in keys], np.int64)
    order = np.lexsort((judge_of, items))
    sizes = np.bincount([queries[query] for query, _ in pairs], minlength=len(queries))
    return Judgments(
        tuple(queries),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        tuple(document for _, document in pairs),
        tuple(judges),
        items[order],
        judge_of[order],
        grades[order],
        unfilled,
        source,
    )
