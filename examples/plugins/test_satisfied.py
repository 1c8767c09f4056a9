import dataclasses

import numpy as np
import pytest
from satisfied import Satisfied

from podium.clicks import ClickLog, label_pairs
from podium.testing.names import text_gives_it_back

PAGES = [("q", ["a", "b", "c"], [1, 2]), ("q", ["b", "a"], [2]), ("q", ["a", "b"], [1]), ("r", ["a"], [])]


def labels(log: ClickLog, how: str) -> dict[tuple[str, str], float]:
    queries = log.query_ids[log.pair_query]
    return dict(zip(zip(queries, log.document_ids, strict=True), label_pairs(log, how).values, strict=True))


def test_its_text_gives_it_back():
    text_gives_it_back(Satisfied(prior=0.5))


def test_a_label_is_the_share_of_clicks_that_were_the_last():
    found = labels(ClickLog.from_pages(PAGES), "satisfied(prior=0.5)")
    assert found[("q", "a")] == pytest.approx((2 + 0.5) / (3 + 1))
    assert found[("q", "b")] == pytest.approx((1 + 0.5) / (1 + 1))
    assert np.isnan(found[("q", "c")])
    assert np.isnan(found[("r", "a")])


def test_a_page_may_be_counted():
    log = ClickLog.from_pages(PAGES)
    twice = dataclasses.replace(log, counts=np.full(log.n_pages, 2.0))
    repeated = ClickLog.from_pages([*PAGES, *PAGES])
    assert labels(twice, "satisfied") == pytest.approx(labels(repeated, "satisfied"), nan_ok=True)
