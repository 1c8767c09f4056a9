"""Global click-through rate (GCTR): every impression is clicked with the same probability."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import register
from podium.clicks.models.base import Params
from podium.clicks.models.examination import ONE
from podium.clicks.models.rate_model import RateModel


@register
class GCTR(RateModel):
    """Global click-through rate, also called the random click model.

    Formula: P(click) = ρ = (clicks + a)/(impressions + 2a) for the prior a.
    Cost: one pass over the log.
    Use it for: the baseline that any other model must beat. All documents are equally relevant to it.
    Reference: Chuklin, Markov & de Rijke, Click Models for Web Search, 2015.
    """

    cells: ClassVar[int] = ONE

    def planted(self, attractiveness: Array, curve: Array) -> Params:
        return {"rate": np.array([attractiveness.mean() * curve[0]])}
