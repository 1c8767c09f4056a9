"""Measures: how well models rank the queries that have grades, with confidence intervals, and query by query.

All numbers are of `podium.evaluation`: this chooses the queries, the documents and the grades.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from podium.base.errors import DataError, IncompatibleError
from podium.data.dataset import Dataset
from podium.evaluation.evaluate import Evaluation, evaluate, evaluate_run, plain, query_names
from podium.evaluation.significance import Pair, SystemComparison, compare_systems
from podium.metrics import Metric
from podium.service.feedback.judging import Known
from podium.service.models.model_store import Entry
from podium.service.page_schemas import Difference, Grades, Measured, MeasuredModel, MeasuredQuery, MeasuresAnswer

Search = Callable[[Entry, str], dict[str, float] | None]
"""The documents that a model finds for a query, with their scores; None where it cannot search."""
METRICS = ("ndcg@10", "map", "mrr")
"""Those that are computed if none is named."""


def by_data(entries: Sequence[Entry], data: Dataset, metrics: Sequence[Metric]) -> MeasuresAnswer:
    """Measures by the grades that the data has."""
    if data.labels is None:
        raise DataError("the data has no grades.", where=data.source)
    found = [evaluate(data, entry.model.score(data), metrics) for entry in entries]
    return _answer("data", entries, found, dict(zip(query_names(data), data.sizes.tolist(), strict=True)), left_out=0)


def by_judges(
    entries: Sequence[Entry],
    qrels: Mapping[str, Mapping[str, float]],
    documents: Mapping[str, Known | None],
    metrics: Sequence[Metric],
    search: Search,
) -> MeasuresAnswer:
    """Measures by judges' grades. Documents without one count as grade 0, judged ones not ranked for the ideal.

    Queries whose documents are not known are searched for. Those that one of the models cannot rank are left out.
    """
    runs: list[dict[str, dict[str, float]]] = [{} for _ in entries]
    for query, known in documents.items():
        scored = [search(entry, query) if known is None else _scored(entry, known) for entry in entries]
        if all(scored):
            for run, scores in zip(runs, scored, strict=True):
                run[query] = scores or {}
    if not runs[0]:
        return MeasuresAnswer("judges", [entry.key for entry in entries], [], [], len(documents))
    kept = {query: qrels[query] for query in runs[0]}
    found = [evaluate_run(kept, run, metrics) for run in runs]
    counts = {query: len(grades) for query, grades in kept.items()}
    return _answer("judges", entries, found, counts, left_out=len(documents) - len(kept))


def _scored(entry: Entry, known: Known) -> dict[str, float] | None:
    """The scores of a query's documents; None where the model cannot rank them."""
    try:
        return dict(zip(known.ids, entry.model.score(known.dataset()).tolist(), strict=True))
    except (DataError, IncompatibleError):
        return None


def _answer(
    grades: Grades, entries: Sequence[Entry], found: Sequence[Evaluation], counts: Mapping[str, int], *, left_out: int
) -> MeasuresAnswer:
    names, first = [entry.key for entry in entries], found[0]
    measured = [_measured(metric, names, [one.values[m] for one in found]) for m, metric in enumerate(first.metrics)]
    queries = [
        MeasuredQuery(query, counts[query], [[plain(one.values[m, q]) for one in found] for m in range(len(measured))])
        for q, query in enumerate(first.query_ids)
    ]
    return MeasuresAnswer(grades, names, measured, queries, left_out)


def _measured(metric: Metric, names: list[str], rows: Sequence[np.ndarray]) -> Measured:
    values = np.array(rows)
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
    return Measured(str(metric), metric.tag(), models, None if pair is None else _difference(pair))


def _difference(pair: Pair) -> Difference:
    return Difference(
        better=pair.a, worse=pair.b, difference=pair.difference, interval=pair.interval, p=pair.p,
        significant=pair.significant, wins=pair.effect.wins, ties=pair.effect.ties, losses=pair.effect.losses,
    )  # fmt: skip
