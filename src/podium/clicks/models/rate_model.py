"""Click-through rate models: one parameter, the click rate of all impressions, of a rank or of a pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.progress import Progress, quiet
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models.base import Params, ratio, unseen
from podium.clicks.models.examination import BrowsingModel, count_cells


@dataclass(frozen=True, repr=False)
class RateModel(BrowsingModel):
    """Click model of click rates in closed form: (clicks + a)/(impressions + 2a)."""

    by_pair: ClassVar[bool] = False

    def estimate(self, log: ClickLog, *, progress: Progress = quiet) -> tuple[Params, list[float]]:
        n_ranks = int(log.ranks(getattr(self, "most", 1)).max())
        cells = count_cells(log, self.cells, n_ranks)
        sums = cells.by_pair if self.by_pair else cells.by_cell
        params = {"rate": ratio(sums(cells.clicked), sums(cells.shown), prior=self.prior)}
        return params, [self.objective(params, cells)]

    def products(self, params: Params) -> tuple[Array, Array]:
        if self.by_pair:
            return unseen(params["rate"]), np.ones(1)
        return np.ones(1), params["rate"]

    def relevance(self, params: Params) -> Array:
        return params["rate"] if self.by_pair else params["rate"][:1]
