"""Reciprocal rank fusion of what several retrievals return."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.text.retrieval.base import MOST, Retrieval, Where
from podium.text.stages.joined_lists import Ranked, check_parts, from_sums, ranked

if TYPE_CHECKING:
    from podium.text.index.index import Index
    from podium.text.query import Query


@register
class ReciprocalRanks(Retrieval):
    """Reciprocal rank fusion: Σ 1/(k + rank) over the lists that have a document.

    Each list has `depth` documents, or as many as are asked for if that is more.
    Reference: Cormack, Clarke and Büttcher, Reciprocal rank fusion outperforms Condorcet and individual rank learning
    methods, SIGIR 2009.
    """

    name = "rrf"
    of: tuple[Retrieval, ...] = ()
    """Retrievals whose lists are combined."""
    k: float = param(default=60.0, least=0, most=MOST)
    """Damping: the larger, the less the first ranks stand out."""
    depth: int = param(default=100, least=1, most=10_000)
    """Documents that each list has, or as many as are asked for if that is more."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_parts(self.name, self.of)

    def best(self, index: Index, query: Query, k: int, where: Where | None) -> tuple[Array, Ints]:
        return fused((ranked(of, index, query, max(self.depth, k), where) for of in self.of), self.k, k)


def fused(lists: Iterable[Ranked], damping: float, k: int) -> Ranked:
    """The k best documents by Σ 1/(damping + rank)."""
    sums: dict[int, float] = {}
    for part in lists:
        for rank, n in enumerate(part.numbers.tolist(), 1):
            sums[n] = sums.get(n, 0.0) + 1.0 / (damping + rank)
    return from_sums(sums, k)
