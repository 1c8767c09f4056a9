"""Tuning of the first stage on judged queries."""

import numpy as np
import pytest

from podium.evaluation.search.tuned_stage import LEAST, try_stages, tuned_stage
from podium.metrics import Metric
from podium.text.collection.collection import Topic
from podium.text.context import Context
from podium.text.features import Plan
from podium.text.index.index import Index
from podium.text.retrieval import BM25, Retrieval
from podium.text.retrieval.candidates import dataset
from podium.text.retrieval.first_stage import score_feature, settings, with_scores


@pytest.fixture(scope="module")
def long_ones(tmp_path_factory):
    """An index where the relevant document of each query is long, so that length must not count: b near 0."""
    rng, documents = np.random.default_rng(0), []
    for k in range(15):
        filler = " ".join(f"x{n}" for n in rng.integers(0, 500, 60))
        documents.append({"id": f"long{k}", "title": f"t{k}", "text": f"word{k} word{k} {filler}"})
        documents += [{"id": f"short{k}-{n}", "title": "", "text": f"word{k} y{n}"} for n in range(6)]
    index = Index.create(tmp_path_factory.mktemp("s") / "i", documents)
    topics = [Topic(f"q{k}", f"word{k}") for k in range(15)]
    yield index, topics, {f"q{k}": {f"long{k}": 1.0} for k in range(15)}
    index.close()


def test_the_best_setting_is_chosen(long_ones):
    index, topics, qrels = long_ones
    assert tuned_stage(index, topics, qrels).b == 0.1
    tried = try_stages(index, topics, qrels, by=BM25(), metrics=[Metric.parse("ndcg@10")])
    means = tried.means(np.arange(15))
    assert max(means) > means[0]
    assert tried.best(np.arange(15)) == int(np.argmax(means))


def test_few_judged_queries_leave_it_as_it_is(long_ones):
    index, topics, qrels = long_ones
    assert tuned_stage(index, topics[: LEAST - 1], qrels) == BM25()
    assert tuned_stage(index, topics, {}) == BM25()


def test_among_equals_it_stays_as_it_is(long_ones):
    index, topics, _ = long_ones
    everything = {topic.id: {f"short{k}-{n}": 1.0 for n in range(6)} for k, topic in enumerate(topics)}
    assert tuned_stage(index, topics, everything, by="bm25(k1=0.7)") == BM25(k1=0.7)


def test_a_stage_without_parameters_to_tune_has_one_setting(long_ones):
    index, topics, qrels = long_ones
    sdm = Retrieval.parse("sdm")
    assert settings(sdm) == [sdm]
    assert tuned_stage(index, topics, qrels, by=sdm) == sdm


@pytest.mark.parametrize(
    ("by", "name"),
    [
        ("bm25", "bm25"),
        ("bm25(k1=0.9,b=0.3)", "bm25(k1=0.9,b=0.3)"),
        ("bm25(fields=[title^3,text])", "bm25f(fields=[title^3.0,text^1.0])"),
        ("bm25(fields=[text],b=0.5)", "bm25f(fields=[title^0.0,text^1.0],b=0.5)"),
        ("ql(mu=100)", "lmir_dir(mu=100.0)"),
        ("cut(of=bm25,k=7)", "bm25"),
    ],
)
def test_the_score_of_a_stage_is_a_feature(long_ones, by, name):
    index, _, _ = long_ones
    query = index.query("word3 x7 x7 t3 y1")
    hits = index.search(query, 50, by=by)
    feature = score_feature(Retrieval.parse(by), index)
    assert repr(feature) == name
    values = Plan([feature], index).matrix(Context(index, query, hits.numbers))[:, 0]
    if "bm25" in by:
        np.testing.assert_allclose(values, hits.scores, rtol=1e-6)
    else:  # another constant and scale for the query, and the same order
        assert np.corrcoef(values, hits.scores)[0, 1] == pytest.approx(1.0, abs=1e-6)


def test_the_default_features_have_the_scores_of_the_stage_and_say_which(long_ones):
    index, topics, qrels = long_ones
    data = dataset(index, topics, qrels, by="bm25(k1=0.9,b=0.3)")
    assert data.info["first_stage"] == "bm25(k1=0.9,b=0.3)"
    assert {"bm25", "bm25(k1=0.9,b=0.3)", "bm25(k1=2.0,b=0.3)"} <= set(data.feature_names)
    asked = dataset(index, topics, qrels, features="length", by="bm25(k1=0.9,b=0.3)")
    assert asked.feature_names == ("length",)
    assert "first_stage" not in asked.info


def test_no_score_is_there_twice(long_ones):
    index, _, _ = long_ones
    names = with_scores(with_scores([], BM25(), index), BM25(), index)
    assert len(set(names)) == len(names) == 4
