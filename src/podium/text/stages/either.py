"""Documents that one of several retrievals returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.text.retrieval.base import Retrieval, Where
from podium.text.stages.joined_lists import check_parts, from_sums, ranked

if TYPE_CHECKING:
    from podium.text.index.index import Index
    from podium.text.query import Query


@register
class Either(Retrieval):
    """Documents of any of the lists, by their best rank: the score is 1/rank in the list that has it highest.

    Use it for: candidates that another stage or a model ranks.
    """

    of: tuple[Retrieval, ...] = ()
    """Retrievals whose lists are combined."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_parts(self.name, self.of)

    def best(self, index: Index, query: Query, k: int, where: Where | None) -> tuple[Array, Ints]:
        scores: dict[int, float] = {}
        for of in self.of:
            for rank, n in enumerate(ranked(of, index, query, k, where).numbers.tolist(), 1):
                scores[n] = max(scores.get(n, 0.0), 1.0 / rank)
        return from_sums(scores, k)
