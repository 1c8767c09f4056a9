"""Grades by the click rate of a document, as in the AOL data of Freno, Papini and Diligenti.

Reference: Freno, Papini & Diligenti, Learning to rank using Markov random fields, ICMLA 2011, section V-B.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.clicks.labellings.base import Labelling
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models.base import tally

PARTS = 7


@register
class ClickRateGrades(Labelling):
    """Click-rate grades 0, ½, …, 3.

    Formula: ½ · min(⌊7 · rate⌋, 6), the rate being the clicks on the document over how often its query was issued. The
    parts are closed below: rate 1/7 has grade ½.

    Only documents that were clicked get a grade, of queries issued more than `issued` times. With `per=impressions`
    the rate is the clicks over how often the document was shown.
    """

    makes_grades: ClassVar[bool] = True
    most: ClassVar[float | None] = 3.0

    per: Literal["issues", "impressions"] = "issues"
    """What clicks are divided by: how often the query was issued, or how often the document was shown."""
    issued: float = param(default=30.0, least=0.0)
    """Times that a query must have been issued, and more, to get grades."""

    def label(self, log: ClickLog) -> Array:
        impressions, clicks = tally(log)
        issues = np.bincount(log.page_query, log.page_counts, minlength=log.n_queries)[log.pair_query]
        trials = issues if self.per == "issues" else impressions
        there = (clicks > 0) & (issues > self.issued)
        part = np.floor(np.divide(PARTS * clicks, trials, out=np.zeros_like(clicks), where=there))
        return np.where(there, 0.5 * np.minimum(part, PARTS - 1), np.nan)
