"""Cascade model: a user reads from the top and leaves with the first click."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.progress import Progress, quiet
from podium.base.registry import register
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models.base import Params, ratio, unseen
from podium.clicks.models.chain import Chain, ChainModel, Pages


@register
class Cascade(ChainModel):
    """Cascade model: documents down to the first click are examined, none below.

    Formula: κ = 1, λ = 0: P(click at r) = α_r Π_{s<r} (1−α_s). In closed form α_u = (first clicks + a)/(impressions at
        or above the first click + 2a). Clicks after the first have probability 0; they are ignored and counted in
        `Fitted.info`.
    Cost: one pass over the log.
    Use it for: navigational queries, where one click ends the search.
    Reference: Craswell, Zoeter, Taylor & Ramsey, An experimental comparison of click position-bias models, WSDM 2008.
    """

    per_pair: ClassVar[tuple[str, ...]] = ("attractiveness",)

    def usable(self, log: ClickLog) -> ClickLog:
        below = np.cumsum(log.clicks, dtype=np.int64) - log.clicks
        starts = np.minimum(log.offsets[:-1], max(log.n_impressions - 1, 0))
        above = below - np.repeat(below[starts], log.sizes)  # clicks above on the page
        return log.with_clicks(log.clicks * (above == 0))

    def estimate(self, log: ClickLog, *, progress: Progress = quiet) -> tuple[Params, list[float]]:
        below = np.cumsum(log.clicks, dtype=np.int64) - log.clicks
        seen = below == np.repeat(below[np.minimum(log.offsets[:-1], log.n_impressions - 1)], log.sizes)
        weights = np.repeat(log.page_counts, log.sizes)
        clicked = np.bincount(log.pairs, weights * log.clicks, minlength=log.n_pairs)
        alpha = ratio(clicked, np.bincount(log.pairs, weights * seen, minlength=log.n_pairs), prior=self.prior)
        params = {"attractiveness": alpha}
        return params, [self.objective(params, Pages(log))]

    def chain(self, params: Params) -> Chain:
        alpha = unseen(params["attractiveness"])
        return Chain(alpha, 1.0, np.zeros(len(alpha)), np.ones(1))

    def planted(self, attractiveness: Array, curve: Array) -> Params:
        return {"attractiveness": attractiveness}
