"""Training data from an index: queries, their candidates, features and grades.

Candidates are the best documents of the first stage. A document without a judgment has grade 0. Evaluate a model that
is trained on them with all judgments, also those of documents that the first stage missed: `evaluate_run`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array, Singles
from podium.base.errors import DataError, ParameterError
from podium.base.registry import split_list
from podium.data.dataset import Dataset
from podium.formats.feature_rows import QueryRows, grades_of, write_rows
from podium.formats.trec.trec import AnyQrels, Run
from podium.text.collection.collection import Topic
from podium.text.context import Context
from podium.text.features import Feature, Plan, read_features
from podium.text.index.index import Hits, Index
from podium.text.retrieval import BM25, Retrieval
from podium.text.retrieval.first_stage import score_feature, with_scores

if TYPE_CHECKING:
    from podium.clicks.behaviour.base import BehaviourFeature
    from podium.clicks.behaviour.candidate_features import CandidateBehaviour
    from podium.clicks.log.click_log import ClickLog
    from podium.data.table import Table
    from podium.text.query import Query

DEPTH = 100
"""Candidates per query by default."""
DEFAULT_SET = "podium"


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
    features: str | Sequence[str | Feature] = DEFAULT_SET,
    depth: int = DEPTH,
    by: Retrieval | str = BM25(),  # noqa: B008 (it is frozen)
    add_relevant: bool = False,
    keep_unjudged: bool = False,
    clicks: ClickLog | None = None,
) -> Table:
    """The candidates of queries with their features, and with grades if there are judgments.

    `features` are names of features or of sets; `by` is the first stage, and `depth` the number of its candidates.
    With `add_relevant`, relevant documents that it missed are candidates too: more to learn from, but unlike the
    candidates of later queries. Queries without any candidate are left out, and those without any judgment if there
    are judgments, unless `keep_unjudged`.

    With `clicks`, a log, behaviour features such as `rate(days=7)` may be among the features: as of the `time` of a
    query (ISO 8601, or ms since 1970), or of the end of the log if it has none.
    """
    how = Retrieval.parse(by) if isinstance(by, str) else by
    topics = list(judged_queries(queries, None if keep_unjudged else qrels))
    others, behaviour = with_clicks(features, clicks, index, topics)
    wanted = asked_features(others, how, index)
    rows = rows_of(index, topics, qrels, wanted, depth, by, add_relevant)
    parts = [part for part in (rows if behaviour is None else behaviour.added(rows)) if part.ids]
    if not parts:
        raise DataError("no query has a candidate: none of their words is in the index.", where=str(index.store.path))
    data = Dataset.from_arrays(
        np.concatenate([rows.features for rows in parts]),
        None if qrels is None else np.concatenate([rows.grades for rows in parts if rows.grades is not None]),
        qid=np.array([rows.topic.id for rows in parts for _ in rows.ids], object),
        document_ids=[id for rows in parts for id in rows.ids],
        feature_names=[repr(feature) for feature in (*wanted, *(() if behaviour is None else behaviour.features))],
        source=str(index.store.path),
    )
    return replace(data, info=info(index, how, depth, wanted, behaviour))


def with_clicks(
    features: str | Sequence[str | Feature | BehaviourFeature], clicks: ClickLog | None, index: Index,
    topics: Sequence[Topic],
) -> tuple[list[str | Feature], CandidateBehaviour | None]:  # fmt: skip
    """The features that an index gives, and those that are counted in a click log, if there are any."""
    from podium.clicks.behaviour.candidate_features import CandidateBehaviour, split_features
    from podium.formats.query_texts import QueryTexts

    others, behaviour = split_features(features)
    if behaviour and clicks is None:
        raise ParameterError(
            f"{behaviour[0]} is a behaviour feature, which is counted in a click log: give clicks=… (--clicks LOG)."
        )
    if clicks is None:
        return others, None
    if not behaviour or not others:
        what = "behaviour features, such as rate(days=7)" if others else "features of the text, such as podium"
        raise ParameterError(f"with a click log, features are of both kinds; add {what} (--set).")
    texts = QueryTexts({topic.id: topic.text for topic in topics})
    return others, CandidateBehaviour(behaviour, clicks, index, texts)


def asked_features(features: str | Sequence[str | Feature], how: Retrieval, index: Index) -> tuple[Feature, ...]:
    """Features by their names; the default set, also among others, has the scores of the first stage too."""
    wanted = read_features(features, index)
    return with_scores(wanted, how, index) if has_first_stage(features) else wanted


def has_first_stage(features: str | Sequence[str | Feature]) -> bool:
    """Whether the scores of the first stage are features, whichever it is: the default set is among the names."""
    names = split_list(features, features) if isinstance(features, str) else features
    return any(isinstance(name, str) and name.strip() == DEFAULT_SET for name in names)


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


def info(
    index: Index, how: Retrieval, depth: int, features: Sequence[Feature], behaviour: CandidateBehaviour | None = None
) -> dict[str, Any]:
    """Description of candidates and features, with which a model computes the same again.

    `first_stage` is the feature that has the score of the first stage, if there is one.
    """
    about = {
        "analyser": repr(index.analyser), "fields": list(index.fields), "retrieval": repr(how), "depth": depth,
    }  # fmt: skip
    own = score_feature(how, index)
    about |= {"first_stage": repr(own)} if own in features else {}
    return about if behaviour is None else {**about, "behaviour": list(map(repr, behaviour.features))}


def rows_of(
    index: Index,
    queries: Iterable[Topic | Mapping[str, Any]],
    qrels: AnyQrels | None,
    features: Sequence[Feature],
    depth: int = DEPTH,
    by: Retrieval | str = BM25(),  # noqa: B008 (it is frozen)
    add_relevant: bool = False,
    candidates: Mapping[str, Mapping[str, float]] | None = None,
) -> Iterator[Rows]:
    """Compute the candidates of each query, one query after another.

    `candidates` are documents with scores by query, such as another engine showed, in place of those of the first
    stage. Documents that are not in the index are left out.
    """
    judged = None if qrels is None else grades_of(qrels)
    plan, how = Plan(features, index), Retrieval.parse(by) if isinstance(by, str) else by
    for n, raw in enumerate(queries, 1):
        topic = raw if isinstance(raw, Topic) else _topic(raw, n)
        query = index.query(topic.text, vector=topic.vector)
        if candidates is None:
            hits = own = index.search(query, depth, by=how)
        else:
            hits, own = _shown(index, candidates[topic.id], depth), None
        of_query = {} if judged is None else judged.get(topic.id, {})
        if add_relevant:
            hits = _with_judged(index, hits, of_query)
        X = plan.matrix(_context(index, query, hits, own, how, depth))
        grades = None if judged is None else np.array([of_query.get(id, 0.0) for id in hits.ids])
        yield Rows(topic, hits.ids, X, grades, hits.scores)


def _context(index: Index, query: Query, hits: Hits, own: Hits | None, how: Retrieval, depth: int) -> Context:
    """Documents of a query; `own` is the list of the first stage, if it has been searched."""

    def first() -> Context:
        found = index.search(query, depth, by=how) if own is None else own
        return Context(index, query, found.numbers, found.scores, by=how)

    return first() if hits is own else Context(index, query, hits.numbers, candidates=first)


def _shown(index: Index, scores: Mapping[str, float], depth: int) -> Hits:
    """The first documents of a ranking that are in the index."""
    ids = [id for id in scores if index.store.number(id) is not None][:depth]
    return Hits(ids, np.array([scores[id] for id in ids], np.float64), index.numbers(ids).astype(np.int64))


def _topic(query: object, n: int) -> Topic:
    """A query from a dict; raises a clear error if it is not one."""
    if not isinstance(query, Mapping) or not isinstance(query.get("text"), str) or query.get("id") is None:
        raise DataError(
            f'query {n}: expected a dict such as {{"id": "1", "text": "words to look for"}}; got {query!r}. '
            "Give a list of them, or read a file with podium.text.read_queries."
        )
    return Topic(str(query["id"]), query["text"], query.get("vector"), query.get("time"))


def _with_judged(index: Index, hits: Hits, grades: Mapping[str, float]) -> Hits:
    """The candidates, and after them the relevant documents that are not among them, with no higher score than any."""
    candidates = set(hits.ids)
    missed = [
        id for id, grade in grades.items() if grade > 0 and id not in candidates and index.store.number(id) is not None
    ]
    scores = np.append(hits.scores, np.full(len(missed), hits.scores.min(initial=0.0)))
    numbers = np.append(hits.numbers, index.numbers(missed))
    return Hits([*hits.ids, *missed], scores, numbers.astype(np.int64))


def first_stage(parts: Iterable[Rows], *, tag: str = "first-stage") -> Run:
    """The candidates in the order of the first stage, as a run."""
    return Run.from_dict({r.topic.id: dict(zip(r.ids, r.first_stage.tolist(), strict=True)) for r in parts}, tag=tag)


def write_features(
    parts: Iterable[Rows], target: str, *, features: Sequence[Feature | BehaviourFeature], about: dict[str, Any]
) -> int:
    """Write the rows of queries to a LETOR or a Parquet file, query by query, and return their number."""
    rows = (QueryRows(part.topic.id, part.ids, part.features, part.grades) for part in parts)
    return write_rows(rows, target, names=[repr(feature) for feature in features], about=about)
