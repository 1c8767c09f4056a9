"""Dependent click model (DCM): after a click a user goes on with a probability that depends on the rank."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.progress import Progress, quiet
from podium.base.registry import param, register
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models.base import Params, ratio, unseen
from podium.clicks.models.chain import BY_RANK, Chain, Counts, IteratedChain, Pages
from podium.clicks.models.last_click import down_to_last_click


@register
class DCM(IteratedChain):
    """Dependent click model: users always go on after no click, and after a click at rank r with probability λ_r.

    Formula: κ = 1, λ = λ_r; by EM over the unobserved examination after the last click. `closed=true` counts as the
        paper does, as if every user left with the last click: α_u = clicks/impressions at or above the last click (all
        without clicks), λ_r = 1 − last clicks/clicks at r. Ranks beyond `most` share its λ.
    Cost: O(impressions) a step; closed, one pass.
    Use it for: queries with several clicks.
    Reference: Guo, Liu & Wang, Efficient multiple-click models in web search, WSDM 2009.
    """

    per_pair: ClassVar[tuple[str, ...]] = ("attractiveness",)
    after_click: ClassVar[str | None] = BY_RANK
    closed: bool = False
    """Whether the paper's counts in one pass replace EM."""
    most: int = param(default=50, least=1)
    """Ranks with a parameter of their own; those below share the last one's."""

    @property
    def consistent(self) -> bool:
        return not self.closed

    def start(self, log: ClickLog) -> Params:
        n_ranks = int(log.ranks(self.most).max())
        return {"attractiveness": np.full(log.n_pairs, 0.5), "continuation": np.full(n_ranks, 0.5)}

    def chain(self, params: Params) -> Chain:
        alpha = unseen(params["attractiveness"])
        return Chain(alpha, 1.0, np.ones(len(alpha)), params["continuation"])

    def maximise(self, params: Params, counts: Counts, pages: Pages) -> Params:
        old, (went_on, clicks) = params["continuation"], counts.shared.T
        return {
            "attractiveness": ratio(counts.attracted, pages.impressions, prior=self.prior),
            "continuation": ratio(went_on, clicks, prior=self.prior, otherwise=old),
        }

    def estimate(self, log: ClickLog, *, progress: Progress = quiet) -> tuple[Params, list[float]]:
        if not self.closed:
            return super().estimate(log, progress=progress)
        seen, last, weights = down_to_last_click(log)
        ranks, clicked = log.ranks(self.most) - 1, weights * log.clicks
        alpha = [np.bincount(log.pairs, values, minlength=log.n_pairs) for values in (clicked, weights * seen)]
        left, clicks = np.bincount(ranks, weights * last), np.bincount(ranks, clicked)
        params = {
            "attractiveness": ratio(*alpha, prior=self.prior),
            "continuation": ratio(clicks - left, clicks, prior=self.prior),
        }
        return params, [self.objective(params, Pages(log))]

    def planted(self, attractiveness: Array, curve: Array) -> Params:
        """Parameters for simulation: after a click at r users go on with the ratio of the curve at r+1 and r."""
        ratios = np.append(curve[1:] / curve[:-1], curve[-1] / curve[-2] if len(curve) > 1 else 0.5)
        return {"attractiveness": attractiveness, "continuation": np.clip(ratios[: self.most], 0.0, 1.0)}
