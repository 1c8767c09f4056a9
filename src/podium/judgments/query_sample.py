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

Human judges can get a part of the sample, drawn from it with probability in proportion to the weights: the heaviest
for sure, so that weights of this part are nearly equal, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

import numpy as np

from podium.base.arguments import random_numbers, whole_number
from podium.base.arrays import Array, Flags, Ints
from podium.base.errors import DataError, ParameterError, UnknownNameError
from podium.formats.query_weights import QueryWeight

How = Literal["frequency", "top", "random"]


def sample_queries(
    frequencies: Mapping[str, float], n: int, *, how: How = "frequency", seed: int = 0
) -> dict[str, float]:
    """A sample of queries with the weight of each, the heaviest first; all queries if there are no more than n."""
    return {query: drawn.weight for query, drawn in drawn_queries(frequencies, n, how=how, seed=seed).items()}


def drawn_queries(
    frequencies: Mapping[str, float], n: int, *, human: int | None = None, how: How = "frequency", seed: int = 0
) -> dict[str, QueryWeight]:
    """A sample of queries with weights and chances; `human` of them are drawn for human judges."""
    whole_number(n, "n", least=1)
    if how not in get_args(How):
        raise UnknownNameError("sample of queries", how, get_args(How))
    queries = sorted(frequencies)
    counts = np.array([frequencies[query] for query in queries], np.float64)
    if not len(queries) or not ((counts > 0.0) & np.isfinite(counts)).all():
        raise DataError("queries need frequencies above 0, and there must be one at least.")
    share, rng = counts / counts.sum(), random_numbers(seed)
    rows, weights, chance = _drawn(share, n, how, rng)
    order = np.argsort(-share[rows], kind="stable")
    rows, weights, chance = rows[order], weights[order], chance[order]
    sample = {
        queries[row]: QueryWeight(float(weight), float(p))
        for row, weight, p in zip(rows.tolist(), weights, chance, strict=True)
    }
    return sample if human is None else _with_human(sample, human, how, rng)


def _drawn(share: Array, n: int, how: How, rng: np.random.Generator) -> tuple[Ints, Array, Array]:
    """Numbers of the queries drawn, their weights and chances; 0 for those of `top`, which is no random sample."""
    every = np.arange(len(share))
    if n >= len(share):
        return every, share, np.ones(len(share))
    if how == "frequency":
        chance = inclusion(share, n)
        rows = np.flatnonzero(_systematic(chance, rng))
        return rows, share[rows] / chance[rows], chance[rows]
    first = np.argsort(-share, kind="stable") if how == "top" else rng.permutation(len(share))
    rows = np.flatnonzero(np.isin(every, first[:n]))
    return rows, share[rows], np.full(len(rows), 0.0 if how == "top" else n / len(share))


def _with_human(
    sample: dict[str, QueryWeight], human: int, how: How, rng: np.random.Generator
) -> dict[str, QueryWeight]:
    """The sample with a part of it for human judges, the heaviest for sure."""
    whole_number(human, "human", least=1)
    if how == "top" or human > len(sample):
        why = "top is no random sample" if how == "top" else f"the sample has {len(sample)} queries"
        raise ParameterError(f"{human} queries for human judges cannot be drawn: {why}.")
    weights = np.array([drawn.weight for drawn in sample.values()])
    chance = inclusion(weights / weights.sum(), human) if human < len(sample) else np.ones(len(sample))
    chosen = _systematic(chance, rng)
    return {
        query: drawn._replace(human_weight=drawn.weight / float(p), human_chance=drawn.chance * float(p))
        if is_chosen
        else drawn
        for (query, drawn), p, is_chosen in zip(sample.items(), chance, chosen.tolist(), strict=True)
    }


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
