"""A retrieval that scores again what another returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import param, register
from podium.text.retrieval.base import Retrieval, Where
from podium.text.retrieval.bm25 import BM25
from podium.text.retrieval.query_likelihood import QueryLikelihood
from podium.text.stages.joined_lists import ranked

if TYPE_CHECKING:
    from podium.text.index.index import Index
    from podium.text.query import Query


@register
class Then(Retrieval):
    """The k best documents of a retrieval, with the scores of another; those that it does not score are left out."""

    of: Retrieval = BM25()
    """Retrieval that finds the documents."""
    by: Retrieval = QueryLikelihood()
    """Retrieval that scores them."""
    k: int = param(default=1000, least=1, most=10_000)
    """Documents that are scored again."""

    def best(self, index: Index, query: Query, k: int, where: Where | None) -> tuple[Array, Ints]:
        first = ranked(self.of, index, query, self.k, where).numbers
        return self.by.best(index, query, k, lambda numbers: np.isin(numbers, first))
