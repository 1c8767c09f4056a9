"""POST /v1/rank: the model's own scores and odds, whatever the body is made of; every wrong body is explained."""

import io
import json
from dataclasses import replace

import msgspec
import numpy as np
import pyarrow as pa
import pytest

import podium
from podium.base.errors import IncompatibleError
from podium.data.triples import Triples
from podium.service.rank_request import json_matrix
from podium.testing.examples import linear_data

X = np.array([[1.5, 0.25, 3.0], [0.5, 2.0, 1.0], [1.5, 0.25, 3.0], [-1.0, 0.0, 4.0]], np.float32)
NPY, ARROW = "application/x-npy", "application/vnd.apache.arrow.stream"


def documents(rows=X):
    return [{"id": f"D{k}", "features": [float(v) for v in row]} for k, row in enumerate(rows)]


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def arrow(columns):
    table = pa.table(columns)
    file = io.BytesIO()
    with pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
    return file.getvalue()


def test_an_answer_has_the_scores_of_the_model_best_first_and_ties_share_a_rank(client, models):
    found = client("POST", "/v1/rank", {"documents": documents(), "query": "q"})
    scores = podium.load(models / "web.podium").score(X)
    best = sorted(range(4), key=lambda k: -scores[k])  # stable: ties as in the request
    results = found.json["results"]
    assert found.status == 200
    assert [one["index"] for one in results] == best
    assert [one["id"] for one in results] == [f"D{k}" for k in best]
    assert [one["score"] for one in results] == [float(scores[k]) for k in best]
    ranks = {one["id"]: one["rank"] for one in results}
    assert ranks["D0"] == ranks["D2"]
    assert sorted(set(ranks.values())) == [1, 2, 3]
    assert found.json["model"] == "web@1"
    assert found.json["request"] == found.headers["x-request-id"]


@pytest.mark.parametrize("model", ["web", "trees", "plain@1"])
def test_every_form_of_body_gives_the_same_results(client, model):
    names = ["bm25", "title", "age"] if model != "plain@1" else ["1", "2", "3"]
    plain = client("POST", "/v1/rank", {"model": model, "documents": [{"features": r.tolist()} for r in X]}).json
    by_name = [{"features": dict(zip(names, map(float, r), strict=True))} for r in X]
    turned = [{"features": r[::-1].tolist()} for r in X]
    columns = {name: X[:, l] for l, name in enumerate(names)}
    answers = [
        client("POST", "/v1/rank", {"model": model, "documents": by_name}),
        client("POST", "/v1/rank", {"model": model, "features": names[::-1], "documents": turned}),
        client("POST", f"/v1/rank?model={model}", npy(X), content_type=NPY),
        client("POST", f"/v1/rank?model={model}", npy(X.astype(np.float64)), content_type=NPY),
        client("POST", f"/v1/rank?model={model}", arrow(columns), content_type=ARROW),
    ]
    for one in answers:
        assert one.json["results"] == plain["results"]


def test_the_same_request_gives_the_same_bytes_but_for_its_id_and_time(client):
    bodies = []
    for _ in range(2):
        found = client("POST", "/v1/rank", {"documents": documents(), "odds": True, "explain": True}).json
        bodies.append(json.dumps({key: found[key] for key in found if key not in ("request", "took_ms")}))
    assert bodies[0] == bodies[1]


def test_k_cuts_the_answer_and_odds_are_those_of_all_documents(client, models):
    found = client("POST", "/v1/rank", {"documents": documents(), "k": 2, "odds": True}).json
    odds = podium.load(models / "web.podium").distribution(X)
    assert len(found["results"]) == 2
    for one in found["results"]:
        assert one["p_first"] == pytest.approx(float(odds[0].first[one["index"]]), rel=1e-12)
        assert one["rank_interval"] == odds[0].interval(0.9)[one["index"]].tolist()
    assert found["odds"] == odds.how


def test_a_missing_name_or_null_is_a_missing_value(client, models):
    holes = X.copy()
    holes[0, 1] = holes[1, 0] = np.nan
    rows = [{"features": {"bm25": 1.5, "age": 3.0}}, {"features": [None, 2.0, 1.0]}, *documents()[2:]]
    found = client("POST", "/v1/rank", {"model": "trees", "documents": rows}).json
    scores = podium.load(models / "trees.podium").score(holes)
    assert {one["index"]: one["score"] for one in found["results"]} == dict(enumerate(scores.tolist()))


def test_a_batch_has_an_answer_for_each_query(client):
    one = {"documents": documents(X[:2])}
    batch = client("POST", "/v1/rank", {"queries": [one, {**one, "model": "trees"}, {"documents": []}]})
    answers = batch.json["answers"]
    assert [len(answer["results"]) for answer in answers] == [2, 2, 0]
    assert [answer["model"] for answer in answers] == ["web@1", "trees@1", "web@1"]
    assert len({answer["request"] for answer in answers}) == 3
    assert answers[0]["results"] == client("POST", "/v1/rank", one).json["results"]


def test_arrow_with_query_ids_is_a_batch(client):
    body = arrow({"bm25": X[:, 0], "age": X[:, 2], "id": ["a", "b", "c", "d"], "qid": [7, 7, 8, 7]})
    answers = client("POST", "/v1/rank?model=trees", body, content_type=ARROW).json["answers"]
    assert [sorted(one["id"] for one in answer["results"]) for answer in answers] == [["a", "b", "d"], ["c"]]


def test_many_documents_are_ranked_in_a_thread_with_the_same_scores(client, models):
    many = np.random.default_rng(0).normal(size=(3000, 3)).astype(np.float32)
    found = client("POST", "/v1/rank", npy(many), content_type=NPY).json["results"]
    scores = podium.load(models / "web.podium").score(many)
    assert [one["score"] for one in found] == sorted(scores.tolist(), reverse=True)


def test_explain_takes_scores_and_pairs_apart(client):
    shown = client("POST", "/v1/rank", {"documents": documents(), "explain": True}).json
    assert shown["shares"].startswith("weight × difference")
    mean = sum(one["score"] for one in shown["results"]) / 4
    for one in shown["results"]:
        assert sum(one["shares"].values()) == pytest.approx(one["score"] - mean, abs=1e-5)
    why = client("POST", "/v1/explain", {"documents": documents(), "pair": ["D1", "D3"]}).json
    assert sum(one["share"] for one in why["features"]) == pytest.approx(why["difference"])
    assert {one["document"] for one in why["documents"]} == {"D1", "D3"}
    assert set(why["flip"]) >= {"feature", "from", "to"}


WRONG = [
    ({"documents": [{"features": {"bm52": 1.0}}]}, 422, "Did you mean 'bm25'"),
    ({"documents": [{"features": [1.0, 2.0]}]}, 422, "2 numbers, but web@1 has 3"),
    ({"documents": [{"features": [1.0, 2.0, 1e300]}]}, 422, "too large"),
    ({"documents": [{"features": [1.0, 2.0, "3"]}]}, 422, "$.documents[0].features"),
    ({"documents": [{"features": [1, 2, 3], "id": "a"}] * 2}, 422, "two documents have the id 'a'"),
    ({"documents": [], "model": "webb"}, 404, "Did you mean 'web@1'"),
    ({"documents": [], "features": ["bm25", "bm25", "age"]}, 422, "twice"),
    ({"documents": [], "features": ["bm25", "x", "age"]}, 422, "No feature 'x'"),
    ({"documents": [], "wanted": 1}, 422, "wanted"),
    ({"documents": [], "k": 0}, 422, "$.k"),
    ({"documents": [{"features": [0, 0, 0]}] * 10_001}, 413, "at most 10000"),
    ({"queries": [{"documents": 3}]}, 422, "$.queries[0].documents"),
    ({}, 422, "documents"),
    ([], 422, "object"),
]


@pytest.mark.parametrize(("body", "status", "words"), WRONG)
def test_a_wrong_request_is_told_what_is_wrong(client, body, status, words):
    found = client("POST", "/v1/rank", body)
    assert (found.status, found.headers["content-type"]) == (status, "application/problem+json")
    assert found.json["status"] == status
    assert words in found.json["detail"]


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b'{"documents": [{"features": [NaN, 1, 2]}]}', "application/json", 400),
        (b'{"documents": [', "application/json", 400),
        (b"[" * 200_000, "application/json", 422),
        (b"\xff\xfe", "application/json", 400),
        (b"", "application/json", 400),
        (b"{}", "text/plain", 415),
        (b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", NPY, 400),
        (npy(X)[:-3], NPY, 400),
        (npy(np.asfortranarray(X)), NPY, 400),
        (npy(X[0]), NPY, 422),
        (npy(X[:, :2]), NPY, 422),
        (npy(np.full((1, 3), np.inf, np.float32)), NPY, 422),
        (arrow({"bm25": X[:, 0]})[:40], ARROW, 400),
        (arrow({"nope": X[:, 0]}), ARROW, 422),
        (arrow({"bm25": ["a"]}), ARROW, 422),
    ],
)
def test_a_body_that_cannot_be_read_is_the_clients_fault(client, body, kind, status):
    found = client("POST", "/v1/rank", body, content_type=kind)
    assert (found.status, found.headers["content-type"]) == (status, "application/problem+json"), found.content


def test_a_parameter_of_a_binary_body_is_checked(client):
    assert len(client("POST", "/v1/rank?k=2", npy(X), content_type=NPY).json["results"]) == 2
    for query in ("k=0", "k=x", "wanted=1", "odds=maybe"):
        assert client("POST", f"/v1/rank?{query}", npy(X), content_type=NPY).status == 422


def test_a_model_without_odds_ranks_without_them_and_says_why(client):
    found = client("POST", "/v1/rank", {"model": "trees", "documents": documents(), "odds": True})
    plain = client("POST", "/v1/rank", {"model": "trees", "documents": documents()})
    assert found.status == 200
    assert found.json["results"] == plain.json["results"]
    assert found.json["odds"] is None
    assert "validation data" in found.json["odds_note"]
    assert not {"odds", "odds_note"} & plain.json.keys()


def test_queries_of_the_data_given_at_start_can_be_looked_up(start, models, tmp_path):
    data, _ = podium.make_letor_like(12, (5, 6), n_features=4, seed=2)
    data = data.with_features(np.ascontiguousarray(data.features[:, :3]), None)
    podium.write_letor(data, tmp_path / "test.txt")
    client = start(models=(str(models / "plain.podium"),), data=str(tmp_path / "test.txt"))
    found = client("GET", "/v1/queries?search=1").json
    assert found["total"] == sum("1" in data.query_name(q) for q in range(12))
    one = client("GET", f"/v1/queries/{found['queries'][0]}").json
    ranked = client("POST", "/v1/rank", {"features": one["features"], "documents": one["documents"]})
    assert ranked.status == 200
    assert len(one["grades"]) == len(ranked.json["results"])
    assert client("GET", "/v1/queries/nope").status == 404


def test_the_same_request_is_answered_alike_however_its_numbers_are_read(start, models):
    client = start(models=(str(models / "web.podium"),))
    rows = np.random.default_rng(1).standard_normal((20, 3)).astype(np.float32).astype(float)
    lists = {"documents": [{"id": f"D{k}", "features": row} for k, row in enumerate(rows.tolist())]}
    named = {"documents": [{"id": f"D{k}", "features": dict(zip(("bm25", "title", "age"), row, strict=True))}
                           for k, row in enumerate(rows.tolist())]}  # fmt: skip
    turned = {**lists, "features": ["age", "title", "bm25"],
              "documents": [{"id": f"D{k}", "features": row[::-1]} for k, row in enumerate(rows.tolist())]}  # fmt: skip
    answers = [client("POST", "/v1/rank", json.dumps(one).encode(), content_type="application/json").json["results"]
               for one in (lists, named, turned)]  # fmt: skip
    batch = client("POST", "/v1/rank", {"queries": [lists]}).json["answers"][0]["results"]
    assert answers[0] == answers[1] == answers[2] == batch


@pytest.mark.parametrize("value", ["16777217", "-0", "-0.0", "1.00000005960464477", "33554435.0", "1e-46", "null"])
def test_numbers_are_decoded_as_doubles_and_rounded_once(client, value):
    entry = client.app.state.podium.models.current.find("web")
    found = json_matrix([msgspec.Raw(f"[{value}, 1, 2]".encode())], msgspec.UNSET, entry)[0, 0]
    expected = np.float32(np.nan if value == "null" else np.float64(float(json.loads(value))))
    assert found.view(np.uint32) == expected.view(np.uint32)


@pytest.mark.parametrize("method", ["c-crf", "regression(transform=neighbours)"])
def test_a_model_that_needs_links_is_refused_in_words_and_one_of_similar_documents_ranks(method, start, tmp_path):
    data = linear_data(8, 6)
    linked = replace(data, relations=Triples.from_rows([[[0, 1, 1.0], [1, 2, 1.0]]] * 8))
    podium.train(linked, method).save(tmp_path / "linked.podium")
    podium.train(data, method).save(tmp_path / "similar.podium")
    served = start(models=(str(tmp_path / "similar.podium"),))
    assert served("POST", "/v1/rank", {"documents": documents()}).status == 200
    with pytest.raises(IncompatibleError, match=r"but a request to the service has none.*<data>\.relations"):
        start(models=(str(tmp_path / "linked.podium"),))
