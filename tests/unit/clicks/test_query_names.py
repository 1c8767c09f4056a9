"""Click logs whose queries are named by text are joined to data by ids."""

import dataclasses
import json

import numpy as np
import pytest

from podium.base.errors import DataError
from podium.clicks import name_queries, read_clicks, write_clicks
from podium.clicks.log.click_log import ClickLog
from podium.formats.query_texts import QueryTexts

QUERIES = QueryTexts({"q1": "red shoes", "q2": "rain coat", "q 3": "hat"}, "queries.jsonl")
PAGES = [
    {"query": "RED shoes", "documents": ["a", "b"], "clicks": [2], "user": "u", "time": 30, "ranker": "A",
     "grades": [0, 1]},
    {"query": "hat", "documents": ["b"], "clicks": [], "user": "v", "time": 10, "ranker": "B", "grades": [2]},
    {"query": "umbrella", "documents": ["c"], "clicks": [1], "user": "u", "time": 20, "ranker": "A", "grades": [3]},
    {"query": "red  shoes", "documents": ["b", "a"], "clicks": [1], "user": "u", "time": 40, "grades": [4, None]},
    {"query": "q2", "documents": ["d"], "clicks": [1], "user": "w", "time": 50, "ranker": "B", "grades": [5]},
]  # fmt: skip


@pytest.fixture
def log(tmp_path):
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(page) + "\n" for page in PAGES))
    return read_clicks(tmp_path / "log.jsonl")


def test_pages_get_the_ids_of_their_queries_and_keep_all_else(log, tmp_path):
    named = name_queries(log, QUERIES)
    assert (
        str(named) == "4 of 5 pages joined by the queries of queries.jsonl; 1 page of 1 query left out, e.g. 'umbrella'"
    )
    write_clicks(named.log, tmp_path / "named.jsonl")
    written = [json.loads(line) for line in (tmp_path / "named.jsonl").read_text().splitlines()]
    ids = {"RED shoes": "q1", "red  shoes": "q1", "hat": "q 3", "q2": "q2"}
    expected = [
        {**page, "query": ids[page["query"]], "text": QUERIES.texts[ids[page["query"]]]}
        for page in PAGES
        if page["query"] in ids
    ]
    users = [page.pop("user") for page in written]
    assert (users[0] == users[2], users[0] == users[1]) == (True, False)
    assert written == [{key: value for key, value in page.items() if key != "user"} for page in expected]


def test_spellings_of_a_query_become_one_query_with_its_pairs(log):
    joined = name_queries(log, QUERIES).log
    assert joined.query_ids.tolist() == ["q 3", "q1", "q2"]
    assert joined.n_pairs == 4
    shown = joined.find_pairs(["q1", "q1", "RED shoes"], ["a", "b", "a"])
    assert (shown >= 0).tolist() == [True, True, False]
    np.testing.assert_array_equal(np.bincount(joined.pairs, joined.clicks), [0, 0, 2, 1])


def test_a_log_of_ids_stays_as_it_is(log):
    once = name_queries(log, QUERIES)
    again = name_queries(once.log, QUERIES)
    assert (again.left_out, str(again)) == ((), "4 of 4 pages joined by the queries of queries.jsonl")
    for field in dataclasses.fields(ClickLog):
        one, two = getattr(once.log, field.name), getattr(again.log, field.name)
        np.testing.assert_array_equal(one, two) if isinstance(one, np.ndarray) else None
        assert isinstance(one, np.ndarray) or one == two


def test_the_text_that_users_typed_counts_where_the_query_is_another_name():
    log = ClickLog.from_pages([("x7", ["a"], [1])])
    typed = dataclasses.replace(log, query_texts=np.array(["Rain  Coat"], object))
    assert name_queries(typed, QUERIES).log.query_ids.tolist() == ["q2"]


def test_a_log_of_other_queries_is_refused_with_examples():
    log = ClickLog.from_pages([("umbrella", ["a"], [1])])
    with pytest.raises(
        DataError, match=r"none of its queries is in queries\.jsonl: the log has 'umbrella'.*'red shoes'"
    ):
        name_queries(log, QUERIES)


def test_an_empty_log_stays_empty():
    assert name_queries(ClickLog.from_pages([]), QUERIES).log.n_pages == 0
