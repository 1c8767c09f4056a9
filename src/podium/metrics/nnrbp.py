"""nNRBP: NRBP over that of the ideal list.

Formula: Σ_r β^(r − 1) G_r over the same of the greedy list of the judged documents. It may be a little above 1.
Ties: as they stand, or by id. Cost: O(n · topics), the ideal O(n² · topics) at most. Use it for: NRBP of queries with
different numbers of topics. Empty: no relevant document for any topic. Reference: Clarke et al. (2011).

    >>> from podium.data.triples import Triples
    >>> topics = Triples.from_rows([[[0, 0, 1], [1, 0, 1], [1, 1, 1]]])
    >>> from podium.metrics import Metric
    >>> Metric.parse("nnrbp")([2, 1], [1, 1], [0, 2], topics=topics)  # (1 + 1.5/2)/(2 + 0.5/2)
    array([0.77777778])
"""

from __future__ import annotations

from podium.base.registry import register
from podium.metrics.nrbp import NRBP
from podium.metrics.topic_metric import ABOVE_IDEAL, TopicQuery, geometric


@register
class NNRBP(NRBP):
    """nNRBP: NRBP over that of the ideal list."""

    name = "nnrbp"
    range = (0.0, ABOVE_IDEAL)

    def value(self, query: TopicQuery) -> float:
        return geometric(query.gains(self.alpha), self.beta) / geometric(query.ideal_gains(self.alpha), self.beta)
