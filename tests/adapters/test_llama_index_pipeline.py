"""LlamaIndex: the postprocessor behind a retriever, in a query engine."""

import pytest

pytest.importorskip("llama_index.core", reason="needs pip install 'podium[adapters]'")

from llama_index.core import get_response_synthesizer
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeWithScore, TextNode

from podium.base.errors import ParameterError
from podium.integrations.llama_index import Reranker


class Found(BaseRetriever):
    def __init__(self, nodes):
        self.nodes = nodes
        super().__init__()

    def _retrieve(self, query_bundle):
        return self.nodes


def test_a_query_engine_sees_the_best_nodes(ranker, hits, order):
    nodes = [
        NodeWithScore(node=TextNode(id_=hit["id"], text=hit["text"], metadata={"title": hit["title"]}), score=0.5)
        for hit in hits
    ]
    reranker = Reranker(ranker=ranker, top_n=3)
    answers = get_response_synthesizer(llm=MockLLM(), response_mode="compact")
    engine = RetrieverQueryEngine(Found(nodes), response_synthesizer=answers, node_postprocessors=[reranker])
    answer = engine.query("winter tent")
    assert [(one.node.node_id, one.score) for one in answer.source_nodes] == order[:3]
    with pytest.raises(ParameterError, match="a query is needed"):
        reranker.postprocess_nodes(nodes)
