"""The first documents of a retrieval, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.text.retrieval.base import Retrieval, Where
from podium.text.retrieval.bm25 import BM25
from podium.text.stages.joined_lists import ranked

if TYPE_CHECKING:
    from podium.text.index.index import Index
    from podium.text.query import Query


@register
class Cut(Retrieval):
    """The k best documents of a retrieval, however many are asked for."""

    of: Retrieval = BM25()
    """Retrieval whose list is cut."""
    k: int = param(default=100, least=1, most=1_000_000)
    """Documents that are left."""

    def best(self, index: Index, query: Query, k: int, where: Where | None) -> tuple[Array, Ints]:
        return ranked(self.of, index, query, min(k, self.k), where)
