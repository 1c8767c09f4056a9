"""The score of a first stage as a feature: equal to what the search gives, for documents and for texts."""

import numpy as np
import pytest

import podium
from podium.base.errors import IncompatibleError
from podium.engine.engine import Engine
from podium.engine.text_ranker import TextRanker
from podium.text import Index, dataset, register_feature
from podium.text.collection.collection import Topic
from podium.text.context import Context
from podium.text.features import Feature
from podium.text.retrieval import Retrieval
from podium.text.retrieval.candidates import rows_of
from podium.text.retrieval.first_stage import score_feature

WORDS = ["heat", "slab", "flow", "wing", "shock", "wave", "layer", "cone", "jet", "drag", "gas", "tube", "the", "of"]
OF_WORDS = [
    "bm25(variant=robertson)", "bm25(variant=atire)", "bm25(variant=l,fields=[title^3,text])",
    "bm25(variant=plus,k1=0.9)", "ql(mu=50,fields=[title^2,text])", "sdm(mu=30,pair_mu=20)", "rm3(documents=3,terms=5)",
    "rm3(of=ql(mu=20),by=exp)", "bo1(of=bm25(variant=l))", "kl(terms=4)",
]  # fmt: skip
LISTS = [
    "rrf(of=[bm25,ql])", "linear(of=[bm25,vectors],weights=[0.7,0.3])", "hybrid", "either(of=[bm25,vectors])",
    "both(of=[bm25,ql])", "then(of=bm25,by=rm3)", "passages(words=8,step=4)",
]  # fmt: skip
QUERIES = ["heat slab", "shock wave the layer shock", "cone", "tube unheard gas"]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    rng = np.random.default_rng(3)
    index = Index.create(
        tmp_path_factory.mktemp("s") / "i",
        [
            {
                "id": f"d{n}",
                "title": " ".join(rng.choice(WORDS, 3)),
                "text": " ".join(rng.choice(WORDS, rng.integers(1, 40))),
                "vector": rng.normal(size=4).tolist(),
            }
            for n in range(60)
        ],
    )
    index.delete(["d7", "d8"])
    index.add([{"id": "late", "title": "shock", "text": "the heat of a wall", "vector": [1.0, 0.0, 0.0, 2.0]}])
    yield index
    index.close()


def topics():
    return [Topic(f"q{k}", text, vector=(1.0, 0.5, -0.25, float(k))) for k, text in enumerate(QUERIES)]


def relevant(index):
    """Judgments: documents with the first word of the query in the title."""
    return {
        topic.id: {f"d{n}": float(topic.text.split()[0] in index.document(f"d{n}")["title"]) for n in range(9, 60)}
        for topic in topics()
    }


@pytest.mark.parametrize("by", [*OF_WORDS, *LISTS, "vectors", "vectors(similarity=dot)"])
def test_it_is_the_score_that_the_search_gives(index, by):
    how, compared = Retrieval.parse(by), 0
    for topic in topics():
        query = index.query(topic.text, vector=topic.vector)
        hits = index.search(query, 100, by=how)
        alone = Context(index, query, hits.numbers)
        np.testing.assert_allclose(score_feature(how, index).values(alone), hits.scores, rtol=1e-9, atol=1e-9)
        compared += len(hits)
    assert compared > 40


def others(index, hits):
    every = np.concatenate([segment.numbers[~segment.dead] for segment in index.segments])
    return np.setdiff1d(every, hits.numbers)


@pytest.mark.parametrize("by", ["bm25(variant=l)", "bo1", *LISTS[:2]])
def test_documents_that_the_search_does_not_return_have_no_higher_score(index, by):
    query = index.query("tube", vector=topics()[0].vector)
    hits = index.search(query, 20, by=by)
    others_of_it = others(index, hits)
    values = score_feature(Retrieval.parse(by), index).values(Context(index, query, others_of_it))
    assert len(others_of_it) > 10
    assert (values <= hits.scores.min()).all()


def test_query_likelihood_of_documents_without_a_word_of_the_query_falls_with_their_length(index):
    query = index.query("tube gas tube")
    hits = index.search(query, 10_000, by="ql(mu=50,fields=[title^2,text])")
    context = Context(index, query, others(index, hits))
    lengths = 2.0 * context.sizes[0, 0] + context.sizes[1, 0]
    values = Feature.parse("search_score(by=ql(mu=50,fields=[title^2,text]))").values(context)
    np.testing.assert_allclose(values, -3.0 * np.log(1.0 + lengths / 50.0))
    assert len(values) > 1


@pytest.mark.parametrize("by", ["rm3(documents=3)", "rrf(of=[bm25,vectors])", "sdm", "vectors", "bm25(variant=plus)"])
def test_every_first_stage_is_stated_and_a_model_starts_from_it(index, by):
    data = dataset(index, topics(), relevant(index), by=by, depth=20)
    name = repr(score_feature(Retrieval.parse(by), index))
    assert data.info["first_stage"] == name
    [rows, *_] = rows_of(index, topics(), None, [Feature.parse(name)], 20, by)
    np.testing.assert_allclose(rows.features[:, 0], rows.first_stage, rtol=1e-6)
    model = podium.train(data)
    assert model.info["towards"] == name
    engine = Engine(index, podium.train(data, "listnet"))
    topic, first = topics()[1], data.select([1])
    answer = engine.search(topic.text, 20, vector=topic.vector)
    np.testing.assert_allclose(
        sorted(answer.scores), sorted(engine.model.score(first)), rtol=1e-5, err_msg="served as trained"
    )


@pytest.mark.parametrize("by", ["rm3(documents=3)", "sdm(mu=30)", "bm25(variant=l)", "bo1"])
def test_a_text_that_is_a_document_has_that_documents_score(index, by):
    data = dataset(index, topics(), relevant(index), by=by, depth=20)
    ranker = TextRanker(index, podium.train(data, "listnet"))
    topic = topics()[1]
    candidates = data.select([1])
    texts = [index.document(id) for id in candidates.document_ids.tolist()]
    np.testing.assert_allclose(
        ranker.features(topic.text, texts, vector=topic.vector), candidates.features, rtol=1e-5, atol=1e-5
    )


def test_a_text_has_no_place_in_a_list(index):
    data = dataset(index, topics(), relevant(index), by="rrf(of=[bm25,ql])", depth=20)
    with pytest.raises(IncompatibleError, match=r"not in the index have no place in the list of rrf\("):
        TextRanker(index, podium.train(data, "listnet")).rank("heat", ["heat in a slab"])


def test_documents_of_another_engine_have_the_features_of_the_own_first_stage(index):
    """Pseudo-relevance feedback and scores are those of the search that a model will have, not of the engine's list."""
    [topic, *_] = topics()
    hits = index.search(topic.text, 30, by="rm3")
    shown = {topic.id: {id: float(-k) for k, id in enumerate(reversed(hits.ids))}}
    wanted = [Feature.parse(name) for name in ("prf", "search_score(by=rm3)", "search_score(by=rrf(of=[bm25]))")]
    [own] = rows_of(index, [topic], None, wanted, 30, "rm3")
    [other] = rows_of(index, [topic], None, wanted, 30, "rm3", candidates=shown)
    of_id = dict(zip(other.ids, other.features, strict=True))
    np.testing.assert_allclose([of_id[id] for id in own.ids], own.features, rtol=1e-6)


def test_models_in_stages_have_the_scores_of_what_found_the_documents(index, tmp_path):
    data = dataset(index, topics(), relevant(index), by="rm3(documents=3)", depth=20)
    podium.train(data, "listnet").save(tmp_path / "m.podium")
    topic = topics()[1]
    own = Engine(index, tmp_path / "m.podium").search(topic.text, 20)
    staged = index.search(topic.text, 20, by=f"with-model(of=rm3(documents=3),model={tmp_path / 'm.podium'},k=20)")
    other = index.search(topic.text, 20, by=f"with-model(of=bm25,model={tmp_path / 'm.podium'},k=60)")
    assert staged.ids == own.ids
    by_id = dict(zip(own.ids, own.scores, strict=True))
    common = [id for id in other.ids if id in by_id]
    assert len(common) > 3


def test_a_function_that_ranks_is_a_first_stage_too(index):
    """What podium cannot compute for a document alone is looked up in the list."""
    register_feature("nothing_much", lambda query, documents, index: [0.0] * len(documents))
    data = dataset(index, topics(), relevant(index), features="podium,nothing_much", by="either(of=[bm25,ql])")
    assert data.info["first_stage"] == "search_score(by=either(of=[bm25,ql]))"
