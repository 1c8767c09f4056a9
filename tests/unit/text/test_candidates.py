"""Candidates with features and grades, and what learns from them."""

import json

import numpy as np
import pytest

import podium
from podium.base.errors import DataError, IncompatibleError, ParameterError
from podium.evaluation.search.compare_search import FIRST, METHODS, TUNED, compare_search, default_methods
from podium.formats.trec.trec import Qrels
from podium.text.collection.collection import Topic
from podium.text.features import read_features
from podium.text.index.index import Index
from podium.text.retrieval import BM25
from podium.text.retrieval.candidates import dataset, info, rows_of, write_features

FEATURES = "bm25,bm25(field=title,k1=0.9),span,prf,length"


def collection(n=60, seed=0):
    """Documents of random words; a document is relevant if the first word of the query is in its title."""
    rng = np.random.default_rng(seed)
    words = np.array([f"w{k}" for k in range(40)])
    documents = [
        {"id": f"d{k}", "title": " ".join(rng.choice(words, 3)), "text": " ".join(rng.choice(words, 12))}
        for k in range(n)
    ]
    queries = [Topic(f"q{k}", " ".join(rng.choice(words, 2, replace=False))) for k in range(25)]
    qrels = {
        q.id: {d["id"]: 1.0 for d in documents if q.text.split()[0] in d["title"].split()} | {"d0": 0.0}
        for q in queries
    }
    return documents, queries, {id: grades for id, grades in qrels.items() if any(grades.values())}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    documents, queries, qrels = collection()
    index = Index.create(tmp_path_factory.mktemp("c") / "x.index", documents)
    yield index, queries, qrels
    index.close()


def test_rows_are_the_candidates_of_the_first_stage_with_their_grades(made):
    index, queries, qrels = made
    data = dataset(index, queries, qrels, features=FEATURES, depth=10)
    hits = index.search(queries[0].text, 10)
    first = data.select([0])
    assert first.document_ids.tolist() == hits.ids
    np.testing.assert_allclose(first.features[:, 0], hits.scores, rtol=1e-6)
    grades = qrels.get(queries[0].id, {})
    assert first.labels.tolist() == [grades.get(id, 0.0) for id in hits.ids]
    assert data.feature_names[1] == "bm25(field=title,k1=0.9)"
    assert data.info == {
        "analyser": "analyser", "fields": ["title", "text"], "retrieval": "bm25", "depth": 10, "first_stage": "bm25",
    }  # fmt: skip


def test_qrels_and_dictionaries_give_the_same_and_negative_grades_are_zero(made):
    index, queries, qrels = made
    other = Qrels.from_dict({id: {**grades, "d1": -1.0} for id, grades in qrels.items()})
    plain = {id: {**grades, "d1": 0.0} for id, grades in qrels.items()}
    one, two = (dataset(index, queries, x, features="bm25").labels for x in (other, plain))
    np.testing.assert_array_equal(one, two)


def test_relevant_documents_that_were_missed_can_be_added(made):
    index, queries, qrels = made
    few, more = (
        dataset(index, queries, qrels, features="bm25,prf", depth=2, add_relevant=add) for add in (False, True)
    )
    assert more.labels.sum() == sum(sum(grades.values()) for grades in qrels.values())
    assert few.labels.sum() < more.labels.sum()


def test_a_relevant_document_that_was_missed_is_never_what_feedback_learns_from(made):
    index, queries, qrels = made
    how = "linear(of=[bm25],weights=[-1],normalise=none)"  # all scores are below 0
    wanted = read_features("prf(k=2)", index)
    few, more = (
        {rows.topic.id: rows for rows in rows_of(index, queries, qrels, wanted, 6, how, add)} for add in (False, True)
    )
    assert max(rows.first_stage.max() for rows in few.values()) < 0
    assert sum(len(more[id].ids) - len(few[id].ids) for id in few) > 20
    for id, rows in few.items():
        np.testing.assert_array_equal(more[id].features[: len(rows.ids)], rows.features)


def test_the_default_set_among_others_states_the_first_stage(made):
    index, queries, qrels = made
    first = dataset(index, queries, qrels, features="podium,lsi(rank=3)", by="bm25(k1=0.7,b=0.2)").info
    assert first["first_stage"] == "bm25(k1=0.7,b=0.2)"
    other = dataset(index, queries, qrels, features="letor3-ohsumed", by="bm25(k1=0.7,b=0.2)").info
    assert "first_stage" not in other
    assert default_methods("podium, bm25f") == METHODS
    assert default_methods("letor3-ohsumed") == METHODS[1:]


def test_features_without_the_first_stage_are_compared_by_default_too(made):
    index, queries, qrels = made
    found = compare_search(index, queries, qrels, features="length,bm25(field=title)", depth=20, folds=3)
    assert list(dict.fromkeys(outcome.method for outcome in found.outcomes)) == [FIRST, TUNED, METHODS[1]]


def test_a_query_without_candidates_is_left_out(made):
    index, queries, qrels = made
    qrels = {**qrels, "none": {"d0": 1.0}}
    data = dataset(index, [Topic("none", "unheard"), queries[0]], qrels, features="bm25")
    assert data.query_ids.tolist() == [queries[0].id]
    with pytest.raises(DataError, match="no query has a candidate"):
        dataset(index, [Topic("none", "unheard")], qrels, features="bm25")


def test_queries_without_a_judgment_are_left_out_unless_they_are_kept(made):
    index, queries, _ = made
    qrels = {queries[0].id: {"d0": 0.0}, queries[2].id: {"d1": 1.0}}
    data = dataset(index, queries, qrels, features="bm25", depth=5)
    assert data.query_ids.tolist() == [queries[0].id, queries[2].id]
    kept = dataset(index, queries, qrels, features="bm25", depth=5, keep_unjudged=True)
    assert kept.n_queries == len(queries)
    assert dataset(index, queries, features="bm25", depth=5).n_queries == len(queries)
    with pytest.raises(DataError, match=r"no query has a judgment.*'q0' ….*'other' ….*ids of queries agree"):
        dataset(index, queries, {"other": {"d0": 1.0}}, features="bm25")


@pytest.mark.parametrize("name", ["train.txt", "train.txt.gz", "train.parquet"])
def test_files_keep_what_the_features_are(made, tmp_path, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    index, queries, qrels = made
    wanted = read_features(FEATURES, index)
    target = str(tmp_path / name)
    about = info(index, BM25(), 10, wanted)
    written = write_features(rows_of(index, queries, qrels, wanted, 10), target, features=wanted, about=about)
    read, expected = (
        podium.read_data(target),
        dataset(index, queries, qrels, features=FEATURES, depth=10, keep_unjudged=True),
    )
    assert written == expected.n_documents
    np.testing.assert_array_equal(read.features, expected.features)
    np.testing.assert_array_equal(read.labels, expected.labels)
    assert read.feature_names == expected.feature_names
    assert read.document_ids.tolist() == expected.document_ids.tolist()
    assert dict(read.info) == expected.info


def test_a_damaged_file_of_names_is_refused(made, tmp_path):
    index, queries, qrels = made
    wanted = read_features("bm25,length", index)
    target = str(tmp_path / "train.txt")
    write_features(rows_of(index, queries, qrels, wanted), target, features=wanted, about={})
    (tmp_path / "train.txt.features").write_text("{")
    with pytest.raises(DataError, match=r"train\.txt\.features: expected JSON"):
        podium.read_letor(target)
    (tmp_path / "train.txt.features").write_text(json.dumps({"features": ["bm25"]}))
    with pytest.raises(DataError, match="1 names for 2 features"):
        podium.read_letor(target)


def test_an_engine_ranks_by_the_features_its_model_was_trained_on(made, tmp_path):
    index, queries, qrels = made
    data = dataset(index, queries, qrels, features=FEATURES, depth=30)
    model = podium.train(data, "listnet")
    model.save(tmp_path / "m.podium")
    engine = podium.Engine(index, tmp_path / "m.podium")
    part = data.select([3])
    answer = engine.search(queries[3].text, 5, explain=True)
    best = np.argsort(-model.score(part), kind="stable")[:5]
    assert answer.ids == part.document_ids[best].tolist()
    np.testing.assert_allclose(answer.scores, model.score(part)[best])
    np.testing.assert_array_equal(answer.features, part.features[best])
    assert answer.first_stage.tolist() == (best + 1).tolist()
    differences = answer.shares.sum(axis=1) - answer.shares.sum(axis=1)[0]
    np.testing.assert_allclose(differences, answer.scores - answer.scores[0], atol=1e-5)
    assert len(engine.search("unheard", 5)) == 0
    for k in (0, -1, 1.5, True, "3"):
        with pytest.raises(ParameterError, match="k must be a whole number of at least 1"):
            engine.search(queries[3].text, k)
        with pytest.raises(ParameterError, match="depth must be a whole number of at least 1"):
            podium.Engine(index, model, depth=k)


def test_an_index_that_does_not_fit_the_model_is_refused_in_words(made, tmp_path):
    index, queries, qrels = made
    model = podium.train(dataset(index, queries, qrels, features="bm25,length(field=title)"), "listnet")
    documents, _, _ = collection()
    other = Index.create(tmp_path / "other.index", documents, analyser="analyser(stem=false)")
    with pytest.raises(IncompatibleError, match="analyser"):
        podium.Engine(other, model)
    other.close()
    fewer = Index.create(tmp_path / "fewer.index", documents, fields=["text"])
    with pytest.raises(IncompatibleError, match="fields"):
        podium.Engine(fewer, model)
    fewer.close()
    plain, _ = podium.make_letor_like(20, seed=1)
    with pytest.raises(IncompatibleError, match="not trained on features of an index"):
        podium.Engine(index, podium.train(plain, "listnet"))


def test_features_are_asked_for_by_name_or_set(made):
    index, _, _ = made
    assert len(read_features("podium", index)) > 40
    with pytest.raises(ParameterError, match="Did you mean 'bm25'"):
        read_features("bm52", index)
    with pytest.raises(ParameterError, match="twice"):
        read_features("bm25,bm25", index)


def test_comparison_is_against_all_judgments_and_finds_what_was_planted(made):
    index, queries, qrels = made
    found = compare_search(
        index, queries, qrels, ["listnet"], features="bm25,bm25(field=title),covered(field=title)", depth=20, folds=3
    )
    means = {name: found.mean(name) for name in found.by_method}
    assert list(found.by_method) == [FIRST, TUNED, "listnet"]
    assert means["listnet"][0] > means[FIRST][0]  # only titles matter
    run = {}
    for topic in queries:
        hits = index.search(topic.text, 20)
        run[topic.id] = dict(zip(hits.ids, hits.scores.tolist(), strict=True))
    judged = podium.evaluate_run(qrels, run, "ndcg@10", all_queries=True)
    pooled = found.pooled(FIRST)[0].value
    assert pooled == pytest.approx(judged.means()["ndcg@10"].value, abs=1e-12)


def test_other_first_stages_are_rows_of_a_comparison(made):
    index, queries, qrels = made
    stages = ["bm25(variant=plus)", "rrf(of=[bm25,rm3])"]
    table = compare_search(index, queries, qrels, stages, features="bm25", depth=20, folds=3)
    assert list(table.by_method) == [FIRST, TUNED, *stages]
    for stage in stages:
        run = {}
        for topic in queries:
            hits = index.search(topic.text, 20, by=stage)
            run[topic.id] = dict(zip(hits.ids, hits.scores.tolist(), strict=True))
        measured = podium.evaluate_run(qrels, run, "ndcg@10", all_queries=True).means()["ndcg@10"].value
        assert table.pooled(stage)[0].value == pytest.approx(measured, abs=1e-12)


def test_too_few_judged_queries_are_refused(made):
    index, queries, qrels = made
    with pytest.raises(DataError, match="folds need at least"):
        compare_search(index, queries[:3], qrels, ["listnet"])


def test_ids_may_be_numbers_and_what_is_no_query_or_judgment_is_refused(made):
    index, queries, qrels = made
    numbered = [{"id": k, "text": topic.text} for k, topic in enumerate(queries)]
    judged = {k: qrels[topic.id] for k, topic in enumerate(queries) if topic.id in qrels}
    one, two = dataset(index, numbered, judged, features="bm25"), dataset(index, queries, qrels, features="bm25")
    np.testing.assert_array_equal(one.labels, two.labels)
    assert one.labels.any()
    for wrong in ({"q1": "words"}, ["words"], {"id": "1", "text": "words"}, [{"id": "1"}], [{"text": "words"}]):
        with pytest.raises(DataError, match="query 1: expected a dict such as"):
            dataset(index, wrong, qrels, features="bm25")
    for wrong in ([], queries, {"q1": 1.0}):
        with pytest.raises(DataError, match=r"expected (Qrels or )?a dictionary"):
            dataset(index, queries, wrong, features="bm25")
