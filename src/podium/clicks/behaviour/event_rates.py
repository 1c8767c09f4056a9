"""Rates of clicks as features: per impression, and compared with what the ranks of a document let expect."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.clicks.behaviour.base import EVERYTHING, RANKS, Counts, EventFeature, Measure, cell

_MEASURES: tuple[Measure, Measure] = ("shown", "clicks")


@register
class Rate(EventFeature):
    """Clicks per impression, drawn towards the rate of all documents: few events say little.

    Formula: (c + a)/(n + a·N/C) with a = `prior` pseudo-clicks; c of n impressions were clicks, of all documents in the
    same days C of N. 0 if nobody clicked anything; missing if nothing was shown, or with `prior=0` if the document was
    not.

    Use it for popularity; it favours documents that were shown at the top, which `coec` does not.

    Reference: Metarank's normalised rate, whose weight is `prior`.
    """

    name = "rate"
    half_life: float = param(default=0.0, least=0.0)
    """Days after which an event counts half; 0 if all count alike."""
    prior: float = param(default=1.0, least=0.0)
    """Pseudo-clicks that draw the rate towards that of all documents."""

    def values(self, counts: Counts) -> Array:
        count = partial(counts.count, days=self.days, half_life=self.half_life)
        clicks, shown = count("clicks", self.by), count("shown", self.by)
        if self.prior == 0.0:
            return np.divide(clicks, shown, out=np.full_like(clicks, np.nan), where=shown > 0)
        all_clicks, all_shown = count("clicks", EVERYTHING), count("shown", EVERYTHING)
        pseudo = np.divide(all_shown, all_clicks, out=np.full_like(clicks, np.inf), where=all_clicks > 0)
        impressions = shown + self.prior * pseudo
        rate: Array = np.divide(
            clicks + self.prior, impressions, out=np.full_like(clicks, np.nan), where=impressions != 0
        )
        return rate

    def cells(self) -> dict[str, int]:
        return {cell(self.by, False): self.days, EVERYTHING: self.days}


@register
class ClicksOverExpected(EventFeature):
    """Clicks over expected clicks: compared with an average document at the same ranks, which has 1.

    Formula: (c + a)/(Σ_k n_k r_k + a) with a = `prior` pseudo-clicks, n_k impressions at rank k, and r_k the click rate
    of all documents at that rank in the same days; missing for 0/0. Ranks from 20 on are one.

    Reference: Zhang & Jones, Comparing click logs and editorial labels for training query rewriting, Query Log Analysis
    Workshop, WWW 2007.
    """

    name = "coec"
    by_rank: ClassVar[bool] = True
    half_life: float = param(default=0.0, least=0.0)
    """Days after which an event counts half; 0 if all count alike."""
    prior: float = param(default=1.0, least=0.0)
    """Pseudo-clicks that draw the number towards 1."""

    def values(self, counts: Counts) -> Array:
        count = partial(counts.count, days=self.days, half_life=self.half_life)
        clicks = expected = np.zeros(1)
        for rank in range(1, RANKS + 1):
            shown, clicked = (count(measure, EVERYTHING, rank=rank) for measure in _MEASURES)
            rate = np.divide(clicked, shown, out=np.zeros_like(shown), where=shown > 0)
            expected = expected + rate * count("shown", self.by, rank=rank)
            clicks = clicks + count("clicks", self.by, rank=rank)
        top, bottom = clicks + self.prior, expected + self.prior
        ratio: Array = np.divide(top, bottom, out=np.full_like(bottom, np.nan), where=bottom > 0)
        return ratio

    def cells(self) -> dict[str, int]:
        return {cell(self.by, True): self.days, cell(EVERYTHING, True): self.days}
