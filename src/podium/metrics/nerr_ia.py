"""nERR-IA@k: Σ G_r/r of a ranking over that of the ideal list, as ndeval computes it.

Formula: Σ_{r ≤ k} G_r/r over the same of the greedy list of the judged documents; grades are 0 or 1. It may be a little
above 1. Ties: as they stand, or by id. Cost: O(n · topics), the ideal O(k · n · topics). Use it for: comparison with
ndeval. Empty: no relevant document for any topic. Reference: Clarke et al. (2011).

    >>> from podium.data.triples import Triples
    >>> topics = Triples.from_rows([[[0, 0, 1], [1, 0, 1], [1, 1, 1]]])
    >>> from podium.metrics import Metric
    >>> Metric.parse("nerr-ia@2")([2, 1], [1, 1], [0, 2], topics=topics)  # (1 + 1.5/2)/(2 + 0.5/2)
    array([0.77777778])
"""

from __future__ import annotations

from podium.base.registry import param, register
from podium.metrics.declaration import Conventions, Names, stating
from podium.metrics.topic_metric import ABOVE_IDEAL, TopicMetric, TopicQuery, reciprocal


@register
class NerrIA(TopicMetric):
    """nERR-IA@k: Σ G_r/r over that of the ideal list."""

    alpha: float = param(default=0.5, least=0.0, most=1.0)
    """How much of a topic's worth each relevant document takes away."""
    names = Names(stating("nerria"), prints="nerr-ia")
    conventions = Conventions(
        uses=("relevant",), words={"alpha": ("a relevant document takes from its topics the share", str)}
    )
    range = (0.0, ABOVE_IDEAL)

    def value(self, query: TopicQuery) -> float:
        ideal = reciprocal(query.ideal_gains(self.alpha, self.cutoff))
        return reciprocal(query.gains(self.alpha, self.cutoff)) / ideal
