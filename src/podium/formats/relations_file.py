"""Relation files: lines of `query document document [value …]`, links between documents, next to a data file.

Without a value a link counts 1; with more than one, they are features of the link, as many on every line. The relations
of a LETOR file are in `<file>.relations`, and read with it. They are directed, from the first document to the second.
"""

from __future__ import annotations

from dataclasses import replace

from podium.base.errors import DataError
from podium.base.files import Source, writing
from podium.data.table import Table
from podium.data.triples import Triples
from podium.formats.column_roles import finite_number
from podium.formats.side_files import RowFinder, name_in_file, side_lines


def read_relations(source: Source, data: Table) -> Table:
    """Add the relations of a file to data."""
    grouped, columns = data.grouped(), 0
    finder, seen = RowFinder(grouped), set[tuple[int, int]]()
    rows: list[list[list[float]]] = [[] for _ in range(grouped.n_queries)]
    for words, where in side_lines(source):
        columns = columns or len(words)
        if len(words) < 3 or len(words) != columns:
            expected = (
                "query document document [value …]" if columns < 4 else f"{columns} columns, as on the first line"
            )
            raise DataError(f"expected: {expected}; got {len(words)} columns.", where=where)
        q, pair = finder.query(words[0], where), [finder.find(words[0], document, where) for document in words[1:3]]
        if (pair[0], pair[1]) in seen:
            raise DataError(f"the link from {words[1]!r} to {words[2]!r} stands twice.", where=where)
        seen.add((pair[0], pair[1]))
        values = [finite_number(word, "value", where) for word in words[3:]] or [1.0]
        rows[q].append([*(row - int(grouped.offsets[q]) for row in pair), *values])
    return replace(data, relations=Triples.from_rows(rows, max(columns - 1, 3)))


def write_relations(data: Table, target: Source) -> None:
    """Write the relations of a dataset."""
    if data.relations is None:
        raise DataError("this data has no relations.", where=data.source)
    grouped = data.grouped()
    with writing(target) as file:
        for q in range(grouped.n_queries):
            for first, second, *values in data.relations.of(q).tolist():
                names = [name_in_file(grouped, q, int(first)), name_in_file(grouped, q, int(second))]
                line = "\t".join([grouped.query_name(q), *names, *map(repr, values)])
                file.write(line.encode("utf-8", "surrogateescape") + b"\n")
