"""Evaluation of scores on labelled data, or of a TREC run against its judgments, query by query.

>>> from podium.data.dataset import Dataset
>>> data = Dataset.from_arrays([[1], [2], [3]], [0, 2, 1], qid=["a", "a", "b"])
>>> evaluate(data, [0.1, 0.9, 0.4], ["ndcg@10", "p@1"]).means()["ndcg@10"]
Average(value=1.0, queries=2, skipped=0)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array
from podium.base.columns import check_row_order, float_numbers
from podium.base.errors import DataError, ParameterError, counted
from podium.base.shown import Backend, Shown, ShownTable, Value, frame_of
from podium.data.dataset import Dataset
from podium.data.frames import from_frame
from podium.data.inputs import is_frame, labelled_table
from podium.data.table import Table
from podium.evaluation.metric_names import paper_names
from podium.evaluation.paired import Interval, bootstrap_interval
from podium.formats.trec.judged_run import Judged, by_rank, join
from podium.formats.trec.query_names import differing_names
from podium.formats.trec.trec import AnyQrels, AnyRun, as_qrels, as_run
from podium.jit.sorting import check_scores
from podium.metrics import Average, Metric, evaluate_all

if TYPE_CHECKING:
    from podium.evaluation.by_segment import Segments

Metrics = str | Metric | Sequence[str | Metric]
"""One metric or several, each by its name or as a value."""


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Shown):
    """Values of metrics for each query, and their means."""

    metrics: tuple[Metric, ...]
    values: Array  # (M, Q), NaN if a query is skipped
    query_ids: tuple[str, ...]  # (Q,)
    n_qrels: int | None = None  # of a run: queries with judgments, queries in the run, queries in both
    n_run: int | None = None
    n_both: int | None = None

    def means(self) -> dict[str, Average]:
        """The mean of each metric over the queries that count, by the metric's name.

        For a metric that is not averaged (counts, geometric MAP): the number that it reports instead.
        """
        return {str(metric): metric.average(row) for metric, row in zip(self.metrics, self.values, strict=True)}

    def intervals(self, *, level: float = 0.95, seed: int = 0) -> dict[str, Interval]:
        """The confidence interval of each mean, by bootstrap over queries; NaN if fewer than two queries count."""
        return {
            str(metric): mean_interval(metric, row, level=level, seed=seed)
            for metric, row in zip(self.metrics, self.values, strict=True)
        }

    def by(self, segments: Mapping[Any, Any] | Sequence[Any]) -> Segments:
        """The evaluation of each segment of the queries: `segments` maps query ids, or has a value for each query."""
        from podium.evaluation.by_segment import by_segment

        return by_segment(self, segments)

    def to_frame(self, *, per_query: bool = False, backend: Backend = "pandas") -> Any:
        """A data frame with a row per metric; with `per_query`, a row per query and a column per metric."""
        if not per_query:
            return self._shown().frame(backend)
        columns = {str(metric): row for metric, row in zip(self.metrics, self.values, strict=True)}
        return frame_of({"query": list(self.query_ids), **columns}, backend)

    def _shown(self) -> ShownTable:
        means = self.means()
        rows: list[list[Value]] = [[name, mean.value, mean.queries, mean.skipped] for name, mean in means.items()]
        return ShownTable(
            f"Evaluation on {counted(len(self.query_ids), 'query', 'queries')}",
            ["metric", "mean", "queries", "skipped"],
            rows,
            notes=["means: " + ", ".join(metric.tag() for metric in self.metrics)],
        )

    def to_latex(self, *, caption: str | None = None, label: str | None = None) -> str:
        """A row of the means in LaTeX, for the package booktabs."""
        heads = ["queries", *paper_names(self.metrics)]
        row = [len(self.query_ids), *(average.value for average in self.means().values())]
        tags = [", ".join(metric.tag() for metric in self.metrics)]
        return ShownTable("", heads, [row], comments=tags).latex(caption=caption, label=label)

    def to_dict(self, *, per_query: bool = False) -> dict[str, Any]:
        """Everything as plain values for JSON; a query that a metric skips has null."""
        report: dict[str, Any] = {"metrics": {}}
        for metric, row in zip(self.metrics, self.values, strict=True):
            average = metric.average(row)
            report["metrics"][str(metric)] = {
                "mean": plain(average.value),
                "queries": average.queries,
                "skipped": average.skipped,
                "convention": metric.tag(),
            }
        if self.n_both is not None:
            report["queries"] = {"judged": self.n_qrels, "run": self.n_run, "both": self.n_both}
        if per_query:
            columns = zip(self.query_ids, self.values.T, strict=True)
            names = [str(metric) for metric in self.metrics]
            report["per_query"] = {q: dict(zip(names, map(plain, column), strict=True)) for q, column in columns}
        return report


def evaluate(
    data: Any,
    scores: ArrayLike,
    metrics: Metrics = "ndcg@10",
    *,
    qid: ArrayLike | None = None,
    group: ArrayLike | None = None,
    preset: str | None = None,
) -> Evaluation:
    """Evaluate scores against labels, both in the same row order.

    `data` is a Dataset, a frame with columns label and qid, or the labels themselves with the queries of their rows in
    `qid` (a query id per row) or `group` (the sizes of consecutive queries).
    `preset` computes each metric as a tool does, e.g. letor3 or trec, if the metric itself names no convention.

    `metrics`: one metric or several, such as `ndcg@10` or `["map", "mrr"]`.
    `scores`: a finite number per row (N,), larger is better.
    """
    chosen = read_metrics(metrics, preset)
    check_row_order(labels=data, scores=scores, qid=qid)
    labelled = _labelled(data, qid, group)
    numbers = float_numbers(scores, "score")
    if labelled.labels is None and labelled.topics is not None and all(metric.reads_topics for metric in chosen):
        labelled = replace(labelled, labels=np.zeros(labelled.n_documents))
    if labelled.labels is None:
        raise DataError("there are no labels to evaluate against.", where=labelled.source)
    if numbers.shape != (labelled.n_documents,):
        raise DataError(
            f"{labelled.n_documents} documents, but scores of shape {numbers.shape}. Give one score per document.",
            where=labelled.source,
        )
    check_scores(numbers)  # before rows move, so that it names the caller's row
    grouped = labelled.grouped()
    assert grouped.labels is not None
    values = evaluate_all(
        chosen, labelled.to_grouped(numbers), np.nan_to_num(grouped.labels), grouped.offsets,
        document_ids=grouped.document_ids, topics=grouped.topics, **_unjudged(grouped),
    )  # fmt: skip
    return Evaluation(chosen, values, query_names(grouped))


def _unjudged(data: Dataset) -> dict[str, Any]:
    """Which documents were judged, if some were not (NaN)."""
    if not data.n_unjudged:
        return {}
    assert data.labels is not None, "some are NaN"
    unjudged = np.isnan(data.labels)
    counts = np.bincount(data.query_index[~unjudged], minlength=data.n_queries)
    judged_offsets = np.append(0, np.cumsum(counts))
    return {"judged": data.labels[~unjudged], "judged_offsets": judged_offsets, "unjudged": unjudged}


def evaluate_run(
    qrels: AnyQrels,
    run: AnyRun,
    metrics: Metrics = "ndcg@10",
    *,
    preset: str | None = None,
    all_queries: bool = False,
    max_documents: int | None = None,
    judged_only: bool = False,
) -> Evaluation:
    """Evaluate a TREC run on the queries that have both judgments and results, as trec_eval does.

    `qrels` and `run` may be read from files, or be dictionaries query → document → grade or score, data frames, objects
    of ranx, or named tuples as of ir_measures. Documents without a judgment count as grade 0; judged documents missing
    from the run count for the ideal.

    `all_queries`: average over all queries of the qrels; one that the run does not answer counts as a failure
        (`trec_eval -c`).
    `max_documents`: look at no more than this many documents of each query (`trec_eval -M`).
    `judged_only`: drop documents without a judgment from the run (`trec_eval -J`).
    `metrics`: one metric or several, such as `ndcg@10` or `["map", "mrr"]`.
    `preset`: compute each metric as a tool does, e.g. trec, if the metric itself names no convention.
    """
    chosen = read_metrics(metrics, preset)
    options = {"all_queries": all_queries, "max_documents": max_documents, "judged_only": judged_only}
    qrels, run = as_qrels(qrels), as_run(run)
    joined = join(qrels, run, **options)  # type: ignore[arg-type]
    if joined.n_both == 0:
        raise DataError(
            f"the run and the judgments have no query in common (queries: {joined.n_run} in the run, {joined.n_qrels} "
            "judged). Check that they write query ids alike."
            + differing_names(qrels.query_ids.tolist(), run.query_ids.tolist())
        )
    values = np.empty((len(chosen), len(joined.query_ids)))
    single = [metric.convention.scores == "float32" for metric in chosen]
    for precision, rows in (("float64", np.flatnonzero(~np.array(single))), ("float32", np.flatnonzero(single))):
        if len(rows):
            kept = joined if max_documents is None else join(qrels, run, **options, precision=precision)  # type: ignore[arg-type]
            values[rows] = _values([chosen[m] for m in rows], kept)
    by_ranks = [m for m, metric in enumerate(chosen) if metric.convention.order == "rank"]
    if by_ranks:
        values[by_ranks] = _values([chosen[m] for m in by_ranks], by_rank(joined))
    names = tuple(map(str, joined.query_ids))
    return Evaluation(chosen, values, names, n_qrels=joined.n_qrels, n_run=joined.n_run, n_both=joined.n_both)


def _values(metrics: Sequence[Metric], run: Judged) -> Array:
    return evaluate_all(
        metrics,
        run.scores,
        run.labels,
        run.offsets,
        document_ids=run.document_ids,
        judged=run.judged,
        judged_offsets=run.judged_offsets,
        unjudged=run.unjudged,
        topics=run.topics,
    )


def _labelled(data: Any, qid: ArrayLike | None, group: ArrayLike | None) -> Table:
    """The labels and queries to evaluate scores against."""
    if isinstance(data, Table | str | PathLike):
        return labelled_table(data, qid=qid, group=group)
    if is_frame(data) and qid is None and group is None:
        return from_frame(data, features=[])
    labels = float_numbers(data, "label")
    return labelled_table(np.empty((len(labels), 0), np.float32), labels, qid=qid, group=group)


def read_metrics(metrics: Metrics, preset: str | None = None) -> tuple[Metric, ...]:
    """Parse metrics, each once; `preset` holds for those that name no convention."""
    if not isinstance(metrics, str | Metric | Iterable):
        raise ParameterError(f"metrics are names, e.g. ndcg@10; got {metrics!r}.")
    several = [metrics] if isinstance(metrics, str | Metric) else list(metrics)
    if not several:
        raise ParameterError("At least one metric is needed, e.g. ndcg@10.")
    chosen = [
        metric if isinstance(metric, Metric) and preset is None else Metric.parse(str(metric), preset=preset)
        for metric in several
    ]
    return tuple(dict.fromkeys(chosen))


def mean_interval(metric: Metric, values: Array, *, level: float = 0.95, seed: int = 0) -> Interval:
    """The confidence interval of a metric's mean over the queries that count; NaN if they are fewer than two."""
    counted_values = values[~np.isnan(values)]
    if len(counted_values) < 2:
        return Interval(np.nan, np.nan)
    return reported_interval(metric, counted_values, bootstrap_interval(counted_values, level=level, seed=seed))


def reported_interval(metric: Metric, values: Array, interval: Interval) -> Interval:
    """The interval of what is reported for these values, within the metric's range."""
    least, most = min(metric.range[0], float(values.min())), max(metric.range[1], float(values.max()))
    return Interval(*(metric.reported(min(max(end, least), most), len(values)) for end in interval))


def query_names(data: Table) -> tuple[str, ...]:
    """The id of each query as text."""
    return tuple(data.query_name(q) for q in range(data.n_queries))


def plain(value: float) -> float | None:
    """A number for JSON; None for NaN."""
    return None if np.isnan(value) else float(value)


def all_plain(value: Any) -> Any:
    """Nested lists and dictionaries for JSON, with None for every number that is not finite."""
    if isinstance(value, dict):
        return {key: all_plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [all_plain(part) for part in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
