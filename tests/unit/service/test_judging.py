"""Judgments: durable, taken back, one grade for each document; measures are those of podium.evaluation."""

import numpy as np
import pytest

from podium.data.splits import hold_out
from podium.evaluation.evaluate import evaluate
from podium.evaluation.paired import bootstrap_intervals
from podium.formats import read_letor, read_qrels
from podium.model import Model
from podium.service.feedback.judging import read_judgments
from podium.training import train

WEB, TREES = "web@1", "trees@1"


@pytest.fixture(scope="module")
def data(models, tmp_path_factory):
    """Data with grades that both models can rank; its file."""
    import podium

    made, _ = podium.make_letor_like(12, (5, 9), n_features=4, seed=7)
    made = made.with_features(np.ascontiguousarray(made.features[:, :3]), None)
    path = tmp_path_factory.mktemp("data") / "test.txt"
    podium.write_letor(made, path)
    return path


@pytest.fixture
def served(start, models, data, tmp_path):
    files = tuple(str(models / f"{name}.podium") for name in ("web", "trees", "plain"))
    return start(models=files, data=str(data), store=str(tmp_path / "feedback.db"))


def grade(client, query, id, value, who=""):
    told = {"query": query, "id": id, "grade": value, **({"who": who} if who else {})}
    found = client("POST", "/v1/judgments", {"judgments": [told]})
    assert found.status == 202, found.json
    return found.json


def test_a_grade_is_on_disk_when_it_is_acknowledged_and_can_be_changed_and_taken_back(served, tmp_path):
    answer = grade(served, "1", "D1", 3)
    [kept] = read_judgments(tmp_path / "feedback.db")
    assert kept[:4] == ("1", "D1", "anyone", 3.0)
    assert answer["accepted"] == 1
    assert abs(kept.time - answer["time"]) < 5000
    grade(served, "1", "D1", 1)
    assert [one["grade"] for one in served("GET", "/v1/judgments?query=1").json["judgments"]] == [1.0]
    assert served("GET", "/v1/judgments?query=2").json["total"] == 0
    grade(served, "1", "D1", None)
    assert read_judgments(tmp_path / "feedback.db") == []


def test_a_grade_given_to_a_request_is_taken_back_by_its_query(served, tmp_path):
    documents = [{"id": "D1", "features": [1, 2, 3]}]
    shown = served("POST", "/v1/rank", {"documents": documents, "query": "boots"}).json["request"]
    event = {"kind": "judgment", "request": shown, "id": "D1", "value": 2.0}
    served.app.state.podium.feedback.add([]).result(10)  # then the impression is written too
    assert served("POST", "/v1/feedback", {"events": [event]}).status == 202
    assert [one[:4] for one in read_judgments(tmp_path / "feedback.db")] == [("boots", "D1", "anyone", 2.0)]
    grade(served, "boots", "D1", None)
    assert read_judgments(tmp_path / "feedback.db") == []


def test_disagreements_and_agreement_are_told_and_qrels_hold_the_majority(served):
    votes = {"D1": (3, 3, 0), "D2": (1, 1, 1), "D3": (2, 1, 2)}
    for id, grades in votes.items():
        for who, value in zip(("ann", "bob", "cy"), grades, strict=True):
            grade(served, "1", id, value, who)
    found = served("GET", "/v1/judgments").json
    assert found["judges"] == {"ann": 3, "bob": 3, "cy": 3}
    assert [(one["id"], one["grades"]) for one in found["disagreements"]] == [
        ("D1", {"ann": 3.0, "bob": 3.0, "cy": 0.0}), ("D3", {"ann": 2.0, "bob": 1.0, "cy": 2.0})]  # fmt: skip
    assert found["agreement"]["documents"] == 3
    assert served("GET", "/v1/judgments?query=1").json["agreement"] is None
    lines = served("GET", "/v1/judgments.qrels").content.decode().splitlines()
    assert lines == ["1 0 D1 3", "1 0 D2 1", "1 0 D3 2"]


def test_qrels_without_judgments_are_empty_and_training_data_is_an_error(served):
    assert served("GET", "/v1/judgments.qrels").content == b""
    assert served("GET", "/v1/judgments").json["agreement"] is None
    assert served("GET", "/v1/judgments.letor").status == 422


def test_judged_documents_come_with_the_features_of_the_data_or_those_they_were_ranked_by(served, data, tmp_path):
    known = read_letor(data)
    query, id = known.query_name(0), known.document_name(2)
    documents = [{"id": "X", "features": [7, 8, None]}]
    served("POST", "/v1/rank", {"documents": documents, "query": "boots", "model": "plain"})
    grade(served, query, id, 2)
    grade(served, "boots", "X", 1)
    grade(served, "never shown", "Y", 1)
    found = served("GET", "/v1/judgments.letor")
    (tmp_path / "judged.txt").write_bytes(found.content)
    read = read_letor(tmp_path / "judged.txt")
    assert found.headers["x-left-out"] == "1"
    assert read.labels.tolist() == [2.0, 1.0]
    assert read.document_ids.tolist() == [id, "X"]
    assert read.features[0].tolist() == known.features[2].tolist()
    np.testing.assert_array_equal(read.features[1], np.array([7, 8, np.nan], np.float32))
    (tmp_path / "q.txt").write_bytes(served("GET", "/v1/judgments.qrels").content)
    qrels = read_qrels(tmp_path / "q.txt")
    assert (qrels.query_ids.tolist(), qrels.labels.tolist()) == ([query, "boots", "never%20shown"], [2.0, 1.0, 1.0])


def test_measures_by_the_grades_of_the_data_are_those_of_the_library(served, data, models):
    found = served("GET", "/v1/measures?grades=data&model=web&model=trees&metric=ndcg@5").json
    known = read_letor(data)
    rows = [
        evaluate(known, Model.load(models / f"{name}.podium").score(known), "ndcg@5").values[0]
        for name in ("web", "trees")
    ]
    [measured] = found["metrics"]
    assert [one["mean"] for one in measured["models"]] == pytest.approx([np.nanmean(row) for row in rows])
    intervals = bootstrap_intervals(np.array(rows)[:, ~np.isnan(rows).any(axis=0)])
    assert measured["models"][0]["interval"] == pytest.approx(list(intervals[0]))
    difference = measured["difference"]
    assert difference["wins"] + difference["ties"] + difference["losses"] == len(found["queries"])
    assert [one["values"][0][1] for one in found["queries"]] == pytest.approx(rows[1].tolist(), nan_ok=True)
    one = served("GET", f"/v1/measures?grades=data&query={known.query_name(3)}").json
    assert one["models"] == [WEB]
    assert one["metrics"][0]["models"][0]["interval"] is None
    assert [query["query"] for query in one["queries"]] == [known.query_name(3)]


def test_measures_on_a_models_own_training_data_say_so(start, data, models, tmp_path):
    whole = read_letor(data)
    train(whole, "regression", valid=0.25).save(tmp_path / "own.podium")
    other = str(models / "plain.podium")
    client = start(models=(str(tmp_path / "own.podium"), other), data=str(data), store=str(tmp_path / "feedback.db"))
    found = client("GET", "/v1/measures?grades=data&model=own&model=plain&metric=ndcg@5").json
    assert found["on_training_data"] == ["own@1"]
    trained = hold_out(whole, 0.25)[0].n_queries
    assert found["notes"] == [
        f"own@1 is measured on its own training data: it was trained on {trained} of {whole.n_queries} queries. "
        "Measure it on other data."
    ]
    assert found["metrics"][0]["difference"]["on_training_data"]
    alone = client("GET", "/v1/measures?grades=data&model=plain&metric=ndcg@5").json
    assert (alone["on_training_data"], alone["notes"]) == ([], [])
    seen = hold_out(whole, 0.25)[0].query_name(0)
    document = client("GET", f"/v1/queries/{seen}").json["documents"][0]["id"]
    grade(client, seen, document, 2)
    assert client("GET", "/v1/measures?model=own&metric=ndcg@5").json["on_training_data"] == ["own@1"]


def test_measures_by_judges_count_ungraded_documents_as_0_and_leave_out_what_cannot_be_ranked(served, data):
    known = read_letor(data)
    ids = [known.document_name(row) for row in range(int(known.offsets[1]))]
    ranked = served("GET", f"/v1/queries/{known.query_name(0)}").json
    best = served("POST", "/v1/rank", {"documents": ranked["documents"], "log": False}).json["results"]
    assert len(best) == len(ids)
    grade(served, known.query_name(0), best[1]["id"], 1)
    grade(served, "never shown", "Y", 1)
    found = served("GET", "/v1/measures?metric=mrr").json
    assert (found["left_out"], found["queries"][0]["graded"]) == (1, 1)
    assert found["metrics"][0]["models"][0]["mean"] == 0.5
    assert served("GET", "/v1/measures?query=none").json["queries"] == []


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/measures?grades=guesses", 422),
        ("/v1/measures?metric=beauty", 422),
        ("/v1/measures?model=web&model=trees&model=plain", 422),
        ("/v1/measures?model=none", 404),
        ("/v1/measures?grades=data&query=none", 404),
    ],
)
def test_measures_that_cannot_be_are_said_clearly(served, path, status):
    found = served("GET", path)
    assert (found.status, found.headers["content-type"]) == (status, "application/problem+json")


def test_a_ranking_that_is_not_to_be_logged_is_not(served, tmp_path):
    from podium.service.feedback.feedback_export import totals

    documents = [{"id": "D1", "features": [1, 2, 3]}]
    for log in (False, True):
        served("POST", "/v1/rank", {"documents": documents, "query": "q", "log": log})
    served("POST", "/v1/feedback", {"events": []})
    served.app.state.podium.feedback.close()
    assert totals(tmp_path / "feedback.db").impressions == 1


def test_without_a_store_judgments_are_not_there(client):
    assert client("POST", "/v1/judgments", {"judgments": []}).status == 404
    assert client("GET", "/v1/judgments").status == 404
    assert client("GET", "/v1/measures").status == 404


def test_the_files_of_the_page_have_tags_and_are_sent_again_only_if_they_changed(client):
    page = client("GET", "/")
    assert (page.status, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert page.headers["cache-control"] == "no-cache"
    assert "script-src 'self'" in page.headers["content-security-policy"]
    again = client("GET", "/", if_none_match=page.headers["etag"])
    assert (again.status, again.content) == (304, b"")
    assert client("GET", "/page/page.js").headers["content-type"] == "text/javascript; charset=utf-8"
    assert client("GET", "/page/none.js").status == 404
    assert client("GET", "/page/..%2fapp.py").status == 404


def test_the_page_is_told_what_the_service_has(served, client):
    found = served("GET", "/v1/about").json
    assert found["caller"] == {"name": "anyone", "role": "admin"}
    assert (found["queries"], found["graded"], found["documents"], found["store"]) == (12, True, None, True)
    bare = client("GET", "/v1/about").json
    assert (bare["queries"], bare["graded"], bare["store"]) == (None, False, False)
