"""Behaviour features of a log: equal to a look at every event, and blind for the page's own time and later."""

import io
import json
from contextlib import closing
from dataclasses import replace

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import behaviour as reference

from podium.base.errors import DataError, ParameterError, PodiumError
from podium.clicks import ClickLog, read_clicks
from podium.clicks.behaviour import BehaviourFeature, Clicks, behaviour_data, behaviour_features, read_behaviour
from podium.clicks.behaviour.stored_values import value_key
from podium.data.dataset import Dataset
from podium.text.index.index import Index

DAY = reference.DAY
EVERY = read_behaviour(
    "shown,shown(by=query,days=2),clicks,clicks(by=user-document,days=3),clicks(by=user,half_life=0.7),"
    "rate(prior=0),rate(by=query-document,prior=2.5,half_life=1.5),rate(by=user-document),coec,"
    "coec(by=query-document,days=2,prior=0,half_life=2),dwell,dwell(by=user,days=1),last,last(by=user-document,days=2),"
    "clicks(by=field:brand),rate(by=field:brand,days=2),coec(by=field:size),dwell(by=field:brand),last(by=field:size),"
    "seen(field=brand),seen(field=size,clicks=1),seen(field=brand,clicks=2,days=2),age(field=added),"
    "from_median(field=size),hour"
)
STORED = {
    "a": {"brand": "fell", "size": 2, "added": "1969-12-31T12:30:00+02:00"},
    "b": {"brand": "fell", "size": -1.5},
    "c": {"brand": "tarn", "size": 2.0, "added": "2024-02-29T00:00:00+00:00", "tags": ["x"]},
    "d": {"added": "1970-01-01T00:00:00+00:00"},
}


def log_of(pages):
    return read_clicks(io.BytesIO("\n".join(json.dumps(page) for page in pages).encode()))


def documents(stored=STORED):
    return [{"id": id, **fields} for id, fields in stored.items()]


def values(pages, features=EVERY, stored=STORED):
    """Features of the impressions in the order of `pages`, which a log sorts by query."""
    X = behaviour_features(log_of(pages), features, documents(stored))
    order = sorted(range(len(pages)), key=lambda at: pages[at]["query"])
    sizes = [len(pages[at]["documents"]) for at in order]
    parts = dict(zip(order, np.split(X, np.cumsum(sizes)[:-1]), strict=True))
    return np.concatenate([parts[at] for at in range(len(pages))])


@st.composite
def page_lists(draw):
    """Pages of few users, queries and documents, in any order of time, often at the same one."""
    pages = []
    for _ in range(draw(st.integers(1, 12))):
        time = draw(st.sampled_from([0, 1, 5])) + DAY * draw(st.integers(-2, 2))
        n = draw(st.integers(1, 4))
        documents = draw(st.permutations(["a", "b", "c", "d"]))[:n]
        clicks = []
        for at in draw(st.lists(st.integers(1, n), max_size=3)):
            click = {"at": at}
            if draw(st.booleans()):
                click["time"] = time + draw(st.sampled_from([-DAY, -1, 0, 1, 4, DAY]))
            if draw(st.booleans()):
                click["dwell"] = draw(st.sampled_from([0, 0.001, 0.004, 90_000]))
            clicks.append(click)
        page = {"query": draw(st.sampled_from("xyz")), "documents": documents, "clicks": clicks, "time": time}
        if draw(st.booleans()):
            page["user"] = draw(st.sampled_from(["u", "v"]))
        if draw(st.booleans()):
            page["count"] = draw(st.sampled_from([1, 2, 10**6]))
        pages.append(page)
    return pages


@settings(max_examples=30)
@given(page_lists())
def test_features_are_those_of_a_look_at_every_event(pages):
    expected = np.array(reference.features(pages, EVERY, STORED))
    np.testing.assert_allclose(values(pages), expected, rtol=1e-6)


def test_features_of_stored_fields_are_those_of_a_look_at_every_event_of_200_pages():
    rng = np.random.default_rng(0)
    names = [f"d{n}" for n in range(30)]
    dates = [f"20{y:02d}-03-0{d}T0{h}:00:00+01:00" for y, d, h in rng.integers(1, 9, (30, 3))]
    stored = {
        id: {"brand": f"b{rng.integers(5)}", "price": int(rng.integers(-1, 9)), "added": date}
        for id, date in zip(names, dates, strict=True)
    }
    for id, field in [("d1", "brand"), ("d1", "price"), ("d2", "added"), ("d3", "brand")]:
        del stored[id][field]
    pages = []
    for _ in range(200):
        time, n = int(rng.integers(5 * DAY, 25 * DAY)), int(rng.integers(1, 5))
        clicks = [{"at": at, "time": time + int(rng.integers(0, DAY))} for at in range(1, n + 1) if rng.random() < 0.4]
        shown = rng.choice(names, n, replace=False).tolist()
        user = f"u{rng.integers(4)}"
        pages.append({"query": "q", "documents": shown, "clicks": clicks, "time": time, "user": user})
    wanted = read_behaviour(
        "shown(by=field:brand,days=9),clicks(by=field:brand,half_life=3),rate(by=field:price),last(by=field:brand),"
        "seen(field=brand),seen(field=price,clicks=3,days=4),age(field=added),from_median(field=price),hour"
    )
    expected = np.array(reference.features(pages, wanted, stored))
    np.testing.assert_allclose(values(pages, wanted, stored), expected, rtol=1e-6)


@settings(max_examples=30)
@given(page_lists(), st.data())
def test_no_event_at_or_after_a_page_changes_its_features(pages, data):
    t = data.draw(st.sampled_from([page["time"] for page in pages]))
    before = values([*pages, {"query": "x", "documents": ["a"], "clicks": [], "time": t}])
    late = []
    for page in pages:
        late.append(dict(page))
        if page["time"] >= t:  # another page, clicked elsewhere
            late[-1] |= {"clicks": [{"at": 1, "time": page["time"] + 7}], "user": "w", "count": 3}
            continue
        late[-1]["clicks"] = [
            click for click in page["clicks"] if max(click.get("time", page["time"]), page["time"]) < t
        ]
        dwelt = [c for c in page["clicks"] if max(c.get("time", page["time"]), page["time"]) >= t]
        if len(dwelt) < len(page["clicks"]):  # a click that is earlier keeps its dwell: that of all clicks is one event
            late[-1]["clicks"] = page["clicks"]
    after = values([*late, {"query": "x", "documents": ["a"], "clicks": [{"at": 1}], "time": t, "count": 10**12}])
    sizes = np.cumsum([0, *(len(page["documents"]) for page in pages)])
    for k, page in enumerate(pages):
        if page["time"] < t:
            np.testing.assert_array_equal(before[sizes[k] : sizes[k + 1]], after[sizes[k] : sizes[k + 1]])
    np.testing.assert_array_equal(before[-1], after[-1])


@pytest.mark.parametrize(
    ("prior", "total", "own", "rate"),
    [
        (10, (100, 10), (2, 1), 0.1078),
        (1, (100, 10), (2, 1), 0.1667),
        (10, (100, 10), (10, 3), 0.1182),
        (10, (20, 5), (10, 3), 0.26),
    ],
)
def test_the_rate_is_metaranks_normalised_rate(prior, total, own, rate):
    """The table of its documentation: impressions and clicks of all items and of one."""

    class Counts:
        def count(self, measure, by, *, days, half_life=0.0, rank=None):
            return np.array([float((total if by == "everything" else own)[measure == "clicks"])])

    assert BehaviourFeature.parse(f"rate(prior={prior})").values(Counts()).tolist() == [pytest.approx(rate, abs=5e-5)]


def test_a_window_is_of_days_as_metaranks_buckets():
    """Counts of the last 1, 2 and 3 days, of clicks on days 1, 2 and 3, on day 3."""
    clicked = [{"query": "q", "documents": ["p"], "clicks": [1], "time": day * DAY + 10} for day in (1, 1, 2, 3, 3, 3)]
    pages = [*clicked, {"query": "q", "documents": ["p"], "clicks": [], "time": 3 * DAY + 20}]
    names = "clicks(days=1),clicks(days=2),clicks(days=3)"
    assert values(pages, names)[-1].tolist() == [3, 4, 6]


def test_millions_of_users_documents_and_moments_do_not_overflow():
    """Each document is shown twice, to the same user; numbers of users are as of a log of 2³¹ of them."""
    n = 140_000
    documents, users = np.arange(n) // 2, np.where(np.arange(n) % 4 < 2, 2**31 - 1, 2**29).astype(np.int32)
    log = ClickLog.from_codes(
        (np.zeros(n, np.int64), ["q"]), (documents, np.arange(n // 2).astype(str)), offsets=np.arange(n + 1),
        clicks=np.ones(n, np.uint8),
    )  # fmt: skip
    log = replace(log, users=users, times=np.arange(n, dtype=np.int64))
    np.testing.assert_array_equal(behaviour_features(log, "clicks(by=user-document)")[:, 0], np.arange(n) % 2)


def test_training_data_has_a_query_for_each_page_and_names_the_features_of_behaviour():
    pages = [
        {"query": "q", "documents": ["a", "b"], "clicks": [1], "time": 5},
        {"query": "q", "documents": ["b", "new", "a"], "clicks": [3], "time": 9},
    ]
    known = Dataset.from_arrays([[0.5], [0.25]], [0, 0], qid=["q", "q"], document_ids=["a", "b"], feature_names=["x"])
    data = behaviour_data(log_of(pages), "clicks,shown", known)
    assert data.feature_names == ("x", "clicks", "shown")
    assert data.info == {"behaviour": ["clicks", "shown"]}
    assert data.features.tolist() == [[0.5, 0, 0], [0.25, 0, 0], [0.25, 0, 1], [0.5, 1, 1]]
    assert data.labels.tolist() == [1, 0, 0, 1]
    assert data.sizes.tolist() == [2, 2]
    assert data.positions.tolist() == [1, 2, 1, 3]
    assert behaviour_data(log_of(pages), "clicks,shown").sizes.tolist() == [2, 3]


def test_what_cannot_be_counted_is_refused_in_words():
    page = {"query": "q", "documents": ["a"], "clicks": [], "time": 5}
    with pytest.raises(DataError, match="2 of 2 pages have no time"):
        behaviour_features(ClickLog.from_pages([("q", ["a"], []), ("q", ["a"], [])]), "clicks")
    with pytest.raises(DataError, match="must be a whole number"):
        behaviour_features(log_of([page | {"count": 1.5}]), "clicks")
    with pytest.raises(DataError, match="too many to count exactly"):
        behaviour_features(log_of([page | {"count": 2.0**53}]), "shown")
    with pytest.raises(DataError, match="35,000 years"):
        behaviour_features(log_of([page | {"clicks": [{"at": 1, "dwell": 1e13}]}]), "dwell")
    with pytest.raises(ParameterError, match=r"clicks\(days=7\) is named twice"):
        read_behaviour(["clicks(days=7)", "clicks(days=7)"])
    with pytest.raises(
        ParameterError, match="there are age, clicks, coec, dwell, from_median, hour, last, rate, seen, shown"
    ):
        read_behaviour("")
    named = Dataset.from_arrays([[1.0]], [0], qid=["q"], document_ids=["a"], feature_names=["clicks"])
    with pytest.raises(DataError, match="rename it"):
        behaviour_data(log_of([page]), "clicks", named)


def test_documents_may_be_an_index_a_file_dicts_or_a_frame(tmp_path):
    pages = [{"query": "q", "documents": list("abcd"), "clicks": [1], "time": 5, "user": "u"}] * 2
    pages[1] = pages[1] | {"time": 7, "documents": list("dcba")}
    wanted = "clicks(by=field:brand),seen(field=size),age(field=added),from_median(field=size)"
    expected = behaviour_features(log_of(pages), wanted, documents())
    Index.create(tmp_path / "my.index", documents()).close()
    (tmp_path / "documents.jsonl").write_text("\n".join(map(json.dumps, documents())))
    with closing(Index.open(tmp_path / "my.index")) as index:
        others = [index, tmp_path / "my.index", str(tmp_path / "documents.jsonl"), pandas.DataFrame(documents())]
        for other in others:
            np.testing.assert_array_equal(behaviour_features(log_of(pages), wanted, other), expected)
    assert expected[4:, 0].tolist() == pytest.approx([np.nan, 0, 1, 1], nan_ok=True)


def test_clicks_of_one_millisecond_are_in_an_order_of_their_values():
    """Of two clicks at once, that with the larger key is the last, in whatever order pages are read."""
    click = {"query": "q", "documents": ["a"], "clicks": [1], "time": 5, "user": "u"}
    pages = [click, click | {"documents": ["c"]}]
    last = max("ac", key=lambda id: value_key(STORED[id]["brand"]))
    asked = {"query": "q", "documents": ["a", "c"], "clicks": [], "time": 6, "user": "u"}
    for log in (pages, pages[::-1]):
        share = values([*log, asked], "seen(field=brand,clicks=1)")[-2:, 0]
        assert share.tolist() == [last == "a", last == "c"]


def test_a_page_that_occurred_often_is_as_many_clicks():
    """Of the last 4 clicks, 3 were on fell and the one before was one of 10 on tarn."""
    pages = [
        {"query": "q", "documents": ["c"], "clicks": [1], "time": 5, "user": "u", "count": 10},
        {"query": "q", "documents": ["a"], "clicks": [1], "time": 6, "user": "u", "count": 3},
        {"query": "q", "documents": ["a", "c"], "clicks": [], "time": 7, "user": "u"},
    ]
    assert values(pages, "seen(field=brand,clicks=4)")[-2:, 0].tolist() == [3 / 4, 1 / 4]


def test_numbers_far_from_the_median_are_missing_not_infinite():
    stored = {"a": {"x": 1e300}, "b": {"x": 1e-300}, "c": {"x": 1e-300}, "d": {"x": -1e308}}
    page = {"query": "q", "documents": list("abcd"), "clicks": [], "time": 5}
    assert values([page], "from_median(field=x)", stored)[:, 0].tolist() == pytest.approx(
        [np.nan, 0, 0, np.nan], nan_ok=True
    )


@pytest.mark.parametrize(
    ("feature", "given", "words"),
    [
        ("clicks(by=field:brand)", None, r"needs the stored field 'brand' of documents: give documents=…, an index"),
        ("seen(field=brnad)", documents(), r"No stored field 'brnad'\. Did you mean 'brand'"),
        ("seen(field=brand)", [{"id": "z", "brand": "fell"}], "none of the 2 documents of the log is here"),
        ("shown(by=field:tags)", documents(), r"document 'c': field 'tags': expected one text or number, .* \(list\)"),
        (
            "age(field=size)",
            documents(),
            r"'a': field 'size': expected an ISO date such as .*; got '2' \(int\)",
        ),
        ("from_median(field=brand)", documents(), r"field 'brand': expected a number, or an ISO date; got"),
        ("hour,age(field=added)", [*documents(), {"id": "a"}], "document 'a' is there twice"),
        ("age(field=added)", [{"id": "a", "added": "x"}, {"added": "y"}], "document 2 has no"),
    ],
)
def test_stored_fields_that_cannot_be_used_are_refused_in_words(feature, given, words):
    log = log_of([{"query": "q", "documents": ["c", "a"], "clicks": [], "time": 5}])
    with pytest.raises(PodiumError, match=words):
        behaviour_features(log, feature, given)


@pytest.mark.parametrize("name", ["seen(field=brand,clicks=1001)", "seen(field=brand,days=1001)", "seen(field=a/b)"])
def test_how_much_a_request_may_read_is_bounded(name):
    with pytest.raises(ParameterError, match=r"must be at most 1000|a stored field is named by"):
        read_behaviour(name)


@pytest.mark.parametrize("by", ["brand", "field:", "field:a/b", "field:a,b", "user document"])
def test_whose_events_count_is_refused_in_words(by):
    with pytest.raises(ParameterError, match=r"clicks: (by must be one of document, .*field:NAME|a stored field is)"):
        Clicks(by=by)
