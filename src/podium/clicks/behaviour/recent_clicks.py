"""The last clicks of users on documents with a stored value, before any time."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import DataError

_MOST = 2**52  # sums of whole numbers up to here are exact as floats


class RecentClicks:
    """Clicks of users, by time; those of one millisecond in the order of their values."""

    def __init__(self, users: Ints, times: Ints, values: Ints, weights: Array) -> None:
        order = np.lexsort((values, times, users))
        self._values = values[order]
        self._sums = exact_sums(weights[order])  # of all clicks before each
        self._users, codes = np.unique(users, return_inverse=True)
        self._moments, at = np.unique(times, return_inverse=True)
        self._codes = (codes.reshape(-1) * (len(self._moments) + 1) + at.reshape(-1))[order]
        by_value = np.argsort(self._values, kind="stable")  # then by time
        self._places = self._values[by_value] * (len(order) + 1) + by_value
        self._value_sums = exact_sums(weights[order][by_value])

    def share(self, users: Ints, values: Ints, since: Ints, until: Ints, *, clicks: int) -> Array:
        """Share of each value among the last clicks of each user from one time to another; NaN if there are none."""
        if not len(self._values):
            return np.full(len(users), np.nan)
        first, end = self._place(users, since), self._place(users, until)
        number = np.minimum(self._sums[end] - self._sums[first], clicks)
        lowest = self._sums[end] - number
        oldest = np.searchsorted(self._sums, lowest, side="right") - 1  # the click that may count in part
        at = np.minimum(oldest, len(self._values) - 1)
        partly = np.where(self._values[at] == values, lowest - self._sums[oldest], 0.0)
        same = self._value_sum(values, end) - self._value_sum(values, oldest) - partly
        is_there = (users >= 0) & (values >= 0) & (number > 0)
        share: Array = np.divide(same, number, out=np.full(len(users), np.nan), where=is_there)
        return share

    def _place(self, users: Ints, times: Ints) -> Ints:
        """Number of clicks that come before those of each user at a time."""
        user = np.minimum(np.searchsorted(self._users, users), len(self._users) - 1)
        moments = np.searchsorted(self._moments, times)
        place = np.searchsorted(self._codes, user * (len(self._moments) + 1) + moments)
        return np.where(self._users[user] == users, place, 0)

    def _value_sum(self, values: Ints, places: Ints) -> Array:
        """Sum of the clicks with each value among the first ones."""
        codes = values * (len(self._values) + 1) + places
        sums: Array = self._value_sums[np.searchsorted(self._places, codes)]
        return sums


def exact_sums(amounts: Array) -> Array:
    """Sums of the first 0, 1, …, n of whole amounts; raises an error if they are too large to be exact."""  # (n+1,)
    sums = np.append(0.0, np.cumsum(amounts))
    if sums[-1] > _MOST:
        raise DataError(f"{sums[-1]:.3g} events or milliseconds are too many to count exactly.")
    return sums
