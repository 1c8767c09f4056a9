"""A run joined with its judgments: the grades of its documents, and all grades of its queries.

>>> judged = join({"q1": {"d1": 2, "d2": 0}}, {"q1": {"d3": 0.9, "d1": 0.8}})
>>> judged.labels.tolist(), judged.judged.tolist()
([0.0, 2.0], [2.0, 0.0])
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from podium.base.arguments import whole_number
from podium.base.arrays import Array, Flags, Int32s, Ints
from podium.formats.trec.trec import AnyQrels, AnyRun, Qrels, Run, as_qrels, as_run
from podium.jit.sorting import break_ties, order_all
from podium.metrics.topic_lists import TopicLists
from podium.parsing.ids import Ids, id_keys


@dataclass(frozen=True, eq=False)
class Judged:
    """A run with the grades of its documents, and all grades of each of its queries, retrieved or not."""

    query_ids: NDArray[Any]  # (Q,) text
    offsets: Ints  # (Q+1,) of the retrieved documents
    document_ids: Ids  # (N,)
    scores: Array  # (N,)
    labels: Array  # (N,) 0 if not judged
    unjudged: Flags  # (N,) whether a document has no judgment
    judged_offsets: Ints  # (Q+1,) of the judged documents
    judged: Array  # (M,) their grades
    topics: TopicLists | None  # grades by topic, of diversity qrels
    ranks: Int32s | None  # (N,) of the run's file
    n_qrels: int  # queries in the qrels
    n_run: int  # queries in the run
    n_both: int  # queries in both


def join(
    qrels: AnyQrels,
    run: AnyRun,
    *,
    all_queries: bool = False,
    max_documents: int | None = None,
    judged_only: bool = False,
    precision: Literal["float64", "float32"] = "float64",
) -> Judged:
    """Join the run's documents with their grades, for the queries in both.

    With `all_queries` every query of the qrels is there, without documents if the run lacks it: such a query counts as
    a failure, as in `trec_eval -c`. A query that only the run has is left out in either case.
    `max_documents` keeps the first documents of each query by score, equal scores by id with the last first
    (`trec_eval -M`); scores are compared in `precision`. `judged_only` then drops documents without a judgment or
    with a negative grade (`trec_eval -J`).
    """
    if max_documents is not None:
        max_documents = whole_number(max_documents, "max_documents", least=1)
    qrels, run = as_qrels(qrels), as_run(run)
    place = {query: q for q, query in enumerate(run.query_ids.tolist())}
    asked = qrels.query_ids.tolist()
    chosen = np.array([q for q, query in enumerate(asked) if all_queries or query in place], np.int64)
    answers = np.array([place.get(asked[q], -1) for q in chosen.tolist()], np.int64)
    judged_rows, judged_offsets = rows_of(qrels.offsets, chosen)
    rows, offsets = rows_of(run.offsets, answers)
    if max_documents is not None:
        rows, offsets = _first(run, rows, offsets, n=max_documents, precision=precision)
    judged, documents, scores = qrels.labels[judged_rows], run.document_ids[rows], run.scores[rows]
    ranks = None if run.ranks is None else run.ranks[rows]
    matches = documents.find_in(qrels.document_ids[judged_rows], judged_offsets, offsets)
    unjudged = matches < 0
    labels = np.append(judged, 0.0)[matches]  # a match −1 is the last
    if judged_only:
        kept = ~unjudged & (labels >= 0.0)
        matches = matches[kept]
        documents, scores, labels, unjudged = documents[kept], scores[kept], labels[kept], unjudged[kept]
        ranks = None if ranks is None else ranks[kept]
        offsets = np.concatenate([[0], np.cumsum(kept)])[offsets]
    return Judged(
        query_ids=qrels.query_ids[chosen],
        offsets=offsets,
        document_ids=documents,
        scores=scores,
        labels=labels,
        unjudged=unjudged,
        judged_offsets=judged_offsets,
        judged=judged,
        topics=_topics(qrels, chosen, matches, offsets, (judged_rows, judged_offsets)),
        ranks=ranks,
        n_qrels=len(asked),
        n_run=len(place),
        n_both=sum(query in place for query in asked),
    )


def by_rank(judged: Judged) -> Judged:
    """The run with scores in the order of its ranks; as it is without ranks, or if two of a query are equal."""
    if judged.ranks is None:
        return judged
    ranks = np.asarray(judged.ranks, np.int64)
    query_of = np.repeat(np.arange(len(judged.query_ids)), np.diff(judged.offsets))
    rows = np.lexsort((ranks, query_of))
    if ((np.diff(ranks[rows]) == 0) & (np.diff(query_of[rows]) == 0)).any():
        return judged
    return replace(judged, scores=-ranks.astype(np.float64))


def _topics(
    qrels: Qrels, queries: Ints, matches: Ints, offsets: Ints, judged: tuple[Ints | slice, Ints]
) -> TopicLists | None:
    if qrels.topics is None:
        return None
    from podium.formats.trec.topic_qrels import listed_topics

    rows, judged_offsets = judged
    topics = qrels.topics.select(queries)
    listed = listed_topics(topics, matches, offsets, judged_offsets)
    return TopicLists(listed, topics, judged_offsets, qrels.document_ids[rows])


def rows_of(offsets: Ints, queries: Ints) -> tuple[Ints | slice, Ints]:
    """The rows of some queries, in their order, and the offsets of these rows; −1 is a query without rows."""
    if np.array_equal(queries, np.arange(len(offsets) - 1)):
        return slice(None), offsets
    starts = offsets[queries]
    sizes = np.where(queries < 0, 0, offsets[queries + 1] - starts)
    bounds = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return np.arange(bounds[-1]) + np.repeat(starts - bounds[:-1], sizes), bounds


def _first(run: Run, rows: Ints | slice, offsets: Ints, *, n: int, precision: str) -> tuple[Ints, Ints]:
    """The first n rows of each query by score, equal scores by id with the last first; in their order in the run."""
    with np.errstate(over="ignore"):
        scores = run.scores[rows].astype(precision).astype(np.float64)
    best_first, ends = order_all(scores, offsets)
    keys = id_keys(run.document_ids[rows], best_first, ends, offsets=offsets)
    best_first = break_ties(best_first, ends, offsets=offsets, keys=keys)
    sizes = np.diff(offsets)
    kept = np.sort(best_first[np.arange(len(scores)) - np.repeat(offsets[:-1], sizes) < n])
    cut = np.concatenate([[0], np.cumsum(np.minimum(sizes, n))]).astype(np.int64)
    return np.arange(len(run.scores))[rows][kept], cut
