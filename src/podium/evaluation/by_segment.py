"""Results by segment of the queries: their type, language, length or whatever a file says of them.

    >>> import numpy as np
    >>> from podium.evaluation.evaluate import evaluate
    >>> evaluation = evaluate([1, 0, 0, 1], [2.0, 1.0, 2.0, 1.0], "mrr", qid=["a", "a", "b", "b"])
    >>> {name: part.means()["mrr"].value for name, part in evaluation.by({"a": "short", "b": "long"}).items()}
    {'long': 0.5, 'short': 1.0}

Differences from a baseline are tested within each segment, and p-values are corrected for all segments and systems
together: with twenty segments, one of them differs at p < 0.05 by chance alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from podium.base.columns import text_ids
from podium.base.errors import DataError
from podium.base.shown import Shown, ShownTable, Value
from podium.evaluation.compare import Comparison
from podium.evaluation.evaluate import Evaluation, plain
from podium.evaluation.metric_names import short_names
from podium.evaluation.paired import Interval
from podium.evaluation.significance import Correction, adjust, compare_systems
from podium.metrics import Metric

NONE = "(none)"
"""The segment of queries of which nothing is said."""


@dataclass(frozen=True, eq=False, repr=False)
class Segments(Shown, Mapping[str, Evaluation]):
    """The evaluation of each segment, by its name; those with most queries first."""

    parts: dict[str, Evaluation]

    def __getitem__(self, name: str) -> Evaluation:
        return self.parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the per-query values, as plain values for JSON."""
        return {name: {"queries": len(part.query_ids), **part.to_dict()} for name, part in self.parts.items()}

    def _shown(self) -> ShownTable:
        metrics = next(iter(self.parts.values())).metrics
        rows: list[list[Value]] = []
        for name, part in self.parts.items():
            intervals = part.intervals()
            cells = [(average.value, *intervals[metric]) for metric, average in part.means().items()]
            rows.append([name, len(part.query_ids), *(value for cell in cells for value in cell)])
        heads = [head for name in short_names(metrics) for head in (name, f"{name} from", f"{name} to")]
        return ShownTable("", ["segment", "queries", *heads], rows, notes=["from, to: 95 % intervals of the means"])


@dataclass(frozen=True)
class SegmentRow:
    """A system on the queries of a segment, compared with the baseline."""

    segment: str
    system: str
    queries: int  # that count
    mean: float
    interval: Interval
    difference: float | None  # from the baseline; None for the baseline, or if fewer than two queries count
    p: float | None  # corrected for all segments and systems
    significant: bool


@dataclass(frozen=True, eq=False, repr=False)
class SegmentComparison(Shown):
    """Systems compared with a baseline in each segment, by one metric."""

    metric: Metric
    baseline: str
    correction: str
    alpha: float
    rows: tuple[SegmentRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        rows = [{**vars(row), "mean": plain(row.mean), "interval": list(map(plain, row.interval))} for row in self.rows]
        return {"baseline": self.baseline, "correction": self.correction, "alpha": self.alpha, "segments": rows}

    def verdict(self) -> str:
        """The segments in which a system differs from the baseline, in a sentence."""
        sign = 1 if self.metric.higher_is_better else -1
        words = [
            f"{row.system} is {'better' if sign * (row.difference or 0.0) > 0 else 'worse'} in {row.segment} "
            f"({row.difference:+.4f})"
            for row in self.rows
            if row.significant
        ]
        return "; ".join(words) or f"no significant difference from {self.baseline} in any segment"

    def _shown(self) -> ShownTable:
        rows: list[list[Value]] = [
            [row.segment, row.queries, row.system, row.mean, *row.interval, row.difference, row.p] for row in self.rows
        ]
        heads = ["segment", "queries", "system", short_names([self.metric])[0], "from", "to", "difference", "p"]
        corrected = f"p: against {self.baseline}, corrected for all segments ({self.correction}, α = {self.alpha:g})"
        return ShownTable("", heads, rows, notes=[f"by {self.metric}: {self.verdict()}", corrected])


def by_segment(evaluation: Evaluation, segments: Mapping[Any, Any] | Sequence[Any]) -> Segments:
    """The evaluation of the queries of each segment; `segments` maps query ids, or has one value for each query."""
    places = _places(evaluation.query_ids, segments)
    return Segments({name: _part(evaluation, chosen) for name, chosen in places.items()})


def compare_by_segment(
    systems: Mapping[str, Evaluation],
    segments: Mapping[Any, Any] | Sequence[Any],
    *,
    baseline: str,
    test: str = "randomisation",
    correction: Correction = "holm",
    alpha: float = 0.05,
    seed: int = 0,
) -> dict[str, SegmentComparison]:
    """Compare systems with a baseline in each segment, by each metric; they are evaluated on the same queries."""
    first = systems[baseline]
    table = np.array([system.values for system in systems.values()])  # (systems, M, Q)
    table = np.where(np.isnan(table).any(axis=0), np.nan, table)  # a query that one system skips is skipped for all
    places = _places(first.query_ids, segments)
    comparisons = {}
    for m, metric in enumerate(first.metrics):
        rows: list[SegmentRow] = []
        for name, chosen in places.items():
            values = table[:, m, chosen]
            if np.isfinite(values[0]).sum() < 2:
                rows += [_untested(name, system, metric, row) for system, row in zip(systems, values, strict=True)]
                continue
            tested = compare_systems(
                values, list(systems), metric=metric, baseline=baseline, test=test, correction="none", alpha=alpha,
                seed=seed,
            )  # fmt: skip
            for system, mean in tested.systems.items():
                pair = tested.pair_with_baseline(system)
                difference, p = (None, None) if pair is None else (pair.difference, pair.p)
                rows.append(SegmentRow(name, system, mean.queries, mean.mean, mean.interval, difference, p, False))
        comparisons[str(metric)] = SegmentComparison(
            metric, baseline, correction, alpha, _corrected(rows, correction, alpha)
        )
    return comparisons


def with_segments(comparison: Comparison, segments: Mapping[Any, Any]) -> Comparison:
    """The comparison with results in each segment of the test queries, and differences from its first method."""
    systems = {}
    for name, outcomes in comparison.by_method.items():
        query_ids = tuple(query for outcome in outcomes for query in outcome.query_ids)
        values = np.hstack([outcome.values for outcome in outcomes])
        systems[name] = Evaluation(comparison.metrics, values, query_ids)
    first = comparison.baseline or next(iter(systems))
    return replace(comparison, segments=compare_by_segment(systems, segments, baseline=first, seed=comparison.seed))


def _places(query_ids: Sequence[str], segments: Mapping[Any, Any] | Sequence[Any]) -> dict[str, list[int]]:
    """The numbers of the queries of each segment, the largest segment first."""
    if isinstance(segments, Mapping):
        by_id = dict(zip(text_ids(list(segments), "query"), segments.values(), strict=True))
        values = [by_id.get(query) for query in query_ids]
        if len(query_ids) and not any(query in by_id for query in query_ids):
            raise DataError(
                f"no query of the evaluation has a segment: there are {', '.join(query_ids[:3])} …, segments are of "
                f"{', '.join(list(by_id)[:3]) or 'none'} …. Check that they write query ids alike."
            )
    else:
        values = list(segments)
        if len(values) != len(query_ids):
            raise DataError(f"{len(query_ids)} queries, but {len(values)} segments. Give one for each query.")
    places: dict[str, list[int]] = {}
    for q, value in enumerate(values):
        places.setdefault(NONE if _is_missing(value) else str(value), []).append(q)
    return dict(sorted(places.items(), key=lambda item: (item[0] == NONE, -len(item[1]), item[0])))


def _is_missing(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and np.isnan(value))


def _part(evaluation: Evaluation, chosen: list[int]) -> Evaluation:
    names = tuple(evaluation.query_ids[q] for q in chosen)
    return replace(
        evaluation, values=evaluation.values[:, chosen], query_ids=names, n_qrels=None, n_run=None, n_both=None
    )


def _untested(segment: str, system: str, metric: Metric, values: Any) -> SegmentRow:
    average = metric.average(values)
    return SegmentRow(segment, system, average.queries, average.value, Interval(np.nan, np.nan), None, None, False)


def _corrected(rows: list[SegmentRow], correction: Correction, alpha: float) -> tuple[SegmentRow, ...]:
    adjusted = iter(adjust([row.p for row in rows if row.p is not None], correction).tolist())
    ps = [None if row.p is None else next(adjusted) for row in rows]
    return tuple(replace(row, p=p, significant=p is not None and p <= alpha) for row, p in zip(rows, ps, strict=True))
