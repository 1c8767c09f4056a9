"""PosFuse and SlideFuse: the probability of relevance at each place of each voter (Lillis et al. 2008, 2010)."""

from __future__ import annotations

import numpy as np

from podium.aggregation.place_fusion import PlaceFuse, up_to
from podium.base.arrays import Array
from podium.base.registry import param, register


@register
class PosFuse(PlaceFuse):
    """PosFuse: the sum of the probabilities of relevance at a document's ranks; with a window, SlideFuse.

    Formula: Σ_v p_v(r_v(j)), p_v(r) the share of judged queries in which the document at rank r of voter v is relevant,
        over the lists that reach r; with `window` = w the mean of p_v over ranks r − w…r + w of the list.
    Ties: tied documents have the mean over their places; in training too.
    Cost: O(entries), and O(entries · window).
    Use it for: many judged queries; a window of 2 to 5 for few, as single places are then noise.
    Reference: Lillis et al., Estimating probabilities for effective data fusion, SIGIR 2010; Extending probabilistic
        data fusion using sliding windows, ECIR 2008.
    """

    window: int = param(0, least=0)
    """The number of ranks on either side over which probabilities are averaged."""

    def table(self, hits: list[Array], relevant: list[int]) -> Array:
        depth = max((len(values) for values in hits), default=0)
        total, reached = np.zeros(depth), np.zeros(depth)
        for values in hits:
            total[: len(values)] += values
            reached[: len(values)] += 1.0
        return np.asarray(total / reached, np.float64)

    def values(self, table: Array, n: int) -> Array:
        shares = up_to(table, n)
        if self.window == 0 or n == 0:
            return shares
        sums, r = np.concatenate([[0.0], np.cumsum(shares)]), np.arange(n)
        first, last = np.maximum(r - self.window, 0), np.minimum(r + self.window, n - 1)
        return np.asarray((sums[last + 1] - sums[first]) / (last - first + 1), np.float64)
