"""Haystack: the component in a pipeline that is saved and loaded."""

import pytest

pytest.importorskip("haystack", reason="needs pip install 'podium[adapters]'")

from haystack import Document, Pipeline
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from podium.integrations.haystack import Reranker


def test_a_pipeline_of_a_retriever_and_the_reranker_survives_saving(shop, ranker):
    store = InMemoryDocumentStore()
    for id in ranker.index.search("tent", 40).ids:
        hit = ranker.index.document(id)
        store.write_documents([Document(id=id, content=hit["text"], meta={"title": hit["title"]})])
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=10))
    reranker = Reranker(str(shop / "shop.index"), str(shop / "shop.podium"), top_k=3)
    pipeline.add_component("reranker", reranker)
    pipeline.connect("retriever.documents", "reranker.documents")
    query = {"retriever": {"query": "winter tent"}, "reranker": {"query": "winter tent"}}
    found = pipeline.run(query, include_outputs_from={"retriever"})
    texts = [ranker.record(one.content, one.meta) for one in found["retriever"]["documents"]]
    ranked = ranker.rank("winter tent", texts, 3)
    expected = [(found["retriever"]["documents"][text.position].id, text.score) for text in ranked]
    assert [(one.id, one.score) for one in found["reranker"]["documents"]] == expected
    loaded = Pipeline.loads(pipeline.dumps(), allowed_modules=["podium.integrations.haystack"])
    assert loaded.get_component("reranker").top_k == 3
