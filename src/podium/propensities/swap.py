"""Swap intervention: on random results pages, the documents at rank 1 and at rank k are exchanged."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from podium.base.arrays import Array, Int32s
from podium.base.errors import DataError
from podium.base.registry import param, register
from podium.clicks.log.click_log import ClickLog
from podium.clicks.propensity_file import Propensities
from podium.data.dataset import Dataset
from podium.propensities.base import ByClicks, Estimator
from podium.propensities.strata import Strata, ratio_of_rates


@register
class Swap(Estimator):
    """Ratio of click rates of documents that were swapped with rank 1.

    Formula: over documents u seen at rank 1 with v at rank k, and the other way round, the ratio of Mantel and
        Haenszel: θ_k/θ_1 = Σ_u c_uk n_u1/n_u / Σ_u c_u1 n_uk/n_u, n_u = n_u1 + n_uk, with the variance of its logarithm
        by Greenland and Robins.
    Cost: one pass over the log for each rank.
    Use it for: experiments that swap two documents, which users hardly notice. `k=none` takes every rank that was
        swapped with rank 1.
    Reference: Joachims, Swaminathan & Schnabel, Unbiased learning-to-rank with biased feedback, WSDM 2017.
    """

    k: int | None = param(default=None, least=2)
    """Rank that was swapped with rank 1; none for every such rank."""

    def estimate(self, log: ClickLog, data: Dataset | None, rng: np.random.Generator) -> Propensities:
        rank, clicks = log.ranks(), log.clicks.astype(np.float64)
        asked = range(2, int(rank.max()) + 1) if self.k is None else [self.k]
        rows = [(1, 1.0, 1.0, 1.0)]
        for k in asked:
            ratio = ratio_of_rates(_swapped(log, rank, k)(clicks))
            if ratio is not None:
                rows.append((k, *ratio))
        if len(rows) == 1:
            what = "any other rank" if self.k is None else f"rank {self.k}"
            raise DataError(
                f"{self}: no two documents were shown at rank 1 and {what} in both orders, with clicks at both. Swap "
                "them on some pages, by a coin, or use harvest or pbm.",
                where=log.source,
            )
        ranks, theta, low, high = zip(*rows, strict=True)
        return Propensities.of_theta(theta, ranks=ranks, low=low, high=high, how=str(self))

    def by_clicks(self, log: ClickLog, data: Dataset | None, estimated: Propensities) -> ByClicks:
        rank = log.ranks()
        strata = [_swapped(log, rank, k) for k in estimated.ranks[1:].tolist()]

        def alpha(clicks: Array) -> Array:
            ratios = [ratio_of_rates(counted(clicks)) for counted in strata]
            return np.array([1.0, *(np.nan if ratio is None else ratio[0] for ratio in ratios)])

        return ByClicks(log.pairs.astype(np.int64) * int(rank.max()) + rank - 1, alpha)


def _swapped(log: ClickLog, rank: Int32s, k: int) -> Callable[[Array], Strata]:
    """Function of clicks: impressions and clicks of each swapped document at rank k and at rank 1."""
    at_top, at_k = np.full(log.n_pages, -1), np.full(log.n_pages, -1)
    page = log.page_of
    at_top[page[rank == 1]], at_k[page[rank == k]] = np.flatnonzero(rank == 1), np.flatnonzero(rank == k)
    both = (at_top >= 0) & (at_k >= 0)
    top, low, times = at_top[both], at_k[both], log.page_counts[both]
    first, second = log.pairs[top].astype(np.int64), log.pairs[low].astype(np.int64)
    _, stratum = np.unique(np.minimum(first, second) * log.n_pairs + np.maximum(first, second), return_inverse=True)
    # a stratum s has two documents: 2s has the smaller number, 2s + 1 the larger
    above, below = 2 * stratum + (first > second), 2 * stratum + (first < second)
    size = 2 * (int(stratum.max(initial=-1)) + 1)
    n_k, n_1 = np.bincount(below, times, minlength=size), np.bincount(above, times, minlength=size)
    used = (n_k > 0) & (n_1 > 0)

    def counted(clicks: Array) -> Strata:
        c_k = np.bincount(below, times * clicks[low], minlength=size)
        c_1 = np.bincount(above, times * clicks[top], minlength=size)
        return n_k[used], c_k[used], n_1[used], c_1[used]

    return counted
