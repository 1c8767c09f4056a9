"""Convergence diagnostics of Markov chains: R-hat and the effective sample size (Gelman et al. 2013, 11.4–11.5).

    >>> draws = np.random.default_rng(1).normal(size=(4, 1000))
    >>> bool(abs(r_hat(draws) - 1.0) < 0.01), 3000 < effective_size(draws) < 5000
    (True, True)

Traces are (chains, draws) of one quantity, or (chains, draws, n) of n of them. Each chain is split into its halves, so
that a drift shows.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import AnyArray, Array
from podium.base.errors import ConvergenceWarning


def r_hat(traces: AnyArray) -> Array:
    """R-hat: the factor by which the spread would shrink if the chains ran for ever; 1 if they agree."""
    halves = _halves(traces)
    draws = halves.shape[1]
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    rounding = (1e-12 * np.abs(halves).max(axis=(0, 1))) ** 2  # the variance of a constant, from rounding
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.sqrt((draws - 1) / draws + between / within)
    return np.where(within > rounding, factor, np.where(between > rounding, np.inf, 1.0))


def warn_if_unmixed(r_hats: ArrayLike, what: str, *, more: str) -> None:
    """Warn if chains disagree: their means are then not those of the distribution."""
    values = np.asarray(r_hats, np.float64)
    bad = int((values > MIXED).sum())
    if bad:
        of = f" of {bad} of {len(values)} queries" if len(values) > 1 else ""
        warnings.warn(
            f"{what}{of} have not mixed: R-hat is {values.max():.2f}, and above {MIXED} the numbers may be wrong. "
            f"Raise {more}.",
            ConvergenceWarning,
            stacklevel=2,
        )


MIXED = 1.1
"""R-hat up to which chains count as mixed."""


def effective_size(traces: AnyArray) -> float:
    """Effective sample size for the mean, by Geyer's initial positive sums of autocorrelations."""
    halves = _halves(traces)
    chains, draws = halves.shape
    centred = halves - halves.mean(axis=1, keepdims=True)
    spectrum = np.abs(np.fft.rfft(centred, 2 * draws, axis=1)) ** 2
    covariance = np.fft.irfft(spectrum, axis=1)[:, :draws].mean(axis=0) / draws  # (S,) by lag
    within = covariance[0] * draws / (draws - 1)
    total = within * (draws - 1) / draws + float(halves.mean(axis=1).var(ddof=1))
    if total == 0.0:
        return float(chains * draws)
    correlation = 1.0 - (within - covariance) / total
    pairs = correlation[: draws // 2 * 2].reshape(-1, 2).sum(axis=1)
    stop = int(np.argmax(pairs < 0.0)) if (pairs < 0.0).any() else len(pairs)
    length = max(-1.0 + 2.0 * float(pairs[:stop].sum()), 1.0 / np.log10(chains * draws))
    return float(chains * draws / length)


def _halves(traces: AnyArray) -> Array:
    half = traces.shape[1] // 2
    return np.concatenate([traces[:, :half], traces[:, half : 2 * half]]).astype(np.float64)
