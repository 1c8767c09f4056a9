"""Preference rules within a results page, such as skip above: clicked documents are preferred to skipped ones.

With C the clicked positions and t the times of clicks,

    click-above            i ∈ C, j < i, j ∉ C                      i ≻ j      (skip above)
    last-click-above       i = argmax t(C), j < i, j ∉ C            i ≻ j      (without times, i is the lowest click)
    click-earlier-click    i, j ∈ C, t(i) > t(j)                    i ≻ j
    click-previous         i ∈ C, i − 1 ∉ C                         i ≻ i − 1
    click-next             i ∈ C, i + 1 ∉ C                         i ≻ i + 1

For a document that was clicked several times, `click-earlier-click` uses its first click and `last-click-above` its
last.

Reference: Joachims, Optimizing search engines using clickthrough data, KDD 2002; Joachims, Granka, Pan, Hembrooke,
Radlinski & Gay, Evaluating the accuracy of implicit feedback from clicks and query reformulations in web search, ACM
TOIS 25 (2007). The rules are theirs as commonly stated; the text of the papers was not at hand.
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Bytes, Int32s, Ints
from podium.base.errors import DataError
from podium.clicks.log.click_log import ClickLog
from podium.jit.compiled import compiled

WITHIN_PAGES = ("click-above", "last-click-above", "click-earlier-click", "click-previous", "click-next")
_ABOVE, _LAST, _EARLIER, _PREVIOUS, _NEXT = range(5)


def page_events(log: ClickLog, rule: str) -> tuple[Int32s, Int32s, Array]:
    """Preferences of a rule: winner, loser (numbers of pairs) and weight, which is how often the page occurred."""
    code = WITHIN_PAGES.index(rule)
    if code == _EARLIER and log.click_times is None:
        raise DataError("click-earlier-click needs the times of clicks, which this log lacks.", where=log.source)
    recorded = log.last_click_times if code == _LAST else log.click_times
    times = np.full(log.n_impressions, np.nan) if recorded is None else recorded
    arrays = (log.pairs, log.clicks, log.ranks(2**31 - 1), times, log.offsets, log.page_counts)
    n = _events(*arrays, code, np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0), False)
    winners, losers, weights = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n)
    _events(*arrays, code, winners, losers, weights, True)
    return winners, losers, weights


@compiled
def _events(
    pairs: Int32s, clicks: Bytes, ranks: Int32s, times: Array, offsets: Ints, counts: Array, rule: int,
    winners: Int32s, losers: Int32s, weights: Array, fill: bool,
) -> int:  # fmt: skip
    """Count the preferences of a rule; if `fill`, write them to the arrays."""
    n = 0
    for page in range(len(offsets) - 1):
        a, b = offsets[page], offsets[page + 1]
        last = _last_click(clicks, times, a, b)
        for i in range(a, b):
            if not clicks[i] or (rule == _LAST and i != last):
                continue
            for j in range(a, b):
                if pairs[i] != pairs[j] and _prefers(rule, i, j, clicks, ranks, times):
                    if fill:
                        winners[n], losers[n], weights[n] = pairs[i], pairs[j], counts[page]
                    n += 1
    return n


@compiled
def _prefers(rule: int, i: int, j: int, clicks: Bytes, ranks: Int32s, times: Array) -> bool:
    """Whether a rule prefers i, which was clicked, to j on the same page."""
    if rule == _EARLIER:
        return bool(clicks[j] and times[i] > times[j])
    if clicks[j]:
        return False
    if rule == _PREVIOUS:
        return bool(j == i - 1 and ranks[j] == ranks[i] - 1)
    if rule == _NEXT:
        return bool(j == i + 1 and ranks[j] == ranks[i] + 1)
    return j < i


@compiled
def _last_click(clicks: Bytes, times: Array, a: int, b: int) -> int:
    """Impression clicked last: by time if all clicks of the page have one, else the lowest; -1 for none."""
    last, lowest, timed = -1, -1, True
    for i in range(a, b):
        if clicks[i]:
            lowest = i
            timed &= not np.isnan(times[i])
            if last < 0 or times[i] >= times[last]:
                last = i
    return last if timed else lowest
