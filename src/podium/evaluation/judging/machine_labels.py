"""Runs evaluated with few human and many machine labels: means and differences by prediction-powered inference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from podium.base.errors import DataError, counted
from podium.base.shown import Shown, ShownTable, Value
from podium.evaluation.evaluate import Evaluation, Metrics, evaluate_run
from podium.evaluation.judging.prediction_powered import Powered, prediction_powered, prediction_powered_sample
from podium.evaluation.judging.sampling import unequal_words
from podium.evaluation.judging.weighted_means import human_sample, weights_of
from podium.formats.query_weights import QueryWeight
from podium.formats.trec.trec import AnyQrels, AnyRun, as_qrels, as_run


@dataclass(frozen=True, repr=False)
class PoweredEvaluation(Shown):
    """Means of metrics by human labels, with the help of machine labels; and differences from the first run."""

    means: dict[str, dict[str, Powered]]  # by metric and run
    differences: dict[str, dict[str, Powered]]  # by metric and run: the run less the first

    def rows(self) -> list[list[Value]]:
        """Metric, run, the estimate with its interval, human labels alone, λ and sizes."""
        rows: list[list[Value]] = []
        for metric, runs in self.means.items():
            rows += [_row(metric, run, powered) for run, powered in runs.items()]
            first = next(iter(runs))
            rows += [_row(metric, f"{run} − {first}", powered) for run, powered in self.differences[metric].items()]
        return rows

    def _shown(self) -> ShownTable:
        return ShownTable("", HEADS, self.rows(), notes=self.sentences(), columns=COLUMNS)

    def sentences(self) -> list[str]:
        """What to know of the numbers."""
        powered = next(iter(next(iter(self.means.values())).values()))
        unequal = unequal_words(powered.drawn, powered.equal)
        return [
            f"{counted(powered.human_queries, 'query', 'queries')} with human labels, {powered.machine_queries} more "
            "with machine labels; the human ones must be drawn at random",
            f"from, to: {100 * powered.level:g} % intervals (prediction-powered inference); λ: how far the machine is "
            "trusted",
            "effective: human queries that alone would give this interval; more: human queries to add for ± 0.01, – if "
            "the machine has judged too few",
            *([] if unequal is None else [f"warning: {unequal}"]),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        parts = {"means": self.means, "differences": self.differences}
        return {
            part: {metric: {run: p.to_dict() for run, p in runs.items()} for metric, runs in table.items()}
            for part, table in parts.items()
        }


def evaluate_with_machine(
    qrels: AnyQrels,
    machine: AnyQrels,
    runs: Mapping[str, AnyRun],
    metrics: Metrics = "ndcg@10",
    *,
    weights: Mapping[str, float | QueryWeight] | None = None,
    level: float = 0.95,
    preset: str | None = None,
    **options: Any,
) -> PoweredEvaluation:
    """Evaluate runs by human judgments of some queries and machine judgments of many.

    `qrels` are those of humans, of queries drawn at random; `machine` has these queries and others. The machine must be
    one judge: one model, prompt and temperature. `weights` are those of queries, by their ids; with their chances, as
    `podium judges queries` writes them, all that the machine judged is the sample, and humans judged a part of it.

    `metrics`: one metric or several.
    `level`: the confidence level of the intervals.
    `preset`: compute each metric as a tool does, e.g. trec.
    `options`: those of `evaluate_run`.
    `runs`: a run for each name, in any form that `evaluate_run` takes.
    """
    human, labels = as_qrels(qrels), as_qrels(machine)
    by_run: dict[str, tuple[Evaluation, Evaluation]] = {}
    for name, run in runs.items():
        parsed = as_run(run)
        by_run[name] = (
            evaluate_run(human, parsed, metrics, preset=preset, **options),
            evaluate_run(labels, parsed, metrics, preset=preset, **options),
        )
    first = next(iter(by_run.values()))[0]
    means: dict[str, dict[str, Powered]] = {}
    differences: dict[str, dict[str, Powered]] = {}
    for m, metric in enumerate(first.metrics):
        values = {name: (_values(y, m), _values(f, m)) for name, (y, f) in by_run.items()}
        means[str(metric)], differences[str(metric)] = _powered(values, weights, level)
    return PoweredEvaluation(means, differences)


def _powered(
    values: Mapping[str, tuple[_Values, _Values]], weights: Mapping[str, float | QueryWeight] | None, level: float
) -> tuple[dict[str, Powered], dict[str, Powered]]:
    """The mean of each run, and the difference of each other run from the first, of one metric."""
    queries = sorted(set.intersection(*(set(y) & set(f) for y, f in values.values())))
    elsewhere = sorted(set.intersection(*(set(f) - set(y) for y, f in values.values())))
    if not queries:
        raise DataError("no query has human and machine labels. Check that both write query ids alike.")
    of = _estimator(queries, elsewhere, weights, level)
    means = {name: of(y, f) for name, (y, f) in values.items()}
    (_, (base_y, base_f)), *others = values.items()
    return means, {name: of(_less(y, base_y), _less(f, base_f)) for name, (y, f) in others}


def _estimator(
    queries: list[str], elsewhere: list[str], weights: Mapping[str, float | QueryWeight] | None, level: float
) -> Callable[[_Values, _Values], Powered]:
    """The estimate from values by human and by machine labels."""
    every = [*queries, *elsewhere]
    drawn = [] if weights is None else weights_of(weights, every)
    sampled = any(entry.chance > 0.0 or entry.human_weight is not None for entry in drawn)
    w_all = np.array([entry.weight for entry in drawn])
    chance = np.array([entry.chance for entry in drawn])

    def of(y: _Values, f: _Values) -> Powered:
        human, machine = [y[query] for query in queries], [f[query] for query in every]
        n = len(queries)
        if weights is not None and sampled:
            part = human_sample(weights, queries, part=n / len(every))
            return prediction_powered_sample(
                human, machine, np.arange(n), weights=(w_all, part[0]), random=(1.0 - chance, part[1]), level=level
            )
        split = (None, None) if weights is None else (w_all[:n], w_all[n:])
        return prediction_powered(
            human, machine[:n], machine[n:], weights=split[0], weights_elsewhere=split[1], level=level
        )

    return of


_Values = dict[str, float]
"""The values of queries, NaN for those that the metric skips."""


def _less(values: _Values, base: _Values) -> _Values:
    return {query: value - base[query] for query, value in values.items() if query in base}


def _values(evaluation: Evaluation, m: int) -> _Values:
    row = evaluation.values[m]
    return {q: float(v) for q, v in zip(evaluation.query_ids, row, strict=True)}


def _row(metric: str, run: str, p: Powered) -> list[Value]:
    return [
        metric, run, p.value, p.interval.low, p.interval.high, p.human, p.human_interval.low, p.human_interval.high,
        p.weight, round(p.effective_queries) if np.isfinite(p.effective_queries) else None, p.more_queries(),
    ]  # fmt: skip


HEADS = ["metric", "run", "mean", "from", "to", "human alone", "from", "to", "λ", "effective", "more"]
COLUMNS = [
    "metric", "run", "mean", "low", "high", "human", "human_low", "human_high", "weight", "effective", "more",
]  # fmt: skip
