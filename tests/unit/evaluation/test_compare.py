"""Comparisons: what the outcomes of methods on folds add up to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from podium.evaluation.compare import Comparison, Outcome
from podium.evaluation.report_texts import chosen
from podium.metrics import Metric


def outcome(method: str, fold: str, values: list[float]) -> Outcome:
    ids = tuple(map(str, range(len(values))))
    return Outcome(method, fold, method, {}, 1.0, ids, np.array([values]), None)


def test_means_are_over_folds_and_over_pooled_queries() -> None:
    nan = float("nan")
    outcomes = (outcome("a", "1", [1.0, nan]), outcome("a", "2", [0.0, 0.5, 0.1]), outcome("b", "1", [0.9]))
    found = Comparison((Metric.parse("ndcg@10"),), 0, outcomes)
    assert found.per_fold("a").tolist() == [[1.0, pytest.approx((0.0 + 0.5 + 0.1) / 3)]]
    assert found.mean("a")[0] == pytest.approx((1.0 + 0.2) / 2)
    assert found.pooled("a")[0] == (pytest.approx((1.0 + 0.0 + 0.5 + 0.1) / 4), 4, 1)
    assert found.ranking() == ["b", "a"]


def chose(fold: str, **settings: object) -> Outcome:
    return replace(outcome("a", fold, [0.5]), info={"trials": [{**settings, "valid": 0.5}], "chosen": 0})


def test_what_was_chosen_is_counted_and_where_that_gets_long_the_ends_are_shown() -> None:
    few = Comparison((Metric.parse("map"),), 0, (chose("1", cost=0.1), chose("2", cost=0.1), chose("3", cost=1.0)))
    assert chosen(few, "a") == "cost=0.1 (2×); cost=1 (1×)"
    many = tuple(chose(str(k), learning_rate=0.123456 + k, num_leaves=31, hidden=f"[{k % 2}]") for k in range(4))
    assert (
        chosen(Comparison((Metric.parse("map"),), 0, many), "a")
        == "learning_rate=0.1235…3.123, num_leaves=31, hidden=[0]|[1]"
    )


def test_values_of_a_query_are_averaged_over_seeds() -> None:
    made = {seed: np.array([[0.2 + 0.1 * seed, 0.4, np.nan]]) for seed in (0, 1, 3)}
    runs = tuple(replace(outcome("a", "1", [0, 0, 0]), values=values, seed=seed) for seed, values in made.items())
    found = Comparison((Metric.parse("map"),), 0, runs)
    [averaged] = found.by_method["a"]
    np.testing.assert_allclose(averaged.values, [[0.2 + 0.4 / 3, 0.4, np.nan]])
    assert averaged.seconds == 3.0
    assert found.seeds == [0, 1, 3]
    per_seed = [(0.2 + 0.1 * seed + 0.4) / 2 for seed in made]
    np.testing.assert_allclose(found.per_seed("a"), [per_seed])
    assert found.spread("a")[0] == pytest.approx(np.std(per_seed, ddof=1))
