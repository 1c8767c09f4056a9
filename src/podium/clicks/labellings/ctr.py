"""Click-through rate (CTR) as a label: clicks on a document per impression."""

from __future__ import annotations

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.clicks.labellings.base import Labelling
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models.base import ratio, tally


@register
class CTR(Labelling):
    """Click-through rate (clicks + a)/(impressions + 2a) with a = `prior`; it favours documents shown at the top."""

    prior: float = param(1.0, least=0.0)
    """Pseudo-count of clicks, and of impressions without one."""

    def label(self, log: ClickLog) -> Array:
        impressions, clicks = tally(log)
        return ratio(clicks, impressions, prior=self.prior, otherwise=float("nan"))
