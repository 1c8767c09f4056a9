"""Dialects: requests as other servers' clients send them, answered as those clients read them."""

import json

import numpy as np
import pytest

import podium

X = np.array([[1.5, 0.25, 3.0], [0.5, 2.0, 1.0], [-1.0, 0.0, 4.0]], np.float32)
OBJECTS = [{"id": f"D{k}", "features": [float(v) for v in row]} for k, row in enumerate(X)]


@pytest.fixture
def scores(models):
    return podium.load(models / "web.podium").score(X)


@pytest.mark.parametrize("path", ["/rerank", "/v1/rerank", "/v2/rerank"])
def test_a_rerank_request_of_cohere_is_answered_best_first_with_places_in_the_input(client, scores, path):
    # what Cohere's client of version 2 sends: texts only, and options that mean nothing here
    body = {"model": "default", "query": "heat", "documents": [json.dumps(one) for one in OBJECTS], "top_n": 2,
            "max_tokens_per_doc": 4096}  # fmt: skip
    found = client("POST", path, body).json
    best = np.argsort(-scores, kind="stable")[:2]
    assert [one["index"] for one in found["results"]] == best.tolist()
    assert [one["relevance_score"] for one in found["results"]] == scores[best].tolist()
    assert set(found) == {"id", "results", "meta"}
    assert "document" not in found["results"][0]


def test_objects_come_back_where_they_are_asked_for(client):
    found = client("POST", "/v1/rerank", {"query": "q", "documents": OBJECTS, "return_documents": True}).json
    assert all(one["document"] == OBJECTS[one["index"]] for one in found["results"])
    texts = [json.dumps(one) for one in OBJECTS]
    found = client("POST", "/v1/rerank", {"query": "q", "documents": texts, "return_documents": True}).json
    assert all(one["document"] == {"text": texts[one["index"]]} for one in found["results"])


def test_tei_gets_a_bare_list(client, scores):
    texts = [json.dumps(one) for one in OBJECTS]
    found = client("POST", "/rerank", {"query": "q", "texts": texts, "raw_scores": True, "return_text": True}).json
    assert {one["index"]: one["score"] for one in found} == dict(enumerate(scores.tolist()))
    assert all(one["text"] == texts[one["index"]] for one in found)
    squashed = client("POST", "/rerank", {"query": "q", "texts": texts}).json
    assert [one["index"] for one in squashed] == [one["index"] for one in found]
    assert all(0 < one["score"] < 1 for one in squashed)


@pytest.mark.parametrize(
    "documents", [["plain text"], ["3"], ["[]"], [{"text": "plain"}], [json.dumps({"features": "x"})], ["[[[["]]
)
def test_texts_are_refused_with_what_to_send_instead(client, documents):
    found = client("POST", "/rerank", {"query": "q", "documents": documents})
    assert found.status == 422
    assert "ranks features, not texts" in found.json["detail"]
    assert client("POST", "/rerank", {"query": "q"}).status == 422


def test_kserve_describes_the_server_and_its_models(client):
    assert client("GET", "/v2").json["name"] == "podium"
    assert client("GET", "/v2/health/live").status == client("GET", "/v2/health/ready").status == 200
    for path in ("/v2/models/web", "/v2/models/web/versions/1", "/v2/models/default", "/v2/models/web/ready"):
        about = client("GET", path).json
        assert about["inputs"][0] == {"name": "features", "datatype": "FP32", "shape": [-1, 3]}
        assert about["versions"] == ["1"]
    assert client("GET", "/v2/models/web/versions/2").status == 404


@pytest.mark.parametrize("data", [X.ravel().tolist(), X.tolist()])
def test_kserve_gets_scores_in_the_order_of_the_request(client, scores, data):
    tensor = {"name": "features", "shape": [3, 3], "datatype": "FP32", "data": data}
    found = client("POST", "/v2/models/web/infer", {"id": "7", "inputs": [tensor]}).json
    assert (found["model_name"], found["model_version"], found["id"]) == ("web", "1", "7")
    assert found["outputs"] == [{"name": "score", "shape": [3], "datatype": "FP64", "data": scores.tolist()}]
    qid = {"name": "qid", "shape": [3], "datatype": "INT64", "data": [2, 1, 2]}
    apart = client("POST", "/v2/models/web/infer", {"inputs": [tensor, qid]}).json
    assert apart["outputs"][0]["data"] == scores.tolist()  # a linear model scores each row alone


@pytest.mark.parametrize(
    "changed",
    [
        {"shape": [2, 3]},
        {"shape": [9]},
        {"datatype": "BOOL"},
        {"data": [1.0] * 8 + ["x"]},
        {"data": [[1.0], [2.0, 3.0]]},
        {"data": [1e300] * 9},
        {"data": [None] * 9, "datatype": "INT64", "name": "qid"},
    ],
)
def test_a_tensor_that_does_not_fit_is_refused(client, changed):
    tensor = {"name": "features", "shape": [3, 3], "datatype": "FP32", "data": [0.0] * 9, **changed}
    found = client("POST", "/v2/models/web/infer", {"inputs": [tensor]})
    assert (found.status, found.headers["content-type"]) == (422, "application/problem+json")
