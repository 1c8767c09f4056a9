"""Result randomisation: on results pages in random order, click rates by rank are examination."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError, PodiumWarning
from podium.base.registry import register
from podium.clicks.connected_ranks import parts_of_ranks
from podium.clicks.log.click_log import ClickLog
from podium.clicks.propensity_file import Propensities
from podium.data.dataset import Dataset
from podium.propensities.base import ByClicks, Estimator, check_connected
from podium.propensities.strata import Strata, ratio_of_rates

_UNLIKELY = 1e-3
"""Below this p-value, pages are said not to be shuffled."""


@register
class Randomised(Estimator):
    """Ratio of click rates on results pages in random order.

    Formula: over the pages s of one query and length, whose ranks had the same documents, the ratio of Mantel and
        Haenszel: θ_k/θ_1 = Σ_s c_sk n_s1/n_s / Σ_s c_s1 n_sk/n_s, n_s = n_s1 + n_sk, with the variance of its logarithm
        by Greenland and Robins.
    Cost: one pass over the log.
    Use it for: pages that were shuffled on purpose, all of them. It warns if documents keep to some ranks.
    Reference: Joachims, Swaminathan & Schnabel, Unbiased learning-to-rank with biased feedback, WSDM 2017.
    """

    def estimate(self, log: ClickLog, data: Dataset | None, rng: np.random.Generator) -> Propensities:
        check_connected(parts_of_ranks(log), who=self.name, where=log.source)
        rank, clicks = log.ranks(), log.clicks.astype(np.float64)
        times = np.repeat(log.page_counts, log.sizes)
        if not (clicks[rank == 1] > 0).any():
            raise DataError("no click at rank 1, to which the other ranks are compared.", where=log.source)
        _warn_if_ordered(log, times)
        rows = [(1.0, 1.0, 1.0)]
        for k, counted in enumerate(_by_rank(log)(clicks), 2):
            if not counted[3].sum() > 0:
                raise DataError(
                    f"{self.name}: no click at rank 1 on pages of the queries and lengths that have rank {k}, so that "
                    f"these two ranks cannot be compared. Leave lower ranks out (depth {k - 1}).",
                    where=log.source,
                )
            rows.append(ratio_of_rates(counted) or (0.0, 0.0, np.nan))
        theta, low, high = zip(*rows, strict=True)
        return Propensities.of_theta(theta, low=low, high=high, how=str(self))

    def by_clicks(self, log: ClickLog, data: Dataset | None, estimated: Propensities) -> ByClicks:
        by_rank = _by_rank(log)

        def alpha(clicks: Array) -> Array:
            ratios = [ratio_of_rates(strata) for strata in by_rank(clicks)]
            return np.array([1.0, *(0.0 if ratio is None else ratio[0] for ratio in ratios)])

        return ByClicks(_cells(log)[0], alpha)


def _cells(log: ClickLog) -> tuple[Ints, tuple[int, int]]:
    """Number of the (query, length of page, rank) of each impression, and the numbers of strata and ranks."""
    rank = log.ranks().astype(np.int64) - 1
    of_page = log.page_query * np.int64(log.sizes.max() + 1) + log.sizes
    strata, stratum = np.unique(of_page, return_inverse=True)
    shape = len(strata), int(rank.max()) + 1
    return stratum[log.page_of] * shape[1] + rank, shape


def _by_rank(log: ClickLog) -> Callable[[Array], list[Strata]]:
    """Function of clicks: impressions and clicks at each rank below the first and at rank 1, by stratum."""
    cell, shape = _cells(log)
    times = np.repeat(log.page_counts, log.sizes)
    shown = np.bincount(cell, times, minlength=shape[0] * shape[1]).reshape(shape)

    def counted(clicks: Array) -> list[Strata]:
        clicked = np.bincount(cell, times * clicks, minlength=shape[0] * shape[1]).reshape(shape)
        strata = []
        for k in range(1, shape[1]):
            used = (shown[:, k] > 0) & (shown[:, 0] > 0)
            strata.append((shown[used, k], clicked[used, k], shown[used, 0], clicked[used, 0]))
        return strata

    return counted


def _warn_if_ordered(log: ClickLog, times: np.ndarray) -> None:
    """Warn if mean ranks of a query's documents differ by more than chance, by Friedman's test."""
    from scipy.stats import chi2

    rank, query = log.ranks().astype(np.float64), log.pair_query[log.pairs]
    shown = np.bincount(log.pairs, times, minlength=log.n_pairs)
    seen = shown > 0
    mean = np.bincount(log.pairs, times * rank, minlength=log.n_pairs)[seen] / shown[seen]
    n = np.bincount(query, times, minlength=log.n_queries)
    with np.errstate(invalid="ignore"):
        middle = np.bincount(query, times * rank, minlength=log.n_queries) / n
    variance = np.bincount(query, times * (rank - middle[query]) ** 2, minlength=log.n_queries)
    own = log.pair_query[seen]
    again = np.bincount(own, shown[seen] > 1, minlength=log.n_queries) > 0  # a single page has no order to test
    varies = (variance[own] > 0) & again[own]
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.where(varies, shown[seen] * (mean - middle[own]) ** 2 * n[own] / variance[own], 0.0)
    size = float(times.sum() / log.n_page_views)
    statistic = float(apart.sum()) * (1.0 - 1.0 / size if size > 1 else 1.0)
    freedom = int(varies.sum()) - len(np.unique(own[varies]))
    if freedom > 0 and chi2.sf(statistic, freedom) < _UNLIKELY:
        warnings.warn(
            "randomised: documents keep to some ranks more than chance lets them, so the pages were not shuffled, and "
            "click rates mix position with relevance. Leave ordered pages out, or use harvest or pbm.",
            PodiumWarning,
            stacklevel=4,
        )
