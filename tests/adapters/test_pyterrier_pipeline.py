"""PyTerrier: pipelines by its operators and its experiment, without Java."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyterrier", reason="needs pip install 'podium[adapters]'")

import pyterrier as pt

from podium.base.errors import DataError
from podium.integrations.pyterrier import Estimator, Retriever, TextReranker
from podium.text.collection.outdoor_shop import outdoor_shop


@pytest.fixture
def topics():
    return pd.DataFrame([{"qid": query["id"], "query": query["text"]} for query in outdoor_shop()[1]])


@pytest.fixture
def qrels():
    judged = outdoor_shop()[2]
    return pd.DataFrame(
        [{"qid": q, "docno": d, "label": int(grade)} for q, grades in judged.items() for d, grade in grades.items()]
    )


def test_search_then_texts_then_a_model(ranker, topics):
    index = ranker.index
    texts = pt.apply.generic(
        lambda found: found.assign(
            text=[index.document(id)["text"] for id in found["docno"]],
            title=[index.document(id)["title"] for id in found["docno"]],
        )
    )
    pipeline = Retriever(index, k=20) % 10 >> texts >> TextReranker(ranker)
    found = pipeline(topics.head(3)).sort_values(["qid", "rank"])
    query = topics["query"].iloc[0]
    hits = [index.document(id) for id in index.search(query, 10).ids]
    best = ranker.rank(query, hits)
    first = found[found["qid"] == topics["qid"].iloc[0]]
    assert first["docno"].tolist()[0] == hits[best[0].position]["id"]
    np.testing.assert_allclose(first["score"], [text.score for text in best])
    assert len(Retriever(index)(pd.DataFrame([{"qid": "1", "query": "zzz"}]))) == 0


def test_an_estimator_learns_on_a_feature_union_and_wins_an_experiment(ranker, topics, qrels):
    index = ranker.index
    first = Retriever(index, k=30)
    rating = pt.apply.doc_score(lambda row: index.document(row["docno"])["rating"])
    learned = first >> (pt.apply.doc_score(lambda row: row["score"]) ** rating) >> Estimator("regression")
    learned.fit(topics.iloc[::2], qrels)
    scores = pt.Experiment([first, learned], topics.iloc[1::2], qrels, ["ndcg_cut_10"], names=["bm25", "learned"])
    values = scores.set_index("name")["ndcg_cut_10"]
    assert values["learned"] > values["bm25"]
    found = learned(topics.iloc[1:2])
    with pytest.raises(DataError, match="nothing is learned yet"):
        Estimator().transform(found)
