"""Compare runs: several systems' TREC runs against the same judgements, query by query.

    >>> qrels = {"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 1}}
    >>> good = {"1": {"a": 2.0}, "2": {"b": 2.0}, "3": {"c": 2.0}}
    >>> poor = {"1": {"b": 2.0, "a": 1.0}, "2": {"b": 2.0}}
    >>> found = compare_runs(qrels, {"good": good, "poor": poor}, "mrr")
    >>> {name: system.mean for name, system in found["mrr"].systems.items()}
    {'good': 1.0, 'poor': 0.5}

A query that a run does not answer, while another does, counts as a failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from podium.base.arguments import whole_number
from podium.base.errors import DataError
from podium.evaluation.evaluate import Evaluation, Metrics, evaluate_run, read_metrics
from podium.evaluation.significance import SystemComparison, compare_systems
from podium.formats.trec.trec import AnyQrels, AnyRun, as_qrels


def compare_runs(
    qrels: AnyQrels,
    runs: Mapping[str, AnyRun],
    metrics: Metrics = "ndcg@10",
    *,
    preset: str | None = None,
    all_queries: bool = False,
    max_documents: int | None = None,
    judged_only: bool = False,
    seed: int = 0,
) -> dict[str, SystemComparison]:
    """For each metric the runs from the best down, with intervals, tests and letters; options as in `evaluate_run`."""
    if not isinstance(runs, Mapping):
        raise DataError(f"expected a dictionary: name → run; got {type(runs).__name__}.")
    if len(runs) < 2:
        raise DataError(f"a comparison needs two runs; got {', '.join(runs) or 'none'}.")
    options = {"all_queries": all_queries, "max_documents": max_documents, "judged_only": judged_only}
    return compare_evaluations(evaluate_runs(qrels, runs, metrics, preset=preset, **options), seed=seed)  # type: ignore[arg-type]


def evaluate_runs(
    qrels: AnyQrels,
    runs: Mapping[str, AnyRun],
    metrics: Metrics = "ndcg@10",
    *,
    preset: str | None = None,
    all_queries: bool = False,
    max_documents: int | None = None,
    judged_only: bool = False,
) -> dict[str, Evaluation]:
    """Metrics of several runs over the same queries, those that at least one run answers; options as in `evaluate_run`.

    A query that a run does not answer, while another does, counts as a failure.
    """
    judged, chosen = as_qrels(qrels), read_metrics(metrics, preset)
    options = {"max_documents": max_documents, "judged_only": judged_only}
    found = {name: evaluate_run(judged, run, chosen, all_queries=True, **options) for name, run in runs.items()}  # type: ignore[arg-type]
    if all_queries:
        return found
    answered = {str(query) for run in runs.values() for query in (run if isinstance(run, Mapping) else run.query_ids)}
    kept = [q for q, query in enumerate(judged.query_ids) if query in answered]
    names = tuple(str(judged.query_ids[q]) for q in kept)
    return {name: replace(one, values=one.values[:, kept], query_ids=names) for name, one in found.items()}


def compare_evaluations(found: Mapping[str, Evaluation], *, seed: int = 0) -> dict[str, SystemComparison]:
    """For each metric, systems evaluated on the same queries from the best down, with intervals, tests and letters."""
    seed, metrics = whole_number(seed, "seed", least=0), next(iter(found.values())).metrics
    table = np.array([one.values for one in found.values()])  # (systems, M, Q)
    table = np.where(np.isnan(table).any(axis=0), np.nan, table)  # a query that one system skips is skipped for all
    return {
        str(metric): compare_systems(table[:, m], list(found), metric=metric, seed=seed)
        for m, metric in enumerate(metrics)
    }
