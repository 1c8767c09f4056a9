"""Judgments: who graded what, where judges disagree, one grade for each document, and the documents they are about.

    >>> found = read_judgments("feedback.db")  # doctest: +SKIP
    >>> grades = grades_by_query(found)  # doctest: +SKIP

Several grades of a document become one by majority; see `podium.judgments.consensus`. Files of TREC and LETOR hold no
white space in ids, so that it is written there as in addresses; see `word`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from podium.base.errors import DataError
from podium.data.dataset import Dataset
from podium.data.table import Table
from podium.formats.trec.trec import Qrels
from podium.judgments.agreement import Agreement, krippendorff
from podium.judgments.consensus import consensus
from podium.judgments.judgments import Judgments
from podium.service.feedback.feedback_export import IN_RANGE, read_texts, reading_store, word


class Judgment(NamedTuple):
    """The grade that a judge gave to a document of a query."""

    query: str
    id: str
    who: str
    grade: float
    time: int  # ms since 1970


@dataclass(frozen=True, slots=True)
class Known:
    """Documents of a query with their features."""

    query: str
    ids: list[str]
    features: NDArray[np.float32]  # (n, d)
    names: tuple[str, ...] | None  # of the features; None where they have none

    def dataset(self) -> Dataset:
        ids = np.array(self.ids, object)
        offsets = np.array([0, len(self.ids)])
        query = np.array([self.query], object)
        return Dataset(self.features, None, offsets, query_ids=query, document_ids=ids, feature_names=self.names)


def read_judgments(path: str | os.PathLike[str], query: str | None = None) -> list[Judgment]:
    """The judgments of a store, of one query or of all, the newest last. Of one judge, the newest grade counts."""
    found: dict[tuple[str, str, str], Judgment] = {}
    with reading_store(path) as base:
        rows = base.execute(
            "SELECT CASE WHEN e.query<>'' THEN e.query ELSE coalesce(i.query, '') END AS q, document, who, value, e.at "
            "FROM event AS e LEFT JOIN impression AS i ON e.request=i.request "
            f"WHERE kind='judgment' AND {IN_RANGE} AND q<>'' AND (? IS NULL OR q=?) ORDER BY e.at, e.n",
            (query, query),
        )
        for row in rows:
            one = Judgment(*row)
            found.pop(one[:3], None)
            found[one[:3]] = one
    return list(found.values())


def gathered(judgments: Sequence[Judgment]) -> Judgments:
    """The same as columns, for `podium.data`."""
    queries, documents, judges, grades = ([one[k] for one in judgments] for k in range(4))
    return Judgments.from_rows(queries, documents, judges, grades)


def grades_by_query(judgments: Sequence[Judgment]) -> dict[str, dict[str, float]]:
    """query → document → the grade that the judges agree on."""
    made: dict[str, dict[str, float]] = {}
    if judgments:
        found = consensus(gathered(judgments), "majority")
        for (query, id), grade in zip(found.judgments.item_names(), found.labels.tolist(), strict=True):
            made.setdefault(query, {})[id] = grade
    return made


def qrels(judgments: Sequence[Judgment]) -> Qrels:
    """The grades that the judges agree on, with ids that a file can hold."""
    grades = grades_by_query(judgments)
    return Qrels.from_dict({word(q): {word(id): grade for id, grade in one.items()} for q, one in grades.items()})


def disagreements(judgments: Sequence[Judgment]) -> list[tuple[str, str, dict[str, float]]]:
    """(query, document, grade by judge) where two judges differ, the widest first."""
    votes: dict[tuple[str, str], dict[str, float]] = {}
    for one in judgments:
        votes.setdefault((one.query, one.id), {})[one.who] = one.grade
    apart = [(query, id, grades) for (query, id), grades in votes.items() if len(set(grades.values())) > 1]
    return sorted(apart, key=lambda one: min(one[2].values()) - max(one[2].values()))


def agreement(judgments: Sequence[Judgment]) -> Agreement | None:
    """Krippendorff's α of the judges; None where no document has two grades."""
    if len({one[:2] for one in judgments}) == len(judgments):
        return None
    return krippendorff(gathered(judgments))


def known_documents(
    path: str | os.PathLike[str], data: Dataset | None, queries: Sequence[str]
) -> Iterator[tuple[str, Known | None]]:
    """The documents of queries: those of the data, else those that were last shown; None where there are neither."""
    rows = {} if data is None else {data.query_name(q): q for q in range(data.n_queries)}
    with reading_store(path) as base:
        for query in queries:
            if data is not None and query in rows:
                yield query, of_data(data, rows[query])
                continue
            shown = base.execute(
                "SELECT m.features, documents, i.features FROM impression AS i, model AS m "
                "WHERE i.model=m.m AND query=? ORDER BY i.n DESC LIMIT 1",
                (query,),
            ).fetchone()
            yield query, None if shown is None else _of_impression(query, *shown)


def of_data(data: Dataset, q: int) -> Known:
    """The documents of query number q of the data."""
    first, end = int(data.offsets[q]), int(data.offsets[q + 1])
    part = data.select([q]).dense()
    ids = [data.document_name(row) for row in range(first, end)]
    return Known(data.query_name(q), ids, np.asarray(part.features), data.feature_names)


def _of_impression(query: str, names: str, documents: str, features: bytes) -> Known:
    told, ids = tuple(read_texts(names)), read_texts(documents)
    X = np.frombuffer(features, np.float32).reshape(len(ids), len(told)).copy()
    plain = told == tuple(str(l + 1) for l in range(len(told)))
    return Known(query, ids, X, None if plain else told)


def judged_data(path: str | os.PathLike[str], data: Dataset | None) -> tuple[Table, int]:
    """Judged documents with their features and their grade as label; and the number of those left out.

    Left out are documents whose features are not known, or are others than those of the data (of the first query where
    there is no data).
    """
    grades = grades_by_query(read_judgments(path))
    wanted = None if data is None else (data.n_features, data.feature_names)
    parts: list[tuple[str, list[str], NDArray[np.float32], list[float]]] = []
    for query, known in known_documents(path, data, list(grades)):
        if known is None:
            continue
        own = known.features.shape[1], known.names
        wanted = wanted or own
        keep = [k for k, id in enumerate(known.ids) if id in grades[query]]
        if own == wanted and keep:
            ids = [known.ids[k] for k in keep]
            parts.append((query, ids, known.features[keep], [grades[query][id] for id in ids]))
    if not parts or wanted is None:
        raise DataError("of no judged document are the features known. Rank while --store is on, or give --data.")
    made = Dataset.from_arrays(
        np.concatenate([X for _, _, X, _ in parts]),
        np.concatenate([labels for *_, labels in parts]),
        qid=np.repeat(np.array([word(query) for query, *_ in parts], object), [len(ids) for _, ids, _, _ in parts]),
        document_ids=np.array([word(id) for _, ids, _, _ in parts for id in ids], object),
        feature_names=wanted[1],
        source=os.fspath(path),
    )
    return made, sum(map(len, grades.values())) - made.n_documents
