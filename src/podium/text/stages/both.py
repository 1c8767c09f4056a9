"""Documents that all of several retrievals return."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.text.retrieval.base import Retrieval, Where
from podium.text.stages.joined_lists import best_first, check_parts, ranked

if TYPE_CHECKING:
    from podium.text.index.index import Index
    from podium.text.query import Query


@register
class Both(Retrieval):
    """Documents of the first list that all others have too, with the scores of the first.

    Each list has `depth` documents, or as many as are asked for if that is more.
    """

    of: tuple[Retrieval, ...] = ()
    """Retrievals whose lists are combined."""
    depth: int = param(default=1000, least=1, most=10_000)
    """Documents that each list has, or as many as are asked for if that is more."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_parts(self.name, self.of)

    def best(self, index: Index, query: Query, k: int, where: Where | None) -> tuple[Array, Ints]:
        first, *others = (ranked(of, index, query, max(self.depth, k), where) for of in self.of)
        kept = np.ones(len(first.numbers), np.bool_)
        for part in others:
            kept &= np.isin(first.numbers, part.numbers)
        return best_first(first.scores[kept], first.numbers[kept], k)
