"""Weighted sums of the scores of several retrievals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import ParameterError
from podium.base.registry import param, register
from podium.text.retrieval.base import MOST, Retrieval, Where
from podium.text.stages.joined_lists import check_parts, from_sums, ranked

if TYPE_CHECKING:
    from podium.text.index.index import Index
    from podium.text.query import Query


@register
class WeightedSum(Retrieval):
    """Weighted sum of scores, normalised within each list; a list that lacks a document adds 0.

    `minmax` maps a list's lowest score to 0 and its highest to 1, `zscore` its mean to 0 and its standard deviation to
    1, `max` divides by the largest absolute value. If all scores of a list are equal, minmax gives 1, zscore 0.
    Each list has `depth` documents, or as many as are asked for if that is more. Without weights, all count alike.
    """

    name = "linear"
    of: tuple[Retrieval, ...] = ()
    """Retrievals whose lists are combined."""
    weights: tuple[float, ...] = ()
    """Weights of the lists; alike by default."""
    normalise: Literal["minmax", "zscore", "max", "none"] = "minmax"
    """How the scores of a list are normalised."""
    depth: int = param(default=100, least=1, most=10_000)
    """Documents that each list has, or as many as are asked for if that is more."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_parts(self.name, self.of)
        if self.weights and len(self.weights) != len(self.of):
            raise ParameterError(f"linear: {len(self.weights)} weights for {len(self.of)} retrievals.")
        if any(abs(weight) > MOST for weight in self.weights):
            raise ParameterError(f"linear: a weight is from {-MOST:g} to {MOST:g}; got {self.weights}.")

    def best(self, index: Index, query: Query, k: int, where: Where | None) -> tuple[Array, Ints]:
        sums: dict[int, float] = {}
        for of, weight in zip(self.of, self.weights or (1.0,) * len(self.of), strict=True):
            part = ranked(of, index, query, max(self.depth, k), where)
            values = weight * normalised(part.scores, self.normalise)
            for n, value in zip(part.numbers.tolist(), values.tolist(), strict=True):
                sums[n] = sums.get(n, 0.0) + value
        return from_sums(sums, k)


def normalised(scores: Array, how: str) -> Array:
    """Scores of one list, normalised."""
    if how == "none" or not len(scores):
        return scores
    if how == "max":
        return scores / (np.abs(scores).max() or 1.0)
    if how == "zscore":
        spread = scores.std() if np.ptp(scores) > 0 else 0.0
        return (scores - scores.mean()) / spread if spread > 0 else np.zeros(len(scores))
    low, width = scores.min(), np.ptp(scores)
    return np.asarray((scores - low) / width) if width > 0 else np.ones(len(scores))
