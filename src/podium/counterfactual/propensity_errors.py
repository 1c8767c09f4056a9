"""Error propagation: how off-policy estimates move with the errors of estimated propensities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from podium.base.arrays import Array, Flags
from podium.clicks.log.click_log import ClickLog
from podium.clicks.propensity_file import DRAWS, Propensities
from podium.clicks.wild_bootstrap import page_scale, signs

_STEP = 1e-4


def moves(
    log: ClickLog,
    propensities: Propensities,
    kept: Flags,
    influences: Array,
    values: Callable[[Propensities], Array],
    *,
    same_log: bool,
) -> Array:
    """Moves S and T of each of E estimates (E, 2, B), in the draws of the propensities; B = 0 if they have none.

    S are moves by the pages, from the influence of those that are kept (E, P); 0 unless the propensities are of the
    same log. T are moves of `values(propensities)` (E,) by the propensities, to first order.
    """
    if propensities.alpha_draws is None:
        return np.empty((len(influences), 2, 0))
    by_pages = np.zeros((len(influences), DRAWS))
    if same_log:
        pull = influences * (page_scale(log)[kept] / log.page_counts[kept].sum())
        for draw, sign in enumerate(signs(log)):
            by_pages[:, draw] = pull @ sign[kept]
    by_curve = np.zeros((len(influences), DRAWS))
    here = values(propensities)
    for name, draws in (("alpha", propensities.alpha_draws), ("beta", propensities.beta_draws)):
        if draws is None:
            continue
        numbers = getattr(propensities, name)
        for k in np.flatnonzero((propensities.alpha > 0) & (np.ptp(draws, axis=0) > 0)).tolist():
            moved = numbers.copy()
            moved[k] += _STEP * propensities.alpha[k]
            slope = (values(replace(propensities, **{name: moved})) - here) / (moved[k] - numbers[k])
            by_curve += slope[:, None] * (draws[:, k] - numbers[k])
    return np.stack((by_pages, by_curve), axis=1)
