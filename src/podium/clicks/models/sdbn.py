"""Simplified dynamic Bayesian network click model (SDBN): users read on until a click satisfies them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.progress import Progress, quiet
from podium.base.registry import register
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models.base import Params, ratio, unseen
from podium.clicks.models.chain import SATISFIED, Chain, Counts, IteratedChain, Pages
from podium.clicks.models.last_click import down_to_last_click


@register
class SDBN(IteratedChain):
    """Simplified dynamic Bayesian network: the DBN with γ = 1, in which unsatisfied users always go on.

    Formula: κ = 1, λ = 1 − σ_u; by EM. `closed=true` counts as the paper does, as if the last click had satisfied:
        α_u = clicks/impressions at or above the last click (all without clicks), σ_u = last clicks/clicks. Relevance is
        α_u σ_u. σ of a pair that was never clicked is the prior's.
    Cost: O(impressions) a step; closed, one pass.
    Use it for: a fast first look at satisfaction.
    Reference: Chapelle & Zhang, A dynamic Bayesian network click model for web search ranking, WWW 2009.
    """

    per_pair: ClassVar[tuple[str, ...]] = ("attractiveness", "satisfaction")
    after_click: ClassVar[str | None] = SATISFIED
    closed: bool = False
    """Whether the paper's counts in one pass replace EM."""

    @property
    def consistent(self) -> bool:
        return not self.closed

    def start(self, log: ClickLog) -> Params:
        half = np.full(log.n_pairs, 0.5)
        return {"attractiveness": half, "satisfaction": half}

    def chain(self, params: Params) -> Chain:
        sigma = unseen(params["satisfaction"])
        return Chain(unseen(params["attractiveness"]), 1.0, 1.0 - sigma, np.ones(1), sigma)

    def maximise(self, params: Params, counts: Counts, pages: Pages) -> Params:
        old = params["satisfaction"]
        return {
            "attractiveness": ratio(counts.attracted, pages.impressions, prior=self.prior),
            "satisfaction": ratio(counts.satisfied, pages.clicks, prior=self.prior, otherwise=old),
        }

    def estimate(self, log: ClickLog, *, progress: Progress = quiet) -> tuple[Params, list[float]]:
        if not self.closed:
            return super().estimate(log, progress=progress)
        seen, last, weights = down_to_last_click(log)
        sums = [np.bincount(log.pairs, weights * values, minlength=log.n_pairs) for values in (log.clicks, seen, last)]
        params = {
            "attractiveness": ratio(sums[0], sums[1], prior=self.prior),
            "satisfaction": ratio(sums[2], sums[0], prior=self.prior),
        }
        return params, [self.objective(params, Pages(log))]

    def relevance(self, params: Params) -> Array:
        both: Array = params["attractiveness"] * params["satisfaction"]
        return both

    def planted(self, attractiveness: Array, curve: Array) -> Params:
        """Parameters for simulation: σ = α."""
        return {"attractiveness": attractiveness, "satisfaction": attractiveness}
