"""Re-ranking of documents in LangChain: a document compressor, for ContextualCompressionRetriever and the like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podium.base.errors import MissingPackageError
from podium.engine import TextRanker

try:
    from langchain_core.callbacks import Callbacks
    from langchain_core.documents import BaseDocumentCompressor, Document
except ImportError:
    raise MissingPackageError("langchain-core", "podium.integrations.langchain", "adapters") from None


class Reranker(BaseDocumentCompressor):  # type: ignore[misc]
    """The documents that a model of podium ranks best: `Reranker(ranker=TextRanker(index, model), top_n=5)`.

    Metadata are fields of a document, if the index has fields of such names. The score is the metadatum
    `relevance_score`.
    """

    model_config = {"arbitrary_types_allowed": True}  # noqa: RUF012 (pydantic reads it)
    ranker: TextRanker
    top_n: int | None = None

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        texts = [self.ranker.record(document.page_content, document.metadata) for document in documents]
        ranked = self.ranker.rank(query, texts, self.top_n)
        return [_scored(documents[text.position], text.score) for text in ranked]


def _scored(document: Document, score: float) -> Any:
    return document.model_copy(update={"metadata": {**document.metadata, "relevance_score": score}})
