"""NRBP: novelty- and rank-biased precision, gains of a user who looks at the next document with probability β.

Formula: ((1 − (1 − α)β)/S) Σ_r β^(r − 1) G_r, over the whole list.
Ties: as they stand, or by id. Cost: O(n · topics). Use it for: diversity for a user with patience β.
Empty: no relevant document for any topic. Reference: Clarke et al. (2009).

    >>> from podium.data.triples import Triples
    >>> topics = Triples.from_rows([[[0, 0, 1], [1, 0, 1], [1, 1, 1]]])
    >>> from podium.metrics import Metric
    >>> Metric.parse("nrbp")([2, 1], [1, 1], [0, 2], topics=topics)  # 3/4/2·(1 + 1.5/2)
    array([0.65625])
"""

from __future__ import annotations

from podium.base.registry import param, register
from podium.metrics.declaration import Conventions
from podium.metrics.topic_metric import TopicMetric, TopicQuery, geometric


@register
class NRBP(TopicMetric):
    """NRBP: novelty- and rank-biased precision."""

    alpha: float = param(default=0.5, least=0.0, most=1.0)
    """How much of a topic's worth each relevant document takes away."""
    beta: float = param(default=0.5, above=0.0, below=1.0)
    """The probability that the user looks at the next document."""
    name = "nrbp"
    conventions = Conventions(
        uses=("relevant",),
        cuts=False,
        words={
            "alpha": ("a relevant document takes from its topics the share", str),
            "beta": ("the next document is looked at with probability", str),
        },
    )

    def value(self, query: TopicQuery) -> float:
        share = (1.0 - (1.0 - self.alpha) * self.beta) / query.n_topics
        return share * geometric(query.gains(self.alpha), self.beta)
