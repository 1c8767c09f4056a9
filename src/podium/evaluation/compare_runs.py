"""Comparison of several systems' TREC runs against the same judgments, query by query.

    >>> qrels = {"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 1}}
    >>> good = {"1": {"a": 2.0}, "2": {"b": 2.0}, "3": {"c": 2.0}}
    >>> poor = {"1": {"b": 2.0, "a": 1.0}, "2": {"b": 2.0}}
    >>> tests = compare_runs(qrels, {"good": good, "poor": poor}, "mrr")
    >>> {name: system.mean for name, system in tests["mrr"].systems.items()}
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
from podium.formats.trec.trec import AnyQrels, AnyRun, as_qrels, as_run


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
    """Rank the runs by each metric, with confidence intervals, significance tests and letters.

    Options are those of `evaluate_run`.
    """
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
    """Evaluate several runs on the queries that at least one of them answers; options as in `evaluate_run`.

    A query that a run does not answer, while another does, counts as a failure.
    """
    judged, chosen = as_qrels(qrels), read_metrics(metrics, preset)
    runs = {name: as_run(run) for name, run in runs.items()}
    options = {"max_documents": max_documents, "judged_only": judged_only}
    by_run = {name: evaluate_run(judged, run, chosen, all_queries=True, **options) for name, run in runs.items()}  # type: ignore[arg-type]
    if all_queries:
        return by_run
    answered = {str(query) for run in runs.values() for query in run.query_ids}
    kept = [q for q, query in enumerate(judged.query_ids) if query in answered]
    names = tuple(str(judged.query_ids[q]) for q in kept)
    return {name: replace(run, values=run.values[:, kept], query_ids=names) for name, run in by_run.items()}


def compare_evaluations(systems: Mapping[str, Evaluation], *, seed: int = 0) -> dict[str, SystemComparison]:
    """Rank systems evaluated on the same queries by each metric, with intervals, significance tests and letters."""
    seed, metrics = whole_number(seed, "seed", least=0), next(iter(systems.values())).metrics
    table = np.array([system.values for system in systems.values()])  # (systems, M, Q)
    table = np.where(np.isnan(table).any(axis=0), np.nan, table)  # a query that one system skips is skipped for all
    return {
        str(metric): compare_systems(table[:, m], list(systems), metric=metric, seed=seed)
        for m, metric in enumerate(metrics)
    }
