"""Counts of events as features: impressions, clicks, dwell time, and how long ago the last click was."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.clicks.behaviour.base import Counts, EventFeature


@register
class Shown(EventFeature):
    """How often the document was shown.

    Formula: Σ over impressions of 2^(−age in days/half_life).
    """

    name = "shown"
    half_life: float = param(default=0.0, least=0.0)
    """Days after which an event counts half; 0 if all count alike."""

    def values(self, counts: Counts) -> Array:
        return counts.count("shown", self.by, days=self.days, half_life=self.half_life)


@register
class Clicks(EventFeature):
    """How often the document was clicked; `by=user-document`: by this user.

    Formula: Σ over clicks of 2^(−age in days/half_life).
    """

    name = "clicks"
    half_life: float = param(default=0.0, least=0.0)
    """Days after which an event counts half; 0 if all count alike."""

    def values(self, counts: Counts) -> Array:
        return counts.count("clicks", self.by, days=self.days, half_life=self.half_life)


@register
class Dwell(EventFeature):
    """Mean dwell time on the document, in seconds; missing if there is none."""

    name = "dwell"

    def values(self, counts: Counts) -> Array:
        total, n = (counts.count(measure, self.by, days=self.days) for measure in ("dwell", "dwells"))
        return np.divide(total, 1000.0 * n, out=np.full_like(total, np.nan), where=n > 0)


@register
class Last(EventFeature):
    """Days since the last click on the document: 0 on the same day (UTC); missing if there was none."""

    name = "last"

    def values(self, counts: Counts) -> Array:
        return counts.last(self.by, days=self.days)
