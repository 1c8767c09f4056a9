"""Samples of queries to judge, with weights, so that a weighted mean over the sample is the mean over the traffic.

    >>> sample = sample_queries({"shoes": 70, "red shoes": 20, "boots": 10}, 2, how="frequency", seed=0)
    >>> sorted(sample), round(sum(sample.values()), 12)
    (['boots', 'shoes'], 1.0)

- `frequency`: a query is drawn with a probability in proportion to its frequency (systematic sampling, without
  replacement); those that would be drawn more than once are taken for sure. Weight: frequency over probability, so
  that Σ w·v is an unbiased estimate (Horvitz & Thompson 1952); the weights add up to 1.
- `random`: all queries alike; weight: frequency. The weighted mean is nearly unbiased, and noisy: most queries are
  rare.
- `top`: the most frequent; weight: frequency. It says nothing of the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

import numpy as np

from podium.base.arguments import random_numbers, whole_number
from podium.base.arrays import Array, Flags
from podium.base.errors import DataError, UnknownNameError

How = Literal["frequency", "top", "random"]


def sample_queries(
    frequencies: Mapping[str, float], n: int, *, how: How = "frequency", seed: int = 0
) -> dict[str, float]:
    """A sample of queries with the weight of each, the heaviest first; all queries if there are no more than n."""
    whole_number(n, "n", least=1)
    if how not in get_args(How):
        raise UnknownNameError("sample of queries", how, get_args(How))
    queries = sorted(frequencies)
    counts = np.array([frequencies[query] for query in queries], np.float64)
    if not len(queries) or not ((counts > 0.0) & np.isfinite(counts)).all():
        raise DataError("queries need frequencies above 0, and there must be one at least.")
    share, rng = counts / counts.sum(), random_numbers(seed)
    if n >= len(queries):
        weights = share
        chosen = np.ones(len(queries), np.bool_)
    elif how == "frequency":
        chance = inclusion(share, n)
        chosen = _systematic(chance, rng)
        weights = share / chance
    else:
        first = np.argsort(-share, kind="stable") if how == "top" else rng.permutation(len(queries))
        chosen = np.isin(np.arange(len(queries)), first[:n])
        weights = share
    rows = np.flatnonzero(chosen)
    order = rows[np.argsort(-share[rows], kind="stable")]
    return {queries[k]: float(weights[k]) for k in order.tolist()}


def inclusion(share: Array, n: int) -> Array:
    """The probability that each query is drawn: n times its share, at most 1, and n in all."""
    sure = np.zeros(len(share), np.bool_)
    while True:
        left = n - int(sure.sum())
        chance = np.where(sure, 1.0, left * share / share[~sure].sum())
        more = chance > 1.0
        if not more.any():
            return chance
        sure |= more


def _systematic(chance: Array, rng: np.random.Generator) -> Flags:
    """Systematic sampling in random order: exactly Σ chance queries, each with its probability."""
    order = rng.permutation(len(chance))
    ends = np.cumsum(chance[order])
    ends *= round(float(ends[-1])) / ends[-1]
    steps = np.floor(ends - rng.random() + 1.0)
    chosen = np.zeros(len(chance), np.bool_)
    chosen[order] = np.diff(np.append(0.0, steps)) > 0.5
    return chosen
