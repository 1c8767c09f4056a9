"""Features that a search engine logged, as a dataset: from its answers, `engine_answers`, to training data.

Rows are the documents as they were shown, columns the features in the order in which they first appear. A value that
the engine did not log is missing, NaN, as its trees take it. Solr leaves out default values (its sparse format), which
are 0 unless the feature says otherwise, so there it is 0; a value that Solr logged as NaN is missing. `missing` decides
otherwise: linear models of the LTR plugins take a missing value as 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from podium.base.arrays import Singles
from podium.base.errors import DataError, needs_memory
from podium.base.files import Source, reading, source_name
from podium.data.dataset import Dataset
from podium.data.table import Table
from podium.formats.engines.engine_answers import EngineAnswer, EngineDocument, read_answers
from podium.formats.feature_rows import QueryRows
from podium.formats.query_texts import QueryTexts
from podium.formats.sniff import EngineName, answer_engine
from podium.formats.tables.records import json_stream
from podium.formats.trec.trec import Run

Missing = Literal["nan", "zero"]
MOST_FEATURES = 10_000
"""Different names in a log; more are probably no names of features."""


class ShownDocument(NamedTuple):
    """A document that an engine showed."""

    id: str
    score: float | None
    values: Singles | None  # of the features whose names were read before; None if none were logged
    n_logged: int


@dataclass(frozen=True, eq=False)
class FeatureLog:
    """The documents of queries as an engine showed them, with the features that it logged."""

    engine: EngineName
    names: tuple[str, ...]
    documents: Mapping[str, Sequence[ShownDocument]]  # by query
    missing: Missing
    source: str

    def rows(self, query: str, grades: Mapping[str, float] | None = None) -> QueryRows:
        """The documents of a query, with the grade 0 if they are not judged."""
        documents = self.documents[query]
        X = np.full((len(documents), len(self.names)), _FILL[self.missing], np.float32)
        for row, document in zip(X, documents, strict=True):
            if document.values is not None:
                row[: len(document.values)] = document.values
        ids = [document.id for document in documents]
        return QueryRows(query, ids, X, None if grades is None else np.array([grades.get(id, 0.0) for id in ids]))

    def table(self, judged: Mapping[str, Mapping[str, float]] | None = None) -> Table:
        """All documents as a dataset; with judgments, those of judged queries, with grades."""
        queries = self.judged_queries(judged)
        size = sum(len(self.documents[query]) for query in queries)
        needs_memory(4.0 * size * len(self.names), "the table of features", instead="Log fewer features.")
        parts = [self.rows(query, None if judged is None else judged[query]) for query in queries]
        data = Dataset.from_arrays(
            np.concatenate([part.features for part in parts]),
            None if judged is None else np.concatenate([part.grades for part in parts if part.grades is not None]),
            qid=np.array([part.query for part in parts for _ in part.ids], object),
            document_ids=[id for part in parts for id in part.ids],
            feature_names=self.names,
            source=self.source,
        )
        return replace(data, info=self.about())

    def judged_queries(self, judged: Mapping[str, Mapping[str, float]] | None) -> list[str]:
        """The queries that have a judgment, and documents; all that have documents without judgments."""
        queries = [
            query for query, documents in self.documents.items() if documents and (judged is None or query in judged)
        ]
        if not queries:
            names = [next(iter(names), None) for names in (self.documents, judged or {})]
            raise DataError(
                f"no query with documents has a judgment: queries are called {names[0]!r} …, those of the judgments "
                f"{names[1]!r} …. Do their ids agree?",
                where=self.source,
            )
        return queries

    def about(self) -> dict[str, str]:
        """What a model that is trained on the log keeps of it."""
        return {"engine": self.engine, "missing": self.missing}

    def run(self) -> Run:
        """The rankings as they were shown: the engine's scores if it gave all of a query, otherwise n, …, 1."""
        scores = {}
        for query, documents in self.documents.items():
            values = [document.score for document in documents]
            if None in values:
                values = [float(len(values) - k) for k in range(len(values))]
            scores[query] = {document.id: value or 0.0 for document, value in zip(documents, values, strict=True)}
        return Run.from_dict(scores, tag=self.engine)

    def unlogged(self) -> float:
        """The share of values that the engine did not log."""
        shown = [document for documents in self.documents.values() for document in documents]
        return 1.0 - sum(document.n_logged for document in shown) / max(len(self.names) * len(shown), 1)


def read_logged_features(
    source: Source,
    *,
    query_field: str | None = None,
    id_field: str | None = None,
    missing: Missing | None = None,
    queries: QueryTexts | None = None,
) -> FeatureLog:
    """Read the features that Elasticsearch, OpenSearch, Solr or Vespa logged, from a file of answers.

    `query_field` and `id_field` say where the ids of queries and documents are; `queries` turns texts into ids;
    `missing` is what a value is that was not logged, by default as the engine takes it.
    """
    log = read_shown(source, query_field=query_field, id_field=id_field, missing=missing, queries=queries)
    for query, documents in log.documents.items():
        for document in documents:
            if document.values is None:
                raise DataError(
                    f"document {document.id!r} of query {query!r} has no logged features. Ask the engine to log them: "
                    "podium ask --log-features.",
                    where=log.source,
                )
    if not log.names:
        raise DataError("the answers have no features.", where=log.source)
    return log


def is_log(source: Source) -> bool:
    """Whether a file of JSON begins with an answer of a search engine; an open file is read from."""
    name = source_name(source)
    with reading(source) as file:
        _, record = next(json_stream(file, name), (None, None))
    inner = record.get("response") if isinstance(record, Mapping) else None
    return answer_engine(record) is not None or answer_engine(inner) is not None


def read_shown(
    source: Source,
    *,
    query_field: str | None = None,
    id_field: str | None = None,
    missing: Missing | None = None,
    queries: QueryTexts | None = None,
) -> FeatureLog:
    """Read the documents that an engine showed, whether it logged features or not."""
    name, seen, names = source_name(source), dict[str, dict[str, ShownDocument]](), dict[str, int]()
    engine: EngineName | None = None
    for answer in read_answers(source, query_field=query_field, id_field=id_field):
        if engine not in (None, answer.engine):
            raise DataError(f"an answer of {answer.engine} among those of {engine}.", where=answer.where)
        engine, query = answer.engine, answer.query
        if queries is not None:
            [id] = queries.to_ids([query], where=name)
            query = query if id is None else id
        _add(seen.setdefault(query, {}), answer, names, missing)
    if engine is None:
        raise DataError("no answers.", where=name)
    documents = {query: list(shown.values()) for query, shown in seen.items()}
    return FeatureLog(engine, tuple(names), documents, missing or _MISSING[engine], name)


def _add(seen: dict[str, ShownDocument], answer: EngineAnswer, names: dict[str, int], missing: Missing | None) -> None:
    """Add the documents of an answer to those of its query, which may have been asked page by page."""
    fill, says_nan = _FILL[missing or _MISSING[answer.engine]], answer.engine == "solr" and missing is None
    for document in answer.documents:
        values = _values(document, names, fill, math.nan if says_nan else fill)
        n_logged = sum(says_nan or not math.isnan(value) for value in (document.features or {}).values())
        shown = ShownDocument(document.id, document.score, values, n_logged)
        before = seen.setdefault(document.id, shown)
        if before is not shown and not _alike(before.values, shown.values, fill):
            raise DataError(
                f"document {document.id!r} was logged twice for query {answer.query!r}, with other features. Give each "
                "answer an id of its own, or keep one.",
                where=answer.where,
            )
    if len(names) > MOST_FEATURES:
        raise DataError(f"more than {MOST_FEATURES} different names of features.", where=answer.where)


def _values(document: EngineDocument, names: dict[str, int], fill: float, null: float) -> Singles | None:
    """Values of the features that have names by now: `fill` without a value, `null` if it is NaN."""
    if document.features is None:
        return None
    places = [names.setdefault(name, len(names)) for name in document.features]
    values = np.full(len(names), fill, np.float32)
    values[places] = [null if math.isnan(value) else value for value in document.features.values()]
    return values


def _alike(a: Singles | None, b: Singles | None, fill: float) -> bool:
    """Whether values are the same, of features that one may not have."""
    if a is None or b is None:
        return a is b
    short, long = sorted((a, b), key=len)
    rest = np.full(len(long) - len(short), fill, np.float32)
    return np.array_equal(np.append(short, rest), long, equal_nan=True)


_FILL: dict[Missing, float] = {"nan": math.nan, "zero": 0.0}
_MISSING: dict[EngineName, Missing] = {"elasticsearch": "nan", "solr": "zero", "vespa": "nan"}
