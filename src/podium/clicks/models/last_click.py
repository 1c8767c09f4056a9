"""Counting under the assumption that people leave with their last click."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from podium.base.arrays import Array
from podium.clicks.log.click_log import ClickLog


def down_to_last_click(log: ClickLog) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Array]:
    """Which impressions are at or above the last click of their page (all without clicks), which are that click, and
    how often each occurred."""
    upto: NDArray[Any] = np.cumsum(log.clicks, dtype=np.int64)
    ends = np.append(0, upto)[log.offsets]
    total = np.repeat(ends[1:], log.sizes)  # clicks down to the end of the page
    seen = (upto - log.clicks < total) | np.repeat(ends[1:] == ends[:-1], log.sizes)
    last = (upto == total) & (log.clicks == 1)
    return seen, last, np.repeat(log.page_counts, log.sizes)
