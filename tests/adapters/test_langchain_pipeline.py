"""LangChain: the compressor in a chain of runnables."""

import pytest

pytest.importorskip("langchain_core", reason="needs pip install 'podium[adapters]'")

from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda

from podium.integrations.langchain import Reranker


def test_a_chain_of_a_retriever_and_the_reranker_returns_the_best_documents(ranker, hits, order):
    found = [
        Document(hit["text"], metadata={"title": hit["title"], "source": hit["id"], "links": {"odd": 1}})
        for hit in hits
    ]
    reranker = Reranker(ranker=ranker, top_n=3)
    chain = RunnableLambda(lambda query: (query, found)) | (lambda pair: reranker.compress_documents(pair[1], pair[0]))
    best = chain.invoke("winter tent")
    assert [(one.metadata["source"], one.metadata["relevance_score"]) for one in best] == order[:3]
    assert "relevance_score" not in found[0].metadata
    assert reranker.compress_documents([], "winter tent") == []
