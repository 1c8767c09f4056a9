"""Learning curves: nested subsets, intervals, the fit, and when no forecast is made."""

from __future__ import annotations

import numpy as np
import pytest

from podium.base.arrays import Array
from podium.base.errors import DataError, ParameterError, PodiumError
from podium.data import Fold, make_letor_like, split
from podium.evaluation.curves.learning_curve import LearningCurve, _fits, _subset, learning_curve
from podium.metrics import Metric
from podium.pages.curve import page

SIZES = (16, 32, 64, 128, 256)
METRIC = Metric.parse("ndcg@10")


def planted(means: Array, *, noise: float = 0.0, queries: int = 60) -> LearningCurve:
    """A curve whose mean at each size is known; queries differ, by the same amount at all sizes."""
    rng = np.random.default_rng(5)
    level = rng.normal(0.0, 0.05, queries)
    level -= level.mean()
    wiggle = noise * rng.normal(size=(5, len(means), 1)) * (1.0 - np.arange(len(means)) / (len(means) - 1))[:, None]
    return LearningCurve("listnet", METRIC, "queries", SIZES[: len(means)], means[:, None] + level + wiggle)


def power_law(sizes: Array, a: float = 0.8, b: float = 1.0, c: float = 0.5) -> Array:
    return a - b * sizes**-c


def test_the_fit_finds_a_power_law() -> None:
    sizes = np.array(SIZES, float)
    for c in (0.2, 0.5, 1.0, 2.0):
        values = power_law(sizes, c=c)[None, :]
        assert _fits(values, sizes, np.ones(5), 512.0) == pytest.approx([power_law(np.array(512.0), c=c)], abs=1e-9)


def test_the_fit_never_falls() -> None:
    values = np.array([[0.5, 0.4, 0.3, 0.2, 0.1]])
    assert _fits(values, np.array(SIZES, float), np.ones(5), 512.0) == pytest.approx([0.3])  # b = 0: the mean


def test_a_rising_curve_has_a_forecast_with_the_gain_of_a_doubling() -> None:
    curve = planted(power_law(np.array(SIZES, float)), noise=0.002)
    forecast = curve.forecast()
    assert forecast.size == 512
    gain = power_law(np.array(512.0)) - power_law(np.array(256.0))
    assert forecast.gain == pytest.approx(gain, abs=0.003)
    assert forecast.gain_interval.low < gain < forecast.gain_interval.high
    assert forecast.interval.low < forecast.value < forecast.interval.high
    assert curve.sentences()[0].startswith("twice the queries (512) would change ndcg@10 by about +0.0")


def test_the_error_due_to_test_queries_is_that_of_their_mean() -> None:
    curve = planted(power_law(np.array(SIZES, float)))
    assert curve.test_error == pytest.approx(curve.values[0, -1].std(ddof=1) / np.sqrt(60))


def test_no_forecast_from_few_sizes_flat_curves_or_far_out() -> None:
    sizes = np.array(SIZES, float)
    with pytest.raises(PodiumError, match="at least 4 sizes of training data; there are 3"):
        planted(power_law(sizes[:3])).forecast()
    flat = planted(np.full(5, 0.7), noise=0.01)
    with pytest.raises(PodiumError, match="more queries are not what is missing; rather more documents per query"):
        flat.forecast()
    assert flat.to_dict()["forecast"] is None
    rising = planted(power_law(sizes))
    rising.forecast(1024)
    with pytest.raises(PodiumError, match="1025 queries are more than 4 times the data"):
        rising.forecast(1025)


def test_intervals_are_paired_across_sizes() -> None:
    low, high = planted(power_law(np.array(SIZES, float))).last_step[1]
    assert high - low < 1e-12  # queries differ by the same at all sizes, so a step is sure
    assert planted(power_law(np.array(SIZES, float))).intervals[-1].high > power_law(np.array(256.0)) + 0.005


@pytest.mark.parametrize("by", ["queries", "documents"])
def test_smaller_subsets_are_parts_of_larger_ones(by: str) -> None:
    data, _ = make_letor_like(24, (3, 9), n_features=4, seed=2)
    rows = []
    for part in (0.25, 0.5, 1.0):
        subset = _subset(data, part, by, np.random.default_rng(1))  # type: ignore[arg-type]
        rows.append({tuple(row) for row in np.asarray(subset.features).tolist()})
        assert subset.n_queries == (24 if by == "documents" else 24 * part)
    assert rows[0] < rows[1] < rows[2]
    assert len(rows[2]) == data.n_documents


def test_the_last_size_is_the_model_of_all_data() -> None:
    data, _ = make_letor_like(60, (5, 8), n_features=6, seed=1)
    train, test = split(data, (0.7, 0.3), seed=1)
    curve = learning_curve(Fold(train, None, test, "Fold1"), "regression(penalty=0.1)", orders=2)
    assert curve.sizes == (10, 21, 42)
    assert np.array_equal(curve.values[0, -1], curve.values[1, -1])  # a convex loss: orders do not matter
    assert not np.array_equal(curve.values[0, 0], curve.values[1, 0])
    report = page(curve)
    assert "at least 4 sizes" in report
    assert all(f">{size}<" in report for size in curve.sizes)


def test_too_little_data_and_unknown_kinds_are_refused() -> None:
    data, _ = make_letor_like(20, (3, 5), n_features=4, seed=2)
    with pytest.raises(DataError, match="at least 16 queries of training data; got 12"):
        learning_curve(data, "regression")
    with pytest.raises(ParameterError, match="by must be queries or documents; got 'rows'"):
        learning_curve(data, "regression", by="rows")  # type: ignore[arg-type]
