"""Training data from an index: queries, their candidates, features and grades.

Candidates are the best documents of the first stage. A document without a judgment has grade 0. Evaluate a model that
is trained on them with all judgments, also those of documents that the first stage missed: `evaluate_run`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Singles
from podium.base.errors import DataError, MissingPackageError
from podium.base.files import writing
from podium.data.dataset import Dataset
from podium.formats.letor.letor import write_letor
from podium.formats.sniff import table_kind
from podium.formats.trec.trec import AnyQrels, Run, as_qrels
from podium.text.collection.collection import Topic
from podium.text.context import Context
from podium.text.features import Feature, Plan, read_features
from podium.text.index.index import Hits, Index
from podium.text.retrieval import BM25, Retrieval

if TYPE_CHECKING:
    from podium.data.table import Table

DEPTH = 100
"""Candidates per query by default."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The candidates of a query with their features and grades."""

    topic: Topic
    ids: list[str]
    features: Singles  # (n, d)
    grades: Array | None  # (n,)
    first_stage: Array  # (n,) scores


def dataset(
    index: Index,
    queries: Iterable[Topic | Mapping[str, Any]],
    qrels: AnyQrels | None = None,
    *,
    features: str | Sequence[str | Feature] = "podium",
    depth: int = DEPTH,
    by: Retrieval | str = BM25(),  # noqa: B008 (it is frozen)
    add_relevant: bool = False,
    keep_unjudged: bool = False,
) -> Table:
    """The candidates of queries with their features, and with grades if there are judgments.

    `features` are names of features or of sets; `by` is the first stage, and `depth` the number of its candidates.
    With `add_relevant`, relevant documents that it missed are candidates too: more to learn from, but unlike the
    candidates of later queries. Queries without any candidate are left out, and those without any judgment if there
    are judgments, unless `keep_unjudged`.
    """
    wanted, topics = read_features(features, index), judged_queries(queries, None if keep_unjudged else qrels)
    parts = [rows for rows in rows_of(index, topics, qrels, wanted, depth, by, add_relevant) if rows.ids]
    if not parts:
        raise DataError("no query has a candidate: none of their words is in the index.", where=str(index.store.path))
    data = Dataset.from_arrays(
        np.concatenate([rows.features for rows in parts]),
        None if qrels is None else np.concatenate([rows.grades for rows in parts if rows.grades is not None]),
        qid=np.array([rows.topic.id for rows in parts for _ in rows.ids], object),
        document_ids=[id for rows in parts for id in rows.ids],
        feature_names=[repr(feature) for feature in wanted],
        source=str(index.store.path),
    )
    return replace(data, info=info(index, by, depth))


def judged_queries(queries: Iterable[Topic | Mapping[str, Any]], qrels: AnyQrels | None) -> Iterator[Topic]:
    """The queries that have a judgment; all of them without judgments. If none has, that is an error."""
    judged = None if qrels is None else grades_of(qrels)
    first, kept = None, 0
    for n, raw in enumerate(queries, 1):
        topic = raw if isinstance(raw, Topic) else _topic(raw, n)
        first = first or topic
        if judged is None or topic.id in judged:
            kept += 1
            yield topic
    if first is not None and not kept:
        theirs = next(iter(judged or ()), None)
        raise DataError(
            f"no query has a judgment, so there is nothing to learn from: queries are called {first.id!r} …, those of "
            f"the judgments {theirs!r} …. Do the ids of queries agree?"
        )


def info(index: Index, by: Retrieval | str, depth: int) -> dict[str, Any]:
    """Description of candidates and features, with which a model computes the same again."""
    how = Retrieval.parse(by) if isinstance(by, str) else by
    return {
        "analyser": repr(index.analyser), "fields": list(index.fields), "retrieval": repr(how), "depth": depth,
    }  # fmt: skip


def rows_of(
    index: Index,
    queries: Iterable[Topic | Mapping[str, Any]],
    qrels: AnyQrels | None,
    features: Sequence[Feature],
    depth: int = DEPTH,
    by: Retrieval | str = BM25(),  # noqa: B008 (it is frozen)
    add_relevant: bool = False,
) -> Iterator[Rows]:
    """Compute the candidates of each query, one query after another."""
    judged = None if qrels is None else grades_of(qrels)
    plan = Plan(features, index)
    for n, raw in enumerate(queries, 1):
        topic = raw if isinstance(raw, Topic) else _topic(raw, n)
        query = index.query(topic.text, vector=topic.vector)
        hits = index.search(query, depth, by=by)
        of_query = {} if judged is None else judged.get(topic.id, {})
        if add_relevant:
            hits = _with_judged(index, hits, of_query)
        X = plan.matrix(Context(index, query, hits.numbers, hits.scores))
        grades = None if judged is None else np.array([of_query.get(id, 0.0) for id in hits.ids])
        yield Rows(topic, hits.ids, X, grades, hits.scores)


def _topic(query: object, n: int) -> Topic:
    """A query from a dict; raises a clear error if it is not one."""
    if not isinstance(query, Mapping) or not isinstance(query.get("text"), str) or query.get("id") is None:
        raise DataError(
            f'query {n}: expected a dict such as {{"id": "1", "text": "words to look for"}}; got {query!r}. '
            "Give a list of them, or read a file with podium.text.read_queries."
        )
    return Topic(str(query["id"]), query["text"], query.get("vector"))


def grades_of(qrels: AnyQrels) -> dict[str, dict[str, float]]:
    """Judgments as dictionaries; a grade below 0, which marks a document as not judged, counts 0."""
    qrels = as_qrels(qrels)
    names, judged = qrels.document_ids.tolist(), {}
    for query, a, b in zip(
        qrels.query_ids.tolist(), qrels.offsets[:-1].tolist(), qrels.offsets[1:].tolist(), strict=True
    ):
        judged[str(query)] = dict(zip(names[a:b], np.maximum(qrels.labels[a:b], 0.0).tolist(), strict=True))
    return judged


def _with_judged(index: Index, hits: Hits, grades: Mapping[str, float]) -> Hits:
    """The candidates, and after them the relevant documents that are not among them, with the score 0."""
    candidates = set(hits.ids)
    missed = [
        id for id, grade in grades.items() if grade > 0 and id not in candidates and index.store.number(id) is not None
    ]
    scores, numbers = np.append(hits.scores, np.zeros(len(missed))), np.append(hits.numbers, index.numbers(missed))
    return Hits([*hits.ids, *missed], scores, numbers.astype(np.int64))


def first_stage(parts: Iterable[Rows], *, tag: str = "first-stage") -> Run:
    """The candidates in the order of the first stage, as a run."""
    return Run.from_dict({r.topic.id: dict(zip(r.ids, r.first_stage.tolist(), strict=True)) for r in parts}, tag=tag)


def write_features(parts: Iterable[Rows], target: str, *, features: Sequence[Feature], about: dict[str, Any]) -> int:
    """Write the rows of queries to a LETOR or a Parquet file, query by query, and return their number.

    The description of the features goes to `<file>.features` for LETOR text, to the metadata for Parquet.
    """
    names = [repr(feature) for feature in features]
    if table_kind(target) == "parquet":
        return _write_parquet(parts, target, names, about)
    written = 0
    with writing(target) as file:
        for rows in parts:
            if rows.ids:
                write_letor(_dataset(rows, names), file)
                written += len(rows.ids)
    if target != "-":
        with writing(f"{target}.features") as file:
            file.write(json.dumps({"features": names, "info": about}, indent=1).encode())
    return written


def _dataset(rows: Rows, names: list[str]) -> Table:
    grades = np.zeros(len(rows.ids)) if rows.grades is None else rows.grades
    return Dataset.from_arrays(
        rows.features, grades, qid=np.full(len(rows.ids), rows.topic.id, object), document_ids=rows.ids,
        feature_names=names,
    )  # fmt: skip


def _write_parquet(parts: Iterable[Rows], target: str, names: list[str], about: dict[str, Any]) -> int:
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        raise MissingPackageError("pyarrow", f"Writing {target}", "frames") from None

    columns = [("qid", pa.string()), ("label", pa.float64()), ("document_id", pa.string())]
    schema = pa.schema([*columns, *((name, pa.float32()) for name in names)], {"podium": json.dumps(about)})
    written, waiting, rest = 0, list[Rows](), iter(parts)
    with writing(target) as file, pyarrow.parquet.ParquetWriter(file, schema) as writer:
        while waiting := list(_up_to(rest, _GROUP)):
            heads = [
                [rows.topic.id for rows in waiting for _ in rows.ids],
                np.concatenate([np.zeros(len(r.ids)) if r.grades is None else r.grades for r in waiting]),
                [id for rows in waiting for id in rows.ids],
            ]
            arrays = [pa.array(x, kind) for x, (_, kind) in zip(heads, columns, strict=True)]
            X = np.concatenate([rows.features for rows in waiting])
            writer.write_table(pa.table([*arrays, *map(pa.array, X.T)], schema=schema))
            written += len(X)
    return written


_GROUP = 20_000
"""Rows per group of a Parquet file."""


def _up_to(parts: Iterator[Rows], size: int) -> Iterator[Rows]:
    """The next queries, until they have `size` rows."""
    for rows in parts:
        yield rows
        size -= len(rows.ids)
        if size <= 0:
            return
