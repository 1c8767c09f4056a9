"""Probabilistic interleaving (Hofmann, Whiteson and de Rijke, 2011), with the credit summed over all assignments."""

from __future__ import annotations

import random
from collections.abc import Sequence

from podium.base.registry import param, register
from podium.online.interleaving.base import Interleaving


@register
class Probabilistic(Interleaving):
    """Probabilistic interleaving: a coin chooses a ranker, which draws a document with P ∝ rank^−τ among those left.

    Credit: a click at a position counts 2P_A − 1, P_A = p_A(d)/(p_A(d) + p_B(d)) the probability that the first ranker
        drew the document d there, both renormalised over the documents left. This is the mean over all assignments of
        documents to rankers of the first's clicks minus the second's, so that equal lists tie on every page. (The paper
        takes the mean of the sign of this difference.) Lists are cut to the length of the shorter one: beyond it, one
        ranker alone would collect clicks, rarely, and on all other pages the other one a little.
    Use it for: lists that may differ in any way; every merged list is possible, so none is unfair.
    Reference: Hofmann, Whiteson and de Rijke, A probabilistic method for inferring preferences from clicks, CIKM 2011.
    """

    tau: float = param(default=3.0, above=0, most=100)
    """How steeply the probability falls with the rank; 3 in the paper."""

    def merge(
        self, first: Sequence[str], second: Sequence[str], rng: random.Random, *, length: int
    ) -> tuple[list[str], list[float]]:
        chances = self._chances([first, second])
        documents: list[str] = []
        credits: list[float] = []
        while len(documents) < length and all(chances):
            totals = [sum(left.values()) for left in chances]
            ranker = int(rng.random() < 0.5)
            document = _draw(chances[ranker], totals[ranker] * rng.random())
            own, other = (left.pop(document, 0.0) / total for left, total in zip(chances, totals, strict=True))
            documents.append(document)
            credits.append((own - other) / (own + other))
        return documents, credits

    def merge_many(
        self, lists: Sequence[Sequence[str]], rng: random.Random, *, length: int
    ) -> tuple[list[str], list[list[float]]]:
        """Merge lists: a die chooses a ranker at each position, which draws a document (Schuth et al., 2015).

        Credit: the probability that the ranker drew the document, p_k(d)/Σ_j p_j(d). Lists are cut to the length of
        the shortest.
        """
        chances = self._chances(lists)
        documents: list[str] = []
        credits: list[list[float]] = []
        while len(documents) < length and all(chances):
            totals = [sum(left.values()) for left in chances]
            ranker = min(int(rng.random() * len(lists)), len(lists) - 1)
            document = _draw(chances[ranker], totals[ranker] * rng.random())
            shares = [left.pop(document, 0.0) / total for left, total in zip(chances, totals, strict=True)]
            documents.append(document)
            credits.append([share / sum(shares) for share in shares])
        return documents, credits

    def _chances(self, lists: Sequence[Sequence[str]]) -> list[dict[str, float]]:
        """The weight of each document by its rank, in lists of equal length."""
        shortest = min(map(len, lists))
        return [{d: rank**-self.tau for rank, d in enumerate(ranked[:shortest], 1)} for ranked in lists]


def _draw(chances: dict[str, float], at: float) -> str:
    """Draw a document: the one whose part of the cumulative sum contains `at`."""
    for document, chance in chances.items():
        at -= chance
        if at < 0.0:
            return document
    return next(reversed(chances))  # by rounding, `at` may pass the end of the sum
