"""Re-ranking of nodes in LlamaIndex: a node postprocessor, for query engines and retrievers."""

from __future__ import annotations

from podium.base.errors import MissingPackageError, ParameterError
from podium.engine import TextRanker

try:
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import MetadataMode, NodeWithScore, QueryBundle
except ImportError:
    raise MissingPackageError("llama-index-core", "podium.integrations.llama_index", "adapters") from None


class Reranker(BaseNodePostprocessor):  # type: ignore[misc]
    """The nodes that a model of podium ranks best: `Reranker(ranker=TextRanker(index, model), top_n=5)`.

    Metadata are fields of a node, if the index has fields of such names.
    """

    ranker: TextRanker
    top_n: int | None = None

    @classmethod
    def class_name(cls) -> str:
        return "PodiumReranker"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise ParameterError("Reranker: a query is needed. Call postprocess_nodes(nodes, query_str=…).")
        texts = [self.ranker.record(node.node.get_content(MetadataMode.NONE), node.node.metadata) for node in nodes]
        ranked = self.ranker.rank(query_bundle.query_str, texts, self.top_n)
        return [NodeWithScore(node=nodes[text.position].node, score=text.score) for text in ranked]
