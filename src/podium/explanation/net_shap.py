"""SHAP values of networks: interventional Shapley values, exact by enumeration of few features, else sampled.

Formula: φ_l = Σ_S |S|!(d − |S| − 1)!/d!·(v(S ∪ l) − v(S)), v(S) = (1/B) Σ_b f(x with the features outside S of b), over
up to 32 documents b of the data, evenly spaced. All 2^d sets S are evaluated if that is affordable. Otherwise each b
comes with a random order of the features and its reverse: φ_l is estimated by the mean change of f when l is switched
from b to x in that order, and its standard error by the spread over the pairs of orders. Both add up to f(x) less the
mean of f(b).
Reference: Štrumbelj and Kononenko 2014; Lundberg and Lee 2017; Mitchell et al. 2022 (reversed orders).
"""

from __future__ import annotations

import math

import numpy as np

from podium.base.arrays import Array, Ints, Singles
from podium.explanation.attribution import net_scores
from podium.scorers.forms import NetForm

_FEW, _MOST = 12, 2**25
"""Features and evaluations up to which all sets are enumerated."""
_BACKGROUND = 32


def net_shap(net: NetForm, X: Singles, sources: Ints, n_features: int) -> tuple[Array, float, Array | None]:
    """SHAP values (N, n_features), the base, and standard errors if they were sampled.

    `sources` has the feature of each column of X: the columns of a feature are switched together.
    """
    rows = X.astype(np.float64)
    number = min(_BACKGROUND, len(rows))
    background = rows[np.arange(number) * len(rows) // max(number, 1)]
    base = float(net_scores(net, background).mean()) if number else 0.0
    present, column = np.unique(sources, return_inverse=True)
    d = len(present)
    exact = d <= _FEW and len(rows) * number * 2**d <= _MOST
    values = np.zeros((len(rows), n_features))
    errors = None if exact else np.zeros_like(values)
    for i, x in enumerate(rows):
        if errors is None:
            values[i, present] = _enumerated(net, x, background, column, d)
        else:
            values[i, present], errors[i, present] = _sampled(net, x, background, column, d)
    return values, base, errors


def _enumerated(net: NetForm, x: Array, background: Array, column: Ints, d: int) -> Array:
    sets = np.arange(2**d)
    inside = (sets[:, None] >> np.arange(d) & 1).astype(bool)  # (2^d, d)
    mixed = np.where(inside[:, None, column], x, background)  # (2^d, B, d')
    worth = net_scores(net, mixed.reshape(-1, len(x))).reshape(len(sets), -1).mean(axis=1)
    sizes = inside.sum(axis=1)
    share = np.array([1.0 / (d * math.comb(d - 1, size)) for size in range(d)])
    values = np.empty(d)
    for l in range(d):
        without = sets[~inside[:, l]]
        values[l] = share[sizes[without]] @ (worth[without | 1 << l] - worth[without])
    return values


def _sampled(net: NetForm, x: Array, background: Array, column: Ints, d: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)  # the same orders for every document
    forth = np.argsort(rng.random((len(background), d)), axis=1)
    pairs = np.stack([forth, forth[:, ::-1]], axis=1)  # (B, 2, d) features in the order in which they are switched
    place = np.argsort(pairs, axis=2)  # (B, 2, d) place of each feature in it
    inside = place[:, :, None, :] < np.arange(d + 1)[:, None]  # (B, 2, d + 1, d)
    mixed = np.where(inside[..., column], x, background[:, None, None, :])
    steps = np.diff(net_scores(net, mixed.reshape(-1, len(x))).reshape(*inside.shape[:3]), axis=2)  # (B, 2, d)
    each = np.take_along_axis(steps, place, axis=2).mean(axis=1)  # (B, d)
    spread = each.std(axis=0, ddof=1) if len(each) > 1 else np.full(d, np.nan)
    return each.mean(axis=0), spread / np.sqrt(len(each))
