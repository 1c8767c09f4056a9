"""Preference files: lines of `query winner loser [probability [weight]]`, separated by tabs, commas or spaces.

Winner and loser are document ids; for data without ids, row numbers within the query, from 0. The separator is a tab or
comma if the first line has one. A first line of column names, `qid winner loser probability weight`, blank lines and
lines that begin with # are skipped. The preferences of a LETOR file are in `<file>.preferences`, and read with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name, writing
from podium.data.dataset import Dataset
from podium.data.preferences import from_rows
from podium.data.table import Table

_HEADER = ["qid", "winner", "loser", "probability", "weight"]


def read_preferences(source: Source, data: Table) -> Table:
    """Add the preferences of a file to data."""
    grouped = data.grouped()
    rows = _Rows(grouped)
    winners, losers, odds, weights = [], [], [], []
    for words, where in _lines(source):
        if len(words) not in (3, 4, 5):
            raise DataError(
                f"expected: query winner loser [probability [weight]]; got {len(words)} columns.", where=where
            )
        winner, loser = (rows.find(words[0], document, where) for document in words[1:3])
        if winner == loser:
            raise DataError(f"document {words[1]!r} of query {words[0]!r} is preferred to itself.", where=where)
        winners.append(winner)
        losers.append(loser)
        odds.append(_number(words[3] if len(words) > 3 else "1", "probability", where, most=1.0))
        weights.append(_number(words[4] if len(words) > 4 else "1", "weight", where, most=np.finfo(np.float64).max))
    return replace(data, preferences=from_rows(winners, losers, odds, weights=weights, offsets=grouped.offsets))


def write_preferences(data: Table, target: Source) -> None:
    """Write the preferences of a dataset."""
    if data.preferences is None:
        raise DataError("this data has no preferences.", where=data.source)
    edges, offsets = data.preferences.edges, data.preferences.offsets
    data = data.grouped()
    with writing(target) as file:
        file.write(("\t".join(_HEADER) + "\n").encode())
        for q, (a, b) in enumerate(itertools.pairwise(offsets)):
            for first, second, *numbers in edges[a:b].tolist():
                names = [_name(data, q, int(first)), _name(data, q, int(second))]
                line = "\t".join([data.query_name(q), *names, *map(repr, numbers)])
                file.write(line.encode("utf-8", "surrogateescape") + b"\n")


class _Rows:
    """Find a document's row by query and document id; a dictionary per query, made when it is needed."""

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self.queries = {data.query_name(q): q for q in range(data.n_queries)}
        self.documents: dict[int, dict[str, int]] = {}

    def find(self, query: str, document: str, where: str) -> int:
        q = self.queries.get(query)
        if q is None:
            raise DataError(f"no query {query!r} in {self.data.source or 'the data'}.", where=where)
        if q not in self.documents:
            self.documents[q] = self._documents(q)
        row = self.documents[q].get(document)
        if row is None:
            kind = "document" if self.data.document_ids is not None else "row (the data has no document ids)"
            raise DataError(f"query {query!r} has no {kind} {document!r}.", where=where)
        if row < 0:
            raise DataError(f"query {query!r} has more than one document {document!r}.", where=where)
        return row

    def _documents(self, q: int) -> dict[str, int]:
        documents: dict[str, int] = {}
        start = int(self.data.offsets[q])
        for k in range(int(self.data.sizes[q])):
            name = _name(self.data, q, k)
            documents[name] = -1 if name in documents else start + k
        return documents


def _lines(source: Source) -> Iterator[tuple[list[str], str]]:
    name, separator = source_name(source), ""
    with reading(source) as file:
        for number, raw in enumerate(file, 1):
            line = raw.decode("utf-8", "surrogateescape").strip("\r\n")
            if not line.strip() or line.startswith("#"):
                continue
            first = not separator
            if first:
                separator = next((s for s in "\t," if s in line), " ")
            words = line.split() if separator == " " else [word.strip() for word in line.split(separator)]
            if first and [word.lower() for word in words] in (_HEADER, _HEADER[:4], _HEADER[:3]):
                continue
            yield words, f"{name}:{number}"


def _number(word: str, what: str, where: str, *, most: float) -> float:
    try:
        value = float(word)
    except ValueError:
        value = np.nan
    if not 0 <= value <= most:
        between = "from 0 to 1" if most == 1.0 else "of at least 0"
        raise DataError(f"the {what} must be a number {between}; got {word!r}.", where=where)
    return value


def _name(data: Dataset, q: int, k: int) -> str:
    """Name of document k of query q in the file."""
    return str(k) if data.document_ids is None else str(data.document_ids[data.offsets[q] + k])
