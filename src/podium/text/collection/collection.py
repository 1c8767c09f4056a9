"""Collections: read documents and queries from files, one after another, in bounded memory.

Documents: JSON lines, dumps of Elasticsearch and OpenSearch, a folder of text, Markdown and HTML files, CSV, TSV and
Parquet tables, SMART files (.I .T .W …) and TREC text (<DOC> … </DOC>); plain or gzipped. Queries: JSON lines with id
and text, lines of id<tab>text, tables, SMART files, or TREC topics.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from podium.base.errors import DataError, MissingPackageError
from podium.base.files import reading
from podium.base.progress import Progress, quiet
from podium.formats.elastic_dump import documents_of
from podium.formats.sniff import sniff_texts, table_kind
from podium.formats.trec.trec_text import read_trec_documents, read_trec_topics
from podium.parsing.ids import first_repeated
from podium.text.collection.html_page import html_heading, html_text
from podium.text.collection.pages import anchor_texts, page_links

_PAGES = {".html", ".htm", ".xhtml"}
TEXT_FILES = {".txt", ".text", ".md", ".markdown", ".rst", ".html", ".htm", ".xhtml"}


@dataclass(frozen=True)
class Topic:
    """A query as text, with its id."""

    id: str
    text: str
    vector: tuple[float, ...] | None = None
    time: float | str | None = None
    """When it was asked, in ISO 8601 or ms since 1970: what a click log says is then counted up to this time."""


def read_documents(source: str | os.PathLike[str], *, progress: Progress = quiet) -> Iterator[dict[str, Any]]:
    """Read the documents of a file or folder, as dicts. `progress` gets the share that has been read."""
    count = 0
    for count, document in enumerate(_documents(source, progress), 1):  # noqa: B007 (counts)
        yield document
    if not count:
        raise DataError("no documents in it.", where=os.fspath(source))


def _documents(source: str | os.PathLike[str], progress: Progress) -> Iterator[dict[str, Any]]:
    path = Path(source)
    if str(source) != "-" and path.is_dir():
        yield from _folder(path, progress)
        return
    if path.suffix.lower() in _PAGES or (
        path.suffix.lower() in TEXT_FILES and path.is_file() and not _is_records(path)
    ):
        yield _text_file(path, path.name)
        return
    yield from _records(source, progress, blank="documents")


def read_queries(source: str | os.PathLike[str]) -> list[Topic]:
    """Read the queries of a file."""
    topics = []
    for k, record in enumerate(_records(source, quiet, blank="queries", queries=True), 1):
        where = f"{os.fspath(source)}: query {k}"
        id = next((record[name] for name in _QUERY_IDS if record.get(name) is not None), None)
        text = next((record[name] for name in ("text", "query", "title") if isinstance(record.get(name), str)), None)
        if id is None or text is None:
            raise DataError(f'a query needs an "id" and a "text"; got {sorted(map(str, record))[:8]}.', where=where)
        time = record.get("time")
        asked = time if isinstance(time, str | int | float) else None
        topics.append(Topic(str(id), text, _vector(record.get("vector"), where), asked))
    repeated = first_repeated(topic.id for topic in topics)
    if repeated is not None:
        raise DataError(f"query {repeated!r} is there twice.", where=os.fspath(source))
    if not topics:
        raise DataError("no queries.", where=os.fspath(source))
    return topics


_QUERY_IDS = ("id", "query_id", "qid", "_id", "num")


def read_query_column(source: str | os.PathLike[str], column: str) -> dict[str, str]:
    """Read what a column of a file of queries says of each query, by the query's id; queries without it are left out.

    The file has ids and any columns, with their names in the first line of a table; texts are not needed.
    """
    values: dict[str, str] = {}
    columns: dict[str, None] = {}
    for k, record in enumerate(_records(source, quiet, blank="queries"), 1):
        columns |= dict.fromkeys(map(str, record))
        id = next((record[name] for name in _QUERY_IDS if record.get(name) is not None), None)
        if id is None:
            named = ", ".join(map(str, record))
            raise DataError(f'a query needs an "id"; got {named[:200]}.', where=f"{os.fspath(source)}: query {k}")
        value = record.get(column)
        if isinstance(value, dict | list):
            raise DataError(f"query {id}: {column!r} is no single value.", where=os.fspath(source))
        if value is not None and values.setdefault(str(id), str(value)) != str(value):
            raise DataError(f"query {id} is there twice, with different {column!r}.", where=os.fspath(source))
    if column not in columns:
        near = f"there are: {', '.join(list(columns)[:12]) or 'none'}."
        raise DataError(f"no column {column!r}; {near}", where=os.fspath(source))
    return values


def _vector(values: Any, where: str) -> tuple[float, ...] | None:
    if values is None:
        return None
    numbers = isinstance(values, list) and all(isinstance(value, int | float) for value in values)
    if not numbers or not all(abs(value) <= sys.float_info.max for value in values):
        raise DataError(f"a vector is a list of finite numbers; got {str(values)[:60]}.", where=where)
    return tuple(map(float, values))


def _records(
    source: str | os.PathLike[str], progress: Progress, *, blank: str, queries: bool = False
) -> Iterator[dict[str, Any]]:
    name = os.fspath(source)
    if table_kind(name) == "parquet":
        yield from _parquet(name, progress)
        return
    with reading(source) as file:
        stream = _Counted(file, os.path.getsize(source) if name != "-" else 0, progress)
        lines = io.BufferedReader(stream, 2**16)
        head = lines.peek(2**12)[: 2**12]
        if not head.strip(b"\xef\xbb\xbf \t\r\n"):
            raise DataError(f"no {blank}: the file is empty.", where=name)
        match sniff_texts(name, head, queries=queries):
            case "json-lines":
                yield from _fields(documents_of(_json_objects(lines, name), name))
            case "json-list":
                yield from _fields(documents_of(_json_list(lines, name), name))
            case "smart":
                yield from _smart(lines)
            case "trec-documents" | "xml":
                yield from read_trec_documents(lines, name, _decoded)
            case "trec-topics":
                yield from read_trec_topics(_decoded(lines.read()), name)
            case "csv" | "tsv" as kind:
                yield from _csv(lines, name, "," if kind == "csv" else "\t", headless=queries)
            case None:
                raise DataError(
                    f"cannot tell what this is; expected {blank} as JSON lines, CSV, TSV, Parquet, SMART or TREC text.",
                    where=name,
                )


class _Counted(io.RawIOBase):
    """A stream that reports the share that has been read."""

    def __init__(self, stream: BinaryIO, size: int, progress: Progress) -> None:
        self._stream, self._size, self._progress = stream, size, progress

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        if self._size:
            raw = getattr(self._stream, "fileobj", self._stream)
            self._progress(min(raw.tell() / self._size, 1.0))
        return len(data)


def _fields(records: Iterator[tuple[int, Mapping[str, Any]]]) -> Iterator[dict[str, Any]]:
    return (dict(record) for _, record in records)


def _json_objects(lines: BinaryIO, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of JSON lines, with the numbers of their lines; or one object that is spread over many lines."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            record = _spread(line, lines) if number == 1 else None
            if record is None:
                raise DataError(f"not JSON: {error}.", where=f"{name}:{number}") from None
        yield number, _object(record, f"{name}:{number}")


def _spread(first: bytes, rest: BinaryIO) -> Any:
    """The value of a whole file of JSON; None if it is none."""
    try:
        return json.loads(first + rest.read())
    except (ValueError, RecursionError):
        return None


def _json_list(lines: BinaryIO, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        records = json.loads(lines.read())
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON: {error}.", where=name) from None
    for k, record in enumerate(records, 1):
        yield k, _object(record, f"{name}: entry {k}")


def _object(record: Any, where: str) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise DataError(f"expected a JSON object, got {type(record).__name__}.", where=where)
    return record


_SMART = {"T": "title", "W": "text", "A": "author", "B": "source", "K": "keywords", "N": "note", "X": "references"}


def _smart(lines: BinaryIO) -> Iterator[dict[str, Any]]:
    """`.I number`, then `.T`, `.W` … alone on a line, each before the lines of a field."""
    record: dict[str, list[str]] = {}
    field = ""
    for line in lines:
        text = _decoded(line).rstrip("\r\n")
        if text.startswith(".I"):
            if record:
                yield {key: "\n".join(value) for key, value in record.items()}
            record, field = {"id": [text[2:].strip()]}, ""
        elif len(text.rstrip()) == 2 and text[0] == "." and text[1].isupper():
            field = _SMART.get(text[1], text[1].lower())
            record.setdefault(field, [])
        elif field:
            record[field].append(text)
    if record:
        yield {key: "\n".join(value) for key, value in record.items()}


def _csv(lines: BinaryIO, name: str, separator: str, *, headless: bool) -> Iterator[dict[str, Any]]:
    csv.field_size_limit(2**31 - 1)
    text = io.TextIOWrapper(lines, "utf-8-sig", newline="")
    try:
        rows = csv.reader(text, delimiter=separator)
        heads = next(rows)
        if headless and "text" not in heads and "query" not in heads:  # id<tab>text, without a first line of names
            yield dict(zip(("id", "text"), heads, strict=False))
            heads = ["id", "text"]
        for number, row in enumerate(rows, 2):
            if len(row) != len(heads) and row:
                raise DataError(f"{len(row)} values, {len(heads)} expected.", where=f"{name}:{number}")
            if row:
                yield {key: _value(value) for key, value in zip(heads, row, strict=True) if value != ""}
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read as a table: {error}.", where=name) from None


def _value(text: str) -> Any:
    """The value of a cell: a number, or true or false, if it is one, else text."""
    if text in _FLAGS:
        return _FLAGS[text]
    try:
        return int(text) if re.fullmatch(r"-?(0|[1-9]\d{0,17})", text) else float(text) if "." in text else text
    except ValueError:
        return text


_FLAGS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


def _parquet(name: str, progress: Progress) -> Iterator[dict[str, Any]]:
    try:
        import pyarrow.parquet
    except ImportError:
        raise MissingPackageError("pyarrow", f"Reading {name}", "frames") from None
    try:
        file = pyarrow.parquet.ParquetFile(name)
    except FileNotFoundError:
        raise DataError("no such file.", where=name) from None
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise DataError(f"not a Parquet file ({str(error).splitlines()[0]}).", where=name) from None
    seen = 0
    for batch in file.iter_batches(batch_size=2000):
        for row in batch.to_pylist():
            yield {key: value for key, value in row.items() if value is not None}
        seen += len(batch)
        progress(seen / max(file.metadata.num_rows, 1))


def _folder(folder: Path, progress: Progress) -> Iterator[dict[str, Any]]:
    """Read every text, Markdown and HTML file below a folder; its id is its path.

    An HTML page also has its path as `url`, its `heading`, its `links`, and as `anchor` the texts of links to it.
    """
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in TEXT_FILES and path.is_file())
    if not files:
        raise DataError(f"no text files below it; looked for {', '.join(sorted(TEXT_FILES))}.", where=str(folder))
    names = {path.relative_to(folder).as_posix(): path for path in files}
    ids = names.keys()
    pages = ((id, _read_text(path)) for id, path in names.items() if path.suffix.lower() in _PAGES)
    anchors = anchor_texts(pages, ids)
    for k, (id, path) in enumerate(names.items(), 1):
        record = _text_file(path, id)
        if path.suffix.lower() in _PAGES:
            html = _read_text(path)
            links = dict.fromkeys(target for target, _ in page_links(id, html, ids) if target != id)
            record |= {"url": id, "heading": html_heading(html), "anchor": anchors.get(id, ""), "links": [*links]}
        yield record
        progress(k / len(files))


def _text_file(path: Path, id: str) -> dict[str, Any]:
    """A file of text as a document; its title is its first heading, or its name."""
    text = _read_text(path)
    record = {"id": id, "path": str(path)}
    if path.suffix.lower() in _PAGES:
        return record | html_text(text)
    heading = re.match(r"\s*#+\s+(.+)", text) if path.suffix.lower() in (".md", ".markdown") else None
    return record | {"title": heading.group(1).strip() if heading else path.stem.replace("_", " "), "text": text}


def _read_text(path: Path) -> str:
    with reading(path) as file:
        return _decoded(file.read())


def _is_records(path: Path) -> bool:
    """Whether a text file holds documents one after another."""
    with reading(path) as file:
        return sniff_texts(path.name, file.read(2**12)) not in (None, "xml")


def _decoded(data: bytes) -> str:
    """Decode text: UTF-8, else Latin-1."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")
