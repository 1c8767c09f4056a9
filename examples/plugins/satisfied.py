"""Labels from last clicks: a document that ends the search has satisfied the user."""

import numpy as np

from podium.base.arrays import Array
from podium.base.registry import param, register
from podium.clicks.labellings import Labelling
from podium.clicks.log.click_log import ClickLog
from podium.clicks.models.base import ratio


@register
class Satisfied(Labelling):
    """(last clicks + a)/(clicks + 2a) with a = `prior`: how often a click on the document was the page's last.

    A document without clicks has no label: nobody has judged it.
    """

    prior: float = param(default=1.0, least=0.0)

    def label(self, log: ClickLog) -> Array:
        clicked = np.flatnonzero(log.clicks)
        page = log.page_of[clicked]
        is_last = np.append(page[1:] != page[:-1], True)
        counts = log.page_counts[page]
        clicks, last = (
            np.bincount(log.pairs[clicked], weights, minlength=log.n_pairs) for weights in (counts, counts * is_last)
        )
        return np.where(clicks > 0, ratio(last, clicks, prior=self.prior), np.nan)
