"""Numbers of a sample of kernels, to be compared between compiled functions and plain Python.

Run as a program, it prints them as JSON.
"""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np

import podium
from podium.aggregation import Aggregator
from podium.aggregation.rankings.rankings import Rankings
from podium.distributions import RankingDistribution
from podium.formats.letor.letor import read_letor, write_letor
from podium.jit.sorting import order
from podium.losses import Loss
from podium.metrics import Metric
from podium.parsing.ids import Ids
from podium.testing import linear_data

NUMBERS = ["0.1", "-1e-3", "123456789.125", "1e22", "5e-324", "3.4e38", "9007199254740993", "-0"]
WORDS = ["b", "a", "a longer name than eight bytes", "é", "a longer name than eight bytez", "b"]
LOSSES = ["regression", "ranknet", "lambdarank(metric=map)", "listnet", "pmop-mh", "softmax", "boltzrank"]


def exact() -> dict[str, Any]:
    """Numbers whose sums have one order: bits are equal."""
    rng = np.random.default_rng(0)
    ids = Ids.of(WORDS)
    text = "".join(f"1 qid:7 1:{number} 3:{number} # d{k}\n" for k, number in enumerate(NUMBERS))
    data, written = read_letor(io.BytesIO(text.encode())), io.BytesIO()
    write_letor(data, written)
    return {
        "order": order(rng.standard_normal(40)).tolist(),
        "order of ties": order(rng.integers(0, 3, 40)).tolist(),
        "ranks of ids": ids.ranks().tolist(),
        "decimals": [float(x).hex() for x in data.features.ravel()],
        "file": written.getvalue().decode(),
    }


def close() -> dict[str, list[float]]:
    """Numbers whose sums compiled code may add in another order: equal to 1e-12."""
    rng = np.random.default_rng(1)
    scores, labels = rng.standard_normal(9), rng.integers(0, 4, 9).astype(np.float64)
    values = {}
    for name in LOSSES:
        got = Loss.parse(name)(scores, labels)
        values[name] = [got.value, *got.gradient, *got.curvature]
    for name in ("ndcg@5", "map", "err", "bpref"):
        values[name] = Metric.parse(name)(scores, labels, np.array([0, 9])).tolist()
    for name in ("plackett-luce", "thurstone"):
        values[name] = RankingDistribution.parse(name).rank_marginals(scores[:5]).ravel().tolist()
    lists = Rankings.from_orders([[["a", "b", "c"], ["c", "a"], ["b", ["c", "a"]]]])
    for name in ("borda", "kemeny", "mc4"):
        values[name] = Aggregator.parse(name)(lists).scores.tolist()
    train = linear_data(6, 5)
    for name in ("lambdamart(rounds=2,min_data_in_leaf=2)", "listnet"):
        values[f"{name} trained"] = podium.train(train, name).score(train).tolist()
    return values


if __name__ == "__main__":
    print(json.dumps({"exact": exact(), "close": close()}))
