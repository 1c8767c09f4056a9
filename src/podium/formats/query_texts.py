"""Texts of queries by id: turns texts into ids where judgments, runs or logs name queries by their text.

    >>> queries = QueryTexts({"q1": "red shoes", "q2": "rain coat"})
    >>> queries.to_ids(["Red  shoes", "q2", "umbrella"], where="labels.csv")
    ['q1', 'q2', None]

A name that is an id stays as it is. Otherwise it is looked up as a text, first exactly, then normalised: Unicode NFKC,
without case, white space collapsed. A text of two queries is refused, since either id would be a guess.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from podium.base.columns import id_text
from podium.base.errors import DataError, counted
from podium.base.files import Source, reading, source_name
from podium.formats.sniff import sniff_texts, table_kind
from podium.formats.tables.records import Records, read_records, row_records

ID_COLUMNS = ("id", "query_id", "qid", "_id", "num", "topic", "topic_id")
TEXT_COLUMNS = ("text", "query", "title", "query_text", "search_query", "user_query")


@dataclass(frozen=True)
class QueryTexts:
    """Texts of queries, by id."""

    texts: Mapping[str, str]
    source: str | None = None

    @classmethod
    def read(cls, source: Source, *, id: str | None = None, text: str | None = None) -> QueryTexts:
        """Read queries: JSON lines (also BEIR's queries.jsonl), JSON, CSV, TSV, Parquet, or TREC topics.

        `id` and `text` name the columns; by default the usual names are looked for. A table of two columns without a
        line of names is id and text.
        """
        return cls._of(_records(source, source_name(source)), id, text)

    @classmethod
    def read_if_any(cls, source: Source) -> QueryTexts | None:
        """Read queries; None if the file has no column of texts, but only ids and facts about them."""
        records = _records(source, source_name(source))
        return None if _usual(list(records.columns), TEXT_COLUMNS) is None else cls._of(records, None, None)

    @classmethod
    def _of(cls, records: Records, id: str | None, text: str | None) -> QueryTexts:
        texts: dict[str, str] = {}
        ids = records.columns[_column(records, id, ID_COLUMNS, "id")]
        words = records.columns[_column(records, text, TEXT_COLUMNS, "text")]
        for row, (query, value) in enumerate(zip(ids, words, strict=True)):
            where = records.where(row)
            if query in (None, "") or not isinstance(value, str):
                raise DataError(f"a query needs an id and a text; got {query!r} and {value!r}.", where=where)
            try:
                key = id_text(query)
            except ValueError as error:
                raise DataError(f"query id {error}", where=where) from None
            if key in texts:
                raise DataError(f"query {key!r} is there twice.", where=where)
            texts[key] = value
        if not texts:
            raise DataError("no queries.", where=records.source)
        return cls(texts, records.source)

    def to_ids(self, names: Sequence[str], *, where: str) -> list[str | None]:
        """The id of each name, which is an id or a text; None if it is neither.

        `where` is the file of the names, for error messages.
        """
        return [name if name in self.texts else self._id(name, where) for name in names]

    def unmatched(self, names: Sequence[str], *, where: str) -> str | None:
        """A sentence that counts the names that are neither an id nor a text; None if there are none."""
        missing = [name for name, id in zip(names, self.to_ids(names, where=where), strict=True) if id is None]
        if not missing:
            return None
        of = counted(len(names), "query", "queries")
        return f"{where}: {len(missing)} of {of} not in {self.source or 'the queries'}, e.g. {missing[0]!r}"

    def _id(self, name: str, where: str) -> str | None:
        ids = self._exact.get(name) or self._normalised.get(normalised(name), [])
        if len(ids) > 1:
            raise DataError(
                f"{name!r} is the text of {len(ids)} queries of {self.source or 'the queries'}: {', '.join(ids[:4])}. "
                "Name the query by its id, or keep one of them.",
                where=where,
            )
        return ids[0] if ids else None

    @cached_property
    def _exact(self) -> dict[str, list[str]]:
        return _ids_by(self.texts.items())

    @cached_property
    def _normalised(self) -> dict[str, list[str]]:
        return _ids_by((id, normalised(text)) for id, text in self.texts.items())


def normalised(text: str) -> str:
    """A text without differences of case, of white space and of compatible characters (NFKC)."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _ids_by(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    ids: dict[str, list[str]] = {}
    for id, text in pairs:
        ids.setdefault(text, []).append(id)
    return ids


def _records(source: Source, name: str) -> Records:
    if isinstance(source, str | os.PathLike) and table_kind(name) in ("parquet", "arrow"):
        return read_records(source)
    with reading(source) as file:
        head = file.peek(2**12)[: 2**12]  # type: ignore[attr-defined]
        if sniff_texts(name, head, queries=True) == "trec-topics":
            from podium.formats.trec.trec_text import read_trec_topics

            return row_records(read_trec_topics(_decoded(file.read()), name), source=name)
        return _with_heads(read_records(file))


def _with_heads(records: Records) -> Records:
    """Records of id and text also if the first line is the first query and does not name the columns."""
    heads = list(records.columns)
    if len(heads) != 2 or records.lines is None or _usual(heads, ID_COLUMNS) or _usual(heads, TEXT_COLUMNS):
        return records
    ids, texts = records.columns.values()
    return replace(records, columns={"id": [heads[0], *ids], "text": [heads[1], *texts]}, lines=[1, *records.lines])


def _column(records: Records, asked: str | None, usual: Sequence[str], what: str) -> str:
    columns = list(records.columns)
    column = asked if asked in columns else _usual(columns, usual) if asked is None else None
    if column is None:
        why = f"looked for {', '.join(usual)}" if asked is None else f"none is called {asked!r}"
        there = ", ".join(map(repr, columns[:12])) or "none"
        raise DataError(f"no column for the {what} of queries; {why}; there are {there}.", where=records.source)
    return column


def _usual(columns: list[str], usual: Sequence[str]) -> str | None:
    """The column with the first of the usual names, in upper or lower case."""
    lower = {column.lower(): column for column in columns}
    return next((lower[name] for name in usual if name in lower), None)


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError:
        return text.decode("latin-1")
