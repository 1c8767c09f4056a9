"""Side files of a data file: text lines about its queries and documents, named by their ids.

Columns are separated by tabs, commas or spaces: the separator is a tab or comma if the first line has one. Blank lines
and lines that begin with # are skipped. For data without document ids, a document is its row number within the query,
from 0.
"""

from __future__ import annotations

from collections.abc import Iterator

from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name
from podium.data.dataset import Dataset


class RowFinder:
    """Find a document's row by query and document id; a dictionary per query, made when it is needed."""

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self.queries = {data.query_name(q): q for q in range(data.n_queries)}
        self.documents: dict[int, dict[str, int]] = {}

    def query(self, query: str, where: str) -> int:
        """Number of the query of an id."""
        q = self.queries.get(query)
        if q is None:
            raise DataError(f"no query {query!r} in {self.data.source or 'the data'}.", where=where)
        return q

    def find(self, query: str, document: str, where: str) -> int:
        """Row of the document of an id."""
        q = self.query(query, where)
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
            name = name_in_file(self.data, q, k)
            documents[name] = -1 if name in documents else start + k
        return documents


def side_lines(source: Source) -> Iterator[tuple[list[str], str]]:
    """The words of each line, and its place for messages."""
    name, separator = source_name(source), ""
    with reading(source) as file:
        for number, raw in enumerate(file, 1):
            line = raw.decode("utf-8", "surrogateescape").strip("\r\n")
            if not line.strip() or line.startswith("#"):
                continue
            separator = separator or next((s for s in "\t," if s in line), " ")
            yield (
                line.split() if separator == " " else [word.strip() for word in line.split(separator)],
                f"{name}:{number}",
            )


def name_in_file(data: Dataset, q: int, k: int) -> str:
    """Name of document k of query q in the file."""
    return str(k) if data.document_ids is None else str(data.document_ids[data.offsets[q] + k])
