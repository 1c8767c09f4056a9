"""Swapped documents: on some pages, by a coin, the documents at rank 1 and at rank k change places."""

from __future__ import annotations

import numpy as np

from podium.clicks.propensity import Propensities
from podium.data.click_log import ClickLog
from podium.data.dataset import Dataset
from podium.errors import DataError
from podium.propensities.base import Array, Estimator
from podium.registry import param, register


@register
class Swap(Estimator):
    """The ratio of click rates of documents that were swapped with rank 1.

    Formula: over documents u seen at rank 1 beside v at rank k, and the other way round, the ratio of Mantel and
        Haenszel: θ_k/θ_1 = Σ_u c_uk n_u1/n_u / Σ_u c_u1 n_uk/n_u, n_u = n_u1 + n_uk, with the variance of its logarithm
        by Greenland and Robins.
    Cost: one pass over the log for each rank.
    Use it for: experiments that swap two documents, which people hardly notice. `k=none` takes every rank that was
        swapped with rank 1.
    Reference: Joachims, Swaminathan & Schnabel, Unbiased learning-to-rank with biased feedback, WSDM 2017.
    """

    k: int | None = param(default=None, least=2)

    def estimate(self, log: ClickLog, data: Dataset | None, rng: np.random.Generator) -> Propensities:
        rank = log.ranks()
        asked = range(2, int(rank.max()) + 1) if self.k is None else [self.k]
        rows = [(1, 1.0, 1.0, 1.0)]
        for k in asked:
            found = _ratio(*_strata(log, rank, k))
            if found is not None:
                rows.append((k, *found))
        if len(rows) == 1:
            what = "any other rank" if self.k is None else f"rank {self.k}"
            raise DataError(
                f"{self}: no two documents were shown at rank 1 and {what} in both orders, with clicks at both. Swap "
                "them on some pages, by a coin, or use harvest or pbm.",
                where=log.source,
            )
        ranks, theta, low, high = zip(*rows, strict=True)
        return Propensities.of_theta(theta, ranks=ranks, low=low, high=high, how=str(self))


def _strata(log: ClickLog, rank: np.ndarray, k: int) -> tuple[Array, Array, Array, Array]:
    """Of each swapped document: how often it was at rank k and at rank 1, and its clicks there."""
    at_top, at_k = np.full(log.n_pages, -1), np.full(log.n_pages, -1)
    page = log.page_of
    at_top[page[rank == 1]], at_k[page[rank == k]] = np.flatnonzero(rank == 1), np.flatnonzero(rank == k)
    both = (at_top >= 0) & (at_k >= 0)
    top, low, times = at_top[both], at_k[both], log.page_counts[both]
    first, second = log.pairs[top].astype(np.int64), log.pairs[low].astype(np.int64)
    code, stratum = np.unique(np.minimum(first, second) * log.n_pairs + np.maximum(first, second), return_inverse=True)
    turned = first > second
    # a stratum has two documents: the one of the smaller number is at the top on pages that are not turned
    sums = []
    for document in (0, 1):
        below = turned if document == 0 else ~turned
        for here, impressions in ((below, low), (~below, top)):
            clicks = log.clicks[impressions]
            sums.append(np.bincount(stratum, times * here, minlength=len(code)))
            sums.append(np.bincount(stratum, times * here * clicks, minlength=len(code)))
    n_k, c_k, n_1, c_1 = (np.concatenate((sums[j], sums[j + 4])).astype(np.float64) for j in range(4))
    return n_k, c_k, n_1, c_1


def _ratio(n_k: Array, c_k: Array, n_1: Array, c_1: Array) -> tuple[float, float, float] | None:
    """θ_k/θ_1 with its interval; None where there are no clicks to compare."""
    used = (n_k > 0) & (n_1 > 0)
    n_k, c_k, n_1, c_1 = n_k[used], c_k[used], n_1[used], c_1[used]
    n = n_k + n_1
    up, down = float((c_k * n_1 / n).sum()), float((c_1 * n_k / n).sum())
    if down == 0 or up == 0:
        return None
    variance = float(((n_k * n_1 * (c_k + c_1) - c_k * c_1 * n) / n**2).sum()) / (up * down)
    spread = float(np.exp(1.96 * np.sqrt(variance)))
    return up / down, up / down / spread, up / down * spread
