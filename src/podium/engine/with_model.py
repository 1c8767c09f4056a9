"""A stage of retrieval that ranks what another returns by a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podium.base.arrays import Array, Ints
from podium.base.errors import ParameterError
from podium.base.registry import param, register
from podium.engine.engine import Engine
from podium.jit.sorting import order
from podium.text.retrieval import BM25, Retrieval
from podium.text.retrieval.candidates import DEPTH

if TYPE_CHECKING:
    from podium.text.index.index import Index
    from podium.text.query import Query
    from podium.text.retrieval.base import Where


@register
class WithModel(Retrieval):
    """The k best documents of a retrieval, ranked by the model of a file, trained on features of such an index."""

    of: Retrieval = BM25()
    """Retrieval that finds the documents."""
    model: str = ""
    """File of the model."""
    k: int = param(default=DEPTH, least=1, most=10_000)
    """Documents that the model ranks."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.model:
            raise ParameterError("with-model: no model. Write with-model(of=bm25,model=FILE).")

    def best(self, index: Index, query: Query, k: int, where: Where | None) -> tuple[Array, Ints]:
        engine = index.kept(("engine", self.model), lambda: Engine(index, self.model))
        hits = index.search(query, self.k, by=self.of, where=where)
        scores = engine.scores(query, hits, by=self.of)[2]
        best = order(scores)[:k]
        return scores[best], hits.numbers[best]
