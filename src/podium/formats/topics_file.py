"""Topic files: lines of `query topic document grade`, as TREC's qrels for diversity, next to a data file.

The topics of a LETOR file are in `<file>.topics`, and read with it. A topic is any text without white space.
"""

from __future__ import annotations

from dataclasses import replace

from podium.base.errors import DataError
from podium.base.files import Source, writing
from podium.data.table import Table
from podium.data.triples import Triples
from podium.formats.column_roles import finite_number
from podium.formats.side_files import RowFinder, name_in_file, side_lines


def read_topics(source: Source, data: Table) -> Table:
    """Add the topics of a file to data; a line about a document that the data lacks is an error."""
    grouped = data.grouped()
    finder, seen = RowFinder(grouped), set[tuple[int, str]]()
    names = [dict[str, int]() for _ in range(grouped.n_queries)]
    rows: list[list[list[float]]] = [[] for _ in names]
    for words, where in side_lines(source):
        if len(words) != 4:
            raise DataError(f"expected: query topic document grade; got {len(words)} columns.", where=where)
        q, row = finder.query(words[0], where), finder.find(words[0], words[2], where)
        if (row, words[1]) in seen:
            raise DataError(f"document {words[2]!r} stands twice for topic {words[1]!r}.", where=where)
        seen.add((row, words[1]))
        topic = names[q].setdefault(words[1], len(names[q]))
        rows[q].append([row - int(grouped.offsets[q]), topic, finite_number(words[3], "grade", where)])
    return replace(data, topics=Triples.from_rows(rows))


def write_topics(data: Table, target: Source) -> None:
    """Write the topics of a dataset, numbered from 1."""
    if data.topics is None:
        raise DataError("this data has no topics.", where=data.source)
    grouped = data.grouped()
    with writing(target) as file:
        for q in range(grouped.n_queries):
            for document, topic, grade in data.topics.of(q).tolist():
                name = name_in_file(grouped, q, int(document))
                line = "\t".join([grouped.query_name(q), str(int(topic) + 1), name, repr(grade)])
                file.write(line.encode("utf-8", "surrogateescape") + b"\n")
