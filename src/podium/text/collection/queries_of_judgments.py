"""Queries of a file of judgments that names them by text, so that it needs no file of queries beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np

from podium.base.errors import DataError
from podium.formats.query_texts import ID_COLUMNS
from podium.formats.sniff import is_rows
from podium.formats.tables.records import Records
from podium.formats.trec.judged_files import judgment_records
from podium.formats.trec.judged_rows import ids
from podium.formats.usual_columns import usual_columns
from podium.text.collection.collection import Topic

_ROLES = ("query", "document", "grade")


def holds_judgments(source: str, columns: Mapping[str, str | None]) -> bool:
    """Whether a file is a table or JSON records of judgments, rather than of queries.

    `columns`: names of the columns of query, document and grade that are not the usual ones.
    """
    if any(columns.values()):
        return True
    if not os.path.isfile(source) or not is_rows(source):
        return False
    try:
        chosen = usual_columns(list(judgment_records(source).columns), _ROLES)
    except DataError:
        return False
    return chosen["document"].lower() not in ID_COLUMNS  # a query's own id


def queries_of_judgments(source: str, columns: Mapping[str, str | None]) -> list[Topic]:
    """The queries of a file of judgments, in order; a column of texts beside the ids gives their texts.

    `columns`: as of `holds_judgments`.
    """
    records = judgment_records(source)
    column = usual_columns(list(records.columns), _ROLES, asked=columns, source=source)["query"]
    rows = np.arange(records.n_rows)
    names = ids(records, column, "query", rows).tolist()
    other = _column_of_texts(records, column)
    texts = names if other == column else ids(records, other, "query", rows).tolist()
    topics: dict[str, str] = {}
    for row, (name, text) in enumerate(zip(names, texts, strict=True)):
        if topics.setdefault(name, text) != text:
            raise DataError(f"query {name!r} has two texts, {topics[name]!r} and {text!r}.", where=records.where(row))
    if other == column and not _are_words(list(topics)):
        raise DataError(
            f"names queries by id, such as {names[0]!r}, and has no column of their texts. Give a file of queries with "
            "id and text before it.",
            where=source,
        )
    return [Topic(name, text) for name, text in topics.items()]


def _column_of_texts(records: Records, column: str) -> str:
    """The column of texts beside that of ids; the column itself if there is none."""
    if column.lower() not in ID_COLUMNS:
        return column
    others = [name for name in records.columns if name != column]
    return usual_columns(others, ["query"], optional=["query"], source=records.source).get("query", column)


def _are_words(names: list[str]) -> bool:
    """Whether names of queries look like texts: one has a blank, or none has a digit."""
    return any(" " in name for name in names) or not any(map(str.isdigit, "".join(names)))
