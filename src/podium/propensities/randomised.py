"""Randomised pages: where documents are in random order, clicks by rank are examination."""

from __future__ import annotations

import warnings

import numpy as np

from podium.clicks.connection import parts_of_ranks
from podium.clicks.propensity import Propensities
from podium.data.click_log import ClickLog
from podium.data.dataset import Dataset
from podium.errors import DataError, PodiumWarning
from podium.propensities.base import Estimator, check_connected
from podium.registry import register

_UNLIKELY = 1e-3
"""The probability below which pages are said not to be shuffled."""


@register
class Randomised(Estimator):
    """The ratio of click rates, on pages whose documents were shuffled.

    Formula: θ_k/θ_1 = CTR_k/CTR_1; var log = (1 − p_k)/(n_k p_k) + (1 − p_1)/(n_1 p_1).
    Cost: one pass over the log.
    Use it for: pages that were shuffled on purpose, all of them. It warns where documents keep to some ranks.
    Reference: Joachims, Swaminathan & Schnabel, Unbiased learning-to-rank with biased feedback, WSDM 2017.
    """

    def estimate(self, log: ClickLog, data: Dataset | None, rng: np.random.Generator) -> Propensities:
        check_connected(parts_of_ranks(log), who=self.name, where=log.source)
        ranks, times = log.ranks() - 1, np.repeat(log.page_counts, log.sizes)
        shown, clicked = np.bincount(ranks, times), np.bincount(ranks, times * log.clicks)
        if clicked[0] == 0:
            raise DataError("no click at rank 1, to which the other ranks are compared.", where=log.source)
        _warn_if_ordered(log, times)
        rate = clicked / shown
        with np.errstate(divide="ignore"):
            variance = (1 - rate) / clicked
        spread = np.exp(1.96 * np.sqrt(variance + np.where(np.arange(len(rate)) > 0, variance[0], -variance[0])))
        theta = rate / rate[0]
        with np.errstate(invalid="ignore"):
            high = np.where(theta > 0, theta * spread, np.nan)
        return Propensities.of_theta(theta, low=theta / spread, high=high, how=str(self))


def _warn_if_ordered(log: ClickLog, times: np.ndarray) -> None:
    """Warn where documents of a query have other mean ranks than chance gives them, by Friedman's test."""
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
    again = np.bincount(own, shown[seen] > 1, minlength=log.n_queries) > 0  # one page alone tells nothing
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
