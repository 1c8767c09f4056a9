"""POST /v1/search: the index by BM25 or by a model, as the library finds and ranks; what is shown is kept."""

import numpy as np
import pytest

import podium
from podium.service.feedback.feedback_export import training_data
from podium.text.collection.collection import Topic
from podium.text.retrieval.candidates import dataset

WORDS = ["heat", "transfer", "slabs", "steel", "flow", "wing", "shock", "wave"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An index, and a model that was trained on its features."""
    folder = tmp_path_factory.mktemp("search")
    rng = np.random.default_rng(3)
    documents = [{"id": f"d{k}", "title": WORDS[k % 8], "text": " ".join(rng.choice(WORDS, 6))} for k in range(40)]
    index = podium.Index.create(folder / "my.index", documents)
    queries = [Topic(f"q{k}", f"{WORDS[k]} in {WORDS[(k + 3) % 8]}") for k in range(8)]
    qrels = {f"q{k}": {f"d{k}": 1.0, f"d{k + 8}": 1.0} for k in range(8)}
    model = podium.train(dataset(index, queries, qrels, features="bm25,length,span", depth=20), "listnet(iterations=5)")
    model.save(folder / "engine.podium")
    index.close()
    return folder


@pytest.fixture
def client(start, made, models, tmp_path):
    files = (str(made / "engine.podium"), str(models / "web.podium"))
    return start(index=str(made / "my.index"), models=files, store=str(tmp_path / "feedback.db"))


def test_the_first_stage_finds_what_the_library_finds(client, made):
    found = client("POST", "/v1/search", {"query": "heat nonsense", "k": 3}).json
    index = podium.Index.open(made / "my.index")
    hits = index.search("heat nonsense", 3)
    index.close()
    assert [one["id"] for one in found["results"]] == hits.ids
    assert [one["score"] for one in found["results"]] == hits.scores.tolist()
    assert found["unknown"] == ["nonsense"]
    assert found["results"][0]["document"]["title"] in WORDS
    first = found["results"][0]
    assert all(first["snippet"][a:b].lower().startswith("heat") for a, b in first["marks"])


def test_a_model_ranks_what_is_found_and_it_is_kept_with_its_features(client, made, tmp_path):
    body = {"query": "heat in steel", "k": 4, "model": "engine", "explain": True, "user": "u"}
    found = client("POST", "/v1/search", body).json
    index = podium.Index.open(made / "my.index")
    answer = podium.Engine(index, made / "engine.podium").search("heat in steel", 4, explain=True)
    index.close()
    assert found["model"] == "engine@1"
    assert [one["id"] for one in found["results"]] == answer.ids
    assert [one["first_stage"] for one in found["results"]] == answer.first_stage.tolist()
    assert list(found["results"][0]["features"].values()) == pytest.approx(answer.features[0].tolist())
    click = {"kind": "click", "request": found["request"], "id": answer.ids[2]}
    assert client("POST", "/v1/feedback", {"events": [click]}).json["unknown"] == 0
    data, _ = training_data(tmp_path / "feedback.db")
    np.testing.assert_array_equal(data.features, answer.features)
    assert data.labels.tolist() == [0, 0, 1, 0]


@pytest.mark.parametrize("model", [None, "engine"])
def test_the_second_page_goes_on_where_the_first_ended(client, model):
    body = {"query": "heat in steel", "model": model}
    whole = client("POST", "/v1/search", {**body, "k": 6}).json["results"]
    pages = [client("POST", "/v1/search", {**body, "k": 3, "offset": first}).json["results"] for first in (0, 3)]
    assert [*pages[0], *pages[1]] == whole
    assert [one["rank"] for one in pages[1]] == [4, 5, 6]
    assert client("POST", "/v1/search", {**body, "offset": 10_000}).json["results"] == []


def test_an_impression_begins_at_rank_1_so_later_pages_are_not_logged(client):
    shown = client("POST", "/v1/search", {"query": "heat in steel", "model": "engine", "k": 2, "offset": 2}).json
    click = {"kind": "click", "request": shown["request"], "id": shown["results"][0]["id"]}
    assert client("POST", "/v1/feedback", {"events": [click]}).json["unknown"] == 1


@pytest.mark.parametrize("model", [None, "engine"])
def test_filters_hold_for_every_document(client, model):
    body = {"query": "heat in steel", "model": model, "k": 40}
    everything = client("POST", "/v1/search", body).json["results"]
    some = client("POST", "/v1/search", {**body, "where": ["title in heat,steel", "title!=steel"]}).json["results"]
    assert some
    assert {one["id"] for one in some} == {one["id"] for one in everything if one["document"]["title"] == "heat"}


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"query": "x", "where": ["colour=red"]}, "colour"),
        ({"query": "x", "model": "web"}, "not trained on features of this index"),
        ({"query": "x", "model": "engine", "by": "bm25"}, "Leave one of them out"),
        ({"query": "x", "explain": True}, "needs a model"),
        ({"query": "x", "by": "bm26"}, "Did you mean"),
    ],
)
def test_a_search_that_cannot_be_made_says_why(client, body, words):
    found = client("POST", "/v1/search", body)
    assert found.status == 422
    assert words in found.json["detail"]


def test_without_an_index_there_is_nothing_to_search(start, models):
    assert start(models=(str(models / "web.podium"),))("POST", "/v1/search", {"query": "x"}).status == 404
