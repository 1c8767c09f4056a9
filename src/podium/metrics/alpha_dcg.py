"""α-DCG@k: discounted gains of a ranking in which a topic is worth less each time it is met.

Formula: Σ_{r ≤ k} G_r/log2(r + 1), G_r = Σ_t J_t(d_r) (1 − α)^(relevant documents of t above r). With scale=topics, as
in ndeval, over the value of a list whose every document is relevant to every topic.
Ties: as they stand, or by id. Cost: O(n · topics). Use it for: parts of α-nDCG; it grows with the number of topics.
Empty: no relevant document for any topic. Reference: Clarke et al. (2008).

    >>> from podium.data.triples import Triples
    >>> topics = Triples.from_rows([[[0, 0, 1], [1, 0, 1], [1, 1, 1]]])
    >>> from podium.metrics import Metric
    >>> Metric.parse("alpha-dcg@2")([2, 1], [1, 1], [0, 2], topics=topics)  # 1 + (1/2 + 1)/log2(3)
    array([1.94639463])
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from podium.base.registry import param, register
from podium.metrics.declaration import Conventions, Names
from podium.metrics.topic_metric import TopicMetric, TopicQuery, all_topics, discounted


@register
class AlphaDCG(TopicMetric):
    """α-DCG@k: discounted cumulative gain with redundancy."""

    alpha: float = param(default=0.5, least=0.0, most=1.0)
    """How much of a topic's worth each relevant document takes away."""
    scale: Literal["none", "topics"] = "none"
    """none: as it is; topics: over the value of a list in which all documents are relevant to all topics."""
    names = Names(prints="alpha-dcg")
    conventions = Conventions(
        uses=("relevant",),
        presets={"ndeval": {"scale": "topics"}},
        words={
            "alpha": ("a relevant document takes from its topics the share", str),
            "scale": ("the value is divided by", {"none": "nothing", "topics": "a list of all topics"}.__getitem__),
        },
    )
    range = (0.0, np.inf)

    def value(self, query: TopicQuery) -> float:
        value = discounted(query.gains(self.alpha, self.cutoff))
        if self.scale == "none":
            return value
        ranks = len(query.hits) if self.cutoff is None else self.cutoff
        return value / (query.n_topics * discounted(all_topics(ranks, self.alpha)))
