"""Feedback: acknowledged means on disk, once; what was shown comes back with the features it was ranked by."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from urllib.parse import unquote

import numpy as np
import pytest
from typer.testing import CliRunner

from podium.base.errors import DataError, ParameterError
from podium.cli.main import app
from podium.clicks import read_clicks
from podium.formats import read_data
from podium.service.feedback import database as store_module
from podium.service.feedback import events as module
from podium.service.feedback.events import Action, Feedback, FeedbackError, Impression
from podium.service.feedback.feedback_export import click_log, judgments, totals, training_data
from podium.service.settings import Settings

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
        event = {"kind": "judgment", "query": "q1", "id": "D1", "value": grade, "who": who}
        assert served("POST", "/v1/feedback", {"events": [event]}).status == 202
    assert rows(store, "SELECT who, value FROM event ORDER BY who") == [("ann", 2.0), ("bob", 4.0)]


@pytest.mark.parametrize(
    "event",
    [
        {"kind": "click", "id": "D1"},
        {"kind": "dwell", "id": "D1", "request": "r"},
        {"kind": "judgment", "id": "D1", "value": 1.0},
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


def test_judgments_become_grades_of_the_last_impression(served, store):
    for _ in range(2):
        answer = served("POST", "/v1/rank", {"documents": DOCUMENTS, "query": "q1"}).json
    votes = [("ann", "D1", 2.0), ("bob", "D1", 4.0), ("ann", "D3", 0.0)]
    events = [{"kind": "judgment", "query": "q1", "id": id, "value": grade, "who": who} for who, id, grade in votes]
    served("POST", "/v1/feedback", {"events": events})
    data, _ = training_data(store, label="judgment")
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
        events = [{"kind": "judgment", "query": wide, "id": f"D{k}", "value": 1.0}]  # these are never deleted
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


def test_what_is_old_is_deleted_and_judgments_stay(store, monkeypatch):
    monkeypatch.setattr(module, "_TIDY", 0.02)
    kept = Feedback(store, keep_days=1.0)
    day = 86_400_000
    now = time.time_ns() // 1_000_000
    kept.log(impression(1))
    kept.add(
        [
            Action("click", "old", "r0", at=now - 2 * day),
            Action("click", "new", "r1", at=now),
            Action("judgment", "old", query="q", value=1.0, at=now - 2 * day),
        ]
    ).result()
    until = time.monotonic() + 10
    while rows(store, "SELECT count(*) FROM event") != [(2,)] and time.monotonic() < until:
        time.sleep(0.01)
    assert rows(store, "SELECT document, kind FROM event ORDER BY n") == [("new", "click"), ("old", "judgment")]
    assert rows(store, "SELECT count(*) FROM impression") == [(1,)]
    kept.close()


def shown(store):
    return [row[0] for row in rows(store, "SELECT request FROM impression ORDER BY n")]


def test_the_oldest_impressions_are_deleted_whole_and_no_other_loses_its_clicks(store, monkeypatch):
    monkeypatch.setattr(module, "_TIDY", 0.0)
    kept = Feedback(store, keep_bytes=400 * 4096)
    kept.add([Action("click", "d", "unknown", at=5)]).result()
    wide = ["d" * 200, "e" * 200]
    for k in range(2500):
        kept.log(Impression(f"r{k}", "m@1", ("a",), "q", None, wide, np.zeros((2, 1), np.float32)))
        if k % 100 == 99:  # clicks come with times of the past, as a client's clock that is late gives
            clicks = [Action("click", wide[0], f"r{j}", at=1000 + j) for j in range(k - 99, k + 1)]
            kept.add([*clicks, Action("judgment", wide[1], f"r{k}", value=2.0, who="ann")]).result()
    kept._tidy()
    kept.close()
    left = shown(store)
    assert 100 < len(left) < 2500
    assert left == [f"r{k}" for k in range(2500 - len(left), 2500)]  # the oldest are gone
    clicked = [row[0] for row in rows(store, "SELECT request FROM event WHERE kind='click' ORDER BY n")]
    assert clicked == left
    assert click_log(store, by="request").clicks.tolist() == [1, 0] * len(left)
    assert training_data(store)[0].labels.tolist() == [1.0, 0.0] * len(left)
    grades = rows(store, "SELECT query FROM event WHERE kind='judgment'")
    assert len(grades) == 25
    assert set(grades) == {("q",), ("",)}  # of requests that are gone, the query stays
    assert len(judgments(store)) == 25


def test_a_clock_that_goes_backwards_deletes_nothing_new(store, monkeypatch):
    now = [2_000_000_000.0]
    monkeypatch.setattr(module.time, "time_ns", lambda: int(now[0] * 1e9))
    monkeypatch.setattr(module.time, "time", lambda: now[0])
    kept = Feedback(store, keep_days=1.0, keep_bytes=1)  # so that the first that came are deleted first
    monkeypatch.setattr(module, "used_bytes", lambda base: 0)
    for k in range(3):
        kept.log(impression(k))
        kept.add([Action("click", "d", f"r{k}")]).result()
        now[0] -= 3600.0
    kept._tidy()
    assert shown(store) == ["r0", "r1", "r2"]
    full = iter([9, 0, 0])
    monkeypatch.setattr(module, "used_bytes", lambda base: next(full))
    monkeypatch.setattr(store_module, "_AT_ONCE", 1)
    kept._tidy()
    kept.close()
    assert shown(store) == ["r1", "r2"]
    assert rows(store, "SELECT request FROM event ORDER BY n") == [("r1",), ("r2",)]


def test_events_from_the_future_are_of_now(store):
    kept = Feedback(store)
    kept.add([Action("click", "d", "r", at=4_102_444_800_000)]).result()
    kept.close()
    assert rows(store, "SELECT at FROM event")[0][0] <= time.time() * 1000


def test_an_id_that_a_client_gives_twice_names_one_impression(served, store):
    def ask(query, **more):
        return served("POST", "/v1/rank", {"query": query, "documents": DOCUMENTS}, **more).json["request"]

    first, second = ask("q1", x_request_id="visit"), ask("q2", x_request_id="visit")
    assert first == "visit"
    assert second.startswith("visit-")
    batch = {"queries": [{"query": "q3", "documents": DOCUMENTS}] * 2}
    answers = served("POST", "/v1/rank", batch, x_request_id="visit").json["answers"]
    assert [one["request"] for one in answers] == ["visit.0", "visit.1"]
    third = ask("q4", x_request_id="visit.1")
    assert third != "visit.1"
    events = [click(id) for id in (first, second, third)]
    assert served("POST", "/v1/feedback", {"events": events}).json == {"accepted": 3, "repeated": 0, "unknown": 0}
    found = rows(store, "SELECT request, query FROM impression ORDER BY n")
    assert found == [("visit", "q1"), (second, "q2"), ("visit.0", "q3"), ("visit.1", "q3"), (third, "q4")]


def test_an_id_is_known_after_a_restart_and_in_other_workers(start, models, store):
    for number in range(2):
        client = start(models=(str(models / "web.podium"),), store=str(store))
        found = client("POST", "/v1/rank", {"query": "q", "documents": DOCUMENTS}, x_request_id="r1").json["request"]
        assert (found == "r1") == (number == 0)
        client("POST", "/v1/feedback", {"events": [click(found)]})  # on disk


def test_an_impression_that_is_dropped_is_not_counted_as_logged(store):
    counts = []
    kept = Feedback(store, count=lambda what, by: counts.append((what, by)) if by else None)
    for _ in range(2):  # as another worker would, at the same moment
        kept.log(impression(1))
    kept.add([Action("click", "d", "r1")]).result()
    kept.close()
    assert ("logged", 1) in counts
    assert ("doubled", 1) in counts


def test_no_document_at_all_can_be_logged_is_refused():
    with pytest.raises(ParameterError, match="logged_documents must be above 0"):
        Settings(logged_documents=0)


AWKWARD = ["red boots", "a\tb", "a\nb", "a\0b", "50%", "#1", "\u2028", "é", " ", "=", "docid = x", "\x1f"]


def test_ids_of_any_text_are_exported_so_that_clicks_and_training_data_join(served, store, tmp_path):
    documents = [{"id": id, "features": [float(k), 1.0, 2.0]} for k, id in enumerate(AWKWARD)]
    answer = served("POST", "/v1/rank", {"query": "two words", "documents": documents}).json
    events = [click(answer["request"], id) for id in AWKWARD]
    events += [{"kind": "judgment", "query": "two words", "id": id, "value": 2} for id in AWKWARD]
    assert served("POST", "/v1/feedback", {"events": events}).status == 202
    for words in (
        ["letor", "-o", "train.txt"], ["letor", "-o", "graded.txt", "--label", "judgment"],
        ["clicks", "-o", "pages.jsonl", "--by", "request"], ["clicks", "-o", "clicks.jsonl"], ["votes", "-o", "v.csv"],
    ):  # fmt: skip
        named = [str(tmp_path / word) if "." in word else word for word in words]
        done = CliRunner().invoke(app, ["feedback", named[0], str(store), *named[1:]])
        assert done.exit_code == 0, done.output
    data, pages = read_data(tmp_path / "train.txt"), read_clicks(tmp_path / "pages.jsonl")
    assert data.n_documents == len(AWKWARD)
    assert data.labels.tolist() == [1.0] * len(AWKWARD)
    assert sorted(map(unquote, data.document_ids)) == sorted(AWKWARD)
    assert pages.find_pairs(np.repeat(data.query_ids, data.sizes), data.document_ids).min() >= 0
    assert sorted(read_clicks(tmp_path / "clicks.jsonl").document_ids) == sorted(AWKWARD)
    for path in ("qrels", "letor"):
        found = served("GET", f"/v1/judgments.{path}")
        assert (found.status, len(found.content.splitlines())) == (200, len(AWKWARD))


def test_values_have_a_range_and_grades_of_older_stores_out_of_it_are_left_out(served, store):
    for kind, most in (("judgment", 1000), ("dwell", 1e9), ("purchase", 1e9)):
        for value, status in ((0, 202), (most, 202), (1.001 * most, 422), (1e308, 422), (-1e-9, 422)):
            event = {"kind": kind, "request": "r", "query": "q", "id": f"{value}", "value": value}
            assert served("POST", "/v1/feedback", {"events": [event]}).status == status, (kind, value)
    base = sqlite3.connect(store)
    for value in (1e308, float("inf"), float("nan"), -1.0, "text"):
        base.execute(
            "INSERT INTO event(kind, request, query, document, value, who, event, at) "
            "VALUES('judgment', '', 'q', ?, ?, 'ann', '', 1)", (f"D{value}", value),
        )  # fmt: skip
    base.commit()
    base.close()
    assert totals(store).out_of_range == 5
    assert sorted({grade for *_, grade in judgments(store)}) == [0.0, 1000.0]
    assert served("GET", "/v1/judgments").json["total"] == 2
    assert served("GET", "/v1/judgments.qrels").status == 200


def test_judgments_of_the_second_format_are_read_and_replaced_as_those_of_the_newest(store):
    kept = Feedback(store)
    kept.add([Action("judgment", "D1", query="q", value=2.0, who="ann"), Action("click", "D2", "r")]).result()
    kept.close()
    base = sqlite3.connect(store)
    base.executescript(
        "DROP INDEX event_at; DROP INDEX event_judged; UPDATE event SET kind='judgement' WHERE kind='judgment';"
        "CREATE INDEX event_at ON event(at) WHERE kind<>'judgement';"
        "CREATE INDEX event_judged ON event(query) WHERE kind='judgement'; PRAGMA user_version=2;"
    )
    base.close()
    assert judgments(store) == [("q", "D1", "ann", 2.0)]
    assert rows(store, "PRAGMA user_version") == [(store_module.FORMAT.version,)]
    kept = Feedback(store)
    kept.add([Action("judgment", "D1", query="q", value=3.0, who="ann")]).result()
    kept.close()
    assert judgments(store) == [("q", "D1", "ann", 3.0)]
    assert totals(store).events == {"click": 1, "judgment": 1}


def test_nobody_else_on_the_machine_can_read_the_store_or_its_backup(served, store, tmp_path):
    assert CliRunner().invoke(app, ["feedback", "backup", str(store), "-o", str(tmp_path / "b.db")]).exit_code == 0
    for path in (store, tmp_path / "b.db", store.with_name("feedback.db.key")):
        assert oct(path.stat().st_mode & 0o777) == "0o600", path


def test_a_store_that_cannot_be_opened_is_refused_in_words(tmp_path, store):
    Feedback(store).close()
    (tmp_path / "feedback.db.key").write_text("no key")
    with pytest.raises(DataError, match="is damaged: 64 hexadecimal digits"):
        Feedback(store)
    (tmp_path / "folder").mkdir()
    with pytest.raises(DataError, match="cannot be"):
        Feedback(tmp_path / "folder")
    with pytest.raises(DataError, match="cannot be"):
        Feedback(tmp_path / "none" / "f.db")


def test_a_bad_row_neither_ends_the_watching_thread_nor_stops_the_others_from_being_followed(start, models, tmp_path):
    files = (str(models / "web.podium"), str(models / "trees.podium"))
    client = start(models=files, store=str(tmp_path / "f.db"), shelf=str(tmp_path / "shelf"))
    assert client("POST", "/v1/experiments", {"name": "e", "kind": "split", "candidate": "trees"}).status == 201
    assert client("POST", "/v1/rank", {"query": "q", "user": "u", "documents": DOCUMENTS}).json["experiment"] == "e"
    client("POST", "/v1/feedback", {"events": [click("none")]})
    base = sqlite3.connect(tmp_path / "f.db")
    base.execute("UPDATE impression SET arms='[]', documents='{'")
    columns = "'bad', kind, 'x@1', candidate, method, 'no hex', 'many', 2, 'x', NULL, NULL"
    base.execute(f"INSERT INTO experiment SELECT {columns} FROM experiment")
    base.commit()
    base.close()
    state = client.app.state.podium
    state.experiments._next_look = 0.0
    other = start(models=(), shelf=str(tmp_path / "shelf"))
    assert other("PUT", "/v1/aliases/fresh", {"model": "web"}).status == 200
    until = time.monotonic() + 10
    while "fresh" not in state.models.current.aliases and time.monotonic() < until:
        time.sleep(0.05)
    assert "fresh" in state.models.current.aliases
    assert state._watcher.is_alive()
    for path in ("/v1/experiments", "/v1/experiments/bad"):
        found = client("GET", path)
        assert found.status == 422
        assert "damaged" in found.json["detail"]
        assert str(tmp_path) not in found.json["detail"]


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
from podium.service.feedback.events import Action, Feedback
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
