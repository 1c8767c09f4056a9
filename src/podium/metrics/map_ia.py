"""MAP-IA: intent-aware average precision, the mean of AP over the topics of a query.

Formula: (1/S) Σ_t AP_t; AP_t divides by all judged documents that are relevant to t. Ties: as they stand, or by id.
Cost: O(n · topics). Use it for: the whole list. Empty: no relevant document for any topic.
Reference: Agrawal et al. (2009).

    >>> from podium.data.triples import Triples
    >>> topics = Triples.from_rows([[[0, 0, 1], [1, 0, 1], [1, 1, 1]]])
    >>> from podium.metrics import Metric
    >>> Metric.parse("map-ia")([2, 1], [1, 1], [0, 2], topics=topics)  # (1 + 1/2)/2
    array([0.75])
"""

from __future__ import annotations

import numpy as np

from podium.base.registry import register
from podium.metrics.declaration import Conventions, Names, stating
from podium.metrics.topic_metric import TopicMetric, TopicQuery


@register
class MapIA(TopicMetric):
    """MAP-IA: the mean over topics of the average precision."""

    names = Names(stating("ap_ia"), prints="map-ia")
    conventions = Conventions(uses=("relevant",), cuts=False)

    def value(self, query: TopicQuery) -> float:
        precision = np.cumsum(query.hits, axis=0) / np.arange(1, len(query.hits) + 1)[:, None]
        return float(((precision * query.hits).sum(axis=0) / query.judged.sum(axis=0)).mean())
