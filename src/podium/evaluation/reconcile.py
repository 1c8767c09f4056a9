"""Reconciliation of two tools' numbers for the same ranking: the effect of each convention that differs.

    >>> from podium.data.dataset import Dataset
    >>> data = Dataset.from_arrays([[1], [2], [3]], [0, 2, 0], qid=["a", "a", "b"])
    >>> report = reconcile(data, [0.9, 0.1, 0.5], "ndcg@10[lightgbm]", "ndcg@10[sklearn]")
    >>> [(term.fields, round(term.amount, 3)) for term in report.terms]
    [(('empty',), -0.5), (('gain',), 0.0), (('ties',), 0.0)]

The conventions differ in several fields, and the effect of changing one depends on those changed before it. So each
field gets the mean of its effect over all orders of the fields that differ, its Shapley value: no order is preferred,
swapping the two sides swaps the signs, and the terms add up to the difference.

With c_q(S) = (x_q(S) − m)/n(S) for query q of value x_q once the fields S are the other side's, n(S) the queries that
count and m the mean of both numbers, Σ_q c_q(S) is the number less m; so each term is also a sum over queries.
If a metric reports another number than the mean over queries (a geometric mean, a total), terms are computed in the
mean and scaled to that number.
Cost: 2^k evaluations for k fields that differ, k ≤ 9.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array
from podium.base.columns import float_numbers
from podium.base.errors import DataError, IncompatibleError
from podium.base.shown import Shown, ShownTable, Value
from podium.evaluation.evaluate import Evaluation, evaluate, evaluate_run, plain
from podium.evaluation.wording import describe
from podium.formats.trec.trec import AnyQrels, AnyRun, as_qrels, as_run
from podium.metrics import Average, Metric, mean

if TYPE_CHECKING:
    from podium.data.table import Table

Step = tuple[str, ...]
"""Fields of the convention, parameters of the metric, or `cutoff`, that change together; almost always one."""


@dataclass(frozen=True)
class Term:
    """The effect of one convention on the difference."""

    fields: Step
    amount: float
    queries: int  # that it changes
    words: str


@dataclass(frozen=True, eq=False, repr=False)
class Reconciliation(Shown):
    """Two numbers for one ranking, and the terms of the difference b − a."""

    a: Metric
    b: Metric
    names: tuple[str, str]
    averages: tuple[Average, Average]
    terms: tuple[Term, ...]  # the largest first
    query_ids: tuple[str, ...]
    values: Array  # (2, Q): each query's value under a and b, NaN if it is skipped
    shares: Array  # (K, Q): the part of each query in each term

    @property
    def difference(self) -> float:
        """The number of b less that of a."""
        return self.averages[1].value - self.averages[0].value

    def top_queries(self, limit: int = 10) -> list[int]:
        """The numbers of the queries with the largest absolute parts of the difference, without those that add 0."""
        adds = np.abs(self.shares.sum(axis=0))
        order = np.argsort(-adds, kind="stable")[:limit]
        return [int(q) for q in order if adds[q] > _NOTHING]

    def _shown(self) -> ShownTable:
        (first, second), (a, b) = self.averages, self.names
        sums = f"{second.value:.4f} ({b}) − {first.value:.4f} ({a}) = {self.difference:+.4f}"
        rows: list[list[Value]] = [[term.words, term.queries, term.amount] for term in self.terms]
        return ShownTable(f"{self.a} and {self.b}: {sums}", ["because", "queries", "adds"], rows, bars=2, digits=6)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        sides = {
            side: {
                "name": name,
                "metric": str(metric),
                "convention": metric.tag(),
                "mean": plain(average.value),
                "queries": average.queries,
                "skipped": average.skipped,
            }
            for side, name, metric, average in zip("ab", self.names, (self.a, self.b), self.averages, strict=True)
        }
        columns = [
            {
                "query": self.query_ids[q],
                "a": plain(self.values[0, q]),
                "b": plain(self.values[1, q]),
                "share": float(self.shares[:, q].sum()),
                "terms": {_key(t.fields): float(x) for t, x in zip(self.terms, self.shares[:, q], strict=True)},
            }
            for q in self.top_queries()
        ]
        terms = [{"convention": _key(t.fields), **_without_fields(t)} for t in self.terms]
        return {**sides, "difference": self.difference, "terms": terms, "top_queries": columns}


def reconcile(data: Table, scores: ArrayLike, a: str | Metric, b: str | Metric) -> Reconciliation:
    """Explain why `a` and `b`, one metric by two conventions, differ for these scores.

    `data`: labels with queries, as for `evaluate`.
    `scores`: a number per row of the data (N,).
    """
    values = float_numbers(scores, "score")
    return _reconcile(lambda metrics: evaluate(data, values, metrics), a, b)


def reconcile_run(qrels: AnyQrels, run: AnyRun, a: str | Metric, b: str | Metric) -> Reconciliation:
    """Explain why `a` and `b`, one metric by two conventions, differ for a TREC run.

    `qrels`: judgments, and `run` a ranking, as for `evaluate_run`.
    """
    judged, ranked = as_qrels(qrels), as_run(run)
    return _reconcile(lambda metrics: evaluate_run(judged, ranked, metrics), a, b)


_NOTHING = 1e-15  # a query's part within rounding


def _reconcile(measure: Callable[[Sequence[Metric]], Evaluation], a: str | Metric, b: str | Metric) -> Reconciliation:
    first, second = (metric if isinstance(metric, Metric) else Metric.parse(metric) for metric in (a, b))
    if type(first) is not type(second):
        raise IncompatibleError(
            f"{first.name} and {second.name} are different measures, not one metric by two conventions. "
            "Name the same metric twice, e.g. ndcg@10[lightgbm] and ndcg@10[trec]."
        )
    steps: list[Step] = [(name,) for name in _differing(first, second)]
    measure([first, second])  # an error of either side names it
    try:
        table, query_ids = _walk(measure, first, second, steps)
    except DataError:  # one side's gain refuses labels of the other side's ideal: they change together
        joined = [step for step in steps if step[0] in _WITH_IDEAL | set(first.own_parameters())]
        steps = [step for step in steps if step not in joined] + [tuple(name for step in joined for name in step)]
        table, query_ids = _walk(measure, first, second, steps)
    ends = table[[0, -1]]
    averages = (first.average(ends[0]), second.average(ends[1]))
    if not averages[0].queries or not averages[1].queries:
        silent = first if not averages[0].queries else second
        raise DataError(f"{silent}: every query is skipped, so there is no number to explain. Try empty=zero.")
    means = mean(ends[0]).value, mean(ends[1]).value
    shares = _shapley(_centred(table, (means[0] + means[1]) / 2), len(steps)) * _scale(first, means, averages)
    names = _names(first, second)
    terms = [
        Term(step, float(share.sum()), int((np.abs(share) > _NOTHING).sum()), describe(step, first, second, names))
        for step, share in zip(steps, shares, strict=True)
    ]
    order = sorted(range(len(terms)), key=lambda k: (-abs(terms[k].amount), terms[k].fields))
    return Reconciliation(
        first, second, names, averages, tuple(terms[k] for k in order), query_ids, ends, shares[order]
    )


_WITH_IDEAL = {"gain", "floor", "ideal"}


def _differing(a: Metric, b: Metric) -> list[str]:
    """The fields of the convention, the cut-off and the parameters in which two metrics differ."""
    ours, theirs = a.convention.fields(), b.convention.fields()
    names = [name for name in ours if ours[name] != theirs[name]]
    return names + [name for name in ("cutoff", *a.own_parameters()) if getattr(a, name) != getattr(b, name)]


def _walk(
    measure: Callable[[Sequence[Metric]], Evaluation], a: Metric, b: Metric, steps: list[Step]
) -> tuple[Array, tuple[str, ...]]:
    """Each query's value (2^k, Q) under every mixture: bit i of a row's number says that step i has been taken."""
    mixtures = [
        _mixture(a, b, [step for i, step in enumerate(steps) if mask >> i & 1]) for mask in range(2 ** len(steps))
    ]
    unlike = list(dict.fromkeys(mixtures))  # fields may lose their meaning in a mixture
    evaluation = measure(unlike)
    at = {metric: row for row, metric in enumerate(unlike)}
    return evaluation.values[[at[metric] for metric in mixtures]], evaluation.query_ids


def _mixture(a: Metric, b: Metric, taken: list[Step]) -> Metric:
    names = {name for step in taken for name in step}
    fields = {name: getattr(b.convention, name) for name in names & set(b.convention.fields())}
    convention = dataclasses.replace(a.convention, **fields)
    return dataclasses.replace(a, convention=convention, **{name: getattr(b, name) for name in names - set(fields)})


def _centred(table: Array, middle: float) -> Array:
    """c_q(S), the part of each query in a number less the middle."""
    counted = ~np.isnan(table)
    n = np.maximum(counted.sum(axis=1, keepdims=True), 1)
    return np.asarray(np.where(counted, table - middle, 0.0) / n)


def _scale(metric: Metric, means: tuple[float, float], averages: tuple[Average, Average]) -> float:
    """The change of the reported number for a change of 1 in the mean over queries; 1 if the mean is reported."""
    if tuple(average.value for average in averages) == means:
        return 1.0
    low, high = min(means), max(means)
    if high - low < 1e-9:
        low, high = low - 1e-6, high + 1e-6
        queries = averages[0].queries
        return (metric.reported(high, queries) - metric.reported(low, queries)) / (high - low)
    return (averages[1].value - averages[0].value) / (means[1] - means[0])


def _shapley(table: Array, k: int) -> Array:
    """φ_i = Σ_{S ∌ i} |S|! (k − 1 − |S|)!/k! · (c(S ∪ i) − c(S)), for each query: (k, Q)."""
    shares = np.zeros((k, table.shape[1]))
    for i in range(k):
        for mask in range(len(table)):
            if not mask >> i & 1:
                weight = 1.0 / (k * math.comb(k - 1, mask.bit_count()))
                shares[i] += weight * (table[mask | 1 << i] - table[mask])
    return shares


def _names(a: Metric, b: Metric) -> tuple[str, str]:
    """The names of the two sides: their presets if these differ."""
    names = (_name(a), _name(b))
    return names if names[0] != names[1] else ("a", "b")


def _name(metric: Metric) -> str:
    _, _, tail = str(metric).partition("[")
    return tail[:-1] or "podium"


def _key(step: Step) -> str:
    return "+".join(step)


def _without_fields(term: Term) -> dict[str, Any]:
    return {"amount": term.amount, "queries": term.queries, "words": term.words}
