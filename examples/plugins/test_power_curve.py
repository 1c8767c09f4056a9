import numpy as np
import pytest
from power_curve import PowerCurve

from podium.base.errors import DataError
from podium.clicks import ClickLog, simulate
from podium.data.synthetic import make_letor_like
from podium.propensities import propensities
from podium.testing.names import page_has_headings, text_gives_it_back

DATA, _ = make_letor_like(40, (8, 12), n_features=8, seed=1)


def test_its_text_gives_it_back_and_its_page_has_the_headings():
    text_gives_it_back(PowerCurve())
    page_has_headings(PowerCurve(), ("Formula", "Cost", "Use it for", "Reference"))


@pytest.mark.parametrize("eta", [0.5, 1.0, 2.0])
def test_intervals_hold_a_planted_curve_about_as_often_as_they_say(eta):
    true, held = np.arange(1, 6) ** -eta, 0
    for seed in range(20):
        found = propensities(simulate(DATA, pages=2000, eta=eta, depth=5, seed=seed), "power-curve")
        held += bool(((found.low <= true) & (true <= found.high)).all())
        assert found.theta == pytest.approx(true, rel=0.5)
    assert held >= 16, "18 of 20 are likely, 15 or fewer are not"


def test_two_ranks_give_the_ratio_of_their_click_rates():
    pages = [("q", ["a", "b"], [1])] * 6 + [("q", ["b", "a"], [2])] * 3 + [("q", ["b", "a"], [])] * 3
    assert propensities(ClickLog.from_pages(pages), "power-curve").theta == pytest.approx([1.0, 3 / 6])


def test_pages_in_one_order_are_refused():
    with pytest.raises(DataError, match="no document was shown at two ranks"):
        propensities(ClickLog.from_pages([("q", ["a", "b"], [1, 2])] * 9), "power-curve")
