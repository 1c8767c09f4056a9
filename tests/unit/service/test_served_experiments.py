"""Experiments: what people are shown, what is kept of it, and verdicts on simulated people."""

import json
import queue
import re
import sqlite3
import time

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from podium.online.interleaving import make_page
from podium.service.experiments import ab_tests as module
from podium.service.experiments import shadow as shadow_module
from podium.service.experiments.experiment_results import Experiment
from podium.service.experiments.trial import in_candidate_arm
from podium.service.feedback import database as tables
from podium.service.feedback.events import Action, Feedback, Impression
from podium.service.feedback.feedback_export import click_log

RNG = np.random.default_rng(0)
DOCUMENTS = [{"id": f"D{k}", "features": RNG.normal(size=3).round(3).tolist()} for k in range(8)]


@pytest.fixture
def store(tmp_path):
    return tmp_path / "feedback.db"


@pytest.fixture
def served(start, models, store):
    return start(models=tuple(str(models / f"{name}.podium") for name in ("web", "trees", "plain")), store=str(store))


def begin(served, kind, candidate="trees", name="try", **more):
    body = {"name": name, "kind": kind, "candidate": candidate, **more}
    return served("POST", "/v1/experiments", body)


def rank(served, query="q", **more):
    headers = {"x_request_id": more.pop("id")} if "id" in more else {}
    return served("POST", "/v1/rank", {"documents": DOCUMENTS, "query": query, **more}, **headers).json


def ids(answer):
    return [one["id"] for one in answer["results"]]


def waited(condition):
    until = time.monotonic() + 20
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    assert condition()


def rows(store, question):
    base = sqlite3.connect(store)
    try:
        return base.execute(question).fetchall()
    finally:
        base.close()


def click(served, *clicks):
    events = [{"kind": "click", "request": request, "id": id} for request, id in clicks]
    assert served("POST", "/v1/feedback", {"events": events}).status == 202


@pytest.mark.parametrize("method", ["team-draft", "probabilistic(tau=1)"])
def test_an_interleaved_answer_can_be_made_again_from_its_request_id(served, store, method):
    lists = [ids(rank(served, model=model, log=False)) for model in ("trees", "web")]
    assert lists[0] != lists[1]
    assert begin(served, "interleave", method=method).status == 201
    made = rank(served, id="visit-7", k=5)
    page = make_page(method, *lists, query="q", page="visit-7", length=5)
    assert (ids(made), made["model"], made["experiment"]) == (list(page.documents), "web@1+trees@1", "try")
    assert [one["rank"] for one in made["results"]] == [1, 2, 3, 4, 5]
    assert all(DOCUMENTS[one["index"]]["id"] == one["id"] for one in made["results"])
    waited(lambda: rows(store, "SELECT count(*) FROM impression") == [(1,)])
    (kept,) = rows(store, "SELECT experiment, arms, documents FROM impression")
    assert (kept[0], json.loads(kept[1]), json.loads(kept[2])) == ("try", list(page.credits), list(page.documents))
    assert sorted(ids(rank(served))) == sorted(lists[0])
    assert len({tuple(ids(rank(served, id=f"v{k}"))) for k in range(20)}) > 1


def test_clicks_on_interleaved_pages_win_for_the_model_whose_document_it_is(served, store):
    begin(served, "interleave")
    pages = [rank(served, id=f"v{k}", k=4) for k in range(12)]
    waited(lambda: rows(store, "SELECT count(*) FROM impression") == [(12,)])
    arms = {request: json.loads(text) for request, text in rows(store, "SELECT request, arms FROM impression")}
    for page in pages[:7]:  # a click on the candidate's first document
        click(served, (page["request"], ids(page)[arms[page["request"]].index(1.0)]))
    for page in pages[7:9]:
        click(served, (page["request"], ids(page)[arms[page["request"]].index(-1.0)]))
    both = ids(pages[9])  # one each: a tie
    mine = arms[pages[9]["request"]]
    click(served, *((pages[9]["request"], both[mine.index(arm)]) for arm in (1.0, -1.0)))
    click(served, (pages[10]["request"], "elsewhere"))
    found = served("GET", "/v1/experiments/try").json
    preference = found["preference"]
    assert [preference[key] for key in ("pages", "wins", "losses", "ties")] == [12, 7, 2, 3]
    assert preference["credit"] == pytest.approx(5 / 12)
    assert preference["p"] == pytest.approx(ttest_1samp([1] * 7 + [-1] * 2 + [0] * 3, 0).pvalue)
    assert preference["interval"][0] < 0.0 < preference["interval"][1]
    assert found["verdict"] == "no verdict yet: 12 of at least 400 pages"
    assert served("GET", "/v1/experiments").json == {"experiments": [found]}


def test_a_split_shows_each_user_one_model_always(served, store):
    begin(served, "split")
    seen = {user: {rank(served, user=user)["model"] for _ in range(3)} for user in map(str, range(40))}
    assert all(len(models) == 1 for models in seen.values())
    assert {model for models in seen.values() for model in models} == {"web@1", "trees@1"}
    for user, models in list(seen.items())[:2]:
        answer, direct = rank(served, user=user), rank(served, model=next(iter(models)), log=False)
        assert (answer["results"], answer["experiment"]) == (direct["results"], "try")
        assert "experiment" not in direct
    waited(lambda: rows(store, "SELECT count(*) FROM impression") == [(122,)])
    (page,) = [request for (request,) in rows(store, "SELECT request FROM impression WHERE n=1")]
    click(served, (page, "D1"), (page, "D2"))
    found = served("GET", "/v1/experiments/try").json
    assert found["preference"]["pages"] == 40
    assert found["preference"]["wins"] + found["preference"]["losses"] == 1
    assert sum(arm["users"] for arm in found["arms"].values()) == 40
    assert found["arms"]["candidate"]["users"] == sum(models == {"trees@1"} for models in seen.values())


def test_arms_are_even_and_new_in_each_experiment():
    made = [Experiment("e", "split", "a", "b", "", salt * 16, 400, 0.95, 0) for salt in ("00", "01")]
    arms = np.array([[in_candidate_arm(one, str(user)) for user in range(4000)] for one in made])
    assert np.abs(arms.mean(axis=1) - 0.5).max() < 0.03
    assert abs((arms[0] == arms[1]).mean() - 0.5) < 0.03


def test_a_shadow_is_scored_beside_what_is_shown_and_changes_nothing(served, store):
    before = rank(served, log=False)["results"]
    begin(served, "shadow")
    for _ in range(5):
        assert rank(served)["results"] == before
    waited(lambda: rows(store, "SELECT count(*) FROM shadow") == [(5,)])
    found = served("GET", "/v1/experiments/try").json
    scores = [
        {one["id"]: one["score"] for one in rank(served, model=model, log=False)["results"]}
        for model in ("web", "trees")
    ]
    assert found["shadow"]["requests"] == 5
    assert found["shadow"]["top10_overlap"] == 1.0
    assert found["shadow"]["difference"] == pytest.approx(
        np.mean([abs(scores[0][id] - scores[1][id]) for id in scores[0]])
    )
    assert found["shadow"]["ms"] > 0
    assert found["preference"] is None


def test_a_shadow_that_cannot_keep_up_drops_requests_and_counts_them(served, monkeypatch):
    shadow = served.app.state.podium.shadow
    monkeypatch.setattr(shadow, "_waiting", queue.Queue(2))  # its thread waits at the old queue
    begin(served, "shadow")
    for _ in range(5):
        rank(served)
    assert 'podium_shadow_dropped_total{experiment="try"} 3' in served("GET", "/metrics").content.decode()
    monkeypatch.undo()


def test_what_waits_for_a_shadow_holds_a_bounded_memory(served, monkeypatch):
    shadow = served.app.state.podium.shadow
    monkeypatch.setattr(shadow_module, "_HELD", 0)
    begin(served, "shadow")
    rank(served)
    assert 'podium_shadow_dropped_total{experiment="try"} 1' in served("GET", "/metrics").content.decode()
    monkeypatch.undo()
    rank(served)
    until = time.monotonic() + 10
    while shadow._held and time.monotonic() < until:
        time.sleep(0.01)
    assert shadow._held == 0


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"kind": "split", "candidate": "web"}, 422, "both web@1"),
        ({"kind": "split", "candidate": "plain"}, 422, "needs feature '1'"),
        ({"kind": "split", "candidate": "nothing"}, 404, "No model 'nothing'"),
        ({"kind": "interleave", "candidate": "trees", "method": "optimised"}, 422, "team-draft or probabilistic"),
        ({"kind": "interleave", "candidate": "trees", "method": "zip"}, 422, "zip"),
        ({"kind": "split", "candidate": "trees", "name": "../x"}, 422, "not a name"),
        ({"kind": "split", "candidate": "trees", "confidence": 1.0}, 422, "confidence"),
        ({"kind": "other", "candidate": "trees"}, 422, "kind"),
    ],
)
def test_an_experiment_that_cannot_be_is_refused_with_the_reason(served, body, status, words):
    answer = served("POST", "/v1/experiments", {"name": "try", **body})
    assert answer.status == status
    assert words in answer.json["detail"]
    assert served("GET", "/v1/experiments").json == {"experiments": []}


def test_one_experiment_runs_on_a_model_and_ends_when_asked(served):
    begin(served, "interleave")
    assert begin(served, "split").status == 409
    assert "End it first" in begin(served, "split", name="other").json["detail"]
    ended = served("POST", "/v1/experiments/try/end").json
    assert (ended["why"], ended["ended"] >= ended["started"]) == ("asked", True)
    assert "experiment" not in rank(served)
    assert served("POST", "/v1/experiments/try/end").json["ended"] == ended["ended"]
    assert begin(served, "split", name="other").status == 201
    assert [one["name"] for one in served("GET", "/v1/experiments").json["experiments"]] == ["other", "try"]
    assert served("GET", "/v1/experiments/none").status == 404
    assert served("POST", "/v1/experiments/none/end").status == 404


def test_experiments_survive_a_restart_and_other_workers_follow(served, start, models, store):
    files = tuple(str(models / f"{name}.podium") for name in ("web", "trees"))
    other = start(models=files, store=str(store))
    begin(served, "interleave")
    waited(lambda: "experiment" in rank(other))
    served("POST", "/v1/experiments/try/end")
    waited(lambda: "experiment" not in rank(other))
    begin(served, "split", name="next")
    assert rank(start(models=files, store=str(store)))["experiment"] == "next"


def test_without_a_store_there_are_no_experiments(client):
    assert begin(client, "split").status == 404
    assert "--store" in client("GET", "/v1/experiments").json["detail"]


def test_a_model_of_a_running_experiment_is_not_deleted(start, models, store, tmp_path):
    files = tuple(str(models / f"{name}.podium") for name in ("web", "trees"))
    served = start(models=files, store=str(store), shelf=str(tmp_path / "shelf"))
    begin(served, "split")
    assert "in the experiment try" in served("DELETE", "/v1/models/trees").json["detail"]
    assert served("DELETE", "/v1/models/trees@1").status == 409
    served("POST", "/v1/experiments/try/end")
    assert served("DELETE", "/v1/models/trees").status == 200


def test_a_candidate_that_fails_leaves_the_answer_to_the_control(served, monkeypatch):
    before = rank(served, log=False)["results"]
    begin(served, "interleave")
    shelf = served.app.state.podium.models.current
    broken = shelf.entries["trees@1"].model
    monkeypatch.setattr(type(broken), "score", _failing(type(broken).score, broken))
    answer = rank(served)
    assert (answer["results"], "experiment" in answer) == (before, False)
    assert 'podium_experiment_total{experiment="try",what="failed"} 1' in served("GET", "/metrics").content.decode()


def test_a_user_of_a_candidate_that_fails_sees_the_control_and_counts_for_the_candidate(served, store, monkeypatch):
    """Else the candidate's arm would be smaller, and lose by that alone."""
    before = rank(served, log=False)["results"]
    begin(served, "split")
    shelf = served.app.state.podium.models.current
    broken = shelf.entries["trees@1"].model
    monkeypatch.setattr(type(broken), "score", _failing(type(broken).score, broken))
    answers = [rank(served, user=str(user)) for user in range(30)]
    assert {answer["model"] for answer in answers} == {"web@1"}
    assert all(answer["results"] == before and answer["experiment"] == "try" for answer in answers)
    waited(lambda: rows(store, "SELECT count(*) FROM impression") == [(30,)])
    arms = served("GET", "/v1/experiments/try").json["arms"]
    failed = re.search(r'experiment="try",what="failed"} (\d+)', served("GET", "/metrics").content.decode())
    assert (arms["candidate"]["users"], arms["control"]["users"]) == (int(failed[1]), 30 - int(failed[1]))
    assert 0 < int(failed[1]) < 30


def _failing(score, broken):
    def failing(self, data):
        if self is broken:
            raise module.ParameterError("broken")
        return score(self, data)

    return failing


def test_of_each_user_the_first_interleaved_page_counts(served, store):
    begin(served, "interleave")
    pages = [rank(served, user=user, k=4) for user in "aabbb"] + [rank(served, k=4)]
    waited(lambda: rows(store, "SELECT count(*) FROM impression") == [(6,)])
    for page in pages[1:]:  # not a's first page
        arms = dict(rows(store, "SELECT request, arms FROM impression"))
        click(served, (page["request"], ids(page)[json.loads(arms[page["request"]]).index(1.0)]))
    found = served("GET", "/v1/experiments/try").json["preference"]
    assert [found[key] for key in ("pages", "wins", "losses", "ties", "credit")] == [3, 2, 0, 1, pytest.approx(2 / 3)]


def begun(store, method):
    """Feedback with an experiment that has begun."""
    kept = Feedback(store)
    row = ("try", "interleave", "web@1", "trees@1", method, "00", 400, 0.95, 0)
    names = "name, kind, control, candidate, method, salt, min_pages, confidence, started"
    kept.change(lambda base: base.execute(f"INSERT INTO experiment({names}) VALUES(?,?,?,?,?,?,?,?,?)", row).rowcount)
    return kept


@pytest.mark.parametrize("method", ["team-draft", "probabilistic"])
def test_people_who_click_by_rank_alone_prefer_neither_model(store, method):
    """Signs of probabilistic credits had an always-valid p of 1e-30 here: many small wins, few large losses."""
    kept, rng = begun(store, method), np.random.default_rng(0)
    try:
        for k in range(600):
            page = make_page(method, list("abcde"), list("acdeb"), query="q", page=f"r{k}")
            documents, features = list(page.documents), np.zeros((5, 1), np.float32)
            kept.log(Impression(f"r{k}", "a", ["x"], "q", None, documents, features, "try", list(page.credits)))
            clicks = np.flatnonzero(rng.random(5) < 0.7 / np.arange(1, 6))
            kept.add([Action("click", documents[at], f"r{k}") for at in clicks])
        kept.change(lambda base: None).result()
        found = module.Experiments(kept).find("try")
        assert found.preference.always_valid_p > 0.05
        assert (found.better, found.preference.interval[0] < 0 < found.preference.interval[1]) == (None, True)
    finally:
        kept.close()


def people(store, pages, prefers):
    """A store of pages on which people click the candidate's document with a probability, for `apply_rules`."""
    rng = np.random.default_rng(0)
    for k in range(pages):
        arms = [1.0, -1.0] if rng.random() < 0.5 else [-1.0, 1.0]
        store.log(Impression(f"r{k}", "a", ["x"], "q", None, ["D0", "D1"], np.zeros((2, 1), np.float32), "try", arms))
        wanted = 1.0 if rng.random() < prefers else -1.0
        store.add([Action("click", f"D{arms.index(wanted)}", f"r{k}")])


@pytest.mark.parametrize(
    ("pages", "prefers", "why"),
    [(500, 0.7, "decided"), (150, 0.7, None), (150, 0.25, "harm"), (500, 0.5, None)],
)
def test_an_experiment_ends_when_the_candidate_is_better_after_enough_pages_or_does_harm(store, pages, prefers, why):
    kept = begun(store, "team-draft")
    try:
        people(kept, pages, prefers)
        kept.change(lambda base: None).result()
        running = module.Experiments(kept)
        assert list(running.running) == ["web@1"]
        running.apply_rules()
        found = running.find("try")
        assert (found.why, found.preference.pages) == (why, pages)
        assert found.better == {"decided": "candidate", "harm": "control", None: None}[why]
        assert bool(running.running) == (why is None)
        if why is not None:
            better = "trees@1 to web@1" if why == "decided" else "web@1 to trees@1"
            assert found.verdict.startswith(f"people prefer {better}")
    finally:
        kept.close()


def test_a_store_of_the_first_format_is_brought_to_the_newest(store):
    base = sqlite3.connect(store)
    base.executescript(tables._TABLES)
    base.execute(f"PRAGMA application_id={tables.FORMAT.application}")
    base.execute("PRAGMA user_version=1")
    base.execute("INSERT INTO model VALUES(1, 'web@1', '[\"x\"]')")
    base.execute(
        "INSERT INTO impression VALUES(1, 'r', 5, 1, 'q', NULL, '[\"D1\"]', ?)", (np.zeros(1, np.float32).tobytes(),)
    )
    base.commit()
    base.close()
    for _ in range(2):
        kept = Feedback(store)
        kept.log(Impression("s", "web@1", ["x"], "q", None, ["D1"], np.zeros((1, 1), np.float32), "try", [1.0]))
        kept.close()
    assert rows(store, "PRAGMA user_version") == [(tables.FORMAT.version,)]
    assert rows(store, "SELECT request, experiment, arms FROM impression") == [("r", None, None), ("s", "try", "[1.0]")]
    assert click_log(store).n_pages == 2


def test_deleting_a_user_deletes_what_a_shadow_found(served, store):
    begin(served, "shadow")
    rank(served, user="u7")
    rank(served, user="u8")
    waited(lambda: rows(store, "SELECT count(*) FROM shadow") == [(2,)])
    served("DELETE", "/v1/users/u7")
    assert rows(store, "SELECT count(*) FROM shadow") == [(1,)]
