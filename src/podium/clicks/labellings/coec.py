"""COEC: clicks over expected clicks.

Reference: Zhang & Jones, Comparing click logs and editorial labels for training query rewriting, Query Log Analysis
Workshop, WWW 2007. OpenSearch's variant was checked against the code of its search-relevance plugin.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.clicks.labellings.base import Labelling
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models.base import tally


@register
class COEC(Labelling):
    """Clicks over expected clicks: the clicks on a document, divided by those expected at its ranks.

    Formula: Σ clicks / Σ over its impressions of the click rate of all documents at that rank; none for 0/0. An average
    document has 1.

    `preset=opensearch` computes as OpenSearch's search-relevance plugin does: all impressions of a document count as
    at its best rank, the label is 0 if no click is expected, and three decimals are kept.
    """

    most: ClassVar[float | None] = None

    preset: Literal["podium", "opensearch"] = "podium"
    """Tool whose computation is followed."""

    def label(self, log: ClickLog) -> Array:
        ranks, weights = log.ranks() - 1, np.repeat(log.page_counts, log.sizes)
        shown, clicked = np.bincount(ranks, weights), np.bincount(ranks, weights * log.clicks)
        rate = np.divide(clicked, shown, out=np.zeros(len(shown)), where=shown > 0)
        impressions, clicks = tally(log)
        if self.preset == "opensearch":
            best = np.full(log.n_pairs, len(rate))
            np.minimum.at(best, log.pairs, ranks)
            expected = np.append(rate, 0.0)[best] * impressions
            exact = np.divide(clicks, expected, out=np.zeros_like(clicks), where=expected > 0)
            rounded: Array = np.floor(1000.0 * exact + 0.5) / 1000.0
            return rounded
        expected = np.bincount(log.pairs, weights * rate[ranks], minlength=log.n_pairs)
        return np.divide(clicks, expected, out=np.full_like(clicks, np.nan), where=expected > 0)
