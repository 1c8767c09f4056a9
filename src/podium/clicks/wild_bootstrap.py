"""Wild bootstrap of a click log: draws that carry the errors of estimated propensities to later estimates.

    >>> log = ClickLog.from_pages([("q", ["a", "b"], [1]), ("q", ["b", "a"], []), ("q", ["a", "b"], [2])])
    >>> len(list(signs(log))), all((a == b).all() for a, b in zip(signs(log), signs(log), strict=True))
    (192, True)

A log has random signs for each of its units: users if they are known, else pages. They depend on the log alone. An
estimator of propensities moves the clicks of each unit along its sign, by their residuals, and keeps what it then
estimates. Another estimate from the same log with these propensities uses the same signs, which gives their covariance;
with another log they are independent.

Reference: the wild bootstrap of Wu, Jackknife, bootstrap and other resampling methods in regression analysis, Annals of
Statistics 14, 1986.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from podium.base.arrays import AnyArray, Array
from podium.clicks.log.click_log import ClickLog
from podium.clicks.propensity_file import DRAWS

_BITS = 64
_PARTS = ("pairs", "clicks", "offsets", "page_query", "positions", "counts", "users", "rankers")


def fingerprint(log: ClickLog) -> str:
    """Hash of the content of a log."""
    digest = hashlib.blake2b(digest_size=16)
    for name in _PARTS:
        values = getattr(log, name)
        digest.update(name.encode() + (b"" if values is None else np.ascontiguousarray(values).tobytes()))
    for names in (log.query_ids, log.document_ids):
        digest.update("\0".join(map(str, names)).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def signs(log: ClickLog) -> Iterator[Array]:
    """Signs of the pages (P,), 1 or −1, for each draw; pages of one user have the same."""
    unit = np.arange(log.n_pages)
    if log.users is not None:
        unit = np.where(log.users < 0, unit + int(log.users.max(initial=-1)) + 1, log.users)
    rounds, n_units = DRAWS // _BITS, int(unit.max(initial=-1)) + 1
    chance = hashlib.shake_128(fingerprint(log).encode()).digest(rounds * n_units * _BITS // 8)  # the same for ever
    for words in np.frombuffer(chance, "<u8").reshape(rounds, n_units):
        for bit in range(_BITS):
            yield np.where(words[unit] >> np.uint64(bit) & np.uint64(1), 1.0, -1.0)


def page_scale(log: ClickLog) -> Array:
    """Scale of the move of each page (P,): √m if it counts m pages, m if they are of one user."""
    counts = log.page_counts
    return np.sqrt(counts) if log.users is None else np.where(log.users < 0, np.sqrt(counts), counts)


def click_spread(log: ClickLog, cell: AnyArray) -> Array:
    """Residual of each click (I,), from the mean of its cell, scaled for the fitted mean.

    Formula: (c − c̄)·√(n/(n − 1)), c̄ the mean of the n clicks and misses of the cell; that of the rank if n = 1.
    """
    times = np.repeat(log.page_counts, log.sizes)
    own, n = _means(cell, times, log.clicks)
    at_rank, _ = _means(log.ranks(), times, log.clicks)
    stretch = np.sqrt(np.where(n > 1, n / np.maximum(n - 1.0, 0.5), 1.0))
    apart = (log.clicks - np.where(n > 1, own, at_rank)) * stretch
    return np.asarray(apart * np.repeat(page_scale(log) / log.page_counts, log.sizes))


def _means(code: AnyArray, times: Array, clicks: AnyArray) -> tuple[Array, Array]:
    """Mean click of the cell of each impression, and its number of impressions."""
    shown = np.asarray(np.bincount(code, times), np.float64)
    return (np.bincount(code, times * clicks) / np.maximum(shown, 1e-300))[code], shown[code]
