"""Click chain model (CCM): after a click, users leave a relevant document more often than an irrelevant one."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models.base import Params, ratio, unseen
from podium.clicks.models.chain import RELEVANT, Chain, Counts, IteratedChain, Pages


@register
class CCM(IteratedChain):
    """Click chain model: a document is clicked with α_u, then relevant with α_u, on which going on depends.

    Formula: κ = τ₁, λ = τ₂(1 − α_u) + τ₃α_u; by exact EM. `continuation` holds τ₁, τ₂, τ₃: after no click, after an
        irrelevant click, after a relevant one.
    Cost: O(impressions) a step.
    Use it for: logs of both navigational and informational queries.
    Reference: Guo, Liu, Kannan, Minka, Taylor, Wang & Faloutsos, Click chain model in web search, WWW 2009.
    """

    per_pair: ClassVar[tuple[str, ...]] = ("attractiveness",)
    after_click: ClassVar[str | None] = RELEVANT

    def start(self, log: ClickLog) -> Params:
        return {"attractiveness": np.full(log.n_pairs, 0.5), "continuation": np.full(3, 0.5)}

    def chain(self, params: Params) -> Chain:
        alpha, tau = unseen(params["attractiveness"]), params["continuation"].tolist()
        go = tau[1] * (1.0 - alpha) + tau[2] * alpha
        return Chain(alpha, tau[0], go, np.ones(1), tau=(tau[1], tau[2]))

    def maximise(self, params: Params, counts: Counts, pages: Pages) -> Params:
        old, (went_on, could) = params["continuation"], counts.shared.T
        attracted, trials = counts.attracted + counts.satisfied, pages.impressions + pages.clicks
        return {
            "attractiveness": ratio(attracted, trials, prior=self.prior),
            "continuation": ratio(went_on, could, prior=self.prior, otherwise=old),
        }

    def planted(self, attractiveness: Array, curve: Array) -> Params:
        """Parameters for simulation: users go on with the ratio of the curve at ranks 2 and 1, half after relevant."""
        go = np.clip(curve[1] / curve[0] if len(curve) > 1 else 0.5, 0.0, 1.0)
        return {"attractiveness": attractiveness, "continuation": np.array([go, go, 0.5 * go])}
