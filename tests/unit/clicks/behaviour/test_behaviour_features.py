"""Behaviour features of a log: equal to a look at every event, and blind for the page's own time and later."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reference import behaviour as reference

from podium.base.errors import DataError, ParameterError
from podium.clicks import ClickLog, read_clicks
from podium.clicks.behaviour import BehaviourFeature, behaviour_data, behaviour_features, read_behaviour
from podium.data.dataset import Dataset

DAY = reference.DAY
EVERY = read_behaviour(
    "shown,shown(by=query,days=2),clicks,clicks(by=user-document,days=3),clicks(by=user,half_life=0.7),"
    "rate(prior=0),rate(by=query-document,prior=2.5,half_life=1.5),rate(by=user-document),coec,"
    "coec(by=query-document,days=2,prior=0,half_life=2),dwell,dwell(by=user,days=1),last,last(by=user-document,days=2)"
)


def log_of(pages):
    return read_clicks(io.BytesIO("\n".join(json.dumps(page) for page in pages).encode()))


def values(pages, features=EVERY):
    """Features of the impressions in the order of `pages`, which a log sorts by query."""
    X = behaviour_features(log_of(pages), features)
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
    expected = np.array(reference.features(pages, EVERY))
    np.testing.assert_allclose(values(pages), expected, rtol=1e-6)


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
    with pytest.raises(ParameterError, match="there are clicks, coec, dwell, last, rate, shown"):
        read_behaviour("")
    named = Dataset.from_arrays([[1.0]], [0], qid=["q"], document_ids=["a"], feature_names=["clicks"])
    with pytest.raises(DataError, match="rename it"):
        behaviour_data(log_of([page]), "clicks", named)
