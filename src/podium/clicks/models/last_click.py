"""Counts under the assumption that users leave with their last click."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import AnyArray, Array, Flags
from podium.clicks.log.click_log import ClickLog


def down_to_last_click(log: ClickLog) -> tuple[Flags, Flags, Array]:
    """Whether each impression is at or above the last click of its page (all without clicks), whether it is that click,
    and how often it occurred."""
    upto: AnyArray = np.cumsum(log.clicks, dtype=np.int64)
    ends = np.append(0, upto)[log.offsets]
    total = np.repeat(ends[1:], log.sizes)  # clicks down to the end of the page
    seen = (upto - log.clicks < total) | np.repeat(ends[1:] == ends[:-1], log.sizes)
    last = (upto == total) & (log.clicks == 1)
    return seen, last, np.repeat(log.page_counts, log.sizes)
