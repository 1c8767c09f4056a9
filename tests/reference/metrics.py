"""Measures, slow and obvious: one query, straight from the formulas, all orders of tied documents enumerated."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

Labels = Sequence[float]


def orders(scores: Sequence[float]) -> Iterator[list[int]]:
    """Every order of the documents that descending scores allow."""
    groups = [[i for i, s in enumerate(scores) if s == value] for value in sorted(set(scores), reverse=True)]
    for parts in itertools.product(*(itertools.permutations(group) for group in groups)):
        yield [i for part in parts for i in part]


def expected(
    name: str, scores: Sequence[float], labels: Labels, *, k: int | None = None, judged: Labels | None = None
) -> float:
    """The mean of a measure over all orders of tied documents; NaN where it is not defined."""
    everyone = labels if judged is None else judged
    found = [MEASURES[name]([labels[i] for i in order], sorted(everyone, reverse=True), k) for order in orders(scores)]
    return math.fsum(found) / len(found)


def gain(label: float) -> float:
    return 2**label - 1


def dcg(ranked: Labels, ideal: Labels, k: int | None) -> float:
    if not any(gain(y) > 0 for y in ideal):
        return math.nan
    return sum(gain(y) / math.log2(r + 1) for r, y in enumerate(ranked[:k], 1))


def ndcg(ranked: Labels, ideal: Labels, k: int | None) -> float:
    return dcg(ranked, ideal, k) / dcg(ideal, ideal, k)


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


def wta(ranked: Labels, ideal: Labels, k: int | None) -> float:
    return float(ranked[0] >= 1) if any(y >= 1 for y in ideal) else math.nan


def err(ranked: Labels, ideal: Labels, k: int | None) -> float:
    if not any(gain(y) > 0 for y in ideal):
        return math.nan
    total, alive = 0.0, 1.0
    for r, y in enumerate(ranked[:k], 1):
        stop = gain(y) / 2 ** max(ideal)
        total += alive * stop / r
        alive *= 1 - stop
    return total


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


MEASURES = {
    "ndcg": ndcg,
    "dcg": dcg,
    "mean-ndcg": mean_ndcg,
    "map": average_precision,
    "precision": precision,
    "recall": recall,
    "mrr": reciprocal_rank,
    "wta": wta,
    "err": err,
    "kendall": kendall,
    "pair-accuracy": pair_accuracy,
}
