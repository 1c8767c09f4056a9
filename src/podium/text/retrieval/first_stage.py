"""The first stage of a learned search: the settings to tune it over, and its scores as features.

    >>> from podium.text.retrieval import BM25
    >>> len(settings(BM25()))
    31

A learned ranking has the score of its own first stage among its features, and BM25 at other settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from podium.text.features import Feature
from podium.text.features.search_score import SearchScore
from podium.text.retrieval import BM25, QueryLikelihood, Retrieval
from podium.text.retrieval.dense import VectorRetrieval
from podium.text.stages.cut import Cut

if TYPE_CHECKING:
    from podium.text.index.index import Index

TRIED: dict[type[Retrieval], list[dict[str, float]]] = {
    BM25: [{"k1": k1, "b": b} for k1 in (0.6, 0.9, 1.2, 1.6, 2.0) for b in (0.1, 0.3, 0.5, 0.65, 0.75, 0.9)],
    QueryLikelihood: [{"mu": mu} for mu in (50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0)],
}
_OTHERS = ("bm25(k1=0.6,b=0.3)", "bm25(k1=0.6,b=0.9)", "bm25(k1=2.0,b=0.3)")


def settings(how: Retrieval) -> list[Retrieval]:
    """A first stage as it is, then with other parameters to choose from; alone if it has none to tune."""
    grid = next((tried for kind, tried in TRIED.items() if isinstance(how, kind)), [])
    return [how, *(replace(how, **parameters) for parameters in grid)]  # type: ignore[type-var]


def score_feature(how: Retrieval, index: Index) -> Feature:
    """The feature that equals the score of a first stage, or orders documents as it does."""
    if isinstance(how, BM25) and how.variant == "lucene":
        weights = how.weights(index.fields, index.weights)
        if (weights == 1.0).all():
            return Feature.parse(f"bm25(k1={how.k1},b={how.b})")
        named = ",".join(f"{name}^{weight}" for name, weight in zip(index.fields, weights.tolist(), strict=True))
        return Feature.parse(f"bm25f(fields=[{named}],k1={how.k1},b={how.b})")
    if isinstance(how, QueryLikelihood) and (how.weights(index.fields, index.weights) == 1.0).all():
        return Feature.parse(f"lmir_dir(mu={how.mu})")
    if isinstance(how, VectorRetrieval):
        return Feature.parse("dot" if how.similarity == "dot" else "vector_cosine")
    return score_feature(how.of, index) if isinstance(how, Cut) else SearchScore(how)


def with_scores(features: Sequence[Feature], how: Retrieval, index: Index) -> tuple[Feature, ...]:
    """Features, and those of the first stage that are not among them: its score, and BM25 at other settings."""
    own = score_feature(how, index)
    more = dict.fromkeys((own, *map(Feature.parse, _OTHERS)))
    return (*features, *(feature for feature in more if feature not in features))
