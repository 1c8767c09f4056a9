"""Queries of a file of judgments that names them by text, so that it needs no file of queries beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping

from podium.base.columns import id_text
from podium.base.errors import DataError
from podium.formats.query_texts import ID_COLUMNS
from podium.formats.sniff import is_rows
from podium.formats.tables.records import Records
from podium.formats.trec.judged_files import judgment_records
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


def judged_queries(source: str, columns: Mapping[str, str | None]) -> list[Topic]:
    """The queries of a file of judgments, in order; a column of texts beside the ids gives their texts.

    `columns`: as of `holds_judgments`.
    """
    records = judgment_records(source)
    column = usual_columns(list(records.columns), _ROLES, asked=columns, source=source)["query"]
    texts = _texts(records, column)
    topics: dict[str, str] = {}
    for row, (name, text) in enumerate(zip(records.columns[column], texts, strict=True)):
        id = id_text(name)
        if topics.setdefault(id, text) != text:
            raise DataError(f"query {id!r} has two texts, {topics[id]!r} and {text!r}.", where=records.where(row))
    if texts == [str(name) for name in records.columns[column]] and not _are_words(list(topics)):
        raise DataError(
            f"names queries by id, such as {next(iter(topics))!r}, and has no column of their texts. Give a file of "
            "queries with id and text before it.",
            where=source,
        )
    return [Topic(id, text) for id, text in topics.items()]


def _texts(records: Records, column: str) -> list[str]:
    """The text of each row's query: in the column of texts beside that of ids, or the name itself."""
    if column.lower() in ID_COLUMNS:
        others = [name for name in records.columns if name != column]
        column = usual_columns(others, ["query"], optional=["query"], source=records.source).get("query", column)
    return [str(text) for text in records.columns[column]]


def _are_words(names: list[str]) -> bool:
    """Whether names of queries look like texts: one has a blank, or none has a digit."""
    return any(" " in name for name in names) or not any(map(str.isdigit, "".join(names)))
