"""A column of a labelled table that says something of queries: the same in all rows of a query."""

from __future__ import annotations

import os
from typing import Any

from podium.base.columns import text_ids
from podium.base.errors import DataError
from podium.data.frames import complete, frame_table
from podium.formats.tables.tables import read_frame


def read_table_column(path: str | os.PathLike[str], column: str, *, qid: str = "qid") -> dict[str, str]:
    """Read what a column of a table says of each query, by the query's id; missing values are left out."""
    source = os.fspath(path)

    def convert(frame: Any) -> dict[str, str]:
        table = frame_table(frame, source=source)
        for name in (qid, column):
            if name not in table.columns:
                raise DataError(f"no column {name!r}; there are: {', '.join(table.columns[:12])}.", where=source)
        queries = text_ids(complete(table[qid], qid, source).to_native(), "query", where=source)
        values: dict[str, str] = {}
        for query, value in zip(queries, table[column].to_list(), strict=True):
            if value is not None and values.setdefault(query, str(value)) != str(value):
                raise DataError(
                    f"query {query}: column {column!r} has {values[query]} and {value}; a segment is a query's.",
                    where=source,
                )
        return values

    return read_frame(path, convert, columns=[qid, column])
