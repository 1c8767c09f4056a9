"""Click rates by rank and last click: how much of a log is explained without looking at documents."""

from typing import ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.clicks.models.base import Params
from podium.clicks.models.examination import RANK_AND_LAST
from podium.clicks.models.rate_model import RateModel


@register
class RankAndLast(RateModel):
    """One click rate for each rank and rank of the last click above it: the user browsing model of equal documents.

    Formula: P(click at r | last click at l) = ρ_rl = (clicks + a)/(impressions + 2a) for the prior a, l = 0 if nothing
        above was clicked. Ranks beyond `most` share its rates.
    Cost: one pass over the log.
    Use it for: a baseline for ubm, from which it differs by attractiveness alone.
    Reference: Dupret & Piwowarski, A user browsing model to predict search engine click data from past observations,
        SIGIR 2008, with all documents alike.
    """

    cells: ClassVar[int] = RANK_AND_LAST
    most: int = param(default=20, least=1)

    def planted(self, attractiveness: Array, curve: Array) -> Params:
        ranks = np.arange(1, min(len(curve), self.most) + 1)
        return {"rate": np.repeat(attractiveness.mean() * curve[: self.most], ranks)}
