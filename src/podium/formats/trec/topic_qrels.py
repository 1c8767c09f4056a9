"""Diversity qrels: rows of query, topic, document and grade, in which a document may stand once for each topic."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError
from podium.data.triples import Triples
from podium.parsing.ids import Ids

if TYPE_CHECKING:
    from podium.formats.trec.judged_rows import Grouped
    from podium.formats.trec.trec_lines import Columns


def by_topic(columns: Columns | Grouped, source: str | None) -> tuple[Ints, Ids, Array, Triples]:
    """Offsets, ids and largest grades of the documents of each query, and their grades by topic."""
    assert columns.topics is not None, "checked before"
    names, bounds = columns.document_ids.tolist(), columns.offsets.tolist()
    documents, labels, rows, sizes = list[str](), list[float](), list[list[list[float]]](), [0]
    for q, (a, b) in enumerate(pairwise(bounds)):
        places, topics, seen = dict[str, int](), dict[str, int](), set[tuple[int, int]]()
        grades, triples = list[float](), list[list[float]]()
        for row in range(a, b):
            document = places.setdefault(names[row], len(places))
            topic = topics.setdefault(columns.topics[row], len(topics))
            if (document, topic) in seen:
                raise DataError(
                    f"document {names[row]!r} stands twice for topic {columns.topics[row]!r} of query "
                    f"{columns.query_ids[q]!r}.",
                    where=source,
                )
            seen.add((document, topic))
            grade = float(columns.values[row])
            triples.append([document, topic, grade])
            if document == len(grades):
                grades.append(grade)
            grades[document] = max(grades[document], grade)
        documents += places
        labels += grades
        rows.append(triples)
        sizes.append(len(documents))
    return np.array(sizes, np.int64), Ids.of(documents), np.array(labels), Triples.from_rows(rows)


def listed_topics(topics: Triples, matches: Ints, offsets: Ints, judged_offsets: Ints) -> Triples:
    """Topics of the documents of lists: `matches` are the judged rows of the lists' documents, −1 if there is none."""
    rows = []
    for q in range(len(offsets) - 1):
        a, b = int(offsets[q]), int(offsets[q + 1])
        place = np.full(int(judged_offsets[q + 1] - judged_offsets[q]), -1)
        judged = matches[a:b] >= 0
        place[matches[a:b][judged] - judged_offsets[q]] = np.flatnonzero(judged)
        triples = topics.of(q).copy()
        triples[:, 0] = place[triples[:, 0].astype(np.int64)]
        rows.append(triples[triples[:, 0] >= 0])
    bounds = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    return Triples(np.concatenate([*rows, np.empty((0, 3))]), bounds)
