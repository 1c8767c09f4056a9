"""File formats: what a file holds, by its name and its first lines. The one place that guesses.

LETOR       `grade qid:… 1:… 2:… # comment`; also without qid
qrels       `query iteration document grade`; ids may hold any sign but white space, # and commas included
run         `query Q0 document rank score tag`, perhaps with more words
scores      a number per line, or RankLib's `qid index score`
preflib     by its ending (.soc, .toc …) or its header
table       .csv, .parquet or .arrow, by its ending
cache       a folder that `podium cache` made
"""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import Literal

from podium.data.cache import is_cache
from podium.data.preflib import SUFFIXES
from podium.data.table_parts import PARQUET
from podium.data.tables import ARROW
from podium.errors import DataError
from podium.files import Source, reading

FileFormat = Literal["letor", "qrels", "run", "scores", "preflib", "table", "cache", "unknown"]
TABLES = (".csv", ".csv.gz", *PARQUET, *ARROW)
"""Endings of tables."""


def file_format(source: Source) -> FileFormat:
    """What a file holds; unknown where the first line that says something fits none. "-" is not looked into."""
    name = os.fspath(source).lower() if isinstance(source, str | os.PathLike) else ""
    if name.endswith(TABLES):
        return "table"
    if is_cache(source):
        return "cache"
    if name.removesuffix(".gz").endswith(SUFFIXES):
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
            if line.startswith(_PREFLIB_HEADS):
                return "preflib"
            if line.strip() and not line.lstrip().startswith(b"#"):
                return _by_line(line)
    return "unknown"


_PREFLIB_HEADS = (b"# ALTERNATIVE NAME", b"# FILE NAME", b"# DATA TYPE")
_FEATURE = re.compile(rb"(qid|\d+):")


def _by_line(line: bytes) -> FileFormat:
    """By the columns of a line. In LETOR everything after the grade is `key:value`, up to a comment."""
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
