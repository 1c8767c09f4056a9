"""Judgments of a feedback store: grades by judge, disagreements, consensus grades, and judged documents with features.

    >>> judgments = read_judgments("feedback.db")  # doctest: +SKIP
    >>> grades = grades_by_query(judgments)  # doctest: +SKIP

Several grades of a document become one by majority; see `podium.judgments.consensus`. TREC and LETOR files cannot
contain white space in ids, so it is percent-encoded; see `word`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from podium.base.arrays import Singles
from podium.base.errors import DataError
from podium.data.dataset import Dataset
from podium.data.table import Table
from podium.formats.trec.trec import Qrels
from podium.judgments.agreement import Agreement, krippendorff
from podium.judgments.consensus import majority_grades
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
class DocumentFeatures:
    """Documents of a query with their features."""

    query: str
    ids: list[str]
    features: Singles  # (n, d)
    names: tuple[str, ...] | None  # of the features; None if they have none

    def dataset(self) -> Dataset:
        ids = np.array(self.ids, object)
        offsets = np.array([0, len(self.ids)])
        query = np.array([self.query], object)
        return Dataset(self.features, None, offsets, query_ids=query, document_ids=ids, feature_names=self.names)


def read_judgments(path: str | os.PathLike[str], query: str | None = None) -> list[Judgment]:
    """Judgments of a store, of one query or of all, newest last. Of one judge, the newest grade counts."""
    newest: dict[tuple[str, str, str], Judgment] = {}
    with reading_store(path) as base:
        rows = base.execute(
            "SELECT CASE WHEN e.query<>'' THEN e.query ELSE coalesce(i.query, '') END AS q, document, who, value, e.at "
            "FROM event AS e LEFT JOIN impression AS i ON e.request=i.request "
            f"WHERE kind='judgment' AND {IN_RANGE} AND q<>'' AND (? IS NULL OR q=?) ORDER BY e.at, e.n",
            (query, query),
        )
        for row in rows:
            judgment = Judgment(*row)
            newest.pop(judgment[:3], None)
            newest[judgment[:3]] = judgment
    return list(newest.values())


def gathered(judgments: Sequence[Judgment]) -> Judgments:
    """Judgments as columns, for `podium.judgments`."""
    queries, documents, judges, grades = ([judgment[k] for judgment in judgments] for k in range(4))
    return Judgments.from_rows(queries, documents, judges, grades)


def grades_by_query(judgments: Sequence[Judgment]) -> dict[str, dict[str, float]]:
    """Consensus grades of the judges: query → document → grade."""
    grades: dict[str, dict[str, float]] = {}
    if judgments:
        votes = gathered(judgments)
        for (query, id), grade in zip(votes.item_names(), majority_grades(votes).tolist(), strict=True):
            grades.setdefault(query, {})[id] = grade
    return grades


def qrels(judgments: Sequence[Judgment]) -> Qrels:
    """Consensus grades as TREC qrels, with ids that a file can contain."""
    grades = grades_by_query(judgments)
    return Qrels.from_dict({word(q): {word(id): grade for id, grade in own.items()} for q, own in grades.items()})


def disagreements(judgments: Sequence[Judgment]) -> list[tuple[str, str, dict[str, float]]]:
    """Documents that two judges grade differently: (query, document, grade by judge), largest difference first."""
    votes: dict[tuple[str, str], dict[str, float]] = {}
    for judgment in judgments:
        votes.setdefault((judgment.query, judgment.id), {})[judgment.who] = judgment.grade
    apart = [(query, id, grades) for (query, id), grades in votes.items() if len(set(grades.values())) > 1]
    return sorted(apart, key=lambda vote: min(vote[2].values()) - max(vote[2].values()))


def agreement(judgments: Sequence[Judgment]) -> Agreement | None:
    """Krippendorff's α of the judges; None if no document has two grades."""
    if len({judgment[:2] for judgment in judgments}) == len(judgments):
        return None
    return krippendorff(gathered(judgments))


def known_documents(
    path: str | os.PathLike[str], data: Dataset | None, queries: Sequence[str]
) -> Iterator[tuple[str, DocumentFeatures | None]]:
    """Documents of queries, with features: from the data, else as last shown; None if there are neither."""
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


def of_data(data: Dataset, q: int) -> DocumentFeatures:
    """Documents of query q of the data."""
    first, end = int(data.offsets[q]), int(data.offsets[q + 1])
    part = data.select([q]).dense()
    ids = [data.document_name(row) for row in range(first, end)]
    return DocumentFeatures(data.query_name(q), ids, np.asarray(part.features), data.feature_names)


def _of_impression(query: str, names: str, documents: str, features: bytes) -> DocumentFeatures:
    columns, ids = tuple(read_texts(names)), read_texts(documents)
    X = np.frombuffer(features, np.float32).reshape(len(ids), len(columns)).copy()
    plain = columns == tuple(str(l + 1) for l in range(len(columns)))
    return DocumentFeatures(query, ids, X, None if plain else columns)


def judged_data(path: str | os.PathLike[str], data: Dataset | None) -> tuple[Table, int]:
    """Training data from judgments: documents with features and grades as labels; and the number of those left out.

    A document is left out if its features are not known, or differ from those of the data (of the first query if there
    is no data).
    """
    grades = grades_by_query(read_judgments(path))
    wanted = None if data is None else (data.n_features, data.feature_names)
    parts: list[tuple[str, list[str], Singles, list[float]]] = []
    for query, rows in known_documents(path, data, list(grades)):
        if rows is None:
            continue
        own = rows.features.shape[1], rows.names
        wanted = wanted or own
        keep = [k for k, id in enumerate(rows.ids) if id in grades[query]]
        if own == wanted and keep:
            ids = [rows.ids[k] for k in keep]
            parts.append((query, ids, rows.features[keep], [grades[query][id] for id in ids]))
    if not parts or wanted is None:
        raise DataError("of no judged document are the features known. Rank while --store is on, or give --data.")
    table = Dataset.from_arrays(
        np.concatenate([X for _, _, X, _ in parts]),
        np.concatenate([labels for *_, labels in parts]),
        qid=np.repeat(np.array([word(query) for query, *_ in parts], object), [len(ids) for _, ids, _, _ in parts]),
        document_ids=np.array([word(id) for _, ids, _, _ in parts for id in ids], object),
        feature_names=wanted[1],
        source=os.fspath(path),
    )
    return table, sum(map(len, grades.values())) - table.n_documents
