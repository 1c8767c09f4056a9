"""Dynamic Bayesian network click model (DBN): attraction makes users click, satisfaction makes them leave."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models.base import Params, ratio, unseen
from podium.clicks.models.chain import SATISFIED, Chain, Counts, IteratedChain, Pages


@register
class DBN(IteratedChain):
    """Dynamic Bayesian network: a click satisfies with probability σ_u; unsatisfied users go on with probability γ.

    Formula: κ = γ, λ = γ(1 − σ_u); by exact EM. Relevance is α_u σ_u: attractive and satisfying. σ of a pair that was
        never clicked is the prior's (see `Fitted.clicks`).
    Cost: O(impressions) a step.
    Use it for: relevance from logs of users who scan down and leave when they are satisfied.
    Reference: Chapelle & Zhang, A dynamic Bayesian network click model for web search ranking, WWW 2009.
    """

    per_pair: ClassVar[tuple[str, ...]] = ("attractiveness", "satisfaction")
    after_click: ClassVar[str | None] = SATISFIED

    def start(self, log: ClickLog) -> Params:
        half = np.full(log.n_pairs, 0.5)
        return {"attractiveness": half, "satisfaction": half, "continuation": np.full(1, 0.5)}

    def chain(self, params: Params) -> Chain:
        sigma, go = unseen(params["satisfaction"]), float(params["continuation"][0])
        return Chain(unseen(params["attractiveness"]), go, go * (1.0 - sigma), np.ones(1), sigma)

    def maximise(self, params: Params, counts: Counts, pages: Pages) -> Params:
        old, (went_on, could) = params["continuation"], counts.shared.T
        return {
            "attractiveness": ratio(counts.attracted, pages.impressions, prior=self.prior),
            "satisfaction": ratio(
                counts.satisfied, pages.clicks, prior=self.prior, otherwise=params["satisfaction"]
            ),
            "continuation": ratio(went_on, could, prior=self.prior, otherwise=old),
        }  # fmt: skip

    def relevance(self, params: Params) -> Array:
        both: Array = params["attractiveness"] * params["satisfaction"]
        return both

    def planted(self, attractiveness: Array, curve: Array) -> Params:
        """Parameters for simulation: σ = α; users go on with the ratio of the curve at ranks 2 and 1."""
        go = np.clip(curve[1] / curve[0] if len(curve) > 1 else 0.5, 0.0, 1.0)
        return {"attractiveness": attractiveness, "satisfaction": attractiveness, "continuation": np.array([go])}
