"""Click logs of other tools."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.base.errors import DataError
from podium.clicks import (
    read_baidu_ultr,
    read_clicks,
    read_metarank,
    read_open_bandit,
    read_tiangong,
    read_ubi,
    read_yandex,
    write_clicks,
)

REAL = Path(__file__).parents[3] / "../shared/data/clicks"


def written(path, *lines):
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def pages(log):
    """(query, documents, clicked positions) of each page."""
    found = []
    for p in range(log.n_pages):
        part = slice(log.offsets[p], log.offsets[p + 1])
        clicked = (np.flatnonzero(log.clicks[part]) + 1).tolist()
        found.append((log.query_ids[log.page_query[p]], log.document_ids[log.pairs[part]].tolist(), clicked))
    return found


def search(name, text, hits=None, **more):
    return {"query_id": name, "user_query": text, **({} if hits is None else {"query_response_hit_ids": hits}), **more}


def event(name, action, document=None, ordinal=None, **more):
    attributes = {}
    if document is not None:
        attributes["object"] = {"object_id": document}
    if ordinal is not None:
        attributes["position"] = {"ordinal": ordinal}
    return {"query_id": name, "action_name": action, "event_attributes": attributes or None, **more}


def test_ubi_takes_the_hits_and_joins_clicks_by_document_or_ordinal(tmp_path):
    path = written(
        tmp_path / "ubi.ndjson",
        {"index": {"_index": "ubi_queries"}},
        search("s1", "  Blue\u3000SHOES ", ["a", "b", "c"], client_id="u", timestamp="2024-12-10T00:00:00Z"),
        search("s2", "blue shoes", ["c", "a"], client_id="u"),
        event("s1", "click", "b", session_id="v", timestamp=1733788801000),
        event("s1", "click", "b", timestamp=1733788809000),
        event("s1", "click", "elsewhere"),
        event("s1", "add_to_cart", "c"),
        event("s2", "click", ordinal=2),
        event("s2", "search"),
    )
    log = read_ubi(path, grades={"add_to_cart": 2})
    assert pages(log) == [("blue shoes", ["a", "b", "c"], [2]), ("blue shoes", ["c", "a"], [2])]
    assert log.dropped_clicks == 1
    assert log.grades.tolist() == [0, 0, 2, 0, 0]
    assert log.click_times[1] == 1733788801000
    assert log.last_click_times[1] == 1733788809000
    assert log.users.tolist() == [0, 0]
    assert log.visits.tolist() == [0, -1]
    assert log.page_ids.tolist() == ["s1", "s2"]
    assert log.query_texts.tolist() == ["Blue\u3000SHOES"]


@pytest.mark.parametrize("base", [0, 1])
def test_ubi_ordinals_count_from_0_where_an_application_has_one(tmp_path, base):
    path = written(
        tmp_path / "events.ndjson",
        search("s1", "x", application="A"),
        event("s1", "impression", "b", base + 1, application="A"),
        event("s1", "impression", "a", base, application="A"),
        event("s1", "view", "c", base + 4, application="A"),
        event("s1", "impression", "a", base + 3, application="A"),
        event("s1", "click", ordinal=base + 4, application="A"),
        event("s1", "click", "b", application="A"),
    )
    log = read_ubi(path)
    assert pages(log) == [("x", ["a", "b", "c"], [2, 3])]
    assert log.positions.tolist() == [1, 2, 5]


def test_ubi_drops_and_counts_what_shows_nothing(tmp_path):
    path = written(
        tmp_path / "ubi.ndjson", search("s1", "x"), search("s2", None, ["a"]), search("s3", "y", []),
        event("s1", "click", "a"), event("s4", "impression", "a", 1, user_query="z"), {"no": "query"},
    )  # fmt: skip
    log = read_ubi(path)
    assert pages(log) == [("z", ["a"], [])]
    assert (log.dropped_pages, log.dropped_clicks) == (3, 1)


def test_ubi_is_read_from_search_responses_and_parquet_too(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    queries, events = [search("s1", "x", ["a", "b"])], [event("s1", "click", "b", 2)]
    plain = read_ubi(written(tmp_path / "q.ndjson", *queries), written(tmp_path / "e.ndjson", *events))
    for indent in (None, 1):
        response = {"hits": {"hits": [{"_index": "i", "_source": one} for one in queries + events]}}
        path = tmp_path / "response.json"
        path.write_text(json.dumps(response, indent=indent))
        assert pages(read_ubi(path)) == pages(plain)
    for name, rows in (("q", queries), ("e", events)):
        parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / f"{name}.parquet")
    assert pages(read_ubi(tmp_path / "q.parquet", tmp_path / "e.parquet")) == pages(plain)
    assert pages(plain) == [("x", ["a", "b"], [2])]


@pytest.mark.skipif(not REAL.is_dir(), reason="the logs are not here")
def test_the_public_sample_of_ubi_is_read():
    path = REAL / "ubi-esci" / "ubi_queries_events.ndjson"
    log = read_ubi(path)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    shown = {one["query_id"] for one in records if one.get("action_name") == "impression"}
    shown |= {one["query_id"] for one in records if one.get("query_response_hit_ids")}
    assert set(log.page_ids) <= shown
    own = np.isin(log.page_ids, [one["query_id"] for one in records if one.get("application") == "esci_ubi_sample"])
    assert own.sum() == 200  # one page for each query of the application without hits
    assert (log.sizes[own] == 5).all()
    assert int(log.select(own).clicks.sum()) == 60  # all its clicks, with ordinals from 0
    asked = {one["query_id"]: one for one in records if "user_query" in one and "action_name" not in one}
    for p in np.flatnonzero(~own)[:50]:
        hits = asked.get(log.page_ids[p], {}).get("query_response_hit_ids")
        if hits:
            part = slice(log.offsets[p], log.offsets[p + 1])
            assert log.document_ids[log.pairs[part]].tolist() == hits


def test_metarank_joins_interactions_to_rankings(tmp_path):
    ranking = {
        "event": "ranking", "id": "r1", "timestamp": "1599391467000", "user": "u1", "session": "s1",
        "fields": [{"name": "source", "value": "search"}, {"name": "query", "value": "cat"}],
        "items": [{"id": "i3", "relevancy": 2.0}, {"id": "i1"}, {"id": "i2"}],
    }  # fmt: skip
    path = written(
        tmp_path / "events.jsonl",
        {"event": "item", "id": "x", "timestamp": 1, "item": "i1", "fields": []},
        {"event": "interaction", "id": "a", "ranking": "r1", "timestamp": 1599391470, "type": "click", "item": "i1"},
        ranking,
        {"event": "interaction", "id": "b", "ranking": "r1", "timestamp": 1, "type": "purchase", "item": "i2"},
        {"event": "interaction", "id": "c", "ranking": None, "timestamp": 1, "type": "click", "item": "i2"},
        {"event": "interaction", "id": "d", "ranking": "r9", "timestamp": 1, "type": "click", "item": "i2"},
        {**ranking, "id": "r2", "fields": None},
    )
    log = read_metarank(path)
    assert pages(log) == [("cat", ["i3", "i1", "i2"], [2])]
    assert (log.dropped_pages, log.dropped_clicks) == (1, 1)
    assert log.times.tolist() == [1599391467000]
    assert log.click_times[1] == 1599391470000
    assert pages(read_metarank(path, actions=["purchase", "click"]))[0][2] == [2, 3]


def test_a_click_of_yandex_belongs_to_the_latest_page_that_shows_the_url(tmp_path):
    path = written(
        tmp_path / "log.txt",
        "1\t0\tQ\t7\t0\t10\t11\t12", "1\t5\tQ\t8\t0\t11\t13", "2\t0\tQ\t7\t0\t12",
        "1\t6\tC\t11", "1\t7\tC\t12", "1\t8\tC\t99", "2\t9\tC\t10",
    )  # fmt: skip
    log = read_yandex(path)
    assert pages(log) == [("7", ["10", "11", "12"], [3]), ("7", ["12"], []), ("8", ["11", "13"], [1])]
    assert log.dropped_clicks == 2
    assert log.visits.tolist() == [0, 1, 0]


XML = """<?xml version="1.0" encoding="utf-8"?>
<tiangong>
<session num="5">
<interaction num="1">
<query>blau</query><query_id>q3</query_id>
<results><result rank="1"><docid>d1</docid></result><result rank="2"><docid>d2</docid></result></results>
<clicked><click><rank>2</rank></click><click><rank>9</rank></click></clicked>
</interaction>
<interaction num="2"><query_id>q1</query_id><results><result rank="1"><docid>d2</docid></result></results></interaction>
</session>
</tiangong>
"""


def test_tiangong_is_read_from_xml_and_from_tabs(tmp_path):
    path = tmp_path / "sessions.xml"
    path.write_text(XML)
    log = read_tiangong(path)
    assert pages(log) == [("q1", ["d2"], []), ("q3", ["d1", "d2"], [2])]
    assert log.dropped_clicks == 1
    assert log.query_texts.tolist() == ["", "blau"]
    tabs = written(tmp_path / "tabs.txt", "5\t3\t[1, 2]\t[1, 1]\t[0, 1]\t[2, 0]", "5\t1\t['d2']\t[1]\t[0]\t[4]")
    log = read_tiangong(tabs)
    assert pages(log) == [("1", ["d2"], []), ("3", ["1", "2"], [2])]
    assert log.grades.tolist() == [4, 2, 0]
    assert log.visits.tolist() == [0, 0]


def test_open_bandit_rows_are_pages_of_one_document(tmp_path):
    path = written(
        tmp_path / "random.csv", ",timestamp,item_id,position,click,propensity_score",
        "0,2019-11-24 00:03:13.442536+00:00,14,3,0,0.029", "1,2019-11-24 00:03:36+00:00,10,1,1,0.5",
    )  # fmt: skip
    log = read_open_bandit(path)
    assert pages(log) == [("all", ["14"], []), ("all", ["10"], [1])]
    assert log.positions.tolist() == [3, 1]
    assert log.propensities.tolist() == [0.029, 0.5]
    assert log.times[0] == 1574553793442


@pytest.mark.skipif(not REAL.is_dir(), reason="the logs are not here")
@pytest.mark.parametrize(("part", "clicks"), [("random", 46), ("bts", 69)])
def test_open_bandit_has_the_clicks_that_its_description_says(part, clicks):
    log = read_open_bandit(REAL / "open-bandit-men" / f"{part}.csv")
    assert (log.n_pages, int(log.clicks.sum())) == (10_000, clicks)


@pytest.mark.parametrize(
    ("reader", "lines", "says"),
    [
        (read_yandex, ["1\t0\tQ\t7\t0\t10", "1\t0\tX\t7"], "2: expected visit, time, Q"),
        (read_yandex, ["1\t0\tQ\t7\t0\t10\t10"], "1: document '10' is twice"),
        (read_tiangong, ["5\t3\t[1]\t[1]\t[0]", "5\t3"], "2: expected visit, query"),
        (read_tiangong, ["5\t3\t[1, 2]\t[1]\t[0]"], "1: clicks must be 2 numbers 0 or 1"),
        (read_tiangong, ["5\t3\t[1]\t[1]\t[0]\t[x]"], "1: grades must be 1 numbers"),
        (read_tiangong, ["5\t3\t[1]\t[1]\t[0]"] * 2 + ["5\t4\t[1]\t[1]\t[0]\t[inf]"], "3: grades must be finite"),
        (read_tiangong, ["<a>", "</b>"], "2: not well-formed XML"),
        (read_tiangong, ["<a><interaction>", "</interaction></a>"], "2: this interaction lacks its query_id"),
        (read_open_bandit, ["item,position,click"], "1: no column 'propensity'"),
        (read_open_bandit, ["item,position,click,propensity", "1,1,2,1"], "2: click must be 0 or 1; got '2'"),
        (read_open_bandit, ["item,position,click,propensity", "1,0,1,1"], "2: position must be a whole number"),
        (read_open_bandit, ["item,position,click,propensity", "1"], "2: a row of 1 columns"),
        (read_metarank, ['{"event": "ranking", "id": 1.5}'], "1: the id of a ranking must be text"),
        (read_metarank, ['{"event": "ranking", "id": "r", "items": 3}'], "1: 'items' of a ranking must be a list"),
        (read_ubi, ["{}", '{"query_id": "s", "query_response_hit_ids": [1.5]}'], "2: an id must be text; got 1.5"),
        (read_ubi, ["{}", "nonsense"], "2: not a line of JSON"),
        (read_ubi, ["{}", '{"query_id": "s", "action_name": {}}'], "2: 'action_name' must be text"),
        (
            read_ubi,
            ['{"query_id": "\\ud800", "user_query": "x", "query_response_hit_ids": [1]}'],
            "1: the id '\\ud800'",
        ),
        (read_metarank, ['{"event": "ranking", "id": "r", "items": [], "fields": 3}'], "1: 'fields' of a ranking"),
        (read_tiangong, ["<a>", "<session>"], "2: the XML ends too early"),
    ],
)
def test_a_refusal_names_the_line(tmp_path, reader, lines, says):
    with pytest.raises(DataError, match=r"log\.txt:" + re.escape(says)):
        reader(written(tmp_path / "log.txt", *lines))


WORD = st.sampled_from(["1", "Q", "C", "[1]", "[0, 1]", "x", "", "0", "<a>", "</a>", "ü", "query_id", "-1", "nan"])
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["ranking", "interaction", "click", "a"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "name", "value", "object", "object_id", "position", "ordinal"]), inner)
    ),
    max_leaves=6,
)
KEYS = [
    "event", "id", "items", "fields", "ranking", "type", "item", "timestamp", "user", "session", "query_id",
    "user_query", "action_name", "event_attributes", "query_response_hit_ids", "application", "hits", "index",
]  # fmt: skip
EVENT = st.dictionaries(st.sampled_from(KEYS), VALUE, max_size=7).map(lambda one: json.dumps(one).encode())
LINE = st.lists(WORD, max_size=7).map(lambda words: "\t".join(words).encode()) | EVENT | st.binary(max_size=12)
LINE |= st.lists(WORD, max_size=5).map(lambda words: ",".join(words).encode())


@settings(deadline=None, max_examples=150)
@given(lines=st.lists(LINE, max_size=4))
@pytest.mark.parametrize("reader", [read_ubi, read_metarank, read_yandex, read_tiangong, read_open_bandit])
def test_fuzzed_lines_are_read_or_refused_by_their_number(tmp_path_factory, reader, lines):
    path = tmp_path_factory.mktemp("fuzz") / "log.txt"
    head = b"item,position,click,propensity\n" if reader is read_open_bandit else b""
    path.write_bytes(head + b"\n".join(lines))
    said = None
    try:
        log = reader(path)
    except DataError as error:
        said = str(error)
    if said is None:
        assert log.n_impressions == len(log.clicks)
    else:
        assert re.match(r".*log\.txt:\d+: .*\.$", said, re.DOTALL), said


def test_open_bandit_names_the_line_of_bad_bytes(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b"item,position,click,propensity\n1,1,0,1\n\xff,1,0,1\n")
    with pytest.raises(DataError, match=r"log\.csv:3: not UTF-8"):
        read_open_bandit(path)


def baidu(path, *rows):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    return path


ROW = {
    "query_id": "7",
    "query_md5": "ab",
    "url_md5": ["x", "y", "z"],
    "position": [1, 2, 3],
    "click": [0, 0, 1],
    "n": 3,
}


def test_baidu_ultr_is_read_in_the_order_of_positions(tmp_path):
    apart = {**ROW, "position": [4, 2, 9], "vector": [[0.5]]}
    log = read_baidu_ultr(baidu(tmp_path / "part.parquet", ROW, apart, {**ROW, "n": 2}))
    assert pages(log) == [("ab", ["x", "y", "z"], [3]), ("ab", ["y", "x", "z"], [3]), ("ab", ["x", "y"], [])]
    assert log.positions.tolist() == [1, 2, 3, 2, 4, 9, 1, 2]
    unnamed = {key: value for key, value in ROW.items() if key not in ("query_md5", "n")}
    assert read_baidu_ultr(baidu(tmp_path / "part.parquet", unnamed)).query_ids.tolist() == ["7"]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({**ROW, "click": [0, 1]}, "row 1: 3 documents, 3 positions, 2 clicks"),
        ({**ROW, "click": [0, 2, 1]}, "row 1: positions must be whole numbers, and clicks 0 or 1"),
        ({**ROW, "position": [1, 1, 2]}, "row 1: positions must rise"),
        ({**ROW, "position": None}, "row 1: 'position' must be a list"),
        ({**ROW, "query_md5": None}, "row 1: the query must be text"),
        ({"query_id": "7", "click": [1]}, " no column 'url_md5'"),
    ],
)
def test_a_row_of_baidu_ultr_that_is_wrong_is_named(tmp_path, row, says):
    with pytest.raises(DataError, match=r"part\.parquet:" + re.escape(says)):
        read_baidu_ultr(baidu(tmp_path / "part.parquet", row))


RECORDS = [
    (read_ubi, {"query_id": "1", "user_query": "x", "query_response_hit_ids": ["a", "b"], "timestamp": "2024-12-10"}),
    (read_ubi, {"query_id": "1", "action_name": "click", "event_attributes": {"object": {"object_id": "b"}}}),
    (
        read_metarank,
        {"event": "ranking", "id": "r", "items": [{"id": "a"}], "fields": [{"name": "query", "value": "x"}]},
    ),
    (read_clicks, {"query": "q", "documents": ["a"], "clicks": [{"at": 1, "time": 5}], "visit": "v", "grades": [1]}),
]
STRANGE = st.sampled_from(
    [None, True, -1, 0, 1.5, 10**30, float("nan"), "", "\ud800", "2024-13-01", [], [1], [[]], {}, {"at": "1"}]
)


@settings(max_examples=40, deadline=None)
@given(which=st.sampled_from(RECORDS), where=st.integers(0, 30), value=STRANGE)
def test_a_record_with_one_strange_value_is_read_or_refused_by_its_line(tmp_path_factory, which, where, value):
    reader, record = which
    record = json.loads(json.dumps(record))
    spots = [(one, key) for one in holders(record) for key in (one if isinstance(one, dict) else range(len(one)))]
    holder, key = spots[where % len(spots)]
    holder[key] = value
    path = tmp_path_factory.mktemp("strange") / "log.jsonl"
    path.write_text("{}\n" * (reader is not read_clicks) + json.dumps(record) + "\n")
    line = 1 if reader is read_clicks else 2
    said = None
    try:
        write_clicks(reader(path), path.with_name("copy.jsonl"))
    except DataError as error:
        said = str(error)
    assert said is None or re.match(rf".*log\.jsonl:{line}: .*\.$", said, re.DOTALL), said


def holders(value):
    """Every object and list inside a value."""
    if isinstance(value, dict | list):
        yield value
        for one in value.values() if isinstance(value, dict) else value:
            yield from holders(one)
