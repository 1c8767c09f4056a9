"""Metrics of diversity, slow and obvious: a document is the set of its grades by topic, {topic: grade}."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

Document = dict[int, float]
Documents = Sequence[Document]


def topics_of(judged: Documents) -> set[int]:
    return {topic for document in judged for topic, grade in document.items() if grade >= 1}


def gain(document: Document, above: Documents, topics: set[int], alpha: float) -> float:
    total = 0.0
    for topic in topics:
        if document.get(topic, 0) >= 1:
            total += (1 - alpha) ** sum(other.get(topic, 0) >= 1 for other in above)
    return total


def greedy(judged: Documents, alpha: float) -> list[Document]:
    left, chosen = list(judged), list[Document]()
    while left:
        gains = [gain(document, chosen, topics_of(judged), alpha) for document in left]
        chosen.append(left.pop(next(i for i, g in enumerate(gains) if g >= max(gains) - 1e-12)))
    return chosen


def gained(ranked: Documents, judged: Documents, k: int | None, alpha: float, weight: Callable[[int], float]) -> float:
    topics = topics_of(judged)
    return sum(
        gain(document, ranked[: r - 1], topics, alpha) * weight(r)
        for r, document in enumerate(ranked[: len(ranked) if k is None else k], 1)
    )


def log2(r: int) -> float:
    return 1 / math.log2(r + 1)


def everything(k: int, n_topics: int, alpha: float, weight: Callable[[int], float]) -> float:
    """The value of k documents that are relevant to all topics."""
    return n_topics * sum((1 - alpha) ** (r - 1) * weight(r) for r in range(1, k + 1))


def alpha_dcg(ranked: Documents, judged: Documents, k: int | None, *, alpha: float, scale: str) -> float:
    value = gained(ranked, judged, k, alpha, log2)
    if scale == "none":
        return value
    return value / everything(len(ranked) if k is None else k, len(topics_of(judged)), alpha, log2)


def alpha_ndcg(ranked: Documents, judged: Documents, k: int | None, *, alpha: float) -> float:
    return gained(ranked, judged, k, alpha, log2) / gained(greedy(judged, alpha), judged, k, alpha, log2)


def nerr_ia(ranked: Documents, judged: Documents, k: int | None, *, alpha: float) -> float:
    ideal = gained(greedy(judged, alpha), judged, k, alpha, lambda r: 1 / r)
    return gained(ranked, judged, k, alpha, lambda r: 1 / r) / ideal


def err_ia(
    ranked: Documents, judged: Documents, k: int | None, *, max_grade: int | None, model: str, alpha: float
) -> float:
    topics = topics_of(judged)
    if model == "novelty":
        most = everything(len(ranked) if k is None else k, len(topics), alpha, lambda r: 1 / r)
        return gained(ranked, judged, k, alpha, lambda r: 1 / r) / most
    largest = max([1.0, *(grade for document in judged for grade in document.values())])
    largest = largest if max_grade is None else max_grade
    total = 0.0
    for topic in topics:
        alive = 1.0
        for r, document in enumerate(ranked[: len(ranked) if k is None else k], 1):
            stop = (2 ** max(document.get(topic, 0), 0) - 1) / 2**largest
            total += alive * stop / r
            alive *= 1 - stop
    return total / len(topics)


def nrbp(ranked: Documents, judged: Documents, k: int | None, *, alpha: float, beta: float) -> float:
    share = (1 - (1 - alpha) * beta) / len(topics_of(judged))
    return share * gained(ranked, judged, None, alpha, lambda r: beta ** (r - 1))


def nnrbp(ranked: Documents, judged: Documents, k: int | None, *, alpha: float, beta: float) -> float:
    ideal = greedy(judged, alpha)
    return nrbp(ranked, judged, k, alpha=alpha, beta=beta) / nrbp(ideal, judged, k, alpha=alpha, beta=beta)


def s_recall(ranked: Documents, judged: Documents, k: int | None) -> float:
    topics = topics_of(judged)
    first = ranked[: len(ranked) if k is None else k]
    return sum(any(document.get(topic, 0) >= 1 for document in first) for topic in topics) / len(topics)


def p_ia(ranked: Documents, judged: Documents, k: int | None) -> float:
    topics, k = topics_of(judged), len(ranked) if k is None else k
    return sum(document.get(topic, 0) >= 1 for document in ranked[:k] for topic in topics) / (k * len(topics))


def map_ia(ranked: Documents, judged: Documents, k: int | None) -> float:
    total = 0.0
    for topic in topics_of(judged):
        hits, precisions = 0, 0.0
        for r, document in enumerate(ranked, 1):
            if document.get(topic, 0) >= 1:
                hits += 1
                precisions += hits / r
        total += precisions / sum(document.get(topic, 0) >= 1 for document in judged)
    return total / len(topics_of(judged))


TOPIC_METRICS: dict[str, Callable[..., float]] = {
    function.__name__.replace("_", "-"): function
    for function in (alpha_dcg, alpha_ndcg, err_ia, nerr_ia, nrbp, nnrbp, s_recall, p_ia, map_ia)
}
"""By the metric's name."""


def one_topic(name: str) -> Callable[..., float]:
    """The metric of labels, which are grades for one topic."""

    def value(ranked: Sequence[float], ideal: Sequence[float], k: int | None, **parameters: Any) -> float:
        if not any(y >= 1 for y in ideal):
            return math.nan
        return TOPIC_METRICS[name]([{0: y} for y in ranked], [{0: y} for y in ideal], k, **parameters)

    return value
