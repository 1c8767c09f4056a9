"""Features that search engines logged, as their documentation shows them."""

import io
import json
import math

import numpy as np
import pytest

import podium
from engine_answers import write_log
from podium.base.errors import DataError
from podium.export import export
from podium.formats.engines.engine_answers import read_answer
from podium.formats.engines.logged_features import read_logged_features
from podium.formats.query_texts import QueryTexts
from reference.engines import ENGINES

NAN = math.nan


def log_of(*records, **options):
    lines = "\n".join(json.dumps(record) for record in records)
    return read_logged_features(io.BytesIO(lines.encode()), **options)


def hit(id, *entries, log="log_entry1"):
    return {"_id": id, "_score": 1.5, "fields": {"_ltrlog": [{log: list(entries)}]}}


def entry(name, value):
    return {"name": name, "value": value}


def answered(query, *hits):
    return {"query": query, "response": {"timed_out": False, "hits": {"hits": list(hits)}}}


def vespa(*hits):
    return {"query": "q", "root": {"children": list(hits)}}


def test_an_answer_of_the_ltr_plugins():
    log = log_of(
        answered("q1", hit("A", {"name": "title"}, entry("text", 10.5)), hit("B", entry("title", 2))),
        answered("q2", hit("A", entry("new", 0.0))),
    )  # fmt: skip
    assert log.engine == "elasticsearch"
    assert log.names == ("title", "text", "new")
    table = log.table()
    np.testing.assert_array_equal(
        table.features, np.array([[NAN, 10.5, NAN], [2, NAN, NAN], [NAN, NAN, 0]], np.float32)
    )
    assert table.document_ids.tolist() == ["A", "B", "A"]
    assert table.query_ids.tolist() == ["q1", "q2"]
    assert table.info == {"engine": "elasticsearch", "missing": "nan"}
    assert log.unlogged() == pytest.approx(6 / 9)


def test_missing_values_are_zero_if_asked_for_and_in_solr_where_they_are_left_out():
    zero = log_of(answered("q1", hit("A", {"name": "title"}, entry("text", 3))), missing="zero")
    assert zero.table().features.tolist() == [[0.0, 3.0]]
    sparse = {
        "query": 7,
        "response": {"response": {"docs": [{"id": 5, "[features]": "a=1.5"}, {"id": 6, "[features]": "b=-2e3"}]}},
    }
    assert log_of(sparse).table().features.tolist() == [[1.5, 0.0], [0.0, -2000.0]]
    np.testing.assert_array_equal(log_of(sparse, missing="nan").table().features, [[1.5, NAN], [NAN, -2000.0]])
    assert log_of(sparse).table().query_ids.tolist() == ["7"]


def test_what_solr_logs_as_nan_is_missing_and_not_zero():
    """A feature of the default NaN, as export writes those that trees tell from 0: the engine's trees see NaN."""
    docs = [{"id": "a", "[features]": "stars=NaN,bm25=1.5"}, {"id": "b", "[features]": "stars=4.0"}]
    record = {"query": "q", "response": {"docs": docs}}
    np.testing.assert_array_equal(log_of(record).table().features, [[NAN, 1.5], [4.0, 0.0]])
    assert log_of(record).unlogged() == pytest.approx(1 / 4)
    assert log_of(record, missing="zero").table().features.tolist() == [[0.0, 1.5], [4.0, 0.0]]


def test_an_answer_of_vespa_that_leaves_documents_out_is_refused_unless_its_rank_profile_asks_for_it():
    def covered(**coverage):
        record = vespa({"id": "a", "fields": {"matchfeatures": {"x": 1.0}}})
        record["root"]["coverage"] = {"coverage": 52, "full": False, **coverage}
        return record

    degraded = {"match-phase": False, "timeout": True, "adaptive-timeout": False, "non-ideal-state": False}
    with pytest.raises(DataError, match=r"not whole: root.coverage is 52 % \(timeout\)"):
        log_of(covered(degraded=degraded))
    with pytest.raises(DataError, match=r"not whole: root.coverage is 52 %\."):
        log_of(covered())
    limited = covered(degraded={**degraded, "match-phase": True, "timeout": False})
    assert [document.id for document in log_of(limited).documents["q"]] == ["a"]


def test_scores_of_named_queries_are_features():
    named = {"_id": "A", "_score": 3.0, "matched_queries": {"title_bm25": 2.0, "popularity": 0.5}}
    assert log_of(answered("q", named)).rows("q").features.tolist() == [[2.0, 0.5]]


def test_names_of_solr_may_have_commas_and_signs():
    text = "bm25(field=title,k1=0.9)=1.25,length(field=text)=-7,x=NaN"
    log = log_of({"query": "q", "response": {"docs": [{"id": "d", "[features]": text}]}}, missing="nan")
    assert log.names == ("bm25(field=title,k1=0.9)", "length(field=text)", "x")
    np.testing.assert_array_equal(log.table().features, [[1.25, -7.0, NAN]])


def test_ids_of_vespa_are_those_that_the_user_gave():
    fields = {
        "matchfeatures": {"bm25(title)": 1.0},
        "summaryfeatures": {"vespa.summaryFeatures.cached": 0, "age": None},
    }
    hits = [
        {"id": "id:shop:product::a:7", "relevance": 0.5, "fields": {**fields, "sku": "S1"}},
        {"id": "index:c/0/ff", "fields": fields},
    ]
    record = {"qid": "q", "root": {"children": hits}}
    log = log_of(record)
    assert log.names == ("bm25(title)", "age")
    assert [document.id for document in log.documents["q"]] == ["a:7", "index:c/0/ff"]
    assert [
        document.id for document in log_of({"qid": "q", "root": {"children": hits[:1]}}, id_field="sku").documents["q"]
    ] == ["S1"]
    assert (
        log_of({"qid": "q", "root": {"children": hits[:1]}}, id_field="id").documents["q"][0].id
        == "id:shop:product::a:7"
    )


def test_the_run_has_the_engines_scores_or_the_order():
    first = {
        "query": "q",
        "response": {
            "docs": [{"id": "b", "score": 2.5, "[features]": "x=1"}, {"id": "a", "score": 0.5, "[features]": "x=1"}]
        },
    }
    assert log_of(first).run().scores.tolist() == [2.5, 0.5]
    without = {"query": "q", "response": {"docs": [{"id": id, "[features]": "x=1"} for id in "bac"]}}
    run = log_of(without).run()
    assert run.document_ids.tolist() == ["b", "a", "c"]
    assert run.scores.tolist() == [3.0, 2.0, 1.0]


def test_pages_of_a_query_are_joined_and_the_same_again_is_kept_once():
    log = log_of(*(answered("q", hit(id, entry("x", 1.0))) for id in ("a", "b", "a")))
    assert [document.id for document in log.documents["q"]] == ["a", "b"]
    with pytest.raises(DataError, match=r"<data>:2: document 'a' was logged twice for query 'q', with other features"):
        log_of(*(answered("q", hit("a", entry("x", value))) for value in (1.0, 2.0)))


def test_a_printed_answer_over_several_lines_is_read():
    record = {"responseHeader": {"params": {"qid": "q9"}}, "response": {"docs": [{"id": "d", "[features]": "x=1"}]}}
    file = io.BytesIO(json.dumps(record, indent=2).encode())
    assert list(read_logged_features(file, query_field="responseHeader.params.qid").documents) == ["q9"]


def test_texts_of_queries_become_ids():
    queries = QueryTexts({"q1": "red shoes"})
    assert list(log_of(answered("Red  shoes", hit("a", entry("x", 1.0))), queries=queries).documents) == ["q1"]


@pytest.mark.parametrize(
    ("record", "says"),
    [
        (answered("q", hit("a", entry("x", 1.0), entry("x", 2.0))), "'x' has two values, 1.0 and 2.0"),
        (answered("q", {"_id": "a", "_score": 1.0}), "'a' of query 'q' has no logged features"),
        (answered("q", hit("a", entry("x", "1"))), "document 1: feature 'x' is '1'; a number"),
        (answered("q", hit("a", entry("x", True))), "feature 'x' is 'True'"),
        (answered("q", hit("a", entry("x", 1e39))), "a number within float32"),
        (answered("q", hit("a", {"value": 1.0})), "name must be text"),
        (answered("q", {"_id": "a", "fields": {"_ltrlog": [{"log": 3}]}}), "lists of {name, value}"),
        (answered("q", {"fields": {"_ltrlog": []}}), "a document without an id"),
        (answered("q", "a"), "document 1 is no object"),
        ({"response": {"docs": []}}, "no id of the query"),
        ({"query": {"match": {}}, "hits": {"hits": []}}, "no id of the query"),
        ({"query": "q", "documents": []}, "expected hits.hits .*there are 'query', 'documents'"),
        ({"error": {"type": "index_not_found_exception"}, "status": 404}, "answered with an error: .*index_not_found"),
        ({"query": "q", "hits": {"hits": []}, "timed_out": True}, "not whole: the search timed out"),
        ({"query": "q", "hits": {"hits": []}, "_shards": {"failed": 2}}, "not whole: 2 shards failed"),
        ({"query": "q", "response": {"docs": []}, "responseHeader": {"partialResults": True}}, "not whole"),
        ({"query": "q", "root": {"errors": [{"code": 8}]}}, "not whole: root.errors"),
        (vespa({"id": "group:root:0", "children": []}), "a group of documents"),
        (vespa({"id": "a", "fields": {"matchfeatures": {"t": {"type": "tensor"}}}}), "'t' is a tensor"),
        ({"query": "q", "response": {"docs": [{"id": "a", "[features]": "x:1;y:2"}]}}, "name=number, separated"),
        ({"query": "q", "response": {"docs": [{"id": "a", "[features]": "x=inf"}]}}, "name=number"),
        ({"query": "q", "root": {}}, "the answers have no features"),
        ([1], "expected an answer of a search engine"),
    ],
)  # fmt: skip
def test_what_is_no_log_is_refused_with_its_line(record, says):
    with pytest.raises(DataError, match=rf"^<data>.*{says}"):
        log_of(record)


def test_answers_of_two_engines_and_empty_files_are_refused():
    with pytest.raises(DataError, match="<data>:2: an answer of vespa among those of elasticsearch"):
        log_of(answered("q", hit("a", entry("x", 1.0))), {"query": "q", "root": {}})
    with pytest.raises(DataError, match="no answers"):
        read_logged_features(io.BytesIO(b"[]"))


def test_an_answer_of_an_old_plugin_has_values_by_name():
    old = {"_id": "1", "_score": 1.0, "fields": {"_ltrlog": {"log_entry1": {"a": 1.25, "b": 0}}}}
    assert read_answer(answered("q", old), "log:1").documents[0].features == {"a": 1.25, "b": 0.0}


def some_queries(n=30, missing=True):
    """Queries of documents whose features have gaps; the grade depends on two of them."""
    rng, names = np.random.default_rng(3), ("bm25(title)", "bm25(text)", "popularity")
    queries, grades = {}, {}
    for q in range(n):
        X = rng.gamma(2.0, 2.0, (8, 3)).astype(np.float32)
        X[rng.random(X.shape) < 0.2] = NAN if missing else 0.0
        queries[f"q{q}"] = [(f"d{q}-{k}", float(8 - k), row) for k, row in enumerate(X)]
        value = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 2])
        grades[f"q{q}"] = {f"d{q}-{k}": float(v > 6) + float(v > 10) for k, v in enumerate(value)}
    return names, queries, grades


@pytest.mark.parametrize("engine", ["elasticsearch", "opensearch", "solr", "vespa"])
@pytest.mark.parametrize("method", ["regression(transform=identity,scorer=trees,solver=boosting(rounds=5))", "listnet"])
def test_from_logged_features_to_a_model_whose_scores_the_engine_repeats(tmp_path, engine, method):
    linear = method == "listnet"
    names, queries, grades = some_queries(missing=not linear and engine != "solr")
    log = read_logged_features(write_log(tmp_path / "log.jsonl", engine, queries, names))
    data = log.table(grades)
    model = podium.train(data, method)
    target = {"elasticsearch": "elasticsearch-ltr", "opensearch": "opensearch-ltr"}.get(engine, engine)
    proof = export(model, target, tmp_path / "model", data=data)
    assert proof.holds
    raw = (tmp_path / "model").read_bytes()
    scored = {
        query: [(id, float(ENGINES[target](raw, dict(zip(names, row, strict=True)))), row) for id, _, row in documents]
        for query, documents in queries.items()
    }
    again = read_logged_features(write_log(tmp_path / "scored.jsonl", engine, scored, names))
    offset = model.score(data) - again.run().scores
    assert np.ptp(offset) <= 2 * proof.bound  # linear models of engines have no offset
    assert linear or np.abs(offset).max() <= proof.bound
    np.testing.assert_array_equal(again.table(grades).features, data.features)
