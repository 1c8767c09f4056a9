"""Sniff: detect the format of a file by its name and its first lines. No other module guesses.

LETOR       `grade qid:… 1:… 2:… # comment`; also without qid
qrels       `query iteration document grade`; ids may hold any character but white space, # and commas included
run         `query Q0 document rank score tag`, perhaps with more words
scores      a number per line, or RankLib's `qid index score`
preflib     by its ending (.soc, .toc …) or its header
table       .csv, .parquet or .arrow, by its ending
cache       a folder that `podium cache` wrote
index       a text index, which is a SQLite file

`sniff_texts` does the same for files of documents and queries, `table_kind` for tables.
"""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import Literal

from podium.base.errors import DataError
from podium.base.files import Source, reading
from podium.formats.cache.cache import is_cache

FileFormat = Literal["letor", "qrels", "run", "scores", "preflib", "table", "cache", "index", "unknown"]
TextFormat = Literal["json-lines", "json-list", "smart", "trec-documents", "trec-topics", "xml", "csv", "tsv"]
TableKind = Literal["csv", "tsv", "parquet", "arrow"]
TABLES = (".csv", ".csv.gz", ".parquet", ".pq", ".arrow", ".feather")
"""Endings of tables."""


def sniff(source: Source) -> FileFormat:
    """Format of a file, from its first non-comment line; "unknown" if none matches. "-" is not read."""
    name = os.fspath(source).lower() if isinstance(source, str | os.PathLike) else ""
    if name.endswith(TABLES):
        return "table"
    if is_cache(source):
        return "cache"
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
                return _by_line(line)
    return "unknown"


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
_SQLITE = b"SQLite format 3"
_PREFLIB = (".soc", ".soi", ".toc", ".toi")
_PREFLIB_HEADS = (b"# ALTERNATIVE NAME", b"# FILE NAME", b"# DATA TYPE")
_FEATURE = re.compile(rb"(qid|\d+):")


def _by_line(line: bytes) -> FileFormat:
    """Format by the columns of a line. In LETOR everything after the grade is `key:value`, up to a comment."""
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


def _is_number(word: bytes) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False
