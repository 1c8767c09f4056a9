"""Behaviour features of the service: those of the batch on the same events, also after kills, deletions and retries."""

import itertools
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

import podium
from podium.base.errors import IncompatibleError
from podium.clicks import ClickLog
from podium.clicks.behaviour import behaviour_data, behaviour_features, read_behaviour
from podium.clicks.behaviour.stored_values import value_key
from podium.engine import Engine
from podium.formats.described_data import write_described
from podium.service.feedback import events as module
from podium.service.feedback.behaviour_tables import require
from podium.service.feedback.events import Action, Feedback, Impression
from podium.service.feedback.feedback_export import click_log, reading_store, training_data
from podium.service.feedback.served_behaviour import ServedBehaviour
from podium.service.feedback.stored_fields import StoredFields
from podium.text.index.index import Index
from podium.text.retrieval.candidates import dataset

WANTED = read_behaviour(
    "shown(by=query),clicks,clicks(by=user-document,days=3),clicks(by=user,half_life=2),rate(by=query-document),"
    "rate(days=2,prior=0),coec(half_life=1.5),dwell,last,clicks(by=field:brand),rate(by=field:size,half_life=3),"
    "coec(by=field:brand),dwell(by=field:brand),last(by=field:size),seen(field=brand),seen(field=size,clicks=2,days=3),"
    "seen(field=brand,clicks=1),"
    "age(field=added),from_median(field=size),hour"
)
COUNTED = [column for column, feature in enumerate(WANTED) if feature.cells()]
STORED = [
    {"id": "a", "brand": "fell", "size": 2, "added": "2024-01-01"},
    {"id": "b", "brand": "fell", "size": 3.5, "added": "2030-01-01T12:00:00+02:00"},
    {"id": "c", "brand": "tarn", "size": 2.0},
    {"id": "never", "brand": "tarn", "size": -1, "added": "1999-12-31T23:59:59Z"},
    {"id": "e", "brand": "", "size": 7},
]
CELLS = {name for feature in WANTED for name in feature.cells()}
DAY = 86_400_000
NOW = 20_000 * DAY + 5_000_000


@pytest.fixture
def clock(monkeypatch):
    """Time of the service in ms, which tests move."""
    now = [NOW - 6 * DAY]
    monkeypatch.setattr(time, "time_ns", lambda: now[0] * 1_000_000)
    return now


@pytest.fixture
def store(tmp_path):
    return tmp_path / "feedback.db"


@pytest.fixture(scope="module", autouse=True)
def fields(tmp_path_factory):
    """Stored fields of an index, which all stores of this file use."""
    path = tmp_path_factory.mktemp("index") / "my.index"
    Index.create(path, STORED).close()
    _shared["index"], _shared["fields"] = path, StoredFields(path)
    yield _shared["fields"]
    _shared["fields"].close()


_shared = {}


def open_feedback(store, **more):
    return Feedback(store, keys=_shared["fields"].keys, **more)


def counting(store):
    feedback = open_feedback(store)
    feedback.count_behaviour(CELLS, map(repr, WANTED)).result()
    return feedback


def show(feedback, request, documents, *, query="q", user=None, at=None):
    X = np.zeros((len(documents), 1), np.float32)
    feedback.log(Impression(request, "web@1", ["f"], query, user, documents, X, at=at))


def settled(feedback):
    """Wait until all that was queued is on disk, and counted."""
    feedback.change(lambda base: None).result()
    while feedback._behind or feedback.waiting:
        time.sleep(0.001)


def live(store, feedback, query="q", user="u", documents=("a", "b", "c", "never")):
    reader = ServedBehaviour(store)
    stored = {field: _shared["fields"].values(field, documents) for field in ("brand", "size", "added")}
    try:
        return reader.features(WANTED, query=query, user=feedback.user_hash(user), documents=documents, stored=stored)
    finally:
        reader.close()


def batch(store, feedback, at, query="q", user="u", documents=("a", "b", "c", "never")):
    """Features of a page at this time by the exported log, in which it is the last one."""
    copy = store.with_name(f"copy{next(_numbers)}.db")
    settled(feedback)
    with reading_store(store) as base:
        base.execute("PRAGMA query_only=OFF")
        base.execute("VACUUM INTO ?", (str(copy),))
    copy.with_name(copy.name + ".key").write_text(store.with_name(store.name + ".key").read_text())
    other = Feedback(copy)
    show(other, "asked", list(documents), query=query, user=user, at=at)
    other.close()
    log = click_log(copy)
    (page,) = np.flatnonzero(log.page_ids == "asked")
    return behaviour_features(log, WANTED, _shared["index"])[log.offsets[page] : log.offsets[page + 1]]


_numbers = itertools.count()


def same(store, feedback, **page):
    values, at = live(store, feedback, **page)
    np.testing.assert_array_equal(values, batch(store, feedback, at, **page))
    return values


def live_events(feedback, clock, rng, pages):
    """Random pages over days, with clicks early and late, twice, on other documents and of unknown requests."""
    for number in range(pages):
        clock[0] += int(rng.choice([0, 1, DAY // 3]))
        documents = rng.permutation(["a", "b", "c", "d"])[: rng.integers(1, 5)].tolist()
        user = rng.choice(["u", "v", None])
        show(feedback, f"r{number}", documents, query=str(rng.choice(["q", "other", ""])), user=user, at=clock[0])
        for _ in range(rng.integers(0, 4)):
            request = f"r{rng.integers(0, number + 2)}"
            clock[0] += int(rng.choice([0, 1]))
            at = clock[0] - int(rng.choice([0, 0, 1, DAY])) if rng.random() < 0.7 else None
            kind = str(rng.choice(["click", "click", "dwell", "purchase"]))
            value = float(rng.choice([0, 0.0005, 12])) if kind == "dwell" else None
            document = str(rng.choice(["a", "b", "c", "elsewhere"]))
            feedback.add([Action(kind, document, request, value=value, at=at, event=str(rng.integers(2)))])
    clock[0] += DAY


@pytest.mark.parametrize("seed", range(4))
def test_the_service_counts_as_the_batch(store, clock, seed):
    feedback = counting(store)
    try:
        rng = np.random.default_rng(seed)
        for _ in range(3):
            live_events(feedback, clock, rng, 12)
            settled(feedback)
            same(store, feedback)
            same(store, feedback, query="other", user="nobody", documents=["d"])
    finally:
        feedback.close()


def test_what_was_there_before_a_model_is_counted_too_a_few_at_a_time(store, clock, monkeypatch):
    feedback = open_feedback(store)
    live_events(feedback, clock, np.random.default_rng(7), 30)
    settled(feedback)
    values, _ = live(store, feedback)
    assert np.isnan(values[:, COUNTED]).all()  # nothing was counted
    monkeypatch.setattr("podium.service.feedback.behaviour_tables._AT_ONCE", 3)
    feedback.count_behaviour(CELLS, map(repr, WANTED)).result()
    settled(feedback)
    assert not np.isnan(same(store, feedback)[:, 0]).any()
    feedback.close()


def test_incomplete_counts_are_missing_not_low(store, clock, monkeypatch):
    feedback = open_feedback(store)
    show(feedback, "r", ["a"])
    settled(feedback)
    feedback.close()
    monkeypatch.setattr(module.behaviour, "advance", lambda base, **how: False)
    feedback = counting(store)
    assert np.isnan(live(store, feedback)[0][:, COUNTED]).all()
    feedback.close()


def test_a_forgotten_user_leaves_the_counts(store, clock):
    feedback = counting(store)
    rng = np.random.default_rng(3)
    live_events(feedback, clock, rng, 20)
    feedback.forget("u").result()
    live_events(feedback, clock, rng, 5)
    settled(feedback)
    same(store, feedback)
    with reading_store(store) as base:
        assert base.execute("SELECT count(*) FROM behaviour WHERE shown<0 OR clicks<0 OR dwells<0").fetchone() == (0,)
        users = {user for (user,) in base.execute("SELECT user FROM behaviour_click")}
        assert feedback.user_hash("v") in users
    feedback.forget("u").result()
    feedback.forget("v").result()
    with reading_store(store) as base:
        assert base.execute("SELECT count(*) FROM behaviour_click").fetchone() == (0,)
    feedback.close()


def test_events_and_the_end_of_the_newest_impression_change_its_counts(store, clock):
    """It is the last one that is counted: one that came later would hide it."""
    feedback = counting(store)
    show(feedback, "first", ["a", "b"], user="v")
    show(feedback, "newest", ["a", "b"], user="u")
    settled(feedback)
    feedback.add([Action("click", "a", "newest")]).result()
    assert same(store, feedback)[0, 1] == 1
    feedback.forget("u").result()
    assert same(store, feedback)[0, 0] == 2  # of the query: both documents, once
    feedback.close()


def test_old_days_are_deleted_with_their_impressions(store, clock, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: clock[0] / 1000)
    feedback = open_feedback(store, keep_days=3)
    feedback.count_behaviour(CELLS, map(repr, WANTED)).result()
    show(feedback, "old", ["a"], user="u")
    feedback.add([Action("click", "a", "old")]).result()
    clock[0] += 5 * DAY
    show(feedback, "new", ["a"])
    settled(feedback)
    feedback.change(lambda base: None).result()
    feedback._tidied = -1e9
    feedback.change(lambda base: None).result()
    feedback.close()  # after the deletion
    with reading_store(store) as base:
        assert base.execute("SELECT DISTINCT day FROM behaviour").fetchall() == [(clock[0] // DAY,)]
        assert base.execute("SELECT count(*) FROM behaviour_click").fetchone() == (0,)
        assert base.execute("SELECT DISTINCT n FROM behaviour_value").fetchall() == [(2,)]


def test_clicks_of_one_millisecond_are_in_the_order_of_the_batch(store, clock):
    feedback = counting(store)
    column = [repr(feature) for feature in WANTED].index("seen(field=brand,clicks=1)")
    last = max("bc", key=lambda id: value_key({"b": "fell", "c": "tarn"}[id]))
    for number, order in enumerate(["bc", "cb"]):
        show(feedback, f"r{number}", ["b", "c"], user="u", at=clock[0])
        clock[0] += 1
        feedback.add([Action("click", id, f"r{number}", at=clock[0]) for id in order]).result()
        values = same(store, feedback, documents=["b", "c"])
        assert values[:, column].tolist() == [last == "b", last == "c"]
    feedback.close()


def test_a_forgotten_user_has_no_clicks_on_impressions_that_are_deleted_already(store, clock, monkeypatch):
    monkeypatch.setattr(time, "time", lambda: clock[0] / 1000)
    feedback = open_feedback(store, keep_days=3)
    feedback.count_behaviour(CELLS, map(repr, WANTED)).result()
    show(feedback, "old", ["a"], user="u", at=clock[0])
    clock[0] += 5 * DAY
    feedback.add([Action("click", "a", "old")]).result()
    feedback._tidied = -1e9
    feedback.change(lambda base: None).result()
    settled(feedback)
    feedback.close()  # after the deletion
    feedback = counting(store)
    with reading_store(store) as base:
        assert base.execute("SELECT count(*) FROM impression").fetchone() == (0,)
        assert base.execute("SELECT count(*) FROM behaviour_click").fetchone()[0] > 0
    feedback.forget("u").result()
    with reading_store(store) as base:
        assert base.execute("SELECT count(*) FROM behaviour_click").fetchone() == (0,)
    feedback.close()


@pytest.mark.slow  # it starts a process
def test_a_killed_service_has_counted_all_that_it_acknowledged_and_nothing_twice(store):
    program = f"""
import sys
from podium.service.feedback.events import Action, Feedback, Impression
from podium.service.feedback.stored_fields import StoredFields
import numpy as np
feedback = Feedback({str(store)!r}, keys=StoredFields({str(_shared["index"])!r}).keys)
feedback.count_behaviour({sorted(CELLS)!r}, []).result()
for number in range(10**6):
    X = np.zeros((2, 1), np.float32)
    feedback.log(Impression(f"r{{number}}", "web@1", ["f"], "q", "u", ["a", "b"], X))
    feedback.add([Action("click", "a", f"r{{number}}")]).result()
    print(number, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        lines = list(itertools.islice(process.stdout, 40))
        process.send_signal(signal.SIGKILL)
    assert len(lines) == 40
    feedback = open_feedback(store)
    settled(feedback)
    values = same(store, feedback, documents=["a", "b"])
    with reading_store(store) as base:
        acknowledged = base.execute("SELECT count(*) FROM event").fetchone()[0]
    assert acknowledged >= 40
    assert values[0, 1] == acknowledged
    feedback.close()


@pytest.mark.slow  # it starts a process
def test_an_upgrade_that_is_killed_leaves_the_old_store_and_the_next_one_counts_all_of_it(store, clock):
    feedback = open_feedback(store)
    live_events(feedback, clock, np.random.default_rng(11), 20)
    settled(feedback)
    feedback.close()
    with closing(sqlite3.connect(store)) as base:
        base.executescript("DROP TRIGGER behaviour_value_end;")
        for table in ("behaviour", "behaviour_cell", "behaviour_value", "behaviour_click"):
            base.execute(f"DROP TABLE {table}")
        base.execute("PRAGMA user_version=3")
        before = [list(base.execute(f"SELECT * FROM {table}")) for table in ("impression", "event")]
    program = f"""
import os
from podium.service.feedback import database
from podium.service.feedback.events import Feedback
def killed(base, statements):
    base.execute(statements.split(";\\n")[0])
    os._exit(9)
database._execute = killed
Feedback({str(store)!r})
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 9
    with closing(sqlite3.connect(store)) as base:
        assert base.execute("PRAGMA user_version").fetchone() == (3,)
        assert base.execute("SELECT count(*) FROM sqlite_master WHERE name LIKE 'behaviour%'").fetchone() == (0,)
    feedback = counting(store)
    settled(feedback)
    assert not np.isnan(same(store, feedback)[:, 0]).any()
    with reading_store(store) as base:
        assert before == [list(base.execute(f"SELECT * FROM {table}")) for table in ("impression", "event")]
    feedback.close()


def test_a_model_with_behaviour_features_is_served_and_its_log_trains_the_next(start, tmp_path, store):
    rng = np.random.default_rng(0)
    pages = [(str(q % 5), ["a", "b", "c"], [int(rng.integers(1, 4))]) for q in range(60)]
    log = podium.clicks.ClickLog.from_pages(pages)
    log = replace(log, times=np.arange(60) * DAY)
    known = podium.Dataset.from_arrays(
        rng.random((15, 1)), np.zeros(15), qid=np.repeat([str(q) for q in range(5)], 3), feature_names=["text"],
        document_ids=["a", "b", "c"] * 5,
    )  # fmt: skip
    write_described(behaviour_data(log, "clicks,rate(prior=2)", known), str(tmp_path / "train.txt"))
    model = podium.train(podium.read_data(tmp_path / "train.txt"), "regression")
    model.save(tmp_path / "web.podium")
    client = start(models=(str(tmp_path / "web.podium"),), store=str(store))
    documents = [{"id": id, "features": {"text": 0.5}} for id in "abc"]

    def ask(**more):
        return client("POST", "/v1/rank", {"documents": documents, "query": "0", **more})

    first = ask().json["request"]
    client("POST", "/v1/feedback", {"events": [{"kind": "click", "request": first, "id": "b"}]})
    second = ask(explain=True).json
    state = client.app.state.podium
    settled(state.feedback)
    data, _ = training_data(store)
    assert data.info == {"behaviour": ["clicks", "rate(prior=2.0)"]}
    assert data.feature_names == ("text", "clicks", "rate(prior=2.0)")
    rows = dict(zip(data.document_ids[3:], data.features[3:].tolist(), strict=True))
    assert rows["b"] == pytest.approx([0.5, 1, 3 / 7])
    assert rows["a"] == pytest.approx([0.5, 0, 2 / 7])
    shown = click_log(store)
    np.testing.assert_array_equal(behaviour_features(shown, "clicks"), data.features[np.r_[0:6], 1:2])
    asked = {"documents": documents, "pair": ["b", "a"], "query": "0"}
    shares = client("POST", "/v1/explain", asked).json["features"]
    assert sorted({share["feature"]: share["values"] for share in shares}["clicks"]) == [0.0, 1.0]
    assert second["request"] != first
    sent = [{"id": id, "features": {"text": 0.5, "clicks": 9, "rate(prior=2.0)": 1}} for id in "abc"]
    third = client("POST", "/v1/rank", {"documents": sent, "query": "0"})
    assert third.status == 200
    unnamed = client("POST", "/v1/rank", {"documents": [{"features": {"text": 1.0}}], "query": "0"})
    assert unnamed.status == 422
    assert "give each document its id" in unnamed.json["detail"]


def test_requiring_again_changes_nothing(store, clock):
    feedback = counting(store)
    show(feedback, "r", ["a", "b"])
    settled(feedback)
    before = same(store, feedback)
    feedback.change(lambda base: require(base, CELLS, ["clicks"])).result()
    np.testing.assert_array_equal(same(store, feedback), before)
    feedback.close()


def test_events_count_for_the_value_that_a_document_had_when_it_was_shown(store, clock, tmp_path):
    path = tmp_path / "own.index"
    index = Index.create(path, STORED)
    fields = StoredFields(path)
    feedback = Feedback(store, keys=fields.keys)
    feedback.count_behaviour(CELLS, map(repr, WANTED)).result()
    show(feedback, "r", ["a"], user="u")
    settled(feedback)
    index.add([{"id": "a", "brand": "tarn"}], replace=True)
    feedback.add([Action("click", "a", "r")]).result()
    column = [repr(feature) for feature in WANTED].index("clicks(by=field:brand)")
    assert live(store, feedback, documents=["b", "c"])[0][:, column].tolist() == [1, 0]
    assert fields.values("brand", ["a"]) == fields.values("brand", ["c"])
    feedback.forget("u").result()
    with reading_store(store) as base:
        for table in ("behaviour", "behaviour_value", "behaviour_click"):
            assert base.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    for part in (feedback, fields, index):
        part.close()


def test_counts_by_field_wait_for_an_index_and_are_missing_until_they_are_complete(store, clock, monkeypatch):
    counting(store).close()
    feedback = Feedback(store)
    for number in range(4):
        show(feedback, f"r{number}", ["a", "b"], user="u")
        feedback.add([Action("click", "a", f"r{number}")]).result()
    settled(feedback)
    feedback.close()
    monkeypatch.setattr("podium.service.feedback.behaviour_tables._AT_ONCE", 1)
    monkeypatch.setattr("podium.service.feedback.events.behaviour.is_behind", lambda base, keys: False)
    feedback = counting(store)
    column = [repr(feature) for feature in WANTED].index("clicks(by=field:brand)")
    first = live(store, feedback)[0][0, column]
    assert np.isnan(first) or first == 4
    settled(feedback)
    assert same(store, feedback)[0, column] == 4
    feedback.close()


def test_an_index_that_cannot_be_read_loses_no_feedback(store, clock):
    def broken(field, ids):
        return None

    feedback = Feedback(store, keys=broken)
    feedback.count_behaviour(CELLS, map(repr, WANTED)).result()
    show(feedback, "r", ["a"], user="u")
    settled(feedback)
    assert feedback.add([Action("click", "a", "r")]).result().accepted == 1
    feedback.close()
    feedback = counting(store)
    settled(feedback)
    same(store, feedback)
    feedback.close()


def test_last_clicks_of_a_user_are_read_from_an_index_of_the_table(store):
    """However many there are, a request reads as many as the feature counts."""
    feedback = counting(store)
    question = (
        "SELECT value FROM behaviour_click WHERE cell=? AND user=? AND at>=? AND at<? ORDER BY at DESC, value DESC"
    )
    with reading_store(store) as base:
        plan = [row[3] for row in base.execute(f"EXPLAIN QUERY PLAN {question}", (1, b"", 0, 1))]
    assert plan == ["SEARCH behaviour_click USING PRIMARY KEY (cell=? AND user=? AND at>? AND at<?)"]
    feedback.close()


@pytest.fixture
def shop_model(tmp_path):
    """A model of two features of behaviour that need stored fields."""
    pages = [(str(q % 5), ["a", "b", "c"], [1 + q % 3]) for q in range(60)]
    log = replace(ClickLog.from_pages(pages), times=np.arange(60) * DAY)
    data = behaviour_data(log, "clicks(by=field:brand),from_median(field=size)", documents=STORED)
    path = tmp_path / "shop.podium"
    podium.train(replace(data, positions=None), "regression").save(path)
    return str(path)


def test_stored_fields_come_from_the_index_of_the_service(start, store, shop_model, fields):
    client = start(models=(shop_model,), index=str(_shared["index"]), store=str(store))
    documents = [{"id": id, "features": {}} for id in "abc"]
    first = client("POST", "/v1/rank", {"documents": documents, "query": "0"}).json["request"]
    client("POST", "/v1/feedback", {"events": [{"kind": "click", "request": first, "id": "b"}]})
    client("POST", "/v1/rank", {"documents": documents, "query": "0"})
    settled(client.app.state.podium.feedback)
    data, _ = training_data(store)
    rows = dict(zip(data.document_ids[3:], data.features[3:].tolist(), strict=True))
    assert rows == {"a": [1, 0], "b": [1, pytest.approx(0.75)], "c": [0, 0]}
    log = click_log(store)
    wanted = ["clicks(by=field:brand)", "from_median(field=size)"]
    np.testing.assert_array_equal(behaviour_features(log, wanted, STORED), data.features)


def test_a_service_without_the_index_or_the_field_says_so(start, tmp_path, store, shop_model):
    documents = [{"id": id, "features": {}} for id in "abc"]
    client = start(models=(shop_model,), store=str(store))
    detail = client("POST", "/v1/rank", {"documents": documents, "query": "0"})
    assert detail.status == 422
    assert "needs the stored field 'brand' of documents, and the service has no index" in detail.json["detail"]
    Index.create(tmp_path / "other.index", [{"id": "a", "title": "tent", "size": 1}]).close()
    client = start(models=(shop_model,), index=str(tmp_path / "other.index"), store=str(tmp_path / "other.db"))
    for _ in range(2):
        detail = client("POST", "/v1/rank", {"documents": documents, "query": "0"})
        assert "no document of the index has a field 'brand'" in detail.json["detail"]
    sent = [{"id": "a", "features": {"clicks(by=field:brand)": 1, "from_median(field=size)": 0}}]
    assert client("POST", "/v1/rank", {"documents": sent, "query": "0"}).status == 200


TENTS = [
    {"id": "a", "text": "tent for two", "brand": "fell"},
    {"id": "b", "text": "tent", "brand": "fell"},
    {"id": "c", "text": "tent pole", "brand": "tarn"},
]


def test_a_search_by_a_model_of_texts_and_behaviour_fills_in_what_users_did(start, tmp_path, store):
    path = tmp_path / "tents.index"
    log = replace(ClickLog.from_pages([("tent", ["a", "b", "c"], [3])] * 9), times=np.arange(9) * DAY)
    with closing(Index.create(path, TENTS)) as index:
        queries = [{"id": "1", "text": "tent", "time": 5 * DAY}, {"id": "2", "text": "pole"}]
        wanted = "tf,clicks(by=field:brand),rate(by=query-document)"
        data = dataset(index, queries, {"1": {"a": 1, "c": 0}, "2": {"c": 1}}, features=wanted, clicks=log)
    model = str(tmp_path / "tents.podium")
    podium.train(data, "regression").save(model)
    client = start(models=(model,), index=str(path), store=str(store))
    asked = {"query": "tent", "model": "tents", "explain": True}
    first = client("POST", "/v1/search", asked).json
    client("POST", "/v1/feedback", {"events": [{"kind": "click", "request": first["request"], "id": "b"}]})
    second = client("POST", "/v1/search", asked).json
    brand = {result["id"]: result["features"]["clicks(by=field:brand)"] for result in second["results"]}
    assert brand == {"a": 1, "b": 1, "c": 0}
    settled(client.app.state.podium.feedback)
    data, _ = training_data(store)
    names = list(data.feature_names[1:])
    np.testing.assert_array_equal(behaviour_features(click_log(store), names, TENTS), data.features[:, 1:])
    alone = start(models=(model,), index=str(path))("POST", "/v1/search", asked)
    assert alone.status == 422
    assert "are counted in a feedback store" in alone.json["detail"]
    with closing(Index.open(path)) as index, pytest.raises(IncompatibleError, match="podium serve MODEL INDEX --store"):
        Engine(index, model).search("tent")


def test_values_in_memory_are_bounded_and_those_of_unknown_documents_are_not_kept(fields, monkeypatch):
    monkeypatch.setattr("podium.service.feedback.stored_fields._CACHED", 4)
    nothing = fields.values("brand", [f"unknown{number}" for number in range(100)])
    assert {value.key for value in nothing} == {None}
    for _ in range(3):
        for field in ("brand", "size", "added"):
            for document in STORED:
                (value,) = fields.values(field, [document["id"]])
                assert value.key == value_key(document.get(field))
        assert len(fields._values) <= 4 + 3
