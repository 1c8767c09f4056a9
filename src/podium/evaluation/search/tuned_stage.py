"""Tuning of the first stage of a search: which parameters of BM25 or query likelihood rank judged queries best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.progress import Progress, quiet
from podium.evaluation.evaluate import evaluate_run
from podium.formats.feature_rows import grades_of
from podium.formats.trec.trec import Qrels, Run
from podium.metrics import Metric
from podium.parsing.ids import Ids
from podium.text.retrieval import BM25, Retrieval
from podium.text.retrieval.candidates import DEPTH
from podium.text.retrieval.first_stage import settings

if TYPE_CHECKING:
    from podium.formats.trec.trec import AnyQrels
    from podium.text.collection.collection import Topic
    from podium.text.index.index import Index

LEAST = 10
"""Judged queries from which a first stage is tuned by default."""


@dataclass(frozen=True, eq=False)
class TriedStages:
    """The settings of a first stage, the one as it is first, with metrics of every query against all judgments."""

    stages: list[Retrieval]
    values: Array  # (settings, metrics, queries)

    def best(self, queries: Ints, *, metric: int = 0) -> int:
        """The setting with the best mean over queries; the one as it is among equals."""
        means = self.means(queries, metric=metric)
        return int(np.argmax(np.nan_to_num(means, nan=-np.inf)))

    def means(self, queries: Ints, *, metric: int = 0) -> list[float]:
        """The mean of each setting over queries."""
        part = self.values[:, metric][:, queries]
        counts = np.isfinite(part)
        sums = np.where(counts, part, 0.0).sum(axis=1)
        with np.errstate(invalid="ignore"):
            return np.asarray(sums / counts.sum(axis=1)).tolist()  # type: ignore[no-any-return]


def try_stages(
    index: Index,
    topics: Sequence[Topic],
    grades: Mapping[str, Mapping[str, float]],
    *,
    by: Retrieval,
    metrics: Sequence[Metric],
    depth: int = DEPTH,
    progress: Progress = quiet,
) -> TriedStages:
    """Search for all queries with each setting of a first stage."""
    names = [topic.id for topic in topics]
    qrels, stages, values = Qrels.from_dict({name: dict(grades[name]) for name in names}), settings(by), []
    for n, stage in enumerate(stages):
        values.append(values_of(qrels, run_of(index, topics, stage, depth), metrics, names))
        progress((n + 1) / len(stages), "first stage")
    return TriedStages(stages, np.array(values))


def values_of(qrels: Qrels, run: Run, metrics: Sequence[Metric], names: list[str]) -> Array:
    """The metrics of every query; a query that a run does not answer is a failure."""  # (M, Q)
    evaluation = evaluate_run(qrels, run, list(metrics), all_queries=True)
    place = {name: k for k, name in enumerate(evaluation.query_ids)}
    return evaluation.values[:, [place[name] for name in names]]


def tuned_stage(
    index: Index,
    queries: Iterable[Topic],
    qrels: AnyQrels,
    *,
    by: Retrieval | str = BM25(),  # noqa: B008 (it is frozen)
    metric: str | Metric = "ndcg@10",
    depth: int = DEPTH,
    progress: Progress = quiet,
) -> Retrieval:
    """The first stage with the parameters that rank the judged queries best; as it is if there are fewer than LEAST.

    Only queries with a relevant document count. A ranking that is learned from the candidates of this stage, on the
    same queries, is measured on others.
    """
    how = Retrieval.parse(by) if isinstance(by, str) else by
    grades = {query: labels for query, labels in grades_of(qrels).items() if any(g > 0 for g in labels.values())}
    topics = [topic for topic in queries if topic.id in grades]
    if len(topics) < LEAST or len(settings(how)) == 1:
        return how
    measure = Metric.parse(metric) if isinstance(metric, str) else metric
    tried = try_stages(index, topics, grades, by=how, metrics=[measure], depth=depth, progress=progress)
    return tried.stages[tried.best(np.arange(len(topics)))]


def run_of(index: Index, topics: Sequence[Topic], by: Retrieval, depth: int) -> Run:
    """The best documents for each query, as a run."""
    hits = [index.search(index.query(topic.text, vector=topic.vector), depth, by=by) for topic in topics]
    offsets = np.cumsum([0, *map(len, hits)])
    ids = Ids.of([id for query in hits for id in query.ids])
    scores = np.concatenate([query.scores for query in hits]) if hits else np.empty(0)
    return Run(np.array([topic.id for topic in topics], object), offsets.astype(np.int64), ids, scores)
