"""Coordinate ascent: exact line searches, against brute force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from podium.algorithms import CoordinateAscent
from podium.base.errors import IncompatibleError
from podium.data.dataset import Dataset
from podium.data.synthetic import make_letor_like
from podium.export import Target
from podium.imports import import_model
from podium.kernels.line_of_ranks import best_step
from podium.learner import Learner
from podium.metrics import Metric
from podium.solvers import Watch, mean_metric
from podium.training import fit, train
from podium.transforms import Identity

NDCG = Metric.parse("ndcg@10")
DATA: Dataset = make_letor_like(12, (6, 10), n_features=4, seed=1)[0]
TWO = replace(DATA, features=np.ascontiguousarray(DATA.features[:, :2]))


def reached(weights: np.ndarray, data: Dataset, metric: Metric = NDCG) -> float:
    return mean_metric(metric, data.features.astype(np.float64) @ weights, data)


def test_two_weights_are_the_best_of_all_directions() -> None:
    angles = np.linspace(0, 2 * np.pi, 4001)
    best = max(reached(np.array([np.cos(angle), np.sin(angle)]), TWO) for angle in angles)
    learned = CoordinateAscent(transform=Identity(), tolerance=0).learn(TWO, np.random.default_rng(0), Watch())
    assert reached(learned.params["weights"], TWO) >= best - 1e-9


def test_a_step_ends_in_the_best_interval_of_the_line() -> None:
    learner = CoordinateAscent(transform=Identity())
    from podium.algorithms.coordinate_ascent import _Climb

    climb, rng = _Climb(learner, DATA), np.random.default_rng(0)
    for _ in range(5):
        w, l = rng.normal(size=4), int(rng.integers(4))
        scores, x = climb.X @ w, climb.X[:, l]
        step = best_step(scores, x, *climb.worth, DATA.offsets)
        tried = np.sort(np.concatenate([rng.normal(size=300) * 3, -scores / x]))
        assert step is not None
        assert climb.value(scores + step * x) >= max(climb.value(scores + t * x) for t in tried) - 1e-9


@pytest.mark.parametrize("text", ["coordinate-ascent(restarts=1)", "coordinate-ascent(line=grid,restarts=2)",
                                  "coordinate-ascent(metric=map,restarts=2)"])  # fmt: skip
def test_it_is_never_below_the_best_single_feature(text: str) -> None:
    learner = Learner.parse(text)
    assert isinstance(learner, CoordinateAscent)
    alone, model = (fit(one, DATA, metric=learner.metric) for one in (Learner.parse("single-feature"), learner))
    assert mean_metric(learner.metric, model.score(DATA), DATA) >= mean_metric(learner.metric, alone.score(DATA), DATA)


def test_validation_data_chooses_the_weights() -> None:
    held = make_letor_like(10, (6, 10), n_features=4, seed=1)[0]
    model = train(DATA, "coordinate-ascent(restarts=2,steps=3)", valid=held)
    assert model.info["valid"] > 0


def test_a_metric_of_which_less_is_better_is_refused() -> None:
    less = next((kind() for kind in Metric.catalogue().values() if not kind.higher_is_better), None)
    if less is None:
        pytest.skip("there is none")
    with pytest.raises((IncompatibleError, ValueError)):
        CoordinateAscent(metric=less).check(DATA)


def test_its_file_for_ranklib_is_ranklibs_own_coordinate_ascent() -> None:
    model = train(DATA, "coordinate-ascent(restarts=1,transform=identity)")
    target = Target.parse("ranklib")
    raw = target.write(target.accept(model))
    assert b"## Coordinate Ascent" in raw
    scores = import_model(raw).score(DATA)
    shift = scores - model.score(DATA)
    np.testing.assert_allclose(shift, shift[0], atol=1e-5 * np.abs(scores).max())
