"""S-recall@k: subtopic recall, the share of a query's topics that the first k documents cover.

Formula: |{t : J_t(d_r) = 1 for some r ≤ k}|/S. Ties: as they stand, or by id. Cost: O(k · topics).
Use it for: coverage alone. Empty: no relevant document for any topic. Reference: Zhai et al. (2003).

    >>> from podium.data.triples import Triples
    >>> topics = Triples.from_rows([[[0, 0, 1], [1, 0, 1], [1, 1, 1]]])
    >>> from podium.metrics import Metric
    >>> Metric.parse("s-recall@1")([2, 1], [1, 1], [0, 2], topics=topics)
    array([0.5])
"""

from __future__ import annotations

from podium.base.registry import register
from podium.metrics.declaration import Conventions, Names, stating
from podium.metrics.topic_metric import TopicMetric, TopicQuery


@register
class SRecall(TopicMetric):
    """S-recall@k: the share of the topics that the first k documents cover."""

    names = Names(stating("strec", "strecall", "st_recall", "subtopic_recall"), prints="s-recall")
    conventions = Conventions(uses=("relevant",))

    def value(self, query: TopicQuery) -> float:
        return float(query.hits[: self.cutoff].any(axis=0).mean())
