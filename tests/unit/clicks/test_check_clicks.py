"""The data doctor of click logs."""

from dataclasses import replace

import numpy as np

from podium.clicks import check_clicks, odd_pages
from podium.clicks.log.click_log import NO_TIME, ClickLog


def codes(log):
    return {finding.code: finding for finding in check_clicks(log)}


def test_a_plain_log_has_its_clicks_by_rank_and_nothing_else():
    log = ClickLog.from_pages([("q", ["a", "b"], [1]), ("q", ["b", "a"], [])])
    found = codes(log)
    assert found.keys() == {"clicks-by-rank"}
    assert found["clicks-by-rank"].examples == ("rank 1: 2 shown, 0.5000 clicked", "rank 2: 2 shown, 0.0000 clicked")


def test_visits_of_many_pages_are_robots():
    log = ClickLog.from_pages([("q", ["a", "b"], [1 + p % 2] if p % 3 else []) for p in range(150)])
    log = replace(log, visits=np.where(np.arange(150) < 101, 0, 1).astype(np.int32))
    assert odd_pages(log)["robots"].tolist() == [True] * 101 + [False] * 49
    assert codes(log)["robots"].title.startswith("101 of 150")
    assert not odd_pages(replace(log, visits=np.full(150, -1, np.int32)))["robots"].any()


def test_pages_on_which_all_was_clicked_are_odd():
    log = ClickLog.from_pages(
        [("q", ["a", "b", "c"], [1, 2, 3]), ("q", ["a", "b"], [1, 2]), ("q", ["b", "a", "c"], [])]
    )
    assert odd_pages(log)["all-clicked"].tolist() == [True, False, False]


def test_clicks_within_a_fifth_of_a_second_are_odd():
    log = ClickLog.from_pages([("q", ["a", "b"], [1, 2])] * 4)
    nan = np.nan
    log = replace(
        log,
        click_times=np.array([1000.0, 1100, 1000, 1300, 1000, nan, 1000, nan]),
        times=np.array([NO_TIME, NO_TIME, 900, 500]),
    )
    assert odd_pages(log)["fast-clicks"].tolist() == [True, False, True, False]


def test_ranks_without_common_documents_are_told():
    found = codes(ClickLog.from_pages([("q", ["a", "b"], [1]), ("q", ["a", "b"], [])]))["unconnected-ranks"]
    assert found.level == "warning"
    assert found.examples == ("rank 2",)


def test_logs_that_cannot_teach_are_told():
    assert codes(ClickLog.from_pages([("q", ["a"], [])]))["no-clicks"].level == "error"
    assert "only-clicked-pages" in codes(ClickLog.from_pages([("q", ["a"], [1])] * 30))
    dropped = codes(ClickLog.from_pages([("q", ["a"], [1, 7])]))
    assert dropped["dropped-clicks"].title == "1 click on documents not on their page."
    assert "dropped-pages" in codes(replace(ClickLog.from_pages([("q", ["a"], [1])]), dropped_pages=2))
