"""How far to trust a judge, such as a machine, compared with the other judges: agreement, bias, and order of systems.

The others' grade of a document is the mean of their votes, and their label the majority. Bias is measured at equal
label: the judge's grade less its mean over documents of that label, so that a judge who is merely noisy has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from podium.base.arguments import random_numbers
from podium.base.arrays import Array, Flags, Ints
from podium.base.errors import DataError, UnknownNameError, needs_memory
from podium.evaluation.evaluate import Metrics, evaluate_run
from podium.formats.trec.trec import AnyRun, Qrels, as_run, first_documents
from podium.judgments.agreement import Agreement, cohen, krippendorff
from podium.judgments.consensus import consensus
from podium.judgments.judgments import Judgments
from podium.parsing.ids import Ids

OTHERS = "the other judges"
RANKS = {"1": (1, 1), "2 to 3": (2, 3), "4 to 10": (4, 10), "11 and more": (11, 10**9)}
DRAWS = 1000


class Bias(NamedTuple):
    """How much higher the judge grades a kind of documents than all documents of the same label."""

    by: str  # rank, length or system
    value: str
    documents: int
    bias: float
    low: float
    high: float
    significant: bool = False  # at 5 % for all kinds of documents together


class _Sampled(NamedTuple):
    """A bias, and that of each resampling of the queries."""

    bias: Bias
    draws: Array


class OrderOfSystems(NamedTuple):
    """Kendall's τ between the order of systems by the others' labels and by the judge's."""

    metric: str
    tau: float
    low: float
    high: float
    systems: dict[str, tuple[float, float]]  # mean by the others, mean by the judge
    queries: int


@dataclass(frozen=True)
class Trust:
    """What is known of a judge."""

    judge: str
    documents: int  # that the others judged too
    grades: Array  # (L,)
    confusion: Ints  # (L, L) label of the others by grade of the judge
    agreement: tuple[Agreement, ...]
    same: float  # share of equal grades
    higher: Bias  # grade less the others' mean, over all documents
    biases: tuple[Bias, ...]
    order: OrderOfSystems | None
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        return {
            "judge": self.judge,
            "documents": self.documents,
            "grades": self.grades.tolist(),
            "confusion": self.confusion.tolist(),
            "agreement": [vars(part) for part in self.agreement],
            "same": self.same,
            "higher": self.higher._asdict(),
            "biases": [bias._asdict() for bias in self.biases],
            "order": None if self.order is None else self.order._asdict(),
            "warnings": list(self.warnings),
        }


def trust(
    judgments: Judgments,
    judge: str,
    *,
    runs: Mapping[str, AnyRun] | None = None,
    lengths: Mapping[str, int] | None = None,
    metric: Metrics = "ndcg@10",
    seed: int = 0,
) -> Trust:
    """Compare a judge with the others on the documents that both judged; intervals are by bootstrap over queries.

    `runs` show bias by rank and by system, and whether the order of systems holds; `lengths` of documents by length.
    """
    if judge not in judgments.judges:
        raise UnknownNameError("judge", judge, judgments.judges)
    if len(judgments.judges) < 2:
        raise DataError(f"{judge!r} is the only judge; votes of others are needed.", where=judgments.source)
    both = _both(judgments, judge)
    others, grade = both.labels, both.grades
    scale = np.union1d(others, grade)
    needs_memory(8.0 * len(scale) ** 2, f"A table of {len(scale)} grades", instead="Round the grades first.")
    table = np.zeros((len(scale), len(scale)), np.int64)
    np.add.at(table, (np.searchsorted(scale, others), np.searchsorted(scale, grade)), 1)
    pair = _pair(judgments, both)
    agreement = (
        cohen(pair, OTHERS, judge, seed=seed), cohen(pair, OTHERS, judge, weights="quadratic", seed=seed),
        krippendorff(pair, seed=seed),
    )  # fmt: skip
    draws = _draws(both.query_of, seed)
    everywhere = np.ones(len(grade), np.bool_)
    higher = _bias("all", "all", grade - both.means, everywhere, both, draws).bias
    ranked = {name: first_documents(as_run(run), 1000) for name, run in (runs or {}).items()}
    kinds = [*_by_rank(both, ranked, draws), *_by_length(both, lengths, draws), *_by_system(both, ranked, draws)]
    biases = _with_significance(kinds, len(np.unique(both.query_of)))
    order = _order(both, runs or {}, metric, draws) if len(runs or {}) > 1 else None
    warnings = _warnings(both, agreement, biases, order)
    same = float((others == grade).mean())
    return Trust(judge, len(grade), scale, table, agreement, same, higher, tuple(biases), order, tuple(warnings))


@dataclass(frozen=True, eq=False)
class _Both:
    """Documents that the judge and others graded."""

    judge: str
    names: list[tuple[str, str]]
    query_of: Ints
    labels: Array  # majority of the others
    means: Array  # mean of the others
    grades: Array  # of the judge

    @property
    def residual(self) -> Array:
        """The judge's grade less its mean at the same label."""
        _, of = np.unique(self.labels, return_inverse=True)
        middle = np.bincount(of, self.grades) / np.bincount(of)
        return np.asarray(self.grades - middle[of])


def _both(judgments: Judgments, judge: str) -> _Both:
    own = judgments.judge_of == judgments.judges.index(judge)
    shared = np.intersect1d(judgments.items[own], judgments.items[~own])
    if not len(shared):
        raise DataError(f"{judge!r} and the other judges graded no document in common.", where=judgments.source)
    rest = np.flatnonzero(~own & np.isin(judgments.items, shared))
    left = replace(judgments, items=judgments.items[rest], judge_of=judgments.judge_of[rest],
                   grades=judgments.grades[rest])  # fmt: skip
    counts = np.maximum(left.votes, 1)
    sums = np.bincount(left.items, left.grades, judgments.n_items)
    labels = consensus(_only(left, shared), "majority").labels
    rows = np.flatnonzero(own & np.isin(judgments.items, shared))
    query_of = np.repeat(np.arange(len(judgments.query_ids)), np.diff(judgments.offsets))
    names = judgments.item_names()
    return _Both(judge, [names[i] for i in shared.tolist()], query_of[shared], labels, (sums / counts)[shared],
                 judgments.grades[rows])  # fmt: skip


def _only(judgments: Judgments, items: Ints) -> Judgments:
    """The judgments with these items alone, as one query: enough for a consensus."""
    number = np.full(judgments.n_items, -1)
    number[items] = np.arange(len(items))
    documents = tuple(judgments.document_ids[i] for i in items.tolist())
    return replace(judgments, query_ids=("all",), offsets=np.array([0, len(items)]), document_ids=documents,
                   items=number[judgments.items])  # fmt: skip


def _pair(judgments: Judgments, both: _Both) -> Judgments:
    """The votes of two: the others' label, and the judge."""
    queries, documents = zip(*both.names, strict=True)
    return Judgments.from_rows(
        [*queries, *queries], [*documents, *documents], [OTHERS] * len(queries) + [both.judge] * len(queries),
        np.concatenate([both.labels, both.grades]), source=judgments.source,
    )  # fmt: skip


def _draws(query_of: Ints, seed: int) -> Array:
    """How often each resampling of the queries has each query."""  # (draws, Q)
    different, of = np.unique(query_of, return_inverse=True)
    n = len(different)
    drawn = random_numbers(seed).multinomial(n, np.full(n, 1.0 / n), DRAWS).astype(np.float64)
    return np.asarray(drawn[:, of])  # (draws, documents)


def _interval(values: Array) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    if len(finite) < 2:
        return float("nan"), float("nan")
    low, high = np.quantile(finite, [0.025, 0.975])
    return float(low), float(high)


def _bias(by: str, value: str, residual: Array, chosen: Flags, both: _Both, draws: Array) -> _Sampled:
    weights = draws * chosen
    with np.errstate(invalid="ignore", divide="ignore"):
        sampled = (weights @ residual) / weights.sum(axis=1)
    bias = Bias(by, value, int(chosen.sum()), float(residual[chosen].mean()), *_interval(sampled))
    return _Sampled(bias, np.nan_to_num(sampled, nan=bias.bias))


def _with_significance(kinds: list[_Sampled], queries: int) -> list[Bias]:
    """Biases, of which an unbiased judge has a significant one with probability 5 %: max-t, stepwise (Romano and Wolf).

    Resamplings vary less than the queries do, and not as Student's t: the limit is stretched as that of intervals.
    """
    from scipy.special import ndtri, stdtrit

    if not kinds or queries < 2:
        return [sampled.bias for sampled in kinds]
    means = np.array([sampled.bias.bias for sampled in kinds])
    draws = np.array([sampled.draws for sampled in kinds])  # (kinds, draws)
    spread = draws.std(axis=1)
    away = np.divide(
        np.abs(draws - means[:, None]), spread[:, None], out=np.zeros_like(draws), where=spread[:, None] > 0.0
    )
    stretch = float(stdtrit(queries - 1, 0.975) / ndtri(0.975)) * np.sqrt(queries / (queries - 1))
    size = np.divide(np.abs(means), spread, out=np.zeros_like(means), where=spread > 0.0)
    significant = np.zeros(len(kinds), np.bool_)
    while not significant.all():  # step down: what is left is tested against the largest of what is left
        more = ~significant & (size > stretch * np.quantile(away[~significant].max(axis=0), 0.95))
        if not more.any():
            break
        significant |= more
    return [
        sampled.bias._replace(significant=surely) for sampled, surely in zip(kinds, significant.tolist(), strict=True)
    ]


def _by_rank(both: _Both, ranked: Mapping[str, Mapping[str, list[str]]], draws: Array) -> list[_Sampled]:
    """Bias by the best rank that any run gives a document."""
    if not ranked:
        return []
    place: dict[tuple[str, str], int] = {}
    for run in ranked.values():
        for query, documents in run.items():
            for rank, document in enumerate(documents, 1):
                place[query, document] = min(rank, place.get((query, document), rank))
    best = np.array([place.get(name, 10**9) for name in both.names], np.float64)
    parts = {name: (best >= low) & (best <= high) for name, (low, high) in RANKS.items()}
    return [_bias("rank", name, both.residual, chosen, both, draws) for name, chosen in parts.items() if chosen.any()]


def _by_length(both: _Both, lengths: Mapping[str, int] | None, draws: Array) -> list[_Sampled]:
    """Bias of the shortest, middle and longest third."""
    if lengths is None:
        return []
    absent = [document for _, document in both.names if document not in lengths]
    if absent:
        raise DataError(f"document {absent[0]!r} is not among the texts, nor are {len(absent) - 1} others.")
    long = np.array([lengths[document] for _, document in both.names], np.float64)
    low, high = np.floor(np.quantile(long, [1 / 3, 2 / 3]))
    parts = {
        f"up to {low:g} words": long <= low,
        f"{low + 1:g} to {high:g} words": (long > low) & (long <= high),
        f"{high + 1:g} words and more": long > high,
    }
    return [_bias("length", name, both.residual, chosen, both, draws) for name, chosen in parts.items() if chosen.any()]


def _by_system(both: _Both, ranked: Mapping[str, Mapping[str, list[str]]], draws: Array) -> list[_Sampled]:
    """Bias of the documents in the first ten of each run."""
    biases = []
    for run, lists in ranked.items():
        top = {query: set(documents[:10]) for query, documents in lists.items()}
        chosen = np.array([document in top.get(query, ()) for query, document in both.names], np.bool_)
        if chosen.any():
            biases.append(_bias("system", run, both.residual, chosen, both, draws))
    return biases


def _order(both: _Both, runs: Mapping[str, AnyRun], metric: Metrics, draws: Array) -> OrderOfSystems:
    """τ of the systems' means under both, over queries that count for all."""
    others, own = _qrels(both, both.labels), _qrels(both, both.grades)
    values = [[evaluate_run(qrels, run, metric) for run in runs.values()] for qrels in (others, own)]
    by_query = [[dict(zip(e.query_ids, e.values[0].tolist(), strict=True)) for e in row] for row in values]
    shared = set.intersection(*({q for q, v in each.items() if not np.isnan(v)} for row in by_query for each in row))
    if len(shared) < 2:
        raise DataError("fewer than two queries have results of all runs and labels of both judges.")
    queries = sorted(shared)
    tables = [np.array([[each[q] for q in queries] for each in row]) for row in by_query]
    of_query = {query: k for k, (query, _) in enumerate(both.names)}
    counts = draws[:, [of_query[query] for query in queries]]
    sampled = np.array([_tau(tables[0] @ row, tables[1] @ row) for row in counts if row.any()])
    means = [table.mean(axis=1) for table in tables]
    systems = {run: (float(a), float(b)) for run, a, b in zip(runs, *means, strict=True)}
    return OrderOfSystems(str(values[0][0].metrics[0]), _tau(*means), *_interval(sampled), systems, len(queries))


def _tau(first: Array, second: Array) -> float:
    """Kendall's τ-b; 0 if either orders nothing."""
    i, j = np.triu_indices(len(first), 1)
    a, b = np.sign(first[i] - first[j]), np.sign(second[i] - second[j])
    size = np.sqrt(float(np.abs(a).sum()) * float(np.abs(b).sum()))
    return float((a * b).sum() / size) if size else 0.0


def _qrels(both: _Both, grades: Array) -> Qrels:
    """Grades as qrels; documents come query by query."""
    _, first, sizes = np.unique(both.query_of, return_index=True, return_counts=True)
    queries = np.array([both.names[k][0] for k in first.tolist()], object)
    documents = Ids.of([document for _, document in both.names])
    return Qrels(queries, np.append(0, np.cumsum(sizes)).astype(np.int64), documents, grades)


def _warnings(
    both: _Both, agreement: tuple[Agreement, ...], biases: list[Bias], order: OrderOfSystems | None
) -> list[str]:
    words = []
    if np.ptp(both.grades) == 0.0:
        words.append(f"{both.judge} always says {both.grades[0]:g}: its grades tell nothing")
    elif agreement[1].low <= 0.0:
        words.append(f"{both.judge} may agree with the others by chance: κ is not surely above 0")
    words += [
        f"at equal labels {both.judge} grades documents of {bias.by} {bias.value} {abs(bias.bias):.2f} "
        f"{'higher' if bias.bias > 0 else 'lower'}" for bias in biases if bias.significant
    ]  # fmt: skip
    if order is not None and order.low < 0.5:
        words.append("the order of systems by this judge may differ from that by the others")
    return words
