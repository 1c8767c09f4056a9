"""Trend of a document as a behaviour feature: its clicks of the last days, compared with those of a longer time."""

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.clicks.behaviour import Counts, EventFeature


@register
class Trend(EventFeature):
    """(c/recent + a)/(C/days + a): clicks per day of the last `recent` days, over those of all `days`.

    It is 1 if nothing changed, and above if the document is on the rise; a = `prior` clicks per day.
    """

    recent: int = param(default=2, least=1)
    prior: float = param(default=1.0, above=0.0)

    def values(self, counts: Counts) -> Array:
        now, before = (counts.count("clicks", self.by, days=days) / days for days in (self.recent, self.days))
        trend: Array = (now + self.prior) / (before + self.prior)
        return trend
