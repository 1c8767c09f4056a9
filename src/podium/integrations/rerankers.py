"""A model of podium among the rankers of the package `rerankers`, and so wherever that package is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from podium.base.errors import MissingPackageError
from podium.engine import TextRanker

try:
    from rerankers.documents import Document
    from rerankers.models.ranker import BaseRanker
    from rerankers.results import RankedResults, Result
    from rerankers.utils import prep_docs
except ImportError:
    raise MissingPackageError("rerankers", "podium.integrations.rerankers", "adapters") from None


class Ranker(BaseRanker):  # type: ignore[misc]
    """Ranks documents by a model of podium: `Ranker(TextRanker(index, model)).rank(query, docs)`.

    Metadata are fields of a document, if the index has fields of such names.
    """

    def __init__(self, ranker: TextRanker) -> None:
        self.ranker = ranker

    def score(self, query: str, doc: str) -> float:
        """The score of one document. Models that compare the documents of a query need all of them: see `rank`."""
        return self.ranker.rank(query, [doc])[0].score

    def rank(
        self,
        query: str,
        docs: str | Sequence[str] | Document | Sequence[Document],
        doc_ids: Sequence[str] | Sequence[int] | None = None,
        metadata: Sequence[dict[str, Any]] | None = None,
    ) -> RankedResults:
        """The documents, best first."""
        documents = prep_docs(docs, doc_ids, metadata)
        texts = [self.ranker.record(document.text, document.metadata or {}) for document in documents]
        results = [
            Result(document=documents[text.position], score=text.score, rank=rank)
            for rank, text in enumerate(self.ranker.rank(query, texts), 1)
        ]
        return RankedResults(results=results, query=query, has_scores=True)
