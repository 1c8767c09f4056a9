"""HTML report on propensities (examination probabilities): the curve with its confidence interval, and a table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import counted
from podium.clicks.propensity_file import Propensities, click_rates
from podium.pages.kit import lines, static_page, table

if TYPE_CHECKING:
    from podium.clicks.log.click_log import ClickLog

_MOST = 2.0
"""Largest value of the chart; larger intervals are cut."""


def page(propensities: Propensities, log: ClickLog) -> str:
    """HTML report on estimated propensities, with the click rates of the log that they were estimated from."""
    rates = click_rates(log, propensities.ranks)
    views = f"{log.n_page_views:.0f} pages of {counted(log.n_queries, 'query', 'queries')}"
    source = f" of {log.source}" if log.source else ""
    return static_page(
        "How likely each rank is to be looked at",
        f"Estimated by {propensities.how} from {views}{source}.",
        {"Examination relative to rank 1": _chart(propensities, rates), "Numbers": _table(propensities, rates)},
    )


def _chart(propensities: Propensities, rates: Array) -> str:
    ranks, theta = propensities.ranks, propensities.theta

    def by_rank(values: Array) -> list[float]:
        dense = np.full(int(ranks[-1]), np.nan)
        dense[ranks - 1] = values
        return dense.tolist()

    has_interval = np.isfinite(propensities.low) & np.isfinite(propensities.high)
    low, high = (np.where(has_interval, side, np.nan) for side in (propensities.low, propensities.high))
    rate = "click rate, which mixes examination with relevance"
    return lines(
        {"examination, with its 95 % interval": by_rank(theta), rate: by_rank(rates)},
        label=f"Examination by rank, from 1 at rank 1 to {theta[-1]:.2f} at rank {ranks[-1]}",
        x_name="rank",
        y_name="relative to rank 1",
        high=_MOST,
        band=(by_rank(high), by_rank(low)) if has_interval.any() else None,
        dashed=[rate],
    )


def _table(propensities: Propensities, rates: Array) -> str:
    columns = {"examination": propensities.theta, "from": propensities.low, "to": propensities.high}
    if propensities.has_trust_bias:
        columns |= {"alpha": propensities.alpha, "beta": propensities.beta}
    columns |= {"click rate": rates}
    rows = [
        [str(rank), *(f"{value:.4f}" if math.isfinite(value) else "–" for value in values)]
        for rank, *values in zip(propensities.ranks, *columns.values(), strict=True)
    ]
    return table(["rank", *columns], rows, label="Propensities by rank", words=0)
