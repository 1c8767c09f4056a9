"""ERR-IA@k: intent-aware expected reciprocal rank, the mean of ERR@k over the topics of a query.

Formula: (1/S) Σ_t ERR_t, ERR_t = Σ_{r ≤ k} (1/r) R_t(d_r) Π_{i < r} (1 − R_t(d_i)), R = (2^g − 1)/2^{g_max}; g_max is
`max_grade`, by default the largest grade in the judgments. With model=novelty, as in ndeval, grades are 0 or 1:
Σ_{r ≤ k} G_r/r over the value of a list whose every document is relevant to every topic.
Ties: as they stand, or by id. Cost: O(n · topics). Use it for: graded judgments of topics, of which one good document
each is enough. Empty: no relevant document for any topic. Reference: Agrawal et al. (2009); Chapelle et al. (2009).

    >>> from podium.data.triples import Triples
    >>> topics = Triples.from_rows([[[0, 0, 1], [1, 1, 1]]])
    >>> from podium.metrics import Metric
    >>> Metric.parse("err-ia@2")([2, 1], [1, 1], [0, 2], topics=topics)  # (1/2 + 1/2·1/2)/2
    array([0.375])
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from podium.base.errors import DataError
from podium.base.registry import param, register
from podium.metrics.conventions import LARGEST_EXPONENT
from podium.metrics.declaration import Conventions, Names, stating
from podium.metrics.topic_metric import TopicMetric, TopicQuery, all_topics, reciprocal


@register
class ErrIA(TopicMetric):
    """ERR-IA@k: the mean over topics of the expected reciprocal rank."""

    max_grade: int | None = param(default=None, least=1, most=LARGEST_EXPONENT)
    """The largest grade of the scale; None: the largest in the judgments."""
    model: Literal["graded", "novelty"] = "graded"
    """graded: ERR of each topic by its grades; novelty: gains G over ranks, as ndeval computes it."""
    alpha: float = param(default=0.5, least=0.0, most=1.0)
    """For model=novelty: how much of a topic's worth each relevant document takes away."""
    names = Names(stating("erria"), prints="err-ia")
    conventions = Conventions(
        uses=("relevant",),
        presets={"ndeval": {"model": "novelty"}},
        words={
            "max_grade": (
                "the largest grade is",
                lambda grade: "the largest of the judgments" if grade is None else str(grade),
            ),
            "model": ("a topic is worth", {"graded": "its ERR", "novelty": "gains that halve"}.__getitem__),
            "alpha": ("a relevant document takes from its topics the share", str),
        },
    )

    def value(self, query: TopicQuery) -> float:
        if self.model == "novelty":
            ranks = len(query.hits) if self.cutoff is None else self.cutoff
            most = query.n_topics * reciprocal(all_topics(ranks, self.alpha))
            return reciprocal(query.gains(self.alpha, self.cutoff)) / most
        largest = query.largest if self.max_grade is None else float(self.max_grade)
        if query.largest > min(largest, LARGEST_EXPONENT):
            raise DataError(f"{self}: a grade is {query.largest:g}, above {min(largest, LARGEST_EXPONENT):g}.")
        stops = (2.0 ** np.maximum(query.grades[: self.cutoff], 0.0) - 1.0) / 2.0**largest
        alive = np.cumprod(1.0 - stops, axis=0) / (1.0 - stops)  # a stop is never certain
        return reciprocal((stops * alive).mean(axis=1))
