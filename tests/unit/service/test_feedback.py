"""Feedback: acknowledged means on disk, once; what was shown comes back with the features it was ranked by."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from podium.cli.main import app
from podium.data import read_clicks, read_data
from podium.errors import DataError
from podium.service import feedback as module
from podium.service.feedback import Action, Feedback, FeedbackError, Impression
from podium.service.feedback_export import click_log, totals, training_data

DOCUMENTS = [{"id": f"D{k}", "features": [0.5 * k, 1.0 - k, 2.0]} for k in range(4)]


@pytest.fixture
def store(tmp_path):
    return tmp_path / "feedback.db"


@pytest.fixture
def served(start, models, store):
    return start(models=(str(models / "web.podium"),), store=str(store))


def click(request, document="D1", **more):
    return {"kind": "click", "request": request, "id": document, **more}


def rows(store, question):
    base = sqlite3.connect(store)
    try:
        return base.execute(question).fetchall()
    finally:
        base.close()


def test_events_are_on_disk_when_they_are_acknowledged_and_a_retry_changes_nothing(served, store):
    shown = served("POST", "/v1/rank", {"documents": DOCUMENTS, "query": "q1", "user": "u7", "k": 3}).json["request"]
    events = {"events": [click(shown), click(shown, "D2"), click("elsewhere")]}
    first = served("POST", "/v1/feedback", events)
    assert (first.status, first.json) == (202, {"accepted": 3, "repeated": 0, "unknown": 1})
    assert rows(store, "SELECT count(*) FROM event") == [(3,)]
    assert served("POST", "/v1/feedback", events).json == {"accepted": 3, "repeated": 3, "unknown": 1}
    assert served("POST", "/v1/feedback", {"events": [click(shown, event="again")]}).json["repeated"] == 0
    assert rows(store, "SELECT count(*) FROM event") == [(4,)]


def test_a_new_grade_of_a_judge_replaces_the_old_one(served, store):
    for who, grade in (("ann", 1.0), ("bob", 4.0), ("ann", 2.0)):
        event = {"kind": "judgement", "query": "q1", "id": "D1", "value": grade, "who": who}
        assert served("POST", "/v1/feedback", {"events": [event]}).status == 202
    assert rows(store, "SELECT who, value FROM event ORDER BY who") == [("ann", 2.0), ("bob", 4.0)]


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "click", "id": "D1"},
        {"kind": "dwell", "id": "D1", "request": "r"},
        {"kind": "judgement", "id": "D1", "value": 1.0},
        {"kind": "purchase", "id": "D1", "request": "r", "value": -1.0},
        {"kind": "look", "id": "D1", "request": "r"},
    ],
)
def test_an_event_that_says_too_little_is_refused_and_none_of_its_request_is_kept(served, store, event):
    assert served("POST", "/v1/feedback", {"events": [click("r"), event]}).status == 422
    assert rows(store, "SELECT count(*) FROM event") == [(0,)]


def test_what_was_shown_comes_back_as_clicks_and_as_training_data(served, store, tmp_path, models):
    answers = [
        served("POST", "/v1/rank", {"documents": DOCUMENTS, "query": query, "user": "u7", "k": 3}).json
        for query in ("q1", "q1", "q2")
    ]
    best = [one["id"] for one in answers[0]["results"]]
    events = [click(answers[0]["request"], best[1]), {"kind": "dwell", "request": answers[0]["request"], "id": best[1],
              "value": 12.5}, click(answers[2]["request"], best[0]), click("unknown")]  # fmt: skip
    served("POST", "/v1/feedback", {"events": events})
    log = click_log(store)
    assert (log.n_pages, log.clicks.tolist(), log.dropped_clicks) == (3, [0, 1, 0, 0, 0, 0, 1, 0, 0], 1)
    assert log.page_ids.tolist() == [one["request"] for one in answers]
    assert log.document_ids[log.pairs[:3]].tolist() == best
    assert log.dwell[1] == 12.5
    assert log.ranker_names == ("web@1",)
    data, left_out = training_data(store)
    assert left_out == 0
    assert data.query_ids.tolist() == [one["request"] for one in answers]
    assert data.labels.tolist() == [0, 1, 0, 0, 0, 0, 1, 0, 0]
    assert data.feature_names == ("bm25", "title", "age")
    vectors = {one["id"]: one["features"] for one in DOCUMENTS}
    assert data.features.tolist() == [vectors[id] for id in data.document_ids]
    pages = click_log(store, by="request")
    assert sorted(pages.query_ids) == sorted(data.query_ids)
    queries = np.repeat(data.query_ids, data.sizes)
    assert pages.find_pairs(queries, data.document_ids).min() >= 0
    for words in (["clicks", "-o", "c.jsonl"], ["letor", "-o", "t.txt"], ["status"], ["backup", "-o", "b.db"]):
        named = [str(tmp_path / word) if "." in word else word for word in words]
        done = CliRunner().invoke(app, ["feedback", named[0], str(store), *named[1:]])
        assert done.exit_code == 0, done.output
    assert read_clicks(tmp_path / "c.jsonl").clicks.tolist() == log.clicks.tolist()
    read = read_data(tmp_path / "t.txt")
    assert read.feature_names == data.feature_names
    assert read.features.tolist() == data.features.tolist()
    assert totals(tmp_path / "b.db").impressions == 3


def test_judgements_become_grades_of_the_last_impression(served, store):
    for _ in range(2):
        answer = served("POST", "/v1/rank", {"documents": DOCUMENTS, "query": "q1"}).json
    votes = [("ann", "D1", 2.0), ("bob", "D1", 4.0), ("ann", "D3", 0.0)]
    events = [{"kind": "judgement", "query": "q1", "id": id, "value": grade, "who": who} for who, id, grade in votes]
    served("POST", "/v1/feedback", {"events": events})
    data, _ = training_data(store, label="judgement")
    assert data.query_ids.tolist() == [answer["request"]]
    assert dict(zip(data.document_ids, data.labels, strict=True)) == {"D1": 3.0, "D3": 0.0}
    done = CliRunner().invoke(app, ["feedback", "votes", str(store)])
    assert done.stdout.splitlines()[:2] == ["query,document,judge,grade", "q1,D1,ann,2.0"]


def test_a_user_is_stored_as_a_hash_and_can_be_deleted(served, store):
    for user in ("ann@example.org", "bob"):
        shown = served("POST", "/v1/rank", {"documents": DOCUMENTS, "query": "q", "user": user}).json["request"]
        served("POST", "/v1/feedback", {"events": [click(shown)]})
    written = b"".join(path.read_bytes() for path in store.parent.iterdir() if path.is_file())
    assert b"ann@example.org" not in written
    assert served("DELETE", "/v1/users/ann@example.org").json == {"impressions": 1, "events": 1}
    assert rows(store, "SELECT count(*) FROM impression UNION ALL SELECT count(*) FROM event") == [(1,), (1,)]
    assert oct(os.stat(f"{store}.key").st_mode & 0o777) == "0o600"


def test_a_service_without_a_store_says_so(client):
    assert client("POST", "/v1/feedback", {"events": []}).status == 404


def test_a_full_store_answers_503_and_ranking_goes_on(start, models, store):
    client = start(models=(str(models / "web.podium"),), store=str(store), keep_bytes=64 * 4096)
    wide, status, k = "x" * 4000, 202, 0
    while status == 202 and k < 300:
        events = [{"kind": "judgement", "query": wide, "id": f"D{k}", "value": 1.0}]  # these are never deleted
        found = client("POST", "/v1/feedback", {"events": events})
        status, k = found.status, k + 1
    assert (status, found.headers["retry-after"]) == (503, "5")
    assert "the feedback store is full" in found.json["detail"]
    assert client("POST", "/v1/rank", {"documents": DOCUMENTS}).status == 200
    assert os.path.getsize(store) <= 64 * 4096
    assert rows(store, "SELECT count(*) FROM event") == [(k - 1,)]


def impression(k, at=None):
    return Impression(f"r{k}", "m@1", ("a",), "q", None, ["d"], np.zeros((1, 1), np.float32))


def test_features_that_wait_for_the_disk_hold_a_bounded_memory(store, monkeypatch):
    go, commit = threading.Event(), Feedback._commit
    monkeypatch.setattr(Feedback, "_commit", lambda self, jobs: (go.wait(10), commit(self, jobs)))
    monkeypatch.setattr(module, "_HELD", 10 * (impression(0).features.nbytes + len("q") + len("d")))
    kept = Feedback(store)
    first = kept.add([Action("click", "d", "r")])
    while kept.waiting:  # the writer has taken it, and waits for the disk
        time.sleep(0.01)
    assert [kept.log(impression(k)) for k in range(12)] == [True] * 10 + [False] * 2
    second = kept.add([Action("click", "e", "r")])  # events are few bytes
    go.set()
    assert first.result(10).accepted == second.result(10).accepted == 1
    assert kept.log(impression(12))
    kept.close()
    assert rows(store, "SELECT count(*) FROM impression") == [(11,)]


def test_more_than_the_queue_holds_is_refused_and_lost_impressions_are_counted(store, monkeypatch):
    counts = []
    go = threading.Event()
    monkeypatch.setattr(Feedback, "_commit", lambda self, jobs: go.wait(10))
    kept = Feedback(store, queue=6, count=lambda what, by: counts.append((what, by)))
    first = kept.add([Action("click", "d", "r")])
    while kept.waiting:  # taken by the writer, which hangs
        time.sleep(0.001)
    assert all(kept.log(impression(k)) for k in range(3))
    assert not kept.log(impression(4))
    assert counts == [("lost", 1)]
    waiting = [kept.add([Action("click", "d", "r")]) for _ in range(3)]  # half of the queue is for what people do
    with pytest.raises(FeedbackError, match="6 events wait"):
        kept.add([Action("click", "d", "r")])
    go.set()
    kept.close()
    assert not any(one.done() for one in (first, *waiting))


def test_who_gives_up_waiting_or_sends_what_cannot_be_written_does_not_stop_the_writer(store, monkeypatch):
    kept = Feedback(store)
    with kept._changed:  # the writer has to wait, so that all is written at once
        given_up = kept.add([Action("click", "a", "r")])
        assert given_up.cancel()
        bad = kept.add([Action("click", "half a pair \ud800", "r")])
        good = kept.add([Action("click", "b", "r")])
    assert good.result(10).accepted == 1
    with pytest.raises(FeedbackError, match="cannot be written"):
        bad.result(10)
    assert kept.add([Action("click", "c", "r")]).result(10).accepted == 1
    kept.close()
    assert rows(store, "SELECT document FROM event ORDER BY n") == [("a",), ("b",), ("c",)]


def test_what_is_old_is_deleted_and_judgements_stay(store, monkeypatch):
    monkeypatch.setattr(module, "_TIDY", 0.02)
    kept = Feedback(store, keep_days=1.0)
    day = 86_400_000
    now = time.time_ns() // 1_000_000
    kept.log(impression(1))
    kept.add(
        [
            Action("click", "old", "r0", at=now - 2 * day),
            Action("click", "new", "r1", at=now),
            Action("judgement", "old", query="q", value=1.0, at=now - 2 * day),
        ]
    ).result()
    until = time.monotonic() + 10
    while rows(store, "SELECT count(*) FROM event") != [(2,)] and time.monotonic() < until:
        time.sleep(0.01)
    assert rows(store, "SELECT document, kind FROM event ORDER BY n") == [("new", "click"), ("old", "judgement")]
    assert rows(store, "SELECT count(*) FROM impression") == [(1,)]
    kept.close()


def test_a_file_of_something_else_is_refused(tmp_path):
    (tmp_path / "x.db").write_text("no database at all, but text")
    other = sqlite3.connect(tmp_path / "y.db")
    other.execute("CREATE TABLE t(x)")
    other.close()
    for name in ("x.db", "y.db"):
        with pytest.raises(DataError):
            Feedback(tmp_path / name)
    with pytest.raises(DataError, match="no such file"):
        totals(tmp_path / "z.db")


WRITER = """
import sys, threading
from podium.service.feedback import Action, Feedback
kept, start = Feedback(sys.argv[1]), int(sys.argv[2])
def work(thread):
    for k in range(100_000):
        name = f"{start}-{thread}-{k}"
        kept.add([Action("click", name, f"r{thread}")]).result()
        sys.stdout.write(name + "\\n")
        sys.stdout.flush()
for thread in range(8):
    threading.Thread(target=work, args=(thread,), daemon=True).start()
threading.Event().wait(60)
"""


def test_what_was_acknowledged_before_a_kill_is_there_once(store):
    acknowledged = []
    for turn in range(3):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(store), str(turn)], stdout=subprocess.PIPE) as writer:
            got = [writer.stdout.readline() for _ in range(150 + 40 * turn)]
            writer.send_signal(signal.SIGKILL)
            got += writer.stdout.read().split(b"\n")[:-1]  # whole lines that were in the pipe
        acknowledged += [line.decode().strip() for line in got if line.strip()]
    assert len(acknowledged) > 500
    Feedback(store).close()
    assert rows(store, "PRAGMA integrity_check") == [("ok",)]
    found = [name for (name,) in rows(store, "SELECT document FROM event")]
    assert len(set(found)) == len(found)
    assert set(acknowledged) <= set(found)
