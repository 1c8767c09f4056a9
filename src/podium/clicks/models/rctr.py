"""Rank click-through rate (RCTR): the probability of a click depends on the rank alone."""

from __future__ import annotations

from typing import ClassVar

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.clicks.models.base import Params
from podium.clicks.models.examination import RANK
from podium.clicks.models.rate_model import RateModel


@register
class RCTR(RateModel):
    """Rank click-through rate: one click rate for each rank.

    Formula: P(click at r) = ρ_r = (clicks at r + a)/(impressions at r + 2a) for the prior a. Ranks beyond `most` share
        its rate.
    Cost: one pass over the log.
    Use it for: a baseline; expected clicks by rank, as in clicks over expected clicks.
    Reference: Joachims, Granka, Pan, Hembrooke & Gay, Accurately interpreting clickthrough data as implicit feedback,
        SIGIR 2005.
    """

    cells: ClassVar[int] = RANK
    most: int = param(default=50, least=1)
    """Ranks with a parameter of their own; those below share the last one's."""

    def planted(self, attractiveness: Array, curve: Array) -> Params:
        return {"rate": attractiveness.mean() * curve[: self.most]}
