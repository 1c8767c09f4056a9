"""User browsing model (UBM): examination depends on the rank and on the last click above it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models.base import Params
from podium.clicks.models.examination import RANK_AND_LAST, ExaminationModel


@register
class UBM(ExaminationModel):
    """User browsing model: the probability of a click depends on the pair, the rank, and the last click above.

    Formula: P(click on u at r | last click at s) = α_u γ_rs, s = 0 without a click above; by EM. γ is one array, γ_rs
        at index r(r−1)/2 + s. Ranks beyond `most` share its γ.
    Cost: O(cells) a step, cells being the (pair, r, s) that occur.
    Use it for: the best fit of the models with examination by rank; users who browse on after a click.
    Reference: Dupret & Piwowarski, A user browsing model to predict search engine click data from past observations,
        SIGIR 2008.
    """

    cells: ClassVar[int] = RANK_AND_LAST
    most: int = param(default=50, least=1)
    """Ranks with a parameter of their own; those below share the last one's."""

    def n_ranks(self, log: ClickLog) -> int:
        return int(log.ranks(self.most).max())

    def planted(self, attractiveness: Array, curve: Array) -> Params:
        """Parameters for simulation: examination follows the curve by the distance from the last click."""
        rows, columns = np.tril_indices(min(len(curve), self.most))
        return {"attractiveness": attractiveness, "examination": curve[rows - columns]}
