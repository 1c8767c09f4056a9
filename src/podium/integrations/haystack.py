"""Re-ranking of documents in Haystack: a component for pipelines."""

import os
from typing import Any

from podium.base.errors import MissingPackageError
from podium.engine import TextRanker
from podium.text.index.index import Index

try:
    from haystack import Document, component
except ImportError:
    raise MissingPackageError("haystack-ai", "podium.integrations.haystack", "adapters") from None


@component
class Reranker:
    """The documents that a model of podium ranks best: `Reranker("my.index", "model.podium", top_k=5)`.

    `meta` are fields of a document, if the index has fields of such names. Index and model are files, so that a
    pipeline with this component can be saved.
    """

    def __init__(self, index: str, model: str, top_k: int | None = None) -> None:
        self.index, self.model, self.top_k = os.fspath(index), os.fspath(model), top_k
        self._ranker: TextRanker | None = None

    def warm_up(self) -> None:
        """Open the index and read the model."""
        if self._ranker is None:
            self._ranker = TextRanker(Index.open(self.index), self.model)

    @component.output_types(documents=list[Document])  # type: ignore[untyped-decorator]
    def run(self, query: str, documents: list[Document], top_k: int | None = None) -> dict[str, Any]:
        """The documents, best first, with their scores."""
        self.warm_up()
        assert self._ranker is not None
        texts = [self._ranker.record(document.content or "", document.meta) for document in documents]
        ranked = self._ranker.rank(query, texts, top_k or self.top_k)
        return {"documents": [_scored(documents[text.position], text.score) for text in ranked]}


def _scored(document: Document, score: float) -> Any:
    return Document.from_dict({**document.to_dict(flatten=False), "score": score})
