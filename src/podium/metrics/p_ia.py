"""P-IA@k: intent-aware precision, the mean of P@k over the topics of a query.

Formula: Σ_{r ≤ k} Σ_t J_t(d_r)/(kS); without k, k = n. Ties: as they stand, or by id. Cost: O(k · topics).
Use it for: how much of the first page is relevant to the topics, whether it repeats itself or not.
Empty: no relevant document for any topic. Reference: Agrawal et al. (2009).

    >>> from podium.data.triples import Triples
    >>> topics = Triples.from_rows([[[0, 0, 1], [1, 0, 1], [1, 1, 1]]])
    >>> from podium.metrics import Metric
    >>> Metric.parse("p-ia@2")([2, 1], [1, 1], [0, 2], topics=topics)
    array([0.75])
"""

from __future__ import annotations

from podium.base.registry import register
from podium.metrics.declaration import Conventions, Names
from podium.metrics.topic_metric import TopicMetric, TopicQuery


@register
class PIA(TopicMetric):
    """P-IA@k: the mean over topics of the precision."""

    name = "p-ia"
    names = Names()
    conventions = Conventions(uses=("relevant",))

    def value(self, query: TopicQuery) -> float:
        ranks = max(len(query.hits), 1) if self.cutoff is None else self.cutoff
        return float(query.hits[: self.cutoff].sum() / (ranks * query.n_topics))
