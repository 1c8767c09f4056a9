"""IR metrics of models on judged queries, with confidence intervals, and for each query.

`podium.evaluation` computes all numbers; this module chooses the queries, the documents and the grades.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError, IncompatibleError
from podium.data.dataset import Dataset
from podium.data.seen_queries import Seen
from podium.evaluation.evaluate import Evaluation, evaluate, evaluate_run, plain, query_names
from podium.evaluation.significance import Pair, SystemComparison, compare_systems
from podium.metrics import Metric
from podium.service.feedback.judging import DocumentFeatures
from podium.service.models.model_store import Entry
from podium.service.page_schemas import Difference, Grades, Measured, MeasuredModel, MeasuredQuery, MeasuresAnswer

Search = Callable[[Entry, str], dict[str, float] | None]
"""Documents that a model finds for a query, with their scores; None if it cannot search."""
METRICS = ("ndcg@10", "map", "mrr")
"""Metrics by default."""


def by_data(entries: Sequence[Entry], data: Dataset, metrics: Sequence[Metric]) -> MeasuresAnswer:
    """Metrics by the grades of the service's data."""
    if data.labels is None:
        raise DataError("the data has no grades.", where=data.source)
    evaluations = [evaluate(data, entry.model.score(data), metrics) for entry in entries]
    counts = dict(zip(query_names(data), data.sizes.tolist(), strict=True))
    return _answer("data", entries, evaluations, counts, left_out=0, seen=[entry.model.seen(data) for entry in entries])


def by_judges(
    entries: Sequence[Entry],
    qrels: Mapping[str, Mapping[str, float]],
    documents: Mapping[str, DocumentFeatures | None],
    metrics: Sequence[Metric],
    search: Search,
) -> MeasuresAnswer:
    """Metrics by judges' grades. Unjudged documents have grade 0; judged ones that are not ranked count for the ideal.

    If the documents of a query are not known, the index is searched. Queries that one model cannot rank are left out.
    """
    runs: list[dict[str, dict[str, float]]] = [{} for _ in entries]
    for query, rows in documents.items():
        scored = [search(entry, query) if rows is None else _scored(entry, rows) for entry in entries]
        if all(scored):
            for run, scores in zip(runs, scored, strict=True):
                run[query] = scores or {}
    if not runs[0]:
        return MeasuresAnswer("judges", [entry.key for entry in entries], [], [], len(documents), [], [])
    kept = {query: qrels[query] for query in runs[0]}
    evaluations = [evaluate_run(kept, run, metrics) for run in runs]
    counts = {query: len(grades) for query, grades in kept.items()}
    ranked = [rows.dataset() for query, rows in documents.items() if rows is not None and query in kept]
    seen = [_seen(entry, ranked) for entry in entries]
    return _answer("judges", entries, evaluations, counts, left_out=len(documents) - len(kept), seen=seen)


def _seen(entry: Entry, queries: Sequence[Dataset]) -> Seen:
    """How many of these queries a model was trained on."""
    each = [entry.model.seen(query) for query in queries]
    return Seen(sum(part.checked for part in each), sum(part.seen for part in each))


def _scored(entry: Entry, rows: DocumentFeatures) -> dict[str, float] | None:
    """Scores of a query's documents; None if the model cannot rank them."""
    try:
        return dict(zip(rows.ids, entry.model.score(rows.dataset()).tolist(), strict=True))
    except (DataError, IncompatibleError):
        return None


def _answer(
    grades: Grades,
    entries: Sequence[Entry],
    evaluations: Sequence[Evaluation],
    counts: Mapping[str, int],
    *,
    left_out: int,
    seen: Sequence[Seen],
) -> MeasuresAnswer:
    names, first = [entry.key for entry in entries], evaluations[0]
    values = np.stack([evaluation.values for evaluation in evaluations], axis=1)  # (metrics, models, queries)
    trained = {name: queries for name, queries in zip(names, seen, strict=True) if queries.seen}
    measured = [_measured(metric, names, values[m], trained=trained) for m, metric in enumerate(first.metrics)]
    queries = [
        MeasuredQuery(query, counts[query], [list(map(plain, row)) for row in values[:, :, q]])
        for q, query in enumerate(first.query_ids)
    ]
    notes = [
        f"{name} is measured on its own training data: it was trained on {queries}. Measure it on other data."
        for name, queries in trained.items()
    ]
    return MeasuresAnswer(grades, names, measured, queries, left_out, list(trained), notes)


def _measured(metric: Metric, names: list[str], values: Array, *, trained: Collection[str]) -> Measured:
    counted = (~np.isnan(values)).sum(axis=1)
    means = [metric.average(row) for row in values]
    compared: SystemComparison | None = None
    if counted.min() > 1 and (~np.isnan(values).any(axis=0)).sum() > 1:
        compared = compare_systems(values, names, metric=metric)
    models = [
        MeasuredModel(
            name,
            plain(average.value),
            None if compared is None else compared.systems[name].interval,
            average.queries,
        )
        for name, average in zip(names, means, strict=True)
    ]
    pair = compared.pairs[0] if compared is not None and compared.pairs else None
    return Measured(str(metric), metric.tag(), models, None if pair is None else _difference(pair, trained))


def _difference(pair: Pair, trained: Collection[str]) -> Difference:
    return Difference(
        better=pair.a, worse=pair.b, difference=pair.difference, interval=pair.interval, p=pair.p,
        significant=pair.significant, wins=pair.effect.wins, ties=pair.effect.ties, losses=pair.effect.losses,
        on_training_data=pair.a in trained or pair.b in trained,
    )  # fmt: skip
