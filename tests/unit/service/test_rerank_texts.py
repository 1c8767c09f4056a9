"""POST /rerank with plain texts, as clients of Cohere, Jina and TEI send them: ranked as the library ranks them."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import podium
from podium.text.retrieval.candidates import dataset

WORDS = ["heat", "transfer", "slabs", "steel", "flow", "wing", "shock", "wave"]
TEXTS = ["steel slabs", "the flow of heat in steel", "a wing", "", "heat heat heat"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """An index, and two models that were trained on its features."""
    folder = tmp_path_factory.mktemp("texts")
    rng = np.random.default_rng(3)
    documents = [{"id": f"d{k}", "title": WORDS[k % 8], "text": " ".join(rng.choice(WORDS, 6))} for k in range(40)]
    index = podium.Index.create(folder / "my.index", documents)
    queries = [{"id": f"q{k}", "text": f"{WORDS[k]} in {WORDS[(k + 3) % 8]}"} for k in range(8)]
    qrels = {f"q{k}": {f"d{k}": 2.0, f"d{k + 8}": 1.0} for k in range(8)}
    data = dataset(index, queries, qrels, features="bm25,length,span", depth=20)
    podium.train(data, "listnet(iterations=5)").save(folder / "engine.podium")
    podium.train(data, "mcrank(rounds=3)").save(folder / "grades.podium")
    index.close()
    return folder


@pytest.fixture
def client(start, files, models):
    names = (files / "engine.podium", files / "grades.podium", models / "web.podium")
    return start(index=str(files / "my.index"), models=tuple(map(str, names)))


@pytest.fixture
def ranked(files):
    index = podium.Index.open(files / "my.index")
    yield podium.TextRanker(index, files / "engine.podium").rank("heat in steel", TEXTS)
    index.close()


@pytest.mark.parametrize("path", ["/rerank", "/v1/rerank", "/v2/rerank"])
@pytest.mark.parametrize("form", [str, lambda text: {"text": text}])
def test_texts_are_ranked_as_the_library_ranks_them(client, ranked, path, form):
    body = {"query": "heat in steel", "documents": [form(text) for text in TEXTS], "top_n": 3, "model": "engine"}
    reply = client("POST", path, body).json
    assert [(one["index"], one["relevance_score"]) for one in reply["results"]] == [text[:2] for text in ranked[:3]]
    assert reply["meta"] == {"model": "engine@1"}


def test_tei_gets_a_list_with_texts_if_it_asks_for_them(client, ranked):
    body = {"query": "heat in steel", "texts": TEXTS, "raw_scores": True, "return_text": True}
    assert client("POST", "/rerank", body).json == [
        {"index": text.position, "score": text.score, "text": TEXTS[text.position]} for text in ranked
    ]


def test_objects_have_the_fields_of_the_index(client, files):
    record = {"title": "heat", "text": "steel slabs", "more": {"x": [1]}}
    reply = client("POST", "/rerank", {"query": "heat", "documents": [record, "steel"], "return_documents": True}).json
    assert reply["results"][0]["document"] == record
    index = podium.Index.open(files / "my.index")
    score = podium.TextRanker(index, files / "engine.podium").rank("heat", [record])[0].score
    index.close()
    assert reply["results"][0]["relevance_score"] == score


def test_calibrated_is_the_probability_of_the_best_grade_where_one_is_fitted(client):
    body = {"query": "heat in steel", "documents": TEXTS, "calibrated": True, "model": "grades"}
    chances = [one["relevance_score"] for one in client("POST", "/rerank", body).json["results"]]
    assert all(0.0 < chance < 1.0 for chance in chances)
    tei = client("POST", "/rerank", {"query": "heat in steel", "texts": TEXTS, "calibrated": True, "model": "grades"})
    assert [one["score"] for one in tei.json] == chances
    refusal = client("POST", "/rerank", {**body, "model": "engine"})
    assert refusal.status == 422
    assert "mcrank" in refusal.json["detail"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"query": "q", "documents": TEXTS, "model": "rerank-v3.5"}, 404),
        ({"query": "q", "documents": [3]}, 422),
        ({"query": "q", "documents": [None, "x"]}, 422),
        ({"query": "q", "documents": [{"text": {}}]}, 422),
        ({"query": "q", "documents": ["x"], "top_n": 0}, 422),
        ({"documents": ["x"]}, 422),
        ({"query": "q", "documents": ["x", "y" * 1_000_001]}, 413),
        ({"query": "q", "documents": ["x"] * 10_001}, 413),
        ({"query": "q", "documents": ["y" * 999_000] * 5}, 413),
        ({"query": "q", "documents": ["plain"], "model": "web"}, 422),
    ],
)
def test_errors_have_the_fields_that_clients_of_each_dialect_read(client, body, status):
    reply = client("POST", "/v1/rerank", body)
    assert reply.status == status
    assert reply.json["message"] == reply.json["detail"] == reply.json["error"]
    assert reply.json["error_type"] == "Validation"


VALUES = st.none() | st.integers() | st.text(max_size=20) | st.floats(allow_nan=False, allow_infinity=False)
RECORDS = st.dictionaries(st.sampled_from(["title", "text", "vector", "id", "links", "year", "features"]), VALUES)


@settings(max_examples=40, suppress_health_check=list(HealthCheck), deadline=None, derandomize=True)
@given(st.lists(st.text(max_size=30) | RECORDS | VALUES, max_size=4), st.text(max_size=30))
def test_lists_of_anything_are_ranked_or_refused(client, documents, query):
    reply = client("POST", "/rerank", {"query": query, "documents": documents})
    assert reply.status in (200, 422), reply.content


@pytest.mark.parametrize(
    "text", ["", "\ud800", "\0", "a" * 999_000, "é東京 " * 1000, "x " * 100_000, '{"features": 3}']
)
def test_any_text_is_ranked(client, text):
    body = json.dumps({"query": text[:4000], "documents": ["heat", text]}).encode()
    reply = client("POST", "/rerank", body, content_type="application/json")
    assert reply.status == (400 if "\ud800" in text else 200)


def test_no_text_is_ranked_as_an_empty_list_and_features_are_still_taken(client):
    assert client("POST", "/rerank", {"query": "q", "documents": []}).json["results"] == []
    rows = [{"features": [1.0, 2.0, 0.5]}, {"features": [3.0, 2.0, 0.5]}]
    assert len(client("POST", "/rerank", {"query": "q", "documents": rows}).json["results"]) == 2
