"""Reader of LETOR's files for rank aggregation (MQ2007-agg, MQ2008-agg): a line per document, a column per voter.

    >>> import io
    >>> text = b"1 qid:7 1:30 2:NULL #docid = A\\n0 qid:7 1:12 2:5 #docid = B\\n"
    >>> votes = read_letor_agg(io.BytesIO(text))
    >>> votes.voters, votes.query(0).matrix().tolist(), votes.labels.tolist()
    (('1', '2'), [[1.0, 2.0], [nan, 1.0]], [1.0, 0.0])

NULL, or no column, means that the list does not rank the document. In those files the largest number of a list is its
top; if 1 is the top, use `top="smallest"`. A document that no list ranks is left out.
"""

from __future__ import annotations

import re
from typing import Literal

import numpy as np

from podium.aggregation.rankings.rankings import Rankings
from podium.base.errors import DataError
from podium.base.files import Source, reading, source_name
from podium.formats.column_roles import finite_number

Top = Literal["largest", "smallest"]
"""The number at the top of a list."""


def read_letor_agg(source: Source, *, top: Top = "largest") -> Rankings:
    """Read the lists and grades of a LETOR aggregation file, from a path, "-" or a binary file, gzipped or not."""
    name = source_name(source)
    queries, voters, documents, values, lines = [], [], [], [], []
    labels: dict[tuple[str, str], float] = {}
    with reading(source) as file:
        for number, raw in enumerate(file, 1):
            line = raw.decode("utf-8", "replace")
            if not line.partition("#")[0].strip():
                continue
            label, query, document, ranked = _line(line, f"{name}:{number}")
            if (query, document) in labels:
                raise DataError(f"document {document} stands twice in query {query}.", where=f"{name}:{number}")
            labels[query, document] = label
            for voter, value in ranked:
                queries.append(query)
                voters.append(voter)
                documents.append(document)
                values.append(value)
                lines.append(number)
    if not values:
        raise DataError("no rankings: expected lines like 1 qid:7 1:30 2:NULL #docid = A.", where=name)
    names = [str(v) for v in sorted(set(voters))]
    return Rankings.from_entries(
        queries,
        voters,
        documents,
        ranks=-np.array(values) if top == "largest" else values,
        voters=names,
        labels=labels,
        sources=[name] * len(names),
        lines=lines,
    )


_WHOLE = re.compile(r"\d{1,18}", re.ASCII)
_DOCUMENT = re.compile(r"#\s*docid\s*=\s*(\S+)")


def _line(line: str, where: str) -> tuple[float, str, str, list[tuple[int, float]]]:
    """Grade, query, document, and (voter, number) for every list that ranks it."""
    head, _, _ = line.partition("#")
    words = head.split()
    if len(words) < 2 or not words[1].startswith("qid:"):
        raise DataError(f"expected label qid:query list:rank … #docid = id; got {line.strip()[:60]!r}.", where=where)
    document = _DOCUMENT.search(line)
    ranked: list[tuple[int, float]] = []
    seen: set[int] = set()
    for word in words[2:]:
        voter, colon, value = word.partition(":")
        if not colon or not _WHOLE.fullmatch(voter):
            raise DataError(f"expected list:rank or list:NULL; got {word!r}.", where=where)
        if int(voter) in seen:
            raise DataError(f"list {voter} stands twice in this line.", where=where)
        seen.add(int(voter))
        if value.upper() != "NULL":
            ranked.append((int(voter), finite_number(value, f"rank in list {voter}", where)))
    name = document.group(1) if document else where.rpartition(":")[2]  # without ids, the line's number
    return finite_number(words[0], "label", where), words[1][4:], name, ranked
