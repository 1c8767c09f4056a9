from dataclasses import replace

import numpy as np
import pytest
from trend import Trend

from podium.clicks import ClickLog
from podium.clicks.behaviour import behaviour_features
from podium.testing.names import text_gives_it_back

DAY = 86_400_000


def test_its_text_gives_it_back():
    text_gives_it_back(Trend(recent=3, days=7))


def test_it_is_above_one_if_clicks_are_new():
    log = ClickLog.from_pages([("q", ["old", "new"], [1]), ("q", ["old", "new"], [2]), ("q", ["old", "new"], [])])
    log = replace(log, times=np.array([0, 9, 9]) * DAY + np.arange(3))
    found = behaviour_features(log, "trend(days=10,recent=1,prior=1)")[-2:, 0].tolist()
    assert found == pytest.approx([(0 + 1) / (1 / 10 + 1), (1 + 1) / (1 / 10 + 1)])
