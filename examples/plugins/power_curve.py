"""Examination that falls with a power of the rank, from pages whose documents were shuffled."""

import numpy as np

from podium.base.errors import DataError
from podium.base.registry import register
from podium.clicks.connected_ranks import parts_of_ranks
from podium.clicks.log.click_log import ClickLog
from podium.clicks.propensity_file import Propensities
from podium.data.dataset import Dataset
from podium.propensities.base import Estimator, check_connected


@register
class PowerCurve(Estimator):
    """θ_k = k^−η, with η by weighted least squares over all ranks.

    Formula: log(c_k/n_k) = a − η·log k, for c_k clicks of n_k impressions at rank k, weighted by c_k, which is one over
        the variance of the left side if clicks are rare. The interval is η ± 1.96 standard errors.
    Cost: one pass over the log.
    Use it for: few shuffled pages, on which each rank alone is too noisy.
    Reference: Joachims, Swaminathan & Schnabel, Unbiased learning-to-rank with biased feedback, WSDM 2017 (the curve of
        its simulations).
    """

    def estimate(self, log: ClickLog, data: Dataset | None, rng: np.random.Generator) -> Propensities:
        check_connected(parts_of_ranks(log), who=self.name, where=log.source)
        rank, times = log.ranks() - 1, np.repeat(log.page_counts, log.sizes)
        shown, clicks = np.bincount(rank, times), np.bincount(rank, times * log.clicks)
        used = np.flatnonzero(clicks > 0)
        if len(used) < 2:
            raise DataError(f"{self.name} needs clicks at two ranks; got {len(used)}. Use a longer log.")
        x, y, weights = np.log(used + 1.0), np.log(clicks[used] / shown[used]), clicks[used]
        centred = x - np.average(x, weights=weights)
        spread = float(weights @ centred**2)
        eta, error = -float(weights @ (centred * y)) / spread, 1.96 / np.sqrt(spread)
        ranks = np.arange(1.0, len(shown) + 1.0)
        low, high = ranks ** -(eta + error), ranks ** -(eta - error)
        return Propensities.of_theta(ranks**-eta, low=low, high=high, how=str(self))
