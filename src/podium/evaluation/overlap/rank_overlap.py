"""Similarity of two ranked lists: rank-biased overlap, overlap and Jaccard index of the tops, τ_AP.

    >>> a, b = {"a": 3.0, "b": 2.0, "c": 1.0}, {"b": 3.0, "a": 2.0, "d": 1.0}
    >>> round(rank_biased_overlap(a, b, p=0.9), 4), round(rank_biased_overlap(a, b, p=0.9, rest="none"), 4)
    (0.63, 0.3117)

Lists are document → score. Tied documents of either list are averaged over all their orders.
Reference: Webber, Moffat and Zobel, A similarity measure for indefinite rankings, TOIS 2010; Yilmaz, Aslam and
Robertson, A new rank correlation coefficient for information retrieval, SIGIR 2008.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError, ParameterError
from podium.jit.sorting import order

Scores = Mapping[str, float]
_NOTHING = 1e-14  # weight of depths that are left out


def rank_biased_overlap(a: Scores, b: Scores, *, p: float = 0.9, rest: Literal["extend", "none"] = "extend") -> float:
    """Rank-biased overlap (RBO) of two lists, for a user who looks one rank deeper with probability p.

    (1 − p) Σ_d p^(d − 1) X_d/d, X_d the documents that the first d of both lists share. What the lists do not show is
    taken to agree as what they show does (`extend`, RBO_ext), or not at all (`none`, RBO_min, a lower bound).
    """
    if not 0 < p < 1:
        raise ParameterError(f"rbo: p must lie between 0 and 1; got {p}.")
    depth = math.ceil(math.log(_NOTHING) / math.log(p))
    short, long = sorted((min(len(a), depth), min(len(b), depth)))
    if short == 0:
        return 1.0 if long == 0 else 0.0
    shared, d = _shared(a, b, long), np.arange(1, long + 1)
    seen = float((shared / d * p**d).sum())
    if rest == "none":
        unseen = -math.log1p(-p) - float((p**d / d).sum())
        return (1 - p) / p * (seen + float(shared[-1]) * max(unseen, 0.0))
    behind, least = d[short:], float(shared[short - 1])
    supposed = float((least * (behind - short) / (short * behind) * p**behind).sum())
    last = (float(shared[-1]) - least) / long + least / short
    return (1 - p) / p * (seen + supposed) + last * p**long


def top_overlap(a: Scores, b: Scores, *, k: int = 10) -> float:
    """The share of the first k documents that two lists share; of shorter lists, of the longer one's length."""
    deepest = min(_cutoff(k), max(len(a), len(b)))
    return float(_shared(a, b, deepest)[-1]) / deepest if deepest else 1.0


def jaccard(a: Scores, b: Scores, *, k: int = 10) -> float:
    """The Jaccard index of the first k documents: shared ones over all; a tie at the cut counts its share."""
    sizes = [min(_cutoff(k), len(scores)) for scores in (a, b)]
    if not max(sizes):
        return 1.0
    shared = float(_shared(a, b, max(sizes))[-1])
    return shared / (sum(sizes) - shared)


def tau_ap(a: Scores, b: Scores) -> float:
    """τ_AP of the documents that both lists have: Kendall's τ that counts swaps at the top more; NaN below two
    documents.

    2/(N − 1) Σ_{i ≥ 2} C(i)/(i − 1) − 1, with C(i) the documents above rank i of one list that are above that document
    in the other too, ½ if they are tied there; the mean of both directions.
    """
    common = sorted(set(a) & set(b))
    if len(common) < 2:
        return math.nan
    first, second = (np.array([scores[document] for document in common]) for scores in (a, b))
    return 0.5 * (_tau_ap(first, second) + _tau_ap(second, first))


def _cutoff(k: int) -> int:
    if k < 1:
        raise ParameterError(f"the cut-off must be at least 1; got {k}.")
    return k


def _shared(a: Scores, b: Scores, depth: int) -> Array:
    """E|A_d ∩ B_d| for d = 1…depth: documents come among the first d of each list independently if they are tied."""
    common = [document for document in a if document in b]
    if not common:
        return np.zeros(depth)
    inside = [_chances(scores, common, depth) for scores in (a, b)]
    total: Array = (inside[0] * inside[1]).sum(axis=0)
    return total


def _chances(scores: Scores, documents: list[str], depth: int) -> Array:
    """The chance that each document is among the first d, d = 1…depth."""  # (documents, depth)
    before, size = _places(_numbers(scores.values()))
    place = {document: k for k, document in enumerate(scores)}
    rows = np.array([place[document] for document in documents])
    d = np.arange(1, depth + 1)
    return np.clip((d - before[rows, None]) / size[rows, None], 0.0, 1.0)


def _numbers(values: object) -> Array:
    scores = np.array(list(values), np.float64)  # type: ignore[call-overload]
    if np.isnan(scores).any():
        raise DataError("a score is NaN; expected a number for each document.")
    return scores


def _places(scores: Array) -> tuple[Ints, Ints]:
    """The number of documents above each one's tie group, and the size of the group."""
    _, group, sizes = np.unique(-scores, return_inverse=True, return_counts=True)
    before = np.cumsum(sizes) - sizes
    return before[group], sizes[group]


def _tau_ap(ranked: Array, other: Array) -> float:
    """τ_AP of one list by the other, the mean over all orders of tied documents of `ranked`."""
    n, before, size = len(ranked), *_places(ranked)
    total = 0.0
    best_first = order(ranked)
    for at in range(n):
        e = best_first[at]
        above, tied = best_first[: before[e]], best_first[before[e] : before[e] + size[e]]
        agree = float((other[above] > other[e]).sum() + 0.5 * (other[above] == other[e]).sum())
        within = float((other[tied] > other[e]).sum() + 0.5 * ((other[tied] == other[e]).sum() - 1))
        share = within / (size[e] - 1) if size[e] > 1 else 0.0
        t = np.arange(size[e])
        depths = before[e] + t
        seen = depths > 0
        total += float(((agree + t[seen] * share) / depths[seen]).sum()) / size[e]
    return 2.0 * total / (n - 1) - 1.0
