"""Comparisons: what the outcomes of methods on folds add up to."""

from __future__ import annotations

import numpy as np
import pytest

from podium.evaluation import Comparison, Outcome
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
