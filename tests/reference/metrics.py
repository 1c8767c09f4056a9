"""Measures, slow and obvious: one query, straight from the formulas, all orders of tied documents enumerated."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from reference.topic_metrics import TOPIC_METRICS, one_topic

Labels = Sequence[float]


def orders(scores: Sequence[float]) -> Iterator[list[int]]:
    """Every order of the documents that descending scores allow."""
    groups = [[i for i, s in enumerate(scores) if s == value] for value in sorted(set(scores), reverse=True)]
    for parts in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield [i for part in parts for i in part]


def expected(
    name: str,
    scores: Sequence[float],
    labels: Labels,
    *,
    k: int | None = None,
    judged: Labels | None = None,
    **parameters: Any,
) -> float:
    """The mean of a measure over all orders of tied documents; NaN where it is not defined.

    The label of a document without judgment is NaN.
    """
    everyone = sorted(labels if judged is None else judged, reverse=True)
    measure = MEASURES[name]
    found = [measure([labels[i] for i in order], everyone, k, **parameters) for order in orders(scores)]
    return math.fsum(found) / len(found)


def gain(label: float) -> float:
    return 2**label - 1


def dcg(ranked: Labels, ideal: Labels, k: int | None) -> float:
    if not any(gain(y) > 0 for y in ideal):
        return math.nan
    return sum(gain(y) / math.log2(r + 1) for r, y in enumerate(ranked[:k], 1))


def ndcg(ranked: Labels, ideal: Labels, k: int | None) -> float:
    return dcg(ranked, ideal, k) / dcg(ideal, ideal, k)


def weighted_dcg(ranked: Labels, ideal: Labels, k: int | None) -> float:
    if not any(ideal):
        return math.nan
    return sum(y / math.log2(r + 1) for r, y in enumerate(ranked[:k], 1))


def mean_ndcg(ranked: Labels, ideal: Labels, k: int | None) -> float:
    return sum(ndcg(ranked, ideal, cut) for cut in range(1, len(ranked) + 1)) / len(ranked)


def average_precision(ranked: Labels, ideal: Labels, k: int | None) -> float:
    relevant = sum(y >= 1 for y in ideal)
    if relevant == 0:
        return math.nan
    total = sum(sum(z >= 1 for z in ranked[:r]) / r for r, y in enumerate(ranked[:k], 1) if y >= 1)
    return total / (relevant if k is None else min(relevant, k))


def precision(ranked: Labels, ideal: Labels, k: int | None) -> float:
    if not any(y >= 1 for y in ideal):
        return math.nan
    return sum(y >= 1 for y in ranked[:k]) / (len(ranked) if k is None else k)


def recall(ranked: Labels, ideal: Labels, k: int | None) -> float:
    relevant = sum(y >= 1 for y in ideal)
    return sum(y >= 1 for y in ranked[:k]) / relevant if relevant else math.nan


def reciprocal_rank(ranked: Labels, ideal: Labels, k: int | None) -> float:
    if not any(y >= 1 for y in ideal):
        return math.nan
    return next((1 / r for r, y in enumerate(ranked[:k], 1) if y >= 1), 0.0)


def success(ranked: Labels, ideal: Labels, k: int | None) -> float:
    return float(any(y >= 1 for y in ranked[:k])) if any(y >= 1 for y in ideal) else math.nan


def r_precision(ranked: Labels, ideal: Labels, k: int | None, times: float = 1.0) -> float:
    depth = math.ceil(Fraction(str(times)) * sum(y >= 1 for y in ideal))
    return sum(y >= 1 for y in ranked[:depth]) / depth if depth else math.nan


def relative_precision(ranked: Labels, ideal: Labels, k: int | None) -> float:
    relevant = sum(y >= 1 for y in ideal)
    return sum(y >= 1 for y in ranked[:k]) / min(relevant, k or len(ranked)) if relevant else math.nan


def rbp(
    ranked: Labels, ideal: Labels, k: int | None, p: float = 0.8, graded: bool = False, max_grade: float | None = None
) -> float:
    if not any(y >= 1 for y in ideal):
        return math.nan
    worth = [y / (max_grade or max(ideal)) if graded else float(y >= 1) for y in ranked[:k]]
    return sum((1 - p) * p ** (r - 1) * g for r, g in enumerate(worth, 1))


def rbp_residual(ranked: Labels, ideal: Labels, k: int | None, p: float = 0.8) -> float:
    seen = ranked[:k]
    return p ** len(seen) + sum((1 - p) * p ** (r - 1) for r, y in enumerate(seen, 1) if not y >= 0)


def bpref(ranked: Labels, ideal: Labels, k: int | None) -> float:
    """The share of relevant–non-relevant pairs in the right order, with the first R judged non-relevant documents."""
    relevant, others = sum(y >= 1 for y in ideal), sum(0 <= y < 1 for y in ideal)
    if not relevant:
        return math.nan
    total = 0.0
    for place, y in enumerate(ranked):
        if y >= 1:
            above = sum(0 <= z < 1 for z in ranked[:place])
            total += 1 - min(above, relevant) / min(relevant, others) if above else 1
    return total / relevant


def inferred_ap(ranked: Labels, ideal: Labels, k: int | None) -> float:
    """AP where the precision above a relevant document is that of the judged ones, times the pooled share."""
    relevant, epsilon = sum(y >= 1 for y in ideal), 1e-5
    if not relevant:
        return math.nan
    total = 0.0
    for place, y in enumerate(ranked):
        if y >= 1:
            above = ranked[:place]
            hits, judged = sum(z >= 1 for z in above), sum(z >= 0 for z in above)
            pooled = sum(not math.isnan(z) for z in above)
            inferred = (hits + epsilon) / (judged + 2 * epsilon)
            total += 1 / (place + 1) + pooled / (place + 1) * inferred
    return total / relevant


def geometric_map(ranked: Labels, ideal: Labels, k: int | None) -> float:
    value = average_precision(ranked, ideal, k)
    return value if math.isnan(value) else math.log(max(value, 1e-5))


def interpolated_precision(
    ranked: Labels, ideal: Labels, k: int | None, recall: float = 0.5, rounding: str = "up"
) -> float:
    relevant = sum(y >= 1 for y in ideal)
    if not relevant:
        return math.nan
    exact = Fraction(str(recall)) * relevant
    needed = {"up": math.ceil(exact), "truncate": int(recall * relevant + 0.9), "nearest": int(exact + Fraction(1, 2))}
    hits = [sum(y >= 1 for y in ranked[:r]) for r in range(1, len(ranked) + 1)]
    return max((h / r for r, h in enumerate(hits, 1) if h >= needed[rounding]), default=0.0)


def eleven_point(ranked: Labels, ideal: Labels, k: int | None, rounding: str = "up") -> float:
    levels = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    return sum(interpolated_precision(ranked, ideal, k, level, rounding) for level in levels) / 11


def f(ranked: Labels, ideal: Labels, k: int | None, weight: float = 1.0) -> float:
    p, r = precision(ranked, ideal, k), recall(ranked, ideal, k)
    return 0.0 if p == 0 else (1 + weight) * p * r / (weight * p + r)


def set_map(ranked: Labels, ideal: Labels, k: int | None) -> float:
    return precision(ranked, ideal, None) * recall(ranked, ideal, None)


def unjudged(ranked: Labels, ideal: Labels, k: int | None) -> float:
    return sum(not y >= 0 for y in ranked[:k]) / (k or len(ranked))


def err(ranked: Labels, ideal: Labels, k: int | None, max_grade: int | None = None) -> float:
    if not any(gain(y) > 0 for y in ideal):
        return math.nan
    total, alive = 0.0, 1.0
    for r, y in enumerate(ranked[:k], 1):
        stop = gain(y) / 2 ** (max_grade or max(ideal))
        total += alive * stop / r
        alive *= 1 - stop
    return total


def nerr(ranked: Labels, ideal: Labels, k: int | None, max_grade: int | None = None) -> float:
    scale = max_grade or max(ideal, default=0)
    return err(ranked, ideal, k, scale) / err(ideal, ideal, k, scale)


def pfound(ranked: Labels, ideal: Labels, k: int | None, decay: float = 0.85, max_grade: int | None = None) -> float:
    if not any(gain(y) > 0 for y in ideal):
        return math.nan
    total, alive = 0.0, 1.0
    for y in ranked[:k]:
        satisfied = gain(y) / 2 ** (max_grade or max(ideal))
        total += alive * satisfied
        alive *= (1 - satisfied) * decay
    return total


def arp(ranked: Labels, ideal: Labels, k: int | None) -> float:
    return sum(r * y for r, y in enumerate(ranked, 1)) / sum(ranked) if any(ranked) else math.nan


def compat(ranked: Labels, ideal: Labels, k: int | None, p: float = 0.95) -> float:
    """Documents as (label, number of the document of that label in the order of the list)."""
    seen: dict[float, int] = {}
    listed = []
    for y in ranked:
        seen[y] = seen.get(y, 0) + 1
        listed.append((y, seen[y]))
    wanted = [(y, n) for y in sorted(set(ideal), reverse=True) if y >= 1 for n in range(1, ideal.count(y) + 1)]
    if not wanted:
        return math.nan

    def overlap(a: list[tuple[float, int]]) -> float:
        depths = range(1, max(len(listed), len(wanted)) + 1)
        return sum(p ** (d - 1) * len(set(a[:d]) & set(wanted[:d])) / d for d in depths)

    return overlap(listed) / overlap(wanted)


def insq(ranked: Labels, ideal: Labels, k: int | None, t: float = 1.0, max_grade: float | None = None) -> float:
    return walk(ranked, ideal, max_grade, lambda i, found: ((i + 2 * t - 1) / (i + 2 * t)) ** 2)


def inst(ranked: Labels, ideal: Labels, k: int | None, t: float = 1.0, max_grade: float | None = None) -> float:
    return walk(ranked, ideal, max_grade, lambda i, found: ((i + 2 * t - found - 1) / (i + 2 * t - found)) ** 2)


def walk(ranked: Labels, ideal: Labels, max_grade: float | None, goes_on: Callable[[int, float], float]) -> float:
    """The gain per document of a user who goes on from rank i, with such a gain so far, with that probability."""
    if not any(y > 0 for y in ideal):
        return math.nan
    gains = [y / (max_grade or max(ideal)) for y in ranked] + [0.0] * (1000 - len(ranked))
    looks = [1.0]
    for i, gained in enumerate(itertools.accumulate(gains[:-1]), 1):
        looks.append(looks[-1] * goes_on(i, gained))
    return sum(w * g for w, g in zip(looks, gains, strict=True)) / sum(looks)


def bpm(ranked: Labels, ideal: Labels, k: int | None, t: float = 1.0, max_grade: float | None = None) -> float:
    if not any(y > 0 for y in ideal):
        return math.nan
    gains = [Fraction(y) / Fraction(max_grade or max(ideal)) for y in ranked]
    gains += [Fraction(0)] * ((k or len(ranked)) - len(ranked))
    enough = [s for s in range(1, len(gains) + 1) if sum(gains[:s]) >= Fraction(str(t))]
    last = min([*enough, k or len(ranked)])
    return float(sum(gains[:last]) / last)


def sdcg(ranked: Labels, ideal: Labels, k: int | None, max_grade: int | None = None) -> float:
    depth = k or len(ranked)
    return dcg(ranked, ideal, k) / dcg([max_grade or max(ideal)] * depth, [1], None)


def hits(ranked: Labels, ideal: Labels, k: int | None) -> float:
    return float(sum(y >= 1 for y in ranked[:k])) if any(y >= 1 for y in ideal) else math.nan


def cg(ranked: Labels, ideal: Labels, k: int | None) -> float:
    return sum(gain(y) for y in ranked[:k]) if any(y > 0 for y in ideal) else math.nan


def best(ranked: Labels, ideal: Labels, k: int | None) -> float:
    return max(ranked[:k]) if any(y > 0 for y in ideal) else math.nan


def mean_label(ranked: Labels, ideal: Labels, k: int | None) -> float:
    return sum(ranked[:k]) / len(ranked[:k])


def judged(ranked: Labels, ideal: Labels, k: int | None) -> float:
    return sum(y >= 0 for y in ranked[:k]) / len(ranked[:k])


def gm_bpref(ranked: Labels, ideal: Labels, k: int | None) -> float:
    value = bpref(ranked, ideal, k)
    return value if math.isnan(value) else math.log(max(value, 1e-5))


def num_nonrel_judged_ret(ranked: Labels, ideal: Labels, k: int | None) -> float:
    return float(sum(0 <= y < 1 for y in ranked))


def coverage(ranked: Labels, ideal: Labels, k: int | None) -> float:
    return float(max((r for r, y in enumerate(ranked, 1) if y >= 1), default=math.nan))


def pairs(ranked: Labels) -> list[tuple[float, float]]:
    """(label above, label below) of all pairs with different labels."""
    return [(a, b) for a, b in itertools.combinations(ranked, 2) if a != b]


def pair_accuracy(ranked: Labels, ideal: Labels, k: int | None) -> float:
    compared = pairs(ranked)
    return sum(a > b for a, b in compared) / len(compared) if compared else math.nan


def kendall(ranked: Labels, ideal: Labels, k: int | None) -> float:
    """τ-b of a list without tied scores."""
    compared, n = pairs(ranked), len(ranked)
    agree = sum(1 if a > b else -1 for a, b in compared)
    return agree / math.sqrt(len(compared) * n * (n - 1) / 2) if compared else math.nan


MEASURES: dict[str, Any] = {
    name.replace("_", "-"): function for name, function in list(globals().items()) if callable(function)
} | {
    "map": average_precision,
    "mrr": reciprocal_rank,
    "inf-ap": inferred_ap,
    "gm-map": geometric_map,
    "iprec": interpolated_precision,
    "num-ret": lambda ranked, ideal, k: float(len(ranked)),
    "num-rel": lambda ranked, ideal, k: float(sum(y >= 1 for y in ideal)),
    "num-rel-ret": lambda ranked, ideal, k: float(sum(y >= 1 for y in ranked)),
    "num-q": lambda ranked, ideal, k: 1.0,
    **{name: one_topic(name) for name in TOPIC_METRICS},
}
"""By the metric's name: the function of that name, and those whose names are short for another."""
