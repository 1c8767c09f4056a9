"""Sniff: detect the format of a file by its name and its first lines. No other module guesses.

LETOR       `grade qid:… 1:… 2:… # comment`; also without qid
qrels       `query iteration document grade`; ids may hold any character but white space, # and commas included
run         `query Q0 document rank score tag`, perhaps with more words
scores      a number per line, or RankLib's `qid index score`
preflib     by its ending (.soc, .toc …) or its header
table       .csv, .parquet or .arrow, by its ending; or columns of judgments or of a run, by their usual names
json        begins with an object or a list of objects: judgments or a run
cache       a folder that `podium cache` wrote
index       a text index, which is a SQLite file

`sniff_texts` does the same for files of documents and queries, `table_kind` for tables, `answer_engine` for answers of
search engines.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from podium.base.errors import DataError
from podium.base.files import Source, first_bytes, reading, source_name
from podium.formats.cache.cache import is_cache
from podium.formats.usual_columns import is_usual

FileFormat = Literal["letor", "qrels", "run", "scores", "preflib", "table", "json", "cache", "index", "unknown"]
TextFormat = Literal["json-lines", "json-list", "smart", "trec-documents", "trec-topics", "xml", "csv", "tsv"]
TableKind = Literal["csv", "tsv", "parquet", "arrow"]
EngineName = Literal["elasticsearch", "solr", "vespa"]
"""Search engines by the form of their answers; OpenSearch has Elasticsearch's."""
TABLES = (".csv", ".csv.gz", ".parquet", ".pq", ".arrow", ".feather")
"""Endings of tables."""


def sniff(source: Source) -> FileFormat:
    """Format of a file, from its first non-comment line; "unknown" if none matches. "-" is not read."""
    name = os.fspath(source).lower() if isinstance(source, str | os.PathLike) else ""
    if name.endswith(TABLES):
        return "table"
    if is_cache(source):
        return "cache"
    if isinstance(source, str | os.PathLike) and Path(source, "qrels").is_dir():
        return "qrels"  # a BEIR folder
    if name.removesuffix(".gz").endswith(_PREFLIB):
        return "preflib"
    if name == "-":
        return "unknown"  # standard input can be read only once
    if isinstance(source, str | os.PathLike) and Path(source).is_fifo():
        raise DataError(
            "is a pipe, which can be read only once, and what it holds is told by its first lines. Write it to a file.",
            where=os.fspath(source),
        )
    with reading(source) as file:
        for line in file:
            if line.startswith(_SQLITE):
                return "index"
            if line.startswith(_PREFLIB_HEADS):
                return "preflib"
            if line.strip() and not line.lstrip().startswith(b"#"):
                return "json" if _begins_json(line) else _by_line(line)
    return "unknown"


def is_json(source: Source) -> bool:
    """Whether a file begins as JSON records do; it can be read afterwards."""
    return table_kind(source_name(source)) not in ("parquet", "arrow") and _begins_json(first_bytes(source))


def is_rows(source: Source) -> bool:
    """Whether a file holds JSON, or rows under named columns, rather than TREC text; it can be read afterwards."""
    kind = table_kind(source_name(source))
    if kind is not None and kind != "tsv":
        return True
    head = first_bytes(source)
    return _begins_json(head) or _names_columns(head.lstrip().partition(b"\n")[0])


def holds_qrels(judged: Source, ranked: Source) -> bool:
    """Whether a file of judged documents holds qrels for a run, rather than labelled data for scores."""
    kind = sniff(judged)
    if kind != "table":
        return kind in ("qrels", "json")
    if ranked == "-":  # a table without these names is no labelled data
        names = _cells(first_bytes(judged).lstrip().partition(b"\n")[0])
        return table_kind(source_name(judged)) in ("csv", "tsv", None) and not {"qid", "label"} <= set(names)
    head = b"" if table_kind(source_name(ranked)) in ("parquet", "arrow") else first_bytes(ranked)
    return _by_line(head.lstrip().partition(b"\n")[0]) != "scores"


def table_kind(name: str) -> TableKind | None:
    """Kind of table by the ending of its name; None if it is no table."""
    ending = name.lower().rstrip("/").rpartition(".")[2]
    if ending == "gz":
        ending = name.lower().removesuffix(".gz").rpartition(".")[2]
        return _KINDS[ending] if ending in ("csv", "tsv") else None
    return _KINDS.get(ending)


def sniff_texts(name: str, head: bytes, *, queries: bool = False) -> TextFormat | None:
    """The format of a file of documents, or of queries, by its name and its first bytes; None if none fits."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    for pattern, format in _TEXTS.items():
        if pattern.match(start):
            return format
    if start.startswith(b"[") and name.lower().removesuffix(".gz").endswith(".json"):
        return "json-list"
    kind = table_kind(name)
    if kind == "csv" or kind == "tsv":
        return kind
    return "tsv" if queries and b"\t" in start else None


def answer_engine(answer: object) -> EngineName | None:
    """The search engine that gives answers of this form; None if none does."""
    if not isinstance(answer, Mapping):
        return None
    for engine, (outer, inner) in _ANSWERS.items():
        part = answer.get(outer)
        if isinstance(part, Mapping) and isinstance(part.get(inner, _NONE.get(engine)), list):
            return engine
    return None


_ANSWERS: dict[EngineName, tuple[str, str]] = {
    "elasticsearch": ("hits", "hits"), "solr": ("response", "docs"), "vespa": ("root", "children"),
}  # fmt: skip
_NONE: dict[EngineName, list[object]] = {"vespa": []}  # it has no children if nothing was found
_KINDS: dict[str, TableKind] = {
    "csv": "csv", "tsv": "tsv", "parquet": "parquet", "pq": "parquet", "arrow": "arrow", "feather": "arrow",
}  # fmt: skip
_TEXTS: dict[re.Pattern[bytes], TextFormat] = {
    re.compile(rb"\{"): "json-lines",
    re.compile(rb"\.I\s"): "smart",
    re.compile(rb"(?i)<doc[>\s]"): "trec-documents",
    re.compile(rb"(?i)<top>"): "trec-topics",
    re.compile(rb"(?i)<\?xml|<!--"): "xml",
}
_HEAD = 2**12  # bytes that tell a format
_SQLITE = b"SQLite format 3"
_PREFLIB = (".soc", ".soi", ".toc", ".toi")
_PREFLIB_HEADS = (b"# ALTERNATIVE NAME", b"# FILE NAME", b"# DATA TYPE")
_FEATURE = re.compile(rb"(qid|\d+):")


def _begins_json(head: bytes) -> bool:
    """Whether a file begins with a JSON object, or with a list of objects."""
    start = head[:_HEAD].lstrip(b"\xef\xbb\xbf \t\r\n")
    after = start[1:].lstrip(b" \t\r\n")[:1]
    return (start[:1] == b"{" and after in (b'"', b"}", b"")) or (start[:1] == b"[" and after in (b"{", b"]", b""))


def _names_columns(line: bytes) -> bool:
    """Whether a line names columns of judgments or of a run."""
    names = _cells(line)
    return is_usual(names) and not any(map(_is_number, names))


def _cells(line: bytes) -> list[str]:
    """The cells of a line of a table."""
    cells = re.split(rb"[,;|\t]", line[:_HEAD].removeprefix(b"\xef\xbb\xbf"))
    return [cell.strip().strip(b'"').decode("utf-8", "replace") for cell in cells]


def _by_line(line: bytes) -> FileFormat:
    """Format by the columns of a line. In LETOR everything after the grade is `key:value`, up to a comment."""
    if _names_columns(line):
        return "table"
    words = line.removeprefix(b"\xef\xbb\xbf").split()
    before_comment = line.partition(b"#")[0].split()
    if len(before_comment) > 1 and _FEATURE.match(before_comment[1]):
        return "letor"
    if len(words) == 4:
        return "qrels"
    if len(words) >= 6:
        return "run"
    if len(words) in (1, 3) and _is_number(words[-1]):
        return "scores"
    return "unknown"


def _is_number(word: bytes | str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False
