"""Document click-through rate (DCTR): the probability of a click depends on the pair alone."""

from __future__ import annotations

from typing import ClassVar

from podium.base.arrays import Array
from podium.base.registry import register
from podium.clicks.models.base import Params
from podium.clicks.models.examination import ONE
from podium.clicks.models.rate_model import RateModel


@register
class DCTR(RateModel):
    """Document click-through rate: one click rate for each pair (query, document).

    Formula: P(click on u) = ρ_u = (clicks on u + a)/(impressions of u + 2a) for the prior a.
    Cost: one pass over the log.
    Use it for: plain click rates; biased towards documents shown at the top.
    Reference: Craswell, Zoeter, Taylor & Ramsey, An experimental comparison of click position-bias models, WSDM 2008.
    """

    cells: ClassVar[int] = ONE
    by_pair: ClassVar[bool] = True
    per_pair: ClassVar[tuple[str, ...]] = ("rate",)

    def planted(self, attractiveness: Array, curve: Array) -> Params:
        return {"rate": attractiveness * curve[0]}
