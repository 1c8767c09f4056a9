"""Click-rate differences: a lower document with more clicks than one above it is preferred.

If A was shown above B on some pages of a query, B ≻ A if B was clicked on more of these pages than A; more clicks on A
are no evidence, as A had the better rank. With `level`, if k of the m clicks on exactly one of the two were on B, B ≻ A
only if P(Binomial(m, ½) ≥ k) ≤ level.

Reference: Li, Learning to rank for information retrieval and natural language processing, section 2.2.2; Joachims,
Optimizing search engines using clickthrough data, KDD 2002.
"""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Bytes, Int32s, Ints
from podium.clicks.log.click_log import ClickLog
from podium.jit.compiled import compiled


def rate_events(log: ClickLog, *, level: float | None) -> tuple[Int32s, Int32s, Array]:
    """Preferences by click rates: winner, loser (numbers of pairs) and weight, k for B ≻ A and m − k for A ≻ B."""
    arrays = log.pairs, log.clicks, log.offsets, log.page_counts
    none = np.zeros(0, np.int32)
    n = _one_clicked(*arrays, none, none, np.zeros(0), none, False)
    above, below, weights, lower = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n), np.empty(n, np.int32)
    _one_clicked(*arrays, above, below, weights, lower, True)
    order = np.lexsort((below, above))
    a, b = above[order], below[order]
    new = np.ones(n, np.bool_)
    new[1:] = (np.diff(a) != 0) | (np.diff(b) != 0)
    group, first = np.cumsum(new) - 1, np.flatnonzero(new)
    m = np.bincount(group, weights[order], minlength=len(first))
    k = np.bincount(group, (weights * lower)[order], minlength=len(first))
    kept = 2.0 * k > m
    if level is not None:
        from scipy.stats import binom

        kept &= binom.sf(k - 1.0, m, 0.5) <= level
    first, m, k = first[kept], m[kept], k[kept]
    winners, losers = np.concatenate((b[first], a[first])), np.concatenate((a[first], b[first]))
    events = np.concatenate((k, m - k))
    return winners[events > 0], losers[events > 0], events[events > 0]


@compiled
def _one_clicked(
    pairs: Int32s, clicks: Bytes, offsets: Ints, counts: Array, above: Int32s, below: Int32s, weights: Array,
    lower: Int32s, fill: bool,
) -> int:  # fmt: skip
    """Count the pairs of documents of a page of which exactly one was clicked; if `fill`, write them to the arrays."""
    n = 0
    for page in range(len(offsets) - 1):
        for i in range(offsets[page], offsets[page + 1]):
            for j in range(i + 1, offsets[page + 1]):
                if clicks[i] != clicks[j] and pairs[i] != pairs[j]:
                    if fill:
                        above[n], below[n], weights[n], lower[n] = pairs[i], pairs[j], counts[page], clicks[j]
                    n += 1
    return n
