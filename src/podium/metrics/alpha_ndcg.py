"""α-nDCG@k: α-DCG@k over that of the ideal list, the usual metric of diversity.

Formula: α-DCG@k(ranking)/α-DCG@k(greedy list of the judged documents). The greedy list need not be the best, so a
ranking may have a little more than 1; it is not cut.
Ties: as they stand, or by id. Cost: O(n · topics), the ideal O(k · n · topics). Use it for: queries of several meanings
or needs, each to be met early. Empty: no relevant document for any topic. Reference: Clarke et al. (2008).

    >>> from podium.data.triples import Triples
    >>> topics = Triples.from_rows([[[0, 0, 1], [1, 0, 1], [1, 1, 1]]])
    >>> from podium.metrics import Metric
    >>> Metric.parse("alpha-ndcg@2")([2, 1], [1, 1], [0, 2], topics=topics).round(4)  # the second should be first
    array([0.8406])
"""

from __future__ import annotations

from podium.base.registry import param, register
from podium.metrics.declaration import Conventions, Names
from podium.metrics.topic_metric import ABOVE_IDEAL, TopicMetric, TopicQuery, discounted


@register
class AlphaNDCG(TopicMetric):
    """α-nDCG@k: α-DCG@k over that of the ideal list."""

    alpha: float = param(default=0.5, least=0.0, most=1.0)
    """How much of a topic's worth each relevant document takes away."""
    names = Names(prints="alpha-ndcg")
    conventions = Conventions(
        uses=("relevant",), words={"alpha": ("a relevant document takes from its topics the share", str)}
    )
    range = (0.0, ABOVE_IDEAL)

    def value(self, query: TopicQuery) -> float:
        ideal = discounted(query.ideal_gains(self.alpha, self.cutoff))
        return discounted(query.gains(self.alpha, self.cutoff)) / ideal
