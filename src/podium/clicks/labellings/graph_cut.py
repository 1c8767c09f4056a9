"""Labels from clicks by graph cuts: labels that agree with the preferences between the documents of a query.

Reference: Agrawal, Halverson, Kenthapadi, Mishra & Tsaparas, Generating labels from clicks, WSDM 2009. By its abstract
two labels take linear time and more are NP-hard; the cuts for more are ours.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from podium.base.arrays import Array, Int32s
from podium.base.errors import ParameterError
from podium.base.registry import param, register
from podium.clicks.labellings.base import Labelling
from podium.clicks.log.click_log import ClickLog
from podium.clicks.page_rules import WITHIN_PAGES, page_events
from podium.jit.compiled import compiled


@register
class Graph(Labelling):
    """Graph cut: labels 0 … K − 1 that agree with as many preferences as possible.

    Formula: maximise Σ w(u, v) over u labelled above v, minus the same over u labelled below v; w(u, v) counts how
    often u was preferred to v by `rule` (a rule within pages). With two labels the optimum is 1 exactly if a document
    was preferred more often than others were to it: preferences inside a class cancel. With more, documents are sorted
    by that difference, and dynamic programming gives the best cuts of this order, O(Kn²).
    Ties go to the lower label. Documents without any preference get none.
    """

    name: ClassVar[str] = "graph"
    makes_grades: ClassVar[bool] = True
    most: ClassVar[float | None] = None

    labels: int = param(default=2, least=2)
    """Number of labels."""
    rule: str = "click-above"
    """Rule that finds preferences within pages."""

    def label(self, log: ClickLog) -> Array:
        if self.rule not in WITHIN_PAGES:
            raise ParameterError(f"graph: rule must be one of {', '.join(WITHIN_PAGES)}; got {self.rule!r}.")
        winners, losers, weights = page_events(log, self.rule)
        u = log.n_pairs
        wins, losses = (np.bincount(side, weights, minlength=u) for side in (winners, losers))
        margin = np.asarray(wins - losses, np.float64)
        touched = wins + losses > 0
        if self.labels == 2:
            labels = (margin > 0).astype(np.float64)
        else:
            labels = self._cut(log, (winners, losers, weights), margin)
        return np.where(touched, labels, np.nan)

    def _cut(self, log: ClickLog, events: tuple[Int32s, Int32s, Array], margin: Array) -> Array:
        winners, losers, weights = events
        starts = np.searchsorted(log.pair_query, np.arange(log.n_queries + 1))
        order = np.argsort(log.pair_query[winners], kind="stable")
        ends = np.searchsorted(log.pair_query[winners][order], np.arange(log.n_queries + 1))
        labels = np.zeros(log.n_pairs)
        for q in range(log.n_queries):
            a, b, rows = starts[q], starts[q + 1], order[ends[q] : ends[q + 1]]
            net = np.zeros((b - a, b - a))
            np.add.at(net, (winners[rows] - a, losers[rows] - a), weights[rows])
            best_first = np.argsort(-margin[a:b], kind="stable")
            net = (net - net.T)[np.ix_(best_first, best_first)]
            labels[a + best_first] = cut_order(net, self.labels)
        return labels


@compiled
def cut_order(net: Array, n_labels: int) -> Array:
    """Labels of documents in an order, best first, that maximise Σ net[i, j] over i labelled above j.

    The rest of the sum, inside the classes, is minimised: f_k(r) = min_l f_{k−1}(l) + inside(l, r) for the first r
    documents in k classes, empty ones allowed.
    """
    n = len(net)
    inside = np.zeros((n + 1, n + 1))  # inside[l, r]: Σ net[i, j] over l ≤ i < j < r
    for r in range(1, n + 1):
        column = 0.0
        for l in range(r - 2, -1, -1):
            column += net[l, r - 1]
            inside[l, r] = inside[l, r - 1] + column
    least, begin = np.full((n_labels + 1, n + 1), np.inf), np.zeros((n_labels + 1, n + 1), np.int64)
    least[0, 0] = 0.0
    for k in range(1, n_labels + 1):
        for r in range(n + 1):
            for l in range(r + 1):
                if least[k - 1, l] + inside[l, r] < least[k, r]:
                    least[k, r], begin[k, r] = least[k - 1, l] + inside[l, r], l
    labels, r = np.zeros(n), n
    for k in range(n_labels, 0, -1):
        for i in range(begin[k, r], r):
            labels[i] = n_labels - k
        r = begin[k, r]
    return labels
