"""Comparison of several systems' TREC runs against the same judgments, query by query.

    >>> qrels = {"1": {"a": 1}, "2": {"b": 1}, "3": {"c": 1}}
    >>> good = {"1": {"a": 2.0}, "2": {"b": 2.0}, "3": {"c": 2.0}}
    >>> poor = {"1": {"b": 2.0, "a": 1.0}, "2": {"b": 2.0}}
    >>> tests = compare_runs(qrels, {"good": good, "poor": poor}, "mrr")
    >>> {name: system.mean for name, system in tests["mrr"].systems.items()}
    {'good': 1.0, 'poor': 0.5}

A query that a run does not answer, while another does, counts as a failure. The result prints as a table, and gives
data frames and LaTeX; `podium.pages.report.write_report(result, folder)` writes the HTML report and its tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from podium.base.arguments import whole_number
from podium.base.errors import DataError
from podium.evaluation.by_segment import compare_by_segment
from podium.evaluation.compare import Comparison, Outcome
from podium.evaluation.evaluate import Evaluation, Metrics, evaluate_run, read_metrics
from podium.evaluation.significance import Correction, SystemComparison
from podium.formats.trec.trec import AnyQrels, AnyRun, as_qrels, as_run


@dataclass(frozen=True, eq=False, repr=False)
class RunComparison(Comparison, Mapping[str, SystemComparison]):
    """Runs compared by each metric: `comparison["ndcg@10"]` has the tests by that metric."""

    word: ClassVar[str] = "run"
    trained: ClassVar[bool] = False

    @cached_property
    def significance(self) -> dict[str, SystemComparison | None]:
        """Significance tests between all runs, by metric."""
        return {str(metric): self.tested(m) for m, metric in enumerate(self.metrics)}

    def __getitem__(self, metric: str) -> SystemComparison:
        tested = self.significance[metric]
        assert tested is not None, "checked when it was made"
        return tested

    def __iter__(self) -> Iterator[str]:
        return iter(self.significance)

    def __len__(self) -> int:
        return len(self.metrics)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the per-query values, as plain values for JSON."""
        return {**super().to_dict(), "baseline": self.baseline}


def compare_runs(
    qrels: AnyQrels,
    runs: Mapping[str, AnyRun],
    metrics: Metrics = "ndcg@10",
    *,
    baseline: str | None = None,
    test: str = "randomisation",
    correction: Correction = "holm",
    preset: str | None = None,
    all_queries: bool = False,
    max_documents: int | None = None,
    judged_only: bool = False,
    by: Mapping[Any, Any] | Sequence[Any] | None = None,
    seed: int = 0,
) -> RunComparison:
    """Rank the runs by each metric, with confidence intervals, significance tests and letters.

    `baseline`, `test` and `correction` are those of `compare_systems`, other options those of `evaluate_run`. `by` is
    the segment of each query, by its id: the runs are also compared in each segment, with the baseline or the first.

    `qrels`: judgments, and `runs` the rankings by name, in any form that `evaluate_run` takes.
    `metrics`: one metric or several, such as `ndcg@10` or `["map", "mrr"]`.
    `preset`: compute each metric as a tool does, e.g. trec.
    `all_queries`: a query that a run does not answer counts as a failure.
    `max_documents`: look at no more than this many documents of each query.
    `judged_only`: drop documents without a judgment.
    `seed`: of the random signs of the test and of the bootstrap.
    """
    if not isinstance(runs, Mapping):
        raise DataError(f"expected a dictionary: name → run; got {type(runs).__name__}.")
    if len(runs) < 2:
        raise DataError(f"a comparison needs two runs; got {', '.join(runs) or 'none'}.")
    options = {"all_queries": all_queries, "max_documents": max_documents, "judged_only": judged_only}
    evaluations = evaluate_runs(qrels, runs, metrics, preset=preset, **options)  # type: ignore[arg-type]
    return compare_evaluations(evaluations, baseline=baseline, test=test, correction=correction, by=by, seed=seed)


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


def compare_evaluations(
    systems: Mapping[str, Evaluation],
    *,
    baseline: str | None = None,
    test: str = "randomisation",
    correction: Correction = "holm",
    by: Mapping[Any, Any] | Sequence[Any] | None = None,
    seed: int = 0,
    dataset: str = "",
) -> RunComparison:
    """Rank systems evaluated on the same queries by each metric, with intervals, significance tests and letters."""
    seed, first = whole_number(seed, "seed", least=0), next(iter(systems.values()))
    table = np.array([system.values for system in systems.values()])  # (systems, M, Q)
    table = np.where(np.isnan(table).any(axis=0), np.nan, table)  # a query that one system skips is skipped for all
    outcomes = [
        Outcome(name, "all", "", {}, 0.0, first.query_ids, values, None)
        for name, values in zip(systems, table, strict=True)
    ]
    how: dict[str, Any] = {"test": test, "correction": correction}
    comparison = RunComparison(first.metrics, seed, tuple(outcomes), dataset=dataset, baseline=baseline, **how)
    assert comparison.significance  # an error in words if it cannot be tested
    if by is None:
        return comparison
    segments = compare_by_segment(systems, by, baseline=baseline or next(iter(systems)), seed=seed, **how)
    return replace(comparison, segments=segments)
