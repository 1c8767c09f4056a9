"""Position-based model (PBM): a click is the attraction of the pair times the examination of the rank."""

from __future__ import annotations

from typing import ClassVar

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models.base import Params
from podium.clicks.models.examination import RANK, ExaminationModel


@register
class PBM(ExaminationModel):
    """Position-based model: the probability of a click depends on the pair and the rank alone.

    Formula: P(click on u at r) = α_u θ_r; by EM. Ranks beyond `most` share its θ. Clicks identify only the products, so
        examination is relative to rank 1, and ranks are comparable only if documents were shown at both.
    Cost: O(cells) a step, cells being the (pair, rank) that occur.
    Use it for: position bias, if documents change ranks; `prior=0.01` biases θ least.
    Reference: Richardson, Dominowska & Ragno, Predicting clicks, WWW 2007; Craswell, Zoeter, Taylor & Ramsey, An
        experimental comparison of click position-bias models, WSDM 2008.
    """

    cells: ClassVar[int] = RANK
    most: int = param(default=50, least=1)
    """Ranks with a parameter of their own; those below share the last one's."""

    def n_ranks(self, log: ClickLog) -> int:
        return int(log.ranks(self.most).max())

    def planted(self, attractiveness: Array, curve: Array) -> Params:
        return {"attractiveness": attractiveness, "examination": curve[: self.most]}
