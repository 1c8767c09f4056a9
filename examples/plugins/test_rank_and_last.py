import pytest
from rank_and_last import RankAndLast

from podium.clicks import ClickLog, fit
from podium.testing import check_click_model


def test_it_keeps_the_promises_of_a_click_model():
    check_click_model(RankAndLast())


def test_a_rate_is_that_of_a_rank_after_a_last_click():
    pages = [("q", ["a", "b"], [1, 2]), ("q", ["b", "a"], [1]), ("r", ["c", "d"], [2]), ("r", ["d", "c"], [])]
    first, after_none, after_click = fit(ClickLog.from_pages(pages), RankAndLast()).params["rate"]
    assert [first, after_none, after_click] == pytest.approx([(2 + 1) / (4 + 2), (1 + 1) / (2 + 2), (1 + 1) / (2 + 2)])
    rates = fit(ClickLog.from_pages(pages), RankAndLast(prior=0.0)).predict(ClickLog.from_pages(pages))
    assert rates.conditional.tolist() == [0.5] * 8
