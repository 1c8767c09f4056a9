"""POST /v1/search: the index by BM25 or by a model, as the library finds and ranks; what is shown is kept."""

import json
import sqlite3
import time

import numpy as np
import pytest

import podium
from podium.base.errors import DataError
from podium.online.interleaving import make_page
from podium.service.feedback.feedback_export import click_log, training_data
from podium.service.schemas import SearchRequest
from podium.service.search_ranker import by_key
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


def test_searches_without_a_model_are_logged_without_features(client, tmp_path):
    asked = {"query": "heat in steel", "k": 3, "user": "u"}
    by_words = client("POST", "/v1/search", {**asked, "by": "rm3(terms=3)"}).json
    by_model = client("POST", "/v1/search", {**asked, "model": "engine"}).json
    plain = client("POST", "/v1/search", asked).json
    clicks = [
        {"kind": "click", "request": one["request"], "id": one["results"][1]["id"]}
        for one in (by_words, by_model, plain)
    ]
    assert client("POST", "/v1/feedback", {"events": clicks}).json["unknown"] == 0
    log = click_log(tmp_path / "feedback.db")
    assert sorted(log.ranker_names) == ["bm25", "engine@1", "rm3(terms=3)"]
    data, left_out = training_data(tmp_path / "feedback.db")
    assert (data.n_queries, left_out) == (1, 2)
    assert data.document_ids.tolist() == [one["id"] for one in by_model["results"]]
    with pytest.raises(DataError, match="no impression with features of bm25"):
        training_data(tmp_path / "feedback.db", model="bm25")


@pytest.mark.parametrize("model", [None, "engine"])
def test_filters_hold_for_every_document(client, model):
    body = {"query": "heat in steel", "model": model, "k": 40}
    everything = client("POST", "/v1/search", body).json["results"]
    some = client("POST", "/v1/search", {**body, "where": ["title in heat,steel", "title!=steel"]}).json["results"]
    assert some
    assert {one["id"] for one in some} == {one["id"] for one in everything if one["document"]["title"] == "heat"}


@pytest.mark.parametrize("model", [None, "engine"])
def test_the_query_language_says_what_matches(client, model):
    body = {"query": '+heat -steel title:"heat" sla*', "model": model, "k": 40, "syntax": True}
    results = client("POST", "/v1/search", body).json["results"]
    texts = [one["document"]["title"] + " " + one["document"]["text"] for one in results]
    assert texts
    assert all("heat" in text and "steel" not in text for text in texts)
    assert client("POST", "/v1/search", {**body, "syntax": False}).json["results"] != results


def test_facets_and_order_of_a_stored_field(client):
    body = {"query": "heat steel", "k": 40, "facets": ["title", "text"]}
    answer = client("POST", "/v1/search", body).json
    titles = [one["document"]["title"] for one in answer["results"]]
    assert {one["value"]: one["documents"] for one in answer["facets"]["title"]} == {t: titles.count(t) for t in titles}
    ordered = client("POST", "/v1/search", {**body, "facets": [], "sort": "-title"}).json
    assert [one["document"]["title"] for one in ordered["results"]] == sorted(titles, reverse=True)
    assert "facets" not in ordered
    second = client("POST", "/v1/search", {**body, "sort": "-title", "k": 3, "offset": 2}).json["results"]
    assert [one["id"] for one in second] == [one["id"] for one in ordered["results"]][2:5]
    ranked = client("POST", "/v1/search", {**body, "model": "engine"}).json
    assert ranked["facets"] == answer["facets"]


@pytest.mark.parametrize("model", [None, "engine"])
def test_documents_like_one_are_found_without_it(client, made, model):
    results = client("POST", "/v1/search", {"like": "d3", "k": 5, "model": model}).json["results"]
    assert len(results) == 5
    assert "d3" not in [one["id"] for one in results]


def test_misspelt_words_have_a_suggestion(client):
    assert client("POST", "/v1/search", {"query": "shokc wave"}).json["did_you_mean"] == "shock wave"
    assert "did_you_mean" not in client("POST", "/v1/search", {"query": "shock"}).json


def test_an_expanded_query_tells_its_words(client):
    body = {"query": "heat", "by": "rm3(documents=2,terms=3)", "k": 3, "explain": True}
    expanded = client("POST", "/v1/search", body).json["expanded"]
    assert next(iter(expanded)) == "heat"
    assert sum(expanded.values()) == pytest.approx(1.0)
    assert len(expanded) in (3, 4)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"query": "heat (steel", "syntax": True}, "column 6"),
        ({"query": "a* " * 500, "syntax": True}, "at most 16"),
        ({"query": "x", "where": ["colour=red"]}, "colour"),
        ({"query": "x", "model": "web"}, "not trained on features of this index"),
        ({"query": "x", "model": "engine", "by": "bm25"}, "Leave one of them out"),
        ({}, "needs query"),
        ({"query": "x", "like": "d1"}, "needs query"),
        ({"like": "nowhere"}, "no document"),
        ({"query": "heat", "sort": "weight"}, "weight"),
        ({"query": "heat", "facets": ["weight"]}, "weight"),
        ({"query": "heat", "sort": "title", "model": "engine"}, "Leave one of them out"),
        ({"query": "x", "explain": True}, "needs model, or by=rm3"),
        ({"query": "x", "by": "with-model(model=/etc/passwd)"}, "files of the service are not read"),
        ({"query": "x", "by": "rrf(of=[bm25,cut(of=with-model(model=/etc/passwd))])"}, "files of the service"),
        ({"query": "x", "by": "bm26"}, "Did you mean"),
        ({"query": "x", "by": f"linear(of=[{','.join(['ql'] * 70)}])"}, "71 retrievals in one; at most 16"),
    ],
)
def test_a_search_that_cannot_be_made_says_why(client, body, words):
    found = client("POST", "/v1/search", body)
    assert found.status == 422
    assert words in found.json["detail"]


def test_without_an_index_there_is_nothing_to_search(start, models):
    assert start(models=(str(models / "web.podium"),))("POST", "/v1/search", {"query": "x"}).status == 404


def experiment(client, kind, **more):
    body = {"name": "try", "kind": kind, "control": "bm25", "candidate": "engine", **more}
    return client("POST", "/v1/experiments", body)


def find(client, query="heat in steel", **more):
    headers = {"x_request_id": more.pop("id")} if "id" in more else {}
    return client("POST", "/v1/search", {"query": query, "k": 6, **more}, **headers).json


def ids(answer):
    return [one["id"] for one in answer["results"]]


def impressions(folder, n):
    """(model, experiment, arms, documents) of impressions, once there are n."""
    until = time.monotonic() + 20
    while True:
        base = sqlite3.connect(folder / "feedback.db")
        rows = base.execute(
            "SELECT m.name, i.experiment, i.arms, i.documents FROM impression AS i JOIN model AS m ON m.m=i.model "
            "ORDER BY i.n"
        ).fetchall()
        base.close()
        if len(rows) >= n or time.monotonic() > until:
            return [(model, name, json.loads(arms or "null"), json.loads(shown)) for model, name, arms, shown in rows]
        time.sleep(0.02)


@pytest.mark.parametrize("method", ["team-draft", "probabilistic"])
def test_a_model_is_interleaved_with_bm25_and_the_page_can_be_made_again(client, tmp_path, method):
    lists = [ids(find(client, k=100, log=False, **more)) for more in ({"model": "engine"}, {})]
    assert lists[0] != lists[1]
    assert experiment(client, "interleave", method=method).status == 201
    shown = find(client, id="visit-7")
    page = make_page(method, *lists, query="heat in steel", page="visit-7", length=6)
    assert (ids(shown), shown["model"], shown["experiment"]) == (list(page.documents), "bm25+engine@1", "try")
    assert [one["rank"] for one in shown["results"]] == [1, 2, 3, 4, 5, 6]
    scores = {one["id"]: one["score"] for one in find(client, k=100, log=False)["results"]}
    assert [one["score"] for one in shown["results"]] == [scores[id] for id in ids(shown)]
    assert impressions(tmp_path, 1) == [("bm25+engine@1", "try", list(page.credits), list(page.documents))]
    click = {"kind": "click", "request": "visit-7", "id": page.documents[page.credits.index(max(page.credits))]}
    client("POST", "/v1/feedback", {"events": [click]})
    preference = client("GET", "/v1/experiments/try").json["preference"]
    assert (preference["pages"], preference["credit"]) == (1, pytest.approx(max(page.credits)))


@pytest.mark.parametrize("method", ["team-draft", "probabilistic"])
def test_later_pages_of_an_interleaved_search_go_on_with_the_users_list(client, tmp_path, method):
    every = ids(find(client, k=100, log=False))
    assert experiment(client, "interleave", method=method).status == 201
    for user in ("ann", "bob", "eve"):
        pages = [find(client, user=user, k=3, offset=offset) for offset in range(0, len(every) + 3, 3)]
        assert {page["experiment"] for page in pages} == {"try"}
        shown = [id for page in pages for id in ids(page)]
        assert sorted(shown) == sorted(every), "each document once"
        assert [one["rank"] for page in pages for one in page["results"]] == list(range(1, len(every) + 1))
        assert ids(find(client, user=user, k=3)) == shown[:3]
    assert "experiment" not in find(client, k=3, offset=3) or find(client, k=3, offset=3)["experiment"] is None
    assert len(impressions(tmp_path, 6)) == 6, "first pages alone"


def test_a_split_searches_by_bm25_or_by_the_model_always_for_a_user(client, tmp_path):
    assert experiment(client, "split", control="engine", candidate="bm25").json["control"] == "engine@1"
    seen = {}
    for user in map(str, range(20)):
        answers = [find(client, user=user, model="engine", offset=offset) for offset in (0, 0, 3)]
        assert {answer["experiment"] for answer in answers} == {"try"}
        (seen[user],) = {answer["model"] for answer in answers}
        direct = find(client, log=False, model=seen[user])
        assert (answers[0]["results"], ids(answers[2])[:3]) == (direct["results"], ids(direct)[3:])
    assert set(seen.values()) == {None, "engine@1"}
    arms = [(model, set(arms)) for model, _, arms, _ in impressions(tmp_path, 40)]
    assert len(arms) == 40  # first pages
    assert {(model, frozenset(arm)) for model, arm in arms} == {
        ("bm25", frozenset({1.0})),
        ("engine@1", frozenset({-1.0})),
    }
    counts = client("GET", "/v1/experiments/try").json["arms"]
    assert counts["candidate"]["users"] == sum(model is None for model in seen.values())


@pytest.mark.parametrize(
    "more",
    [
        {"log": False}, {"by": "rm3(terms=3)"}, {"model": "engine"}, {"sort": "title"}, {"offset": 2},
        {"query": None, "like": "d3"}, {"model": "engine", "explain": True},
    ],
)  # fmt: skip
def test_other_searches_take_no_part_in_an_interleaving_of_bm25(client, more):
    before = find(client, **{**more, "log": False})
    experiment(client, "interleave")
    after = find(client, **more)
    assert "experiment" not in after
    assert after["results"] == before["results"]


def test_a_candidate_that_fails_or_is_gone_leaves_the_page_to_the_control(client, monkeypatch):
    before = find(client, log=False)["results"]
    experiment(client, "split", candidate="rm3(terms=3)")

    def fail(*_):
        raise DataError("broken")

    monkeypatch.setattr("podium.service.search_ranker.by_first_stage", fail)
    state = client.app.state.podium
    with state.searching() as index:
        answer = state.ranker.search(index, None, SearchRequest(query="heat in steel", k=6, by="bm25"), "r")
    assert [one.id for one in answer.results] == [one["id"] for one in before]
    assert answer.experiment == "try"  # of the candidate's users, or of the control's
    assert 'podium_experiment_total{experiment="try",what="failed"} 1' in client("GET", "/metrics").content.decode()


def test_pages_on_which_one_ranker_finds_nothing_are_the_controls_and_count_for_neither(client, tmp_path):
    wide = "heat in steel nonsense"
    experiment(client, "interleave", candidate="cut(of=bm25,k=1)")
    alone = ids(find(client, wide, log=False))
    assert len(alone) == 6
    assert sorted(ids(find(client, wide))) == sorted(alone)  # one merged document, then the control's
    ((_, _, arms, shown),) = impressions(tmp_path, 1)
    assert (len(arms), len(shown)) == (1, 6)
    assert ids(find(client, "nonsense")) == []
    assert impressions(tmp_path, 2)[1][1:] == ("try", [], [])
    preference = client("GET", "/v1/experiments/try").json["preference"]
    assert (preference["pages"], preference["credit"]) == (2, 0.0)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"kind": "shadow"}, 422, "a shadow compares models"),
        ({"candidate": "web"}, 422, "web@1 was not trained on features of this index"),
        ({"candidate": "bm25"}, 422, "both bm25"),
        ({"candidate": "bm25(k9=1)"}, 422, "k9"),
        ({"candidate": "with-model(model=/etc/passwd)"}, 422, "files of the service are not read"),
        ({"candidate": "bm26"}, 404, "No model 'bm26'"),
    ],
)
def test_an_experiment_of_searches_that_cannot_be_is_refused_with_the_reason(client, body, status, words):
    answer = experiment(client, **{"kind": "interleave", **body})
    assert (answer.status, words in answer.json["detail"]) == (status, True), answer.json["detail"]


def test_a_first_stage_of_an_experiment_may_name_fields_in_any_way(client):
    models = client.app.state.podium.models.current
    assert by_key("bm25(fields=[a@b])", models).key == "bm25(fields=[a@b])"
    assert by_key("engine@1", models).entry.name == "engine"
    assert by_key("engine@2", models) is None
    assert by_key("web@1", models) is None  # it cannot search


def test_a_first_stage_needs_an_index(start, models, tmp_path):
    served = start(models=(str(models / "web.podium"),), store=str(tmp_path / "feedback.db"))
    answer = experiment(served, "split", control="web")
    assert answer.status == 404  # engine is no model of this service
    answer = experiment(served, "split", control="web", candidate="bm25")
    assert (answer.status, answer.json["where"]) == (422, "candidate")
    assert "podium serve my.index" in answer.json["detail"]


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"depth": "many"}, "depth must be a whole number of at least 1; got 'many'"),
        ({"depth": -5}, "at least 1"),
        ({"depth": float("inf")}, "got inf"),
        ({"retrieval": "cut(of=with-model(model=/etc/passwd))"}, "files of the service are not read"),
        ({"retrieval": "bm26"}, "Did you mean"),
        ({"behaviour": ["bm25"]}, "bm25"),
    ],
)
def test_a_model_whose_record_does_not_fit_is_refused_and_others_are_served(start, made, tmp_path, record, words):
    model = podium.load(made / "engine.podium")
    model.with_info(features={**model.info["features"], **record}).save(tmp_path / "odd.podium")
    (tmp_path / "shelf" / "odd").mkdir(parents=True)
    (tmp_path / "odd.podium").rename(tmp_path / "shelf" / "odd" / "1.podium")
    files = {"models": (str(made / "engine.podium"),), "index": str(made / "my.index")}
    client = start(**files, shelf=str(tmp_path / "shelf"))
    raw = (tmp_path / "shelf" / "odd" / "1.podium").read_bytes()
    found = client("PUT", "/v1/models/new", raw, content_type="application/octet-stream")
    assert (found.status, words in found.json["detail"]) == (422, True), found.content
    assert client("POST", "/v1/search", {"query": "heat", "model": "odd"}).status == 404
    assert client("POST", "/v1/search", {"query": "heat", "model": "engine"}).status == 200


@pytest.mark.parametrize("behaviour", [5, {"a": 1}, [["bm25"]], None, [7]])
def test_a_record_of_behaviour_features_that_names_none_has_none(start, made, tmp_path, behaviour):
    model = podium.load(made / "engine.podium")
    model.with_info(features={**model.info["features"], "behaviour": behaviour}).save(tmp_path / "odd.podium")
    client = start(models=(str(tmp_path / "odd.podium"),), store=str(tmp_path / "f.db"))
    row = {"features": [1.0] * model.n_features}
    assert client("POST", "/v1/rank", {"documents": [row]}).status == 200
    client = start(models=(str(tmp_path / "odd.podium"),), index=str(made / "my.index"))
    assert client("POST", "/v1/search", {"query": "heat", "model": "odd"}).status == 200
