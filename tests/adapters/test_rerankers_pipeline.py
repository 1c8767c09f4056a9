"""The package rerankers: its results, from strings and from documents."""

import pytest

pytest.importorskip("rerankers.results", reason="needs pip install 'podium[adapters]'")

from rerankers import Document

from podium.integrations.rerankers import Ranker


def test_documents_are_ranked_as_by_the_text_ranker(ranker, hits, order):
    docs = [Document(text=hit["text"], doc_id=hit["id"], metadata={"title": hit["title"]}) for hit in hits]
    results = Ranker(ranker).rank("winter tent", docs)
    assert [(one.doc_id, one.score) for one in results.top_k(3)] == order[:3]
    assert [one.rank for one in results] == list(range(1, len(hits) + 1))
    plain = Ranker(ranker).rank("winter tent", [hit["text"] for hit in hits], doc_ids=[hit["id"] for hit in hits])
    best = ranker.rank("winter tent", [hit["text"] for hit in hits])[0]
    assert (plain[0].doc_id, plain[0].score) == (hits[best.position]["id"], best.score)
    assert (
        Ranker(ranker).score("winter tent", hits[0]["text"]) == ranker.rank("winter tent", [hits[0]["text"]])[0].score
    )
